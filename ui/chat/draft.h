#pragma once

#include <QString>
#include <utility>

namespace quern::ui {

/// What stands in the composer: a new message, or another wording of one that was sent. Then the
/// message that was begun is kept aside until that ends. GUI thread.
class Draft {
public:
    [[nodiscard]] const QString& text() const { return m_text; }
    [[nodiscard]] std::string message() const { return m_text.trimmed().toStdString(); }
    void setText(const QString& text) { m_text = text; }

    /// The user's turn that the draft is another wording of; 0: none.
    [[nodiscard]] qint64 editing() const { return m_editing; }
    void beginEdit(qint64 turn, const QString& text) {
        if (m_editing == 0) {
            m_kept = m_text;
        }
        m_editing = turn;
        m_text = text;
    }
    void endEdit() {
        if (m_editing != 0) {
            m_editing = 0;
            m_text = std::exchange(m_kept, {});
        }
    }

private:
    QString m_text;
    QString m_kept;
    qint64 m_editing = 0;
};

}  // namespace quern::ui
