#include "ui/models/model_shelf.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "ui/models/fit_words.h"
#include "ui/text/format.h"

namespace quern::ui {
namespace {

/// Whether two models have the same card.
bool looksLike(const LibraryModel& one, const LibraryModel& other) {
    const auto shown = [](const LibraryModel& model) {
        const engine::ModelInfo& info = model.info;
        return std::tie(info.path, info.name, info.architecture, info.parameters, info.quantization,
                        info.fileBytes, info.contextTokens, info.license, info.isSupported,
                        info.whyNot, model.source, model.problem, model.isAdded, model.isInPlace);
    };
    return shown(one) == shown(other);
}

}  // namespace

ModelShelf::ModelShelf(ModelLibrary& library, ModelHost& host, Worker& worker, Notices& notices,
                       QObject* parent)
    : QAbstractListModel(parent),
      m_library(library),
      m_host(host),
      m_worker(worker),
      m_notices(notices),
      m_sheet(library, host, worker),
      m_folder(QString::fromStdString(library.folder().string())) {
    connect(&m_watch, &FileWatch::changed, this, &ModelShelf::notice);
    connect(&host, &ModelHost::changed, this, [this] {
        watch();
        if (!m_cards.empty()) {
            emit dataChanged(index(0), index(count() - 1), {kIsLoaded});
        }
    });
    refresh();
}

int ModelShelf::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : count();
}

QHash<int, QByteArray> ModelShelf::roleNames() const {
    return {{kName, "name"},
            {kPath, "path"},
            {kArchitecture, "architecture"},
            {kParameters, "parameters"},
            {kQuantization, "quantization"},
            {kSize, "size"},
            {kContext, "context"},
            {kLicense, "license"},
            {kSource, "source"},
            {kProblem, "problem"},
            {kFit, "fit"},
            {kIsLoaded, "isLoaded"},
            {kIsAdded, "isAdded"},
            {kIsInPlace, "isInPlace"}};
}

QVariant ModelShelf::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= count()) {
        return {};
    }
    const Card& card = m_cards[static_cast<std::size_t>(index.row())];
    const engine::ModelInfo& info = card.model.info;
    switch (role) {
        case kName:
            return QString::fromStdString(info.name.empty() ? engine::nameOfPath(info.path)
                                                            : info.name);
        case kPath:
            return QString::fromStdString(info.path.string());
        case kArchitecture:
            return QString::fromStdString(info.architecture);
        case kParameters:
            return info.parameters > 0 ? formatParameters(info.parameters) : QString();
        case kQuantization:
            return QString::fromStdString(info.quantization);
        case kSize:
            return info.fileBytes > 0 ? formatBytes(info.fileBytes) : QString();
        case kContext:
            return info.contextTokens > 0 ? formatCount(info.contextTokens) : QString();
        case kLicense:
            return QString::fromStdString(info.license);
        case kSource:
            return QString::fromStdString(card.model.source);
        case kProblem:
            return QString::fromStdString(!card.model.problem.empty() ? card.model.problem
                                          : info.isSupported          ? std::string()
                                                                      : info.whyNot);
        case kFit:
            return card.fit;
        case kIsLoaded:
            return m_host.isLoadedPath(info.path);
        case kIsAdded:
            return card.model.isAdded;
        case kIsInPlace:
            return card.model.isInPlace;
        default:
            return {};
    }
}

void ModelShelf::refresh() {
    read(false);
}

void ModelShelf::notice() {
    m_host.lookAtFiles();
    read(true);
}

void ModelShelf::read(bool keepsGone) {
    struct Found {
        Result<std::vector<LibraryModel>> models;
        std::set<std::filesystem::path> gone;
    };
    std::vector<std::filesystem::path> known;
    for (const Card& card : m_cards) {
        if (keepsGone) {
            known.push_back(card.model.info.path);
        }
    }
    m_isReading = true;
    emit listed();
    m_worker.ask(
        this,
        [this, known] {
            Found found{.models = m_library.list(), .gone = {}};
            std::copy_if(known.begin(), known.end(), std::inserter(found.gone, found.gone.end()),
                         [](const auto& path) { return !markOf(path).isThere; });
            return found;
        },
        [this](Found found) {
            m_isReading = false;
            if (found.models) {
                addGone(found.gone, *found.models);
                show(std::move(*found.models));
            } else {
                m_notices.show(tr("The models folder could not be read."), found.models.error());
            }
            emit listed();
        });
}

void ModelShelf::addGone(const std::set<std::filesystem::path>& gone,
                         std::vector<LibraryModel>& models) const {
    std::erase_if(models,
                  [&gone](const LibraryModel& model) { return gone.contains(model.info.path); });
    for (const Card& card : m_cards) {
        if (gone.contains(card.model.info.path)) {
            models.push_back(card.model);
            models.back().problem = tr("Its file is gone.").toStdString();
        }
    }
}

void ModelShelf::watch() {
    std::vector<std::filesystem::path> paths = m_host.paths();
    paths.emplace_back(m_folder.toStdString());
    for (const Card& card : m_cards) {
        paths.push_back(card.model.info.path);
    }
    m_watch.watch(paths);
}

void ModelShelf::show(std::vector<LibraryModel> models) {
    // Cards that stay as they are keep their place, and the keys that are at them.
    if (!std::equal(models.begin(), models.end(), m_cards.begin(), m_cards.end(),
                    [](const LibraryModel& model, const Card& card) {
                        return looksLike(model, card.model);
                    })) {
        beginResetModel();
        m_cards.clear();
        for (LibraryModel& model : models) {
            m_cards.push_back({std::move(model), QString()});
        }
        endResetModel();
    }
    watch();
    for (const Card& card : m_cards) {
        if (!card.model.problem.empty() || !card.model.info.isSupported) {
            continue;
        }
        engine::LoadOptions options;
        options.path = card.model.info.path;
        m_worker.ask(
            this, [this, options] { return m_library.estimate(options); },
            [this, path = options.path](Result<engine::FitEstimate> result) {
                for (std::size_t row = 0; result && row < m_cards.size(); ++row) {
                    if (m_cards[row].model.info.path == path) {
                        m_cards[row].fit = fitName(result->fit);
                        emit dataChanged(index(static_cast<int>(row)), index(static_cast<int>(row)),
                                         {kFit});
                    }
                }
            });
    }
    if (!m_openNext.isEmpty()) {
        openSheet(std::exchange(m_openNext, QString()));
    }
}

void ModelShelf::addFile(const QUrl& file) {
    addPath(file.isLocalFile() ? file.toLocalFile() : file.toString());
}

void ModelShelf::addPath(const QString& path) {
    m_worker.ask(
        this, [this, file = path.toStdString()] { return m_library.add(file); },
        [this, path](Status result) {
            if (!result) {
                m_notices.show(tr("This file cannot be used as a model."), result.error());
                return;
            }
            m_openNext = path;
            refresh();
        });
}

void ModelShelf::forget(const QString& path) {
    m_worker.ask(
        this, [this, file = path.toStdString()] { return m_library.forget(file); },
        [this](Status result) {
            if (!result) {
                m_notices.show(tr("The model could not be taken off the list."), result.error());
            }
            refresh();
        });
}

void ModelShelf::openSheet(const QString& path) {
    for (const Card& card : m_cards) {
        if (card.model.info.path == path.toStdString()) {
            m_sheet.open(card.model.info);
            return;
        }
    }
}

void ModelShelf::openSheetOfCurrent() {
    if (m_host.hasModel()) {
        m_sheet.open(m_host.current()->info);
    }
}

void ModelShelf::quickLoad(const QString& path) {
    engine::LoadOptions options;
    options.path = path.toStdString();
    m_host.load(options);
}

}  // namespace quern::ui
