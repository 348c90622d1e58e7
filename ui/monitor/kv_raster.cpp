#include "ui/monitor/kv_raster.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace quern::ui {
namespace {

constexpr int kLargestPitch = 26;
constexpr int kDotFrom = 5;  // smaller cells have no room for a dot

int gapFor(int pitch) {
    return pitch < 3 ? 0 : std::max(1, pitch / 5 + (pitch >= 6 ? 1 : 0));
}

int rank(engine::BlockState state) {
    return static_cast<int>(state);
}

QRgb colorOf(const engine::BlockCell& cell, const KvPalette& palette, std::uint32_t freshAfter) {
    const std::size_t hue = cell.color % palette.held.size();
    switch (cell.state) {
        case engine::BlockState::kShared:
            return palette.shared;
        case engine::BlockState::kCached:
            return palette.cached[hue];
        case engine::BlockState::kHeld:
            // Steps count modulo 2³²: later means ahead by less than half the circle.
            return static_cast<std::int32_t>(cell.lastWrite - freshAfter) > 0 ? palette.fresh[hue]
                                                                              : palette.held[hue];
        default:
            return palette.free;
    }
}

QRgb* line(QImage& image, int y) {
    return reinterpret_cast<QRgb*>(image.scanLine(y));
}

}  // namespace

std::int64_t KvGrid::cellAt(QPoint point, std::int64_t cells) const {
    if (point.x() < 0 || point.y() < 0) {
        return -1;
    }
    const int column = point.x() / pitchX;
    const int row = point.y() / pitchY;
    if (column >= columns || row >= rows) {
        return -1;
    }
    const std::int64_t cell = (static_cast<std::int64_t>(row) * columns + column) * cellsPerPixel;
    return cell < cells ? cell : -1;
}

QPoint KvGrid::placeOf(std::int64_t cell) const {
    const std::int64_t place = cell / cellsPerPixel;
    return columns > 0 ? QPoint(static_cast<int>(place % columns) * pitchX,
                                static_cast<int>(place / columns) * pitchY)
                       : QPoint();
}

KvGrid kvGridFor(std::int64_t cells, QSize pixels) {
    KvGrid grid;
    if (cells <= 0 || pixels.width() <= 0 || pixels.height() <= 0) {
        return grid;
    }
    for (int pitch = std::min(kLargestPitch, pixels.width()); pitch >= 2; --pitch) {
        const int columns = pixels.width() / pitch;
        const std::int64_t rows = (cells + columns - 1) / columns;
        const std::int64_t tall = pixels.height() / rows;
        if (tall >= pitch) {
            grid.columns = columns;
            grid.rows = static_cast<int>(rows);
            grid.pitchX = pitch;
            grid.pitchY = static_cast<int>(std::min<std::int64_t>(tall, pitch + pitch / 2));
            grid.cellWidth = pitch - gapFor(pitch);
            grid.cellHeight = grid.pitchY - gapFor(pitch);
            return grid;
        }
    }
    const std::int64_t area = static_cast<std::int64_t>(pixels.width()) * pixels.height();
    grid.cellsPerPixel = std::max<std::int64_t>(1, (cells + area - 1) / area);
    grid.columns = pixels.width();
    const std::int64_t shown = (cells + grid.cellsPerPixel - 1) / grid.cellsPerPixel;
    grid.rows = static_cast<int>((shown + grid.columns - 1) / grid.columns);
    return grid;
}

QImage rasterizeKvMap(const engine::KvMap& map, std::span<const std::uint32_t> order,
                      const KvGrid& grid, QSize pixels, const KvPalette& palette,
                      std::uint32_t freshAfter) {
    QImage image(pixels, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
    const auto cells = static_cast<std::int64_t>(map.cells.size());
    const auto cellAt = [&](std::int64_t place) -> const engine::BlockCell& {
        const auto at = static_cast<std::size_t>(place);
        return map.cells[order.empty() ? at : order[at]];
    };
    std::int64_t place = 0;
    for (int row = 0; row < grid.rows && place < cells; ++row) {
        QRgb* first = line(image, row * grid.pitchY);
        for (int column = 0; column < grid.columns && place < cells; ++column) {
            const engine::BlockCell* top = &cellAt(place);
            const std::int64_t end = std::min(cells, place + grid.cellsPerPixel);
            for (std::int64_t other = place + 1; other < end; ++other) {
                const engine::BlockCell& cell = cellAt(other);
                top = rank(cell.state) > rank(top->state) ? &cell : top;
            }
            place = end;
            std::fill_n(first + column * grid.pitchX, grid.cellWidth,
                        colorOf(*top, palette, freshAfter));
        }
        for (int y = 1; y < grid.cellHeight; ++y) {
            std::copy_n(first, grid.columns * grid.pitchX, line(image, row * grid.pitchY + y));
        }
    }
    if (grid.cellsPerPixel == 1 && grid.cellWidth >= kDotFrom) {
        const int dot = std::max(1, grid.cellWidth / 4);
        for (std::int64_t at = 0; at < cells; ++at) {
            if (cellAt(at).state != engine::BlockState::kShared) {
                continue;
            }
            const QPoint corner = grid.placeOf(at);
            for (int y = 0; y < dot; ++y) {
                std::fill_n(line(image, corner.y() + (grid.cellHeight - dot) / 2 + y) + corner.x() +
                                (grid.cellWidth - dot) / 2,
                            dot, palette.dot);
            }
        }
    }
    return image;
}

std::vector<std::uint32_t> orderBySequence(const engine::KvMap& map) {
    std::vector<std::uint32_t> order(map.cells.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto key = [&](std::uint32_t at) {
        const engine::BlockCell& cell = map.cells[at];
        const int group = cell.state == engine::BlockState::kFree     ? 2
                          : cell.state == engine::BlockState::kCached ? 1
                                                                      : 0;
        return std::tuple(group, group == 2 ? 0 : cell.owner, group == 2 ? 0 : cell.logicalIndex,
                          at);
    };
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    return order;
}

}  // namespace quern::ui
