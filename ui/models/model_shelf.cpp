#include "ui/models/model_shelf.h"

#include <algorithm>

#include "ui/models/fit_words.h"
#include "ui/text/format.h"

namespace quern::ui {

ModelShelf::ModelShelf(ModelLibrary& library, ModelHost& host, Worker& worker, Notices& notices,
                       QObject* parent)
    : QAbstractListModel(parent),
      m_library(library),
      m_host(host),
      m_worker(worker),
      m_notices(notices),
      m_sheet(library, host, worker),
      m_folder(QString::fromStdString(library.folder().string())) {
    connect(&host, &ModelHost::changed, this, [this] {
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
            return QString::fromStdString(info.name.empty() ? info.path.stem().string()
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
    m_isReading = true;
    emit listed();
    m_worker.ask(
        this, [this] { return m_library.list(); },
        [this](Result<std::vector<LibraryModel>> result) {
            m_isReading = false;
            if (result) {
                show(std::move(*result));
            } else {
                m_notices.show(tr("The models folder could not be read."), result.error());
            }
            emit listed();
        });
}

void ModelShelf::show(std::vector<LibraryModel> models) {
    beginResetModel();
    m_cards.clear();
    for (LibraryModel& model : models) {
        m_cards.push_back({std::move(model), QString()});
    }
    endResetModel();
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
