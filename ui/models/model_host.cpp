#include "ui/models/model_host.h"

#include <algorithm>

#include "ui/models/fit_words.h"
#include "ui/text/format.h"

namespace quern::ui {
namespace {
constexpr int kProgressMs = 100;
constexpr int kNoticed =
    10;  // the part of an estimate by which a measured figure may differ unsaid

QVariantMap card(const engine::LoadedModel& model) {
    QVariantList items;
    std::int64_t estimated = model.estimate.totalBytes;
    for (const engine::FitItem& item : model.estimate.items) {
        if (item.name == "margin") {
            // Room left for others: not part of what the load was measured to take.
            estimated -= item.bytes;
            continue;
        }
        items.append(QVariantMap{{QStringLiteral("name"), itemName(item)},
                                 {QStringLiteral("bytes"), formatBytes(item.bytes)}});
    }
    QStringList notes;
    for (const std::string& note : model.notes) {
        notes += QString::fromStdString(note);
    }
    if (model.measuredBytes < estimated - estimated / kNoticed) {
        notes +=
            ModelHost::tr("Measured after loading: the KV cache takes its memory as it fills.");
    }
    return {{QStringLiteral("name"), QString::fromStdString(model.name)},
            {QStringLiteral("path"), QString::fromStdString(model.options.path.string())},
            {QStringLiteral("context"), formatCount(model.options.contextTokens)},
            {QStringLiteral("estimate"), formatBytes(estimated)},
            {QStringLiteral("measured"), formatBytes(model.measuredBytes)},
            {QStringLiteral("seconds"), formatDecimal(model.loadSeconds, 1)},
            {QStringLiteral("items"), items},
            {QStringLiteral("notes"), notes}};
}
}  // namespace

ModelHost::ModelHost(engine::Engine& engine, Worker& worker, Notices& notices, QObject* parent)
    : QObject(parent), m_engine(engine), m_worker(worker), m_notices(notices) {
    m_tick.setInterval(kProgressMs);
    connect(&m_tick, &QTimer::timeout, this, &ModelHost::progressed);
    refresh({});
}

ModelHost::~ModelHost() {
    cancelLoad();
}

void ModelHost::refresh(const std::string& prefer) {
    m_worker.ask(
        this, [this] { return m_engine.models(); },
        [this, prefer](std::vector<std::shared_ptr<const engine::LoadedModel>> models) {
            m_models = std::move(models);
            const std::string wanted = !prefer.empty() ? prefer : m_current ? m_current->name : "";
            const auto at = std::find_if(m_models.begin(), m_models.end(),
                                         [&](const auto& model) { return model->name == wanted; });
            m_current = at != m_models.end() ? *at : m_models.empty() ? nullptr : m_models.front();
            emit changed();
            // Only now is an unloaded model out of sight.
            m_unloading.clear();
            emit loadingChanged();
        });
}

void ModelHost::load(const engine::LoadOptions& options) {
    if (m_load) {
        m_notices.show(tr("Another model is being loaded."),
                       tr("Cancel it first, or wait until it is ready."));
        return;
    }
    m_load = std::make_shared<Load>();
    m_load->options = options;
    m_tick.start();
    emit loadingChanged();
    emit progressed();
    m_worker.ask(
        this,
        [this, load = m_load]() -> Result<std::shared_ptr<const engine::LoadedModel>> {
            for (const auto& model : m_engine.models()) {
                if (model->options.path != load->options.path) {
                    continue;
                }
                if (Status freed = m_engine.unload(model->name); !freed) {
                    return forward(freed);
                }
            }
            return m_engine.load(load->options, [load](const engine::LoadProgress& progress) {
                load->stage = static_cast<int>(progress.stage);
                load->fraction = progress.fraction;
                return !load->isCancelled;
            });
        },
        [this](Result<std::shared_ptr<const engine::LoadedModel>> result) {
            const QString name = loadingName();
            m_load.reset();
            m_tick.stop();
            std::string prefer;
            if (result) {
                prefer = (*result)->name;
            } else if (result.error().code != ErrorCode::kCancelled) {
                m_notices.show(tr("%1 could not be loaded.").arg(name), result.error(),
                               tr("Open Models"), QStringLiteral("models"));
            }
            emit loadingChanged();
            refresh(prefer);
        });
}

void ModelHost::cancelLoad() {
    if (m_load) {
        m_load->isCancelled = true;
    }
}

void ModelHost::unload(const QString& name) {
    m_unloading = name;
    emit loadingChanged();
    m_worker.ask(
        this, [this, model = name.toStdString()] { return m_engine.unload(model); },
        [this, name](Status result) {
            if (!result) {
                m_notices.show(tr("%1 could not be unloaded.").arg(name), result.error());
            }
            refresh({});
        });
}

void ModelHost::select(const QString& name) {
    for (const auto& model : m_models) {
        if (model->name == name.toStdString() && model != m_current) {
            m_current = model;
            emit changed();
        }
    }
}

QString ModelHost::currentName() const {
    return m_current ? QString::fromStdString(m_current->name) : QString();
}

QString ModelHost::currentTitle() const {
    if (!m_current) {
        return {};
    }
    const QString quantization = QString::fromStdString(m_current->info.quantization);
    // A file's stem often ends in its quantization: said once is enough.
    return quantization.isEmpty() || currentName().contains(quantization, Qt::CaseInsensitive)
               ? currentName()
               : currentName() + QStringLiteral(" · ") + quantization;
}

QVariantList ModelHost::loadedCards() const {
    QVariantList cards;
    for (const auto& model : m_models) {
        cards.append(card(*model));
    }
    return cards;
}

QString ModelHost::loadingName() const {
    if (!m_load) {
        return {};
    }
    return QString::fromStdString(
        m_load->options.name.empty() ? m_load->options.path.stem().string() : m_load->options.name);
}

QString ModelHost::loadStage() const {
    if (!m_load) {
        return {};
    }
    if (m_load->isCancelled) {
        return tr("Cancelling");
    }
    switch (static_cast<engine::LoadStage>(m_load->stage.load())) {
        case engine::LoadStage::kReading:
            return tr("Reading headers");
        case engine::LoadStage::kWeights:
            return tr("Taking over weights");
        case engine::LoadStage::kCache:
            return tr("Making the KV cache");
        default:
            return tr("Ready");
    }
}

double ModelHost::loadFraction() const {
    return m_load ? m_load->fraction.load() : 0;
}

bool ModelHost::isLoadedPath(const std::filesystem::path& path) const {
    return std::any_of(m_models.begin(), m_models.end(),
                       [&](const auto& model) { return model->options.path == path; });
}

}  // namespace quern::ui
