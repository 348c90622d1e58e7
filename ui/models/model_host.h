#pragma once

#include <qqmlintegration.h>
#include <QObject>
#include <QString>
#include <QTimer>
#include <QVariant>
#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "ui/core/notices.h"
#include "ui/core/worker.h"
#include "ui/models/file_mark.h"

namespace quern::ui {

/// Which models are loaded, which one chats use, and the load under way. GUI thread; the engine is
/// called on the load worker.
class ModelHost : public QObject {
    Q_OBJECT
    QML_ANONYMOUS
    Q_PROPERTY(bool hasModel READ hasModel NOTIFY changed)
    Q_PROPERTY(QString current READ currentName NOTIFY changed)
    Q_PROPERTY(QString currentTitle READ currentTitle NOTIFY changed)
    Q_PROPERTY(QVariantList loaded READ loadedCards NOTIFY changed)
    Q_PROPERTY(bool isLoading READ isLoading NOTIFY loadingChanged)
    Q_PROPERTY(QString loadingName READ loadingName NOTIFY loadingChanged)
    Q_PROPERTY(QString loadStage READ loadStage NOTIFY progressed)
    Q_PROPERTY(double loadFraction READ loadFraction NOTIFY progressed)
    Q_PROPERTY(QString busyUnloading MEMBER m_unloading NOTIFY loadingChanged)

public:
    ModelHost(engine::Engine& engine, Worker& worker, Notices& notices, QObject* parent = nullptr);
    ~ModelHost() override;

    /// Loads with these options, in place of a loaded model of the same name. One load at a time.
    void load(const engine::LoadOptions& options);
    Q_INVOKABLE void cancelLoad();
    Q_INVOKABLE void unload(const QString& name);
    /// Chats use this loaded model from now on.
    Q_INVOKABLE void select(const QString& name);

    [[nodiscard]] std::shared_ptr<const engine::LoadedModel> current() const { return m_current; }
    [[nodiscard]] bool hasModel() const { return m_current != nullptr; }
    [[nodiscard]] QString currentName() const;
    [[nodiscard]] QString currentTitle() const;  // "smollm2 · Q4_1"
    [[nodiscard]] QVariantList loadedCards() const;
    [[nodiscard]] bool isLoading() const { return m_load != nullptr; }
    [[nodiscard]] QString loadingName() const;
    [[nodiscard]] QString loadStage() const;
    [[nodiscard]] double loadFraction() const;
    /// Looks whether the files of loaded models are still as they were loaded.
    void lookAtFiles();
    /// Of the loaded models.
    [[nodiscard]] std::vector<std::filesystem::path> paths() const;
    [[nodiscard]] bool isLoadedPath(const std::filesystem::path& path) const;

signals:
    void changed();
    void loadingChanged();
    void progressed();

private:
    /// Shared with the load worker: what it reports and whether it should go on.
    struct Load {
        engine::LoadOptions options;
        std::atomic<int> stage{0};
        std::atomic<double> fraction{0};
        std::atomic<bool> isCancelled{false};
        FileMark mark;  // of the file as it was before; the worker's until the load has ended
    };

    using Marks = std::map<std::string, FileMark>;  // by a model's name

    void refresh(const std::string& prefer);
    void takeMarks(Marks marks);
    /// What became of a model's file since it was loaded; empty: nothing.
    [[nodiscard]] QString fileStory(const std::string& name) const;

    engine::Engine& m_engine;
    Worker& m_worker;
    Notices& m_notices;
    QTimer m_tick;
    std::vector<std::shared_ptr<const engine::LoadedModel>> m_models;
    std::shared_ptr<const engine::LoadedModel> m_current;
    std::shared_ptr<Load> m_load;
    Marks m_loadedFrom;
    Marks m_filesNow;
    QString m_unloading;
};

}  // namespace quern::ui
