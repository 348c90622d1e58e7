#include "ui/monitor/kv_raster.h"

#include <gtest/gtest.h>

namespace quern::ui {
namespace {

KvPalette palette() {
    KvPalette palette;
    palette.free = qRgb(1, 1, 1);
    palette.shared = qRgb(2, 2, 2);
    palette.dot = qRgb(3, 3, 3);
    for (int i = 0; i < 8; ++i) {
        palette.held[static_cast<std::size_t>(i)] = qRgb(10 + i, 0, 0);
        palette.cached[static_cast<std::size_t>(i)] = qRgb(20 + i, 0, 0);
        palette.fresh[static_cast<std::size_t>(i)] = qRgb(30 + i, 0, 0);
    }
    return palette;
}

engine::KvMap mapOf(std::size_t cells) {
    engine::KvMap map;
    map.step = 100;
    map.cells.resize(cells);
    return map;
}

TEST(KvGrid, EveryCellHasItsOwnPlaceInsideThePicture) {
    for (const std::int64_t cells : {1LL, 7LL, 170LL, 2048LL, 8192LL, 100000LL}) {
        for (const QSize size : {QSize(1024, 366), QSize(700, 90), QSize(333, 777)}) {
            const KvGrid grid = kvGridFor(cells, size);
            SCOPED_TRACE(testing::Message()
                         << cells << " in " << size.width() << "x" << size.height());
            EXPECT_LE(grid.columns * grid.pitchX, size.width());
            EXPECT_LE(grid.rows * grid.pitchY, size.height());
            if (grid.cellsPerPixel == 1) {
                EXPECT_GE(static_cast<std::int64_t>(grid.columns) * grid.rows, cells);
            }
            for (std::int64_t cell = 0; cell < cells; cell += 1 + cells / 97) {
                const std::int64_t first = cell / grid.cellsPerPixel * grid.cellsPerPixel;
                EXPECT_EQ(grid.cellAt(grid.placeOf(cell), cells), first);
            }
        }
    }
}

TEST(KvGrid, FillsMostOfThePicture) {
    const KvGrid grid = kvGridFor(8192, QSize(1024, 366));
    EXPECT_GT(grid.columns * grid.pitchX, 1000);
    EXPECT_GT(grid.rows * grid.pitchY, 320);
}

TEST(KvGrid, NothingIsBesideTheGrid) {
    const KvGrid grid = kvGridFor(10, QSize(100, 100));
    EXPECT_EQ(grid.cellAt(QPoint(-1, 0), 10), -1);
    EXPECT_EQ(grid.cellAt(QPoint(5000, 5), 10), -1);
    EXPECT_EQ(kvGridFor(0, QSize(100, 100)).cellAt(QPoint(0, 0), 0), -1);
    EXPECT_EQ(kvGridFor(5, QSize(0, 0)).columns, 0);
}

TEST(KvRaster, StatesHaveTheirColours) {
    engine::KvMap map = mapOf(4);
    map.cells[1] = {.state = engine::BlockState::kCached, .color = 3};
    map.cells[2] = {.state = engine::BlockState::kHeld, .color = 4, .lastWrite = 90};
    map.cells[3] = {.state = engine::BlockState::kShared, .color = 4};
    const QSize size(120, 40);
    const KvGrid grid = kvGridFor(4, size);
    const QImage image = rasterizeKvMap(map, {}, grid, size, palette(), 95);
    const auto corner = [&](std::int64_t cell) { return image.pixel(grid.placeOf(cell)); };
    EXPECT_EQ(corner(0), qRgb(1, 1, 1));
    EXPECT_EQ(corner(1), qRgb(23, 0, 0));
    EXPECT_EQ(corner(2), qRgb(14, 0, 0));
    EXPECT_EQ(corner(3), qRgb(2, 2, 2));
    const QPoint middle = grid.placeOf(3) + QPoint(grid.cellWidth / 2, grid.cellHeight / 2);
    EXPECT_EQ(image.pixel(middle), qRgb(3, 3, 3)) << "a shared block has a dot";
    EXPECT_EQ(qAlpha(image.pixel(grid.placeOf(0) + QPoint(grid.pitchX - 1, 0))), 0) << "a gap";
}

TEST(KvRaster, AFreshWriteIsLighterAlsoWhereStepsWrapAround) {
    engine::KvMap map = mapOf(2);
    map.cells[0] = {.state = engine::BlockState::kHeld, .color = 0, .lastWrite = 3};
    map.cells[1] = {.state = engine::BlockState::kHeld, .color = 0, .lastWrite = 0xFFFFFFF0U};
    const QSize size(60, 20);
    const KvGrid grid = kvGridFor(2, size);
    const QImage image = rasterizeKvMap(map, {}, grid, size, palette(), 0xFFFFFFFEU);
    EXPECT_EQ(image.pixel(grid.placeOf(0)), qRgb(30, 0, 0));
    EXPECT_EQ(image.pixel(grid.placeOf(1)), qRgb(10, 0, 0));
}

TEST(KvRaster, APixelOfManyBlocksShowsTheHighestState) {
    engine::KvMap map = mapOf(1000000);
    const QSize size(500, 400);
    const KvGrid grid = kvGridFor(static_cast<std::int64_t>(map.cells.size()), size);
    ASSERT_EQ(grid.cellsPerPixel, 5);
    map.cells[7].state = engine::BlockState::kShared;
    map.cells[8].state = engine::BlockState::kHeld;
    map.cells[13].state = engine::BlockState::kCached;
    const QImage image = rasterizeKvMap(map, {}, grid, size, palette(), 0);
    EXPECT_EQ(image.pixel(0, 0), qRgb(1, 1, 1));
    EXPECT_EQ(image.pixel(1, 0), qRgb(2, 2, 2));
    EXPECT_EQ(image.pixel(2, 0), qRgb(20, 0, 0));
}

TEST(KvRaster, BySequenceGroupsOwnersAndPutsFreeLast) {
    engine::KvMap map = mapOf(5);
    map.cells[0] = {.state = engine::BlockState::kHeld, .owner = 9, .logicalIndex = 1};
    map.cells[2] = {.state = engine::BlockState::kHeld, .owner = 4, .logicalIndex = 0};
    map.cells[3] = {.state = engine::BlockState::kHeld, .owner = 9, .logicalIndex = 0};
    map.cells[4] = {.state = engine::BlockState::kCached, .owner = 1, .logicalIndex = 0};
    EXPECT_EQ(orderBySequence(map), (std::vector<std::uint32_t>{2, 3, 0, 4, 1}));
}

}  // namespace
}  // namespace quern::ui
