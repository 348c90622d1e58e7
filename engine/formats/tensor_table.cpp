#include "engine/formats/tensor_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/quant.h"

namespace quern::engine {

std::optional<kernels::TensorView> TensorTable::find(std::string_view name) const {
    const auto found = m_views.find(name);
    return found == m_views.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> TensorTable::names() const {
    std::vector<std::string> names;
    names.reserve(m_views.size());
    for (const auto& [name, view] : m_views) {
        names.push_back(name);
    }
    return names;
}

void TensorTable::releasePages() const {
    for (const KeptFile& kept : m_files) {
        kept.release();
    }
}

void TensorTable::keepFile(std::shared_ptr<const void> file, std::function<void()> release) {
    m_files.push_back({.file = std::move(file), .release = std::move(release)});
}

void TensorTable::set(std::string name, const kernels::TensorView& view) {
    m_views.insert_or_assign(std::move(name), view);
}

void TensorTable::remove(std::string_view name) {
    if (const auto found = m_views.find(name); found != m_views.end()) {
        m_views.erase(found);
    }
}

std::span<std::byte> TensorTable::allocate(std::size_t bytes) {
    auto data = std::make_unique_for_overwrite<std::byte[]>(bytes);
    std::byte* begin = data.get();
    m_owned[begin] = {.data = std::move(data), .bytes = bytes, .used = bytes};
    return {begin, bytes};
}

std::int64_t TensorTable::allocatedBytes() const {
    std::size_t bytes = 0;
    for (const auto& [begin, owned] : m_owned) {
        bytes += owned.bytes;
    }
    return static_cast<std::int64_t>(bytes);
}

void TensorTable::release(const kernels::TensorView& view) {
    // The last that begins at or before the view.
    const auto found = m_owned.lower_bound(view.data);
    if (found == m_owned.end() || view.data >= found->first + found->second.bytes) {
        return;  // of a file
    }
    const auto bytes =
        static_cast<std::size_t>(kernels::rowBytes(view.type, view.shape.elements()).value_or(0));
    Owned& owned = found->second;
    owned.used -= std::min(owned.used, bytes);
    if (owned.used == 0) {
        m_owned.erase(found);
    }
}

kernels::TensorView rowSlice(const kernels::TensorView& view, std::int64_t first,
                             std::int64_t count) {
    const bool isVector = view.shape.rank == 1;
    const std::int64_t cols = isVector ? 1 : view.shape.cols();
    const auto& traits = kernels::traits(view.type);
    kernels::TensorView slice = view;
    // A vector is never in a block format, so an element is traits.blockBytes.
    slice.data += first * (cols / traits.blockElements) * traits.blockBytes;
    slice.shape = isVector ? kernels::Shape{.dims = {count, 1, 1, 1}, .rank = 1}
                           : kernels::Shape{.dims = {count, cols, 1, 1}, .rank = 2};
    return slice;
}

kernels::TensorView gatherRows(TensorTable& table, const kernels::TensorView& view,
                               std::span<const RowRun> runs) {
    const auto bytesOf = [&](std::int64_t rows) {
        return static_cast<std::size_t>(rowSlice(view, rows, 1).data - view.data);
    };
    std::int64_t rows = 0;
    for (const RowRun& run : runs) {
        rows += run.count;
    }
    const std::span<std::byte> memory = table.allocate(bytesOf(rows));
    std::byte* to = memory.data();
    for (const RowRun& run : runs) {
        std::memcpy(to, rowSlice(view, run.first, run.count).data, bytesOf(run.count));
        to += bytesOf(run.count);
    }
    kernels::TensorView out = rowSlice(view, 0, rows);
    out.data = memory.data();
    return out;
}

std::string shapeText(const kernels::Shape& shape) {
    std::string text = "[";
    for (int i = 0; i < shape.rank; ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(shape.dims[static_cast<std::size_t>(i)]);
    }
    return text + "]";
}

}  // namespace quern::engine
