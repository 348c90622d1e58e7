#pragma once

#include <qqmlintegration.h>
#include <QObject>
#include <QString>
#include <QTimer>
#include <QVariant>

#include "ui/models/model_host.h"
#include "ui/ports/model_library.h"

namespace quern::ui {

/// The sheet before loading: the choices and what they take, itemized, against what is free now.
/// GUI thread; the estimate is made on the library worker.
class LoadSheet : public QObject {
    Q_OBJECT
    QML_ANONYMOUS
    Q_PROPERTY(bool isOpen READ isOpen NOTIFY openChanged)
    Q_PROPERTY(QString name READ name NOTIFY openChanged)
    Q_PROPERTY(int trainedContext READ trainedContext NOTIFY openChanged)
    Q_PROPERTY(QString longestContext READ longestContext NOTIFY openChanged)
    Q_PROPERTY(bool isQuantized READ isQuantized NOTIFY openChanged)
    Q_PROPERTY(int context READ context WRITE setContext NOTIFY optionsChanged)
    Q_PROPERTY(bool exactCache READ exactCache WRITE setExactCache NOTIFY optionsChanged)
    Q_PROPERTY(
        bool exactActivations READ exactActivations WRITE setExactActivations NOTIFY optionsChanged)
    Q_PROPERTY(int kvMebibytes READ kvMebibytes WRITE setKvMebibytes NOTIFY optionsChanged)
    Q_PROPERTY(QVariantList items READ items NOTIFY estimated)
    Q_PROPERTY(QString total READ total NOTIFY estimated)
    Q_PROPERTY(QString freeNow READ freeNow NOTIFY estimated)
    Q_PROPERTY(double fill READ fill NOTIFY estimated)
    Q_PROPERTY(QString fit READ fit NOTIFY estimated)
    Q_PROPERTY(QString advice READ advice NOTIFY estimated)
    Q_PROPERTY(QString holds READ holds NOTIFY estimated)
    Q_PROPERTY(QString problem MEMBER m_problem NOTIFY estimated)

public:
    LoadSheet(ModelLibrary& library, ModelHost& host, Worker& worker, QObject* parent = nullptr);

    void open(const engine::ModelInfo& info);
    Q_INVOKABLE void close();
    /// Loads with the choices made and closes the sheet.
    Q_INVOKABLE void confirm();

    [[nodiscard]] bool isOpen() const { return m_isOpen; }
    [[nodiscard]] QString name() const { return QString::fromStdString(m_info.name); }
    [[nodiscard]] int trainedContext() const { return static_cast<int>(m_info.contextTokens); }
    [[nodiscard]] QString longestContext() const;
    [[nodiscard]] bool isQuantized() const;
    [[nodiscard]] int context() const { return static_cast<int>(m_options.contextTokens); }
    void setContext(int tokens);
    [[nodiscard]] bool exactCache() const;
    void setExactCache(bool isExact);
    [[nodiscard]] bool exactActivations() const;
    void setExactActivations(bool isExact);
    [[nodiscard]] int kvMebibytes() const;  // 0: chosen from free memory
    void setKvMebibytes(int mebibytes);

    [[nodiscard]] QVariantList items() const;
    [[nodiscard]] QString total() const;
    [[nodiscard]] QString freeNow() const;
    [[nodiscard]] double fill() const;  // total over free
    [[nodiscard]] QString fit() const;  // "fits" "tight" "tooBig", empty while unknown
    [[nodiscard]] QString advice() const;
    [[nodiscard]] QString holds() const;

signals:
    void openChanged();
    void optionsChanged();
    void estimated();

private:
    void change();
    void estimate();

    ModelLibrary& m_library;
    ModelHost& m_host;
    Worker& m_worker;
    engine::ModelInfo m_info;
    engine::LoadOptions m_options;
    std::optional<engine::FitEstimate> m_estimate;
    QString m_problem;
    bool m_isOpen = false;
    quint64 m_asked = 0;  // the newest question; answers to older ones are dropped
};

}  // namespace quern::ui
