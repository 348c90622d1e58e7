#pragma once

#include <QColor>
#include <QImage>
#include <QPoint>
#include <QSize>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/snapshot.h"

namespace quern::ui {

/// How the cells of a KV map lie in a picture: whole device pixels, filling it as well as a grid
/// can. Where there are more cells than pixels, each pixel stands for `cellsPerPixel` of them.
struct KvGrid {
    int columns = 0;
    int rows = 0;
    int pitchX = 1;
    int pitchY = 1;
    int cellWidth = 1;
    int cellHeight = 1;
    std::int64_t cellsPerPixel = 1;

    /// The first cell drawn at a point, or −1 beside the grid and in it past the last cell.
    [[nodiscard]] std::int64_t cellAt(QPoint point, std::int64_t cells) const;
    /// Where a cell is drawn: its upper left pixel.
    [[nodiscard]] QPoint placeOf(std::int64_t cell) const;
};
[[nodiscard]] KvGrid kvGridFor(std::int64_t cells, QSize pixels);

/// Colours of the map, as plain pixels.
struct KvPalette {
    QRgb free = 0;
    QRgb shared = 0;
    QRgb dot = 0;  // in the middle of a shared cell: not by colour alone
    std::array<QRgb, 8> held{};
    std::array<QRgb, 8> cached{};  // evictable
    std::array<QRgb, 8> fresh{};   // held and just written
};

/// Draws the map. `order[i]` is the cell drawn at place i; empty: in physical order. Cells written
/// after step `freshAfter` (modulo 2³²) are lighter. A pixel of many cells shows the highest state.
[[nodiscard]] QImage rasterizeKvMap(const engine::KvMap& map, std::span<const std::uint32_t> order,
                                    const KvGrid& grid, QSize pixels, const KvPalette& palette,
                                    std::uint32_t freshAfter);

/// Cells sorted by owner and place in its sequence: held first, then cached, then free.
[[nodiscard]] std::vector<std::uint32_t> orderBySequence(const engine::KvMap& map);

}  // namespace quern::ui
