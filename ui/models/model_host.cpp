#include "ui/models/model_host.h"

#include <algorithm>

#include "ui/models/fit_words.h"
#include "ui/text/format.h"

namespace quern::ui {
namespace {
constexpr int kProgressMs = 100;
constexpr int kNoticed =
    10;  // the part of an estimate by which a measured figure may differ unsaid

std::map<std::string, FileMark> marksOf(
    const std::vector<std::shared_ptr<const engine::LoadedModel>>& models) {
    std::map<std::string, FileMark> marks;
    for (const auto& model : models) {
        marks[model->name] = markOf(model->options.path);
    }
    return marks;
}

QVariantMap card(const engine::LoadedModel& model, const QString& fileStory) {
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
            {QStringLiteral("fileStory"), fileStory},
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
        this,
        [this] {
            auto models = m_engine.models();
            auto marks = marksOf(models);
            return std::pair(std::move(models), std::move(marks));
        },
        [this, prefer](auto found) {
            m_models = std::move(found.first);
            takeMarks(std::move(found.second));
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

void ModelHost::takeMarks(Marks marks) {
    std::erase_if(m_loadedFrom, [&](const auto& from) { return !marks.contains(from.first); });
    for (const auto& [name, mark] : marks) {
        m_loadedFrom.try_emplace(name, mark);  // one that was loaded by somebody else
    }
    m_filesNow = std::move(marks);
}

void ModelHost::lookAtFiles() {
    m_worker.ask(
        this, [models = m_models] { return marksOf(models); },
        [this](Marks marks) {
            std::erase_if(marks, [this](const auto& now) {
                return !m_loadedFrom.contains(now.first);  // unloaded meanwhile
            });
            if (marks != m_filesNow) {
                m_filesNow = std::move(marks);
                emit changed();
            }
        });
}

QString ModelHost::fileStory(const std::string& name) const {
    const auto from = m_loadedFrom.find(name);
    const auto now = m_filesNow.find(name);
    if (from == m_loadedFrom.end() || now == m_filesNow.end() || from->second == now->second) {
        return {};
    }
    return now->second.isThere
               ? tr("Its file was changed since it was loaded. What is loaded still answers; load "
                    "it anew to use the file as it is now.")
               : tr("Its file is gone. What is loaded still answers, until it is unloaded.");
}

std::vector<std::filesystem::path> ModelHost::paths() const {
    std::vector<std::filesystem::path> paths;
    for (const auto& model : m_models) {
        paths.push_back(model->options.path);
    }
    return paths;
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
            load->mark = markOf(load->options.path);
            return m_engine.load(load->options, [load](const engine::LoadProgress& progress) {
                load->stage = static_cast<int>(progress.stage);
                load->fraction = progress.fraction;
                return !load->isCancelled;
            });
        },
        [this](Result<std::shared_ptr<const engine::LoadedModel>> result) {
            const QString name = loadingName();
            if (result) {
                m_loadedFrom[(*result)->name] = m_load->mark;
            }
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
        cards.append(card(*model, fileStory(model->name)));
    }
    return cards;
}

QString ModelHost::loadingName() const {
    if (!m_load) {
        return {};
    }
    return QString::fromStdString(m_load->options.name.empty()
                                      ? engine::nameOfPath(m_load->options.path)
                                      : m_load->options.name);
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
