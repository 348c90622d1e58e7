#include "ui/text/markdown.h"

#include <md4c.h>

#include <QByteArray>

namespace quern::ui {
namespace {

constexpr auto kCodeMark = "\x01";  // cannot come from escaped text: control characters are dropped

QString escaped(const QString& text) {
    QString out;
    out.reserve(text.size());
    for (const QChar c : text) {
        if (c == u'<') {
            out += QStringLiteral("&lt;");
        } else if (c == u'>') {
            out += QStringLiteral("&gt;");
        } else if (c == u'&') {
            out += QStringLiteral("&amp;");
        } else if (c == u'"') {
            out += QStringLiteral("&quot;");
        } else if (c >= u' ' || c == u'\n' || c == u'\t') {
            out += c;
        }
    }
    return out;
}

QString attributeText(const MD_ATTRIBUTE& attribute) {
    return QString::fromUtf8(attribute.text, static_cast<qsizetype>(attribute.size));
}

/// Collects blocks while md4c walks the text. Lives for one parse.
class Builder {
public:
    QList<MarkdownBlock> blocks;

    void enterBlock(MD_BLOCKTYPE type, void* detail) {
        if (type == MD_BLOCK_DOC) {
            return;
        }
        if (m_depth++ == 0) {
            m_block = {};
            m_block.kind = kindOf(type);
        }
        switch (type) {
            case MD_BLOCK_H:
                m_block.level = static_cast<int>(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level);
                if (m_depth > 1) {
                    m_block.html += QStringLiteral("<p><b>");
                }
                break;
            case MD_BLOCK_QUOTE:
                if (m_depth > 1) {
                    m_block.html += QStringLiteral("<blockquote>");
                }
                break;
            case MD_BLOCK_UL:
                m_block.html += QStringLiteral("<ul style=\"margin-left:-16px\">");
                break;
            case MD_BLOCK_OL:
                m_block.html += QStringLiteral("<ol start=\"%1\" style=\"margin-left:-16px\">")
                                    .arg(static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start);
                break;
            case MD_BLOCK_LI: {
                const auto* item = static_cast<MD_BLOCK_LI_DETAIL*>(detail);
                m_block.html += QStringLiteral("<li>");
                if (item->is_task != 0) {
                    m_block.html +=
                        item->task_mark == ' ' ? QStringLiteral("☐ ") : QStringLiteral("☑ ");
                }
                break;
            }
            case MD_BLOCK_P:
                if (m_depth > 1) {
                    m_block.html += QStringLiteral("<p>");
                }
                break;
            case MD_BLOCK_CODE:
                if (m_depth > 1) {
                    m_block.html += QStringLiteral("<pre>");
                } else {
                    const auto* code = static_cast<MD_BLOCK_CODE_DETAIL*>(detail);
                    m_block.language = attributeText(code->lang);
                }
                break;
            case MD_BLOCK_TR:
                m_block.cells.append(QStringList());
                break;
            case MD_BLOCK_TH:
            case MD_BLOCK_TD:
                enterCell(*static_cast<MD_BLOCK_TD_DETAIL*>(detail));
                break;
            default:
                break;
        }
    }

    void leaveBlock(MD_BLOCKTYPE type) {
        if (type == MD_BLOCK_DOC) {
            return;
        }
        --m_depth;
        switch (type) {
            case MD_BLOCK_H:
                if (m_depth > 0) {
                    m_block.html += QStringLiteral("</b></p>");
                }
                break;
            case MD_BLOCK_QUOTE:
                if (m_depth > 0) {
                    m_block.html += QStringLiteral("</blockquote>");
                }
                break;
            case MD_BLOCK_UL:
                m_block.html += QStringLiteral("</ul>");
                break;
            case MD_BLOCK_OL:
                m_block.html += QStringLiteral("</ol>");
                break;
            case MD_BLOCK_LI:
                m_block.html += QStringLiteral("</li>");
                break;
            case MD_BLOCK_P:
                if (m_depth > 0) {
                    m_block.html += QStringLiteral("</p>");
                }
                break;
            case MD_BLOCK_CODE:
                if (m_depth > 0) {
                    m_block.html += QStringLiteral("</pre>");
                }
                break;
            case MD_BLOCK_TH:
            case MD_BLOCK_TD:
                m_block.cells.last().append(std::exchange(m_cell, QString()));
                m_isInCell = false;
                break;
            default:
                break;
        }
        if (m_depth == 0) {
            if (m_block.kind == BlockKind::kCode && m_block.code.endsWith(u'\n')) {
                m_block.code.chop(1);
            }
            blocks.append(std::move(m_block));
        }
    }

    void span(MD_SPANTYPE type, void* detail, bool isEntering) {
        QString tag;
        switch (type) {
            case MD_SPAN_EM:
                tag = QStringLiteral("i");
                break;
            case MD_SPAN_STRONG:
                tag = QStringLiteral("b");
                break;
            case MD_SPAN_DEL:
                tag = QStringLiteral("s");
                break;
            case MD_SPAN_U:
                tag = QStringLiteral("u");
                break;
            case MD_SPAN_CODE:
                out() += isEntering ? QStringLiteral("<span style=\"%1\">").arg(kCodeMark)
                                    : QStringLiteral("</span>");
                return;
            case MD_SPAN_A:
            case MD_SPAN_IMG: {
                if (!isEntering) {
                    out() += QStringLiteral("</a>");
                    return;
                }
                const MD_ATTRIBUTE& href = type == MD_SPAN_A
                                               ? static_cast<MD_SPAN_A_DETAIL*>(detail)->href
                                               : static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src;
                out() += QStringLiteral("<a href=\"%1\">").arg(escaped(attributeText(href)));
                return;
            }
            default:
                return;
        }
        out() += (isEntering ? QStringLiteral("<%1>") : QStringLiteral("</%1>")).arg(tag);
    }

    void text(MD_TEXTTYPE type, const QString& value) {
        if (m_block.kind == BlockKind::kCode && m_depth == 1) {
            m_block.code += value;
            return;
        }
        switch (type) {
            case MD_TEXT_BR:
            case MD_TEXT_SOFTBR:
                out() += type == MD_TEXT_BR ? QStringLiteral("<br/>") : QStringLiteral(" ");
                break;
            case MD_TEXT_NULLCHAR:
                out() += QChar(0xFFFD);
                break;
            case MD_TEXT_ENTITY:
                out() += value;
                break;
            default:
                out() += escaped(value);
        }
    }

private:
    static BlockKind kindOf(MD_BLOCKTYPE type) {
        switch (type) {
            case MD_BLOCK_H:
                return BlockKind::kHeading;
            case MD_BLOCK_UL:
            case MD_BLOCK_OL:
                return BlockKind::kList;
            case MD_BLOCK_QUOTE:
                return BlockKind::kQuote;
            case MD_BLOCK_CODE:
                return BlockKind::kCode;
            case MD_BLOCK_TABLE:
                return BlockKind::kTable;
            case MD_BLOCK_HR:
                return BlockKind::kRule;
            default:
                return BlockKind::kParagraph;
        }
    }

    void enterCell(const MD_BLOCK_TD_DETAIL& cell) {
        m_isInCell = true;
        if (m_block.cells.size() == 1) {
            m_block.alignments.append(cell.align == MD_ALIGN_RIGHT    ? int(Qt::AlignRight)
                                      : cell.align == MD_ALIGN_CENTER ? int(Qt::AlignHCenter)
                                                                      : int(Qt::AlignLeft));
        }
    }

    QString& out() { return m_isInCell ? m_cell : m_block.html; }

    MarkdownBlock m_block;
    QString m_cell;
    int m_depth = 0;
    bool m_isInCell = false;
};

}  // namespace

QList<MarkdownBlock> parseMarkdown(const QString& text) {
    MD_PARSER parser{};
    parser.flags = MD_FLAG_NOHTML | MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS |
                   MD_FLAG_PERMISSIVEURLAUTOLINKS;
    parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* builder) {
        static_cast<Builder*>(builder)->enterBlock(type, detail);
        return 0;
    };
    parser.leave_block = [](MD_BLOCKTYPE type, void*, void* builder) {
        static_cast<Builder*>(builder)->leaveBlock(type);
        return 0;
    };
    parser.enter_span = [](MD_SPANTYPE type, void* detail, void* builder) {
        static_cast<Builder*>(builder)->span(type, detail, true);
        return 0;
    };
    parser.leave_span = [](MD_SPANTYPE type, void* detail, void* builder) {
        static_cast<Builder*>(builder)->span(type, detail, false);
        return 0;
    };
    parser.text = [](MD_TEXTTYPE type, const MD_CHAR* chars, MD_SIZE size, void* builder) {
        static_cast<Builder*>(builder)->text(
            type, QString::fromUtf8(chars, static_cast<qsizetype>(size)));
        return 0;
    };
    const QByteArray utf8 = text.toUtf8();
    Builder builder;
    if (md_parse(utf8.constData(), static_cast<MD_SIZE>(utf8.size()), &parser, &builder) != 0) {
        MarkdownBlock plain;
        plain.html = escaped(text);
        return {plain};
    }
    return builder.blocks;
}

QString tinted(const QString& html, const QString& monoFamily, int monoPixels,
               const QString& codeBackground) {
    QString out = html;
    return out.replace(QLatin1String(kCodeMark),
                       QStringLiteral("font-family:'%1'; font-size:%2px; background-color:%3;")
                           .arg(monoFamily)
                           .arg(monoPixels)
                           .arg(codeBackground));
}

}  // namespace quern::ui
