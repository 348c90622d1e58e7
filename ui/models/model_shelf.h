#pragma once

#include <qqmlintegration.h>
#include <QAbstractListModel>
#include <QUrl>
#include <filesystem>
#include <set>
#include <vector>

#include "ui/models/file_watch.h"
#include "ui/models/load_sheet.h"
#include "ui/models/model_host.h"
#include "ui/ports/model_library.h"

namespace quern::ui {

/// The models of this machine as cards. GUI thread; headers are read on the library worker.
class ModelShelf : public QAbstractListModel {
    Q_OBJECT
    QML_ANONYMOUS
    Q_PROPERTY(int count READ count NOTIFY listed)
    Q_PROPERTY(bool isReading MEMBER m_isReading NOTIFY listed)
    Q_PROPERTY(QString folder MEMBER m_folder NOTIFY listed)
    Q_PROPERTY(quern::ui::LoadSheet* sheet READ sheet CONSTANT)

public:
    enum Role {
        kName = Qt::UserRole,
        kPath,
        kArchitecture,
        kParameters,
        kQuantization,
        kSize,
        kContext,
        kLicense,
        kSource,
        kProblem,  // unreadable or unsupported, and why
        kFit,      // "fits" "tight" "tooBig", empty while unknown
        kIsLoaded,
        kIsAdded,
        kIsInPlace
    };

    ModelShelf(ModelLibrary& library, ModelHost& host, Worker& worker, Notices& notices,
               QObject* parent = nullptr);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QHash<int, QByteArray> roleNames() const override;
    [[nodiscard]] int count() const { return static_cast<int>(m_cards.size()); }
    [[nodiscard]] LoadSheet* sheet() { return &m_sheet; }

    /// Looks at the folders again, and forgets what is gone.
    Q_INVOKABLE void refresh();
    /// The same, and what was listed and is gone stays, and says so.
    void notice();
    /// Makes a file known in place and opens its load sheet.
    Q_INVOKABLE void addFile(const QUrl& file);
    Q_INVOKABLE void addPath(const QString& path);
    Q_INVOKABLE void forget(const QString& path);
    Q_INVOKABLE void openSheet(const QString& path);
    /// The load sheet of the model that chats use.
    Q_INVOKABLE void openSheetOfCurrent();
    /// Loads with the defaults, without a sheet.
    Q_INVOKABLE void quickLoad(const QString& path);

signals:
    void listed();

private:
    struct Card {
        LibraryModel model;
        QString fit;
    };

    void read(bool keepsGone);
    void show(std::vector<LibraryModel> models);
    /// Adds the cards of models whose files are gone, and says so.
    void addGone(const std::set<std::filesystem::path>& gone,
                 std::vector<LibraryModel>& models) const;
    void watch();

    ModelLibrary& m_library;
    ModelHost& m_host;
    Worker& m_worker;
    Notices& m_notices;
    LoadSheet m_sheet;
    FileWatch m_watch;
    std::vector<Card> m_cards;
    QString m_folder;
    QString m_openNext;  // path whose sheet opens once it is listed
    bool m_isReading = false;
};

}  // namespace quern::ui
