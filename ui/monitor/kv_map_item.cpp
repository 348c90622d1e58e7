#include "ui/monitor/kv_map_item.h"

#include <QPointer>
#include <QQuickWindow>
#include <QSGImageNode>
#include <chrono>
#include <deque>

#include "ui/look/theme.h"
#include "ui/text/format.h"

namespace quern::ui {
namespace {

constexpr int kFrameMs = 33;
constexpr std::chrono::milliseconds kFreshFor{250};
using Clock = std::chrono::steady_clock;

KvPalette paletteOf(const Theme& theme) {
    KvPalette palette;
    palette.free = theme.line().rgb();
    palette.shared = theme.ink().rgb();
    palette.dot = theme.surface().rgb();
    const QList<QColor> hues = theme.sequences();
    for (std::size_t i = 0; i < palette.held.size(); ++i) {
        const QColor& hue = hues[static_cast<qsizetype>(i)];
        palette.held[i] = hue.rgb();
        palette.cached[i] = theme.mix(hue, theme.surface(), 0.3).rgb();
        palette.fresh[i] =
            theme.mix(hue, theme.isDark() ? theme.ink() : theme.surface(), 0.55).rgb();
    }
    return palette;
}

QString story(const engine::KvMap& map, std::int64_t at) {
    const engine::BlockCell& cell = map.cells[static_cast<std::size_t>(at)];
    const QString block = KvMapItem::tr("Block %1").arg(formatCount(at));
    const int blockTokens = Monitor::kBlockTokens;
    const QString tokens =
        KvMapItem::tr("tokens %1–%2")
            .arg(formatCount(static_cast<std::int64_t>(cell.logicalIndex) * blockTokens),
                 formatCount(static_cast<std::int64_t>(cell.logicalIndex + 1) * blockTokens - 1));
    const QString written = KvMapItem::tr("written %n step(s) ago", nullptr,
                                          static_cast<int>(map.step - cell.lastWrite));
    switch (cell.state) {
        case engine::BlockState::kFree:
            return KvMapItem::tr("%1: free").arg(block);
        case engine::BlockState::kCached:
            return KvMapItem::tr("%1: cached from request %2, %3, can be evicted, %4")
                .arg(block, formatCount(static_cast<std::int64_t>(cell.owner)), tokens, written);
        case engine::BlockState::kShared:
            return KvMapItem::tr("%1: shared prefix, %2, held by %n request(s), %3", nullptr,
                                 cell.sharers)
                .arg(block, tokens, written);
        default:
            return KvMapItem::tr("%1: request %2, %3, %4")
                .arg(block, formatCount(static_cast<std::int64_t>(cell.owner)), tokens, written);
    }
}

}  // namespace

struct KvMapItem::Drawn {
    QImage image;
    KvGrid grid;
    std::int64_t cells = 0;
    QString story;
};

struct KvMapItem::Fold {
    std::string model;
    std::int32_t group = 0;
    engine::KvMap map;
    std::vector<std::uint32_t> order;
    std::deque<std::pair<Clock::time_point, std::uint32_t>> steps;

    /// The newest step that is no longer fresh.
    std::uint32_t freshAfter(Clock::time_point now) {
        if (steps.empty() || steps.back().second != map.step) {
            steps.emplace_back(now, map.step);
        }
        while (steps.size() > 1 && now - steps[1].first >= kFreshFor) {
            steps.pop_front();
        }
        return steps.front().second;
    }
};

KvMapItem::KvMapItem(QQuickItem* parent) : QQuickItem(parent), m_fold(std::make_shared<Fold>()) {
    setFlag(ItemHasContents);
    m_timer.setInterval(kFrameMs);
    connect(&m_timer, &QTimer::timeout, this, &KvMapItem::refresh);
    connect(this, &KvMapItem::changed, this, &KvMapItem::retime);
}

void KvMapItem::setMonitor(Monitor* monitor) {
    if (m_monitor == monitor) {
        return;
    }
    m_monitor = monitor;
    if (monitor != nullptr) {
        connect(&monitor->theme(), &Theme::changed, this, &KvMapItem::refresh);
        connect(monitor, &Monitor::pausedChanged, this, &KvMapItem::retime);
    }
    emit changed();
}

void KvMapItem::retime() {
    if (m_monitor != nullptr && isVisible() && !m_monitor->isPaused()) {
        m_timer.start();
    } else {
        m_timer.stop();
    }
    refresh();
}

void KvMapItem::itemChange(ItemChange change, const ItemChangeData& value) {
    if (change == ItemVisibleHasChanged) {
        retime();
    }
    QQuickItem::itemChange(change, value);
}

void KvMapItem::geometryChange(const QRectF& now, const QRectF& before) {
    QQuickItem::geometryChange(now, before);
    if (now.size() != before.size()) {
        refresh();
    }
}

void KvMapItem::refresh() {
    if (m_monitor == nullptr || !isVisible() || width() < 1 || height() < 1 || m_model.isEmpty()) {
        return;
    }
    if (m_isDrawing) {
        m_isStale = true;
        return;
    }
    m_isDrawing = true;
    m_isStale = false;
    const qreal ratio = window() != nullptr ? window()->effectiveDevicePixelRatio() : 1.0;
    const QSize pixels(qRound(width() * ratio), qRound(height() * ratio));
    // The item may go before the picture is done: the monitor outlives the workers.
    m_monitor->worker().ask(
        m_monitor,
        [&engine = m_monitor->engine(), fold = m_fold, model = m_model.toStdString(),
         group = m_group, bySequence = m_bySequence, isPaused = m_monitor->isPaused(), pixels,
         cell = m_cell, palette = paletteOf(m_monitor->theme())]() {
            if (fold->model != model || fold->group != group) {
                *fold = Fold{};
                fold->model = model;
                fold->group = group;
            }
            Drawn drawn;
            // Paused, it is drawn again as it was: in another order or size, with a block named.
            const bool isKept = isPaused && fold->map.version != 0;
            if (!isKept && !engine.foldKvMap(model, group, fold->map)) {
                *fold = Fold{};
                return drawn;  // the model has just been unloaded
            }
            fold->order = bySequence ? orderBySequence(fold->map) : std::vector<std::uint32_t>{};
            drawn.cells = static_cast<std::int64_t>(fold->map.cells.size());
            drawn.grid = kvGridFor(drawn.cells, pixels);
            drawn.image = rasterizeKvMap(fold->map, fold->order, drawn.grid, pixels, palette,
                                         fold->freshAfter(Clock::now()));
            if (cell >= 0 && cell < drawn.cells) {
                const auto place = static_cast<std::size_t>(cell);
                drawn.story = story(fold->map, bySequence ? fold->order[place] : cell);
            }
            return drawn;
        },
        [self = QPointer<KvMapItem>(this), ratio](Drawn drawn) {
            if (self) {
                self->take(std::move(drawn), ratio);
            }
        });
}

void KvMapItem::take(Drawn drawn, qreal ratio) {
    m_isDrawing = false;
    m_grid = drawn.grid;
    m_cells = drawn.cells;
    m_image = std::move(drawn.image);
    m_image.setDevicePixelRatio(ratio);
    m_isImageNew = true;
    if (drawn.story != m_cellStory) {
        m_cellStory = drawn.story;
        emit cellChanged();
    }
    update();
    if (m_isStale) {
        refresh();
    }
}

QSGNode* KvMapItem::updatePaintNode(QSGNode* node, UpdatePaintNodeData*) {
    auto* picture = static_cast<QSGImageNode*>(node);
    if (m_image.isNull()) {
        delete picture;
        return nullptr;
    }
    if (picture == nullptr) {
        picture = window()->createImageNode();
        picture->setOwnsTexture(true);
        picture->setFiltering(QSGTexture::Nearest);
        m_isImageNew = true;
    }
    if (m_isImageNew) {
        picture->setTexture(window()->createTextureFromImage(m_image));
        m_isImageNew = false;
    }
    picture->setRect(QRectF(QPointF(), QSizeF(m_image.size()) / m_image.devicePixelRatio()));
    return picture;
}

void KvMapItem::pointAt(qreal x, qreal y) {
    const qreal ratio = m_image.isNull() ? 1.0 : m_image.devicePixelRatio();
    m_cell =
        m_grid.cellAt(QPoint(static_cast<int>(x * ratio), static_cast<int>(y * ratio)), m_cells);
    tellCell();
}

void KvMapItem::pointAway() {
    m_cell = -1;
    tellCell();
}

void KvMapItem::step(int columns, int rows) {
    if (m_cells <= 0) {
        return;
    }
    const std::int64_t by =
        (columns + static_cast<std::int64_t>(rows) * m_grid.columns) * m_grid.cellsPerPixel;
    m_cell = std::clamp<std::int64_t>(std::max<std::int64_t>(m_cell, 0) + by, 0, m_cells - 1);
    tellCell();
}

void KvMapItem::tellCell() {
    if (m_cell < 0) {
        m_cellStory.clear();
    }
    emit cellChanged();
    refresh();
}

QRectF KvMapItem::cellRect() const {
    if (m_cell < 0 || m_image.isNull()) {
        return {};
    }
    const qreal ratio = m_image.devicePixelRatio();
    const QPoint place = m_grid.placeOf(m_cell);
    return {place.x() / ratio, place.y() / ratio, m_grid.cellWidth / ratio,
            m_grid.cellHeight / ratio};
}

}  // namespace quern::ui
