#include "ui/chat/chat_settings.h"

#include <algorithm>

namespace quern::ui {

ChatSettings::ChatSettings(const ReplyService& service, ConversationStore& store, Worker& worker,
                           ModelHost& host, Notices& notices, QObject* parent)
    : QObject(parent),
      m_service(service),
      m_store(store),
      m_worker(worker),
      m_host(host),
      m_notices(notices) {
    connect(&host, &ModelHost::changed, this, &ChatSettings::changed);
}

void ChatSettings::show(qint64 conversation, ConversationSettings values) {
    m_conversation = conversation;
    m_values = std::move(values);
    emit changed();
}

void ChatSettings::setFirstTurn(std::int64_t turn) {
    m_values.firstTurn = turn;
    save();
}

QString ChatSettings::systemPrompt() const {
    return QString::fromStdString(m_values.systemPrompt);
}

void ChatSettings::setSystemPrompt(const QString& prompt) {
    if (prompt != systemPrompt()) {
        m_values.systemPrompt = prompt.toStdString();
        save();
    }
}

QVariantMap ChatSettings::sampling() const {
    const engine::SamplingParams p = m_values.usesModelDefaults && m_host.hasModel()
                                         ? m_service.samplingOf(*m_host.current())
                                         : m_values.sampling;
    const auto number = [](float value) {
        return static_cast<double>(qRound(value * 1000)) / 1000;
    };
    return {{QStringLiteral("temperature"), number(p.temperature)},
            {QStringLiteral("topP"), number(p.topP)},
            {QStringLiteral("topK"), p.topK},
            {QStringLiteral("minP"), number(p.minP)},
            {QStringLiteral("repetitionPenalty"), number(p.repetitionPenalty)},
            {QStringLiteral("seed"), p.seed ? QString::number(*p.seed) : QString()},
            {QStringLiteral("maxTokens"), m_values.maxTokens},
            {QStringLiteral("usesModelDefaults"), m_values.usesModelDefaults}};
}

void ChatSettings::setSampling(const QString& name, const QString& value) {
    if (m_values.usesModelDefaults && m_host.hasModel()) {
        m_values.sampling = m_service.samplingOf(*m_host.current());
    }
    engine::SamplingParams& p = m_values.sampling;
    bool isNumber = false;
    const double number = value.trimmed().toDouble(&isNumber);
    const auto real = static_cast<float>(number);
    if (name == QLatin1String("seed")) {
        const quint64 seed = value.trimmed().toULongLong(&isNumber);
        p.seed = isNumber ? std::optional<std::uint64_t>(seed) : std::nullopt;
        isNumber = isNumber || value.trimmed().isEmpty();
    } else if (isNumber && name == QLatin1String("maxTokens")) {
        m_values.maxTokens = static_cast<std::int32_t>(std::clamp(number, 0.0, 1e9));
    } else if (isNumber && name == QLatin1String("temperature")) {
        p.temperature = real;
    } else if (isNumber && name == QLatin1String("topP")) {
        p.topP = real;
    } else if (isNumber && name == QLatin1String("topK")) {
        p.topK = static_cast<std::int32_t>(std::clamp(number, 0.0, 1e9));
    } else if (isNumber && name == QLatin1String("minP")) {
        p.minP = real;
    } else if (isNumber && name == QLatin1String("repetitionPenalty")) {
        p.repetitionPenalty = real;
    }
    if (isNumber) {
        m_values.usesModelDefaults = false;
        save();
    } else {
        emit changed();
    }
}

void ChatSettings::useModelDefaults() {
    m_values.usesModelDefaults = true;
    save();
}

void ChatSettings::save() {
    emit changed();
    emit edited();
    if (m_conversation == 0) {
        return;  // saved with the first message
    }
    m_worker.ask(
        this,
        [this, id = m_conversation, settings = m_values] {
            return m_store.saveSettings(id, settings);
        },
        [this](Status result) {
            if (!result) {
                m_notices.show(tr("The settings of this conversation could not be saved."),
                               result.error());
            }
        });
}

}  // namespace quern::ui
