#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/formats/model_source.h"
#include "kernels/result.h"

namespace quern::engine {

/// Tensors by name: filled by a reader under the file's names, brought to canonical ones, then
/// handed out. Holds the data that had to be rearranged; all else stays in the mapped file.
/// Belongs to one thread while it is filled, immutable afterwards.
class TensorTable final : public TensorSource {
public:
    [[nodiscard]] std::optional<kernels::TensorView> find(std::string_view name) const override;
    [[nodiscard]] std::vector<std::string> names() const override;
    void releasePages() const override;
    void release(const kernels::TensorView& view) override;

    /// Keeps the mapped file alive; `release` gives its pages back.
    void keepFile(std::shared_ptr<const void> file, std::function<void()> release);

    [[nodiscard]] bool has(std::string_view name) const { return m_views.contains(name); }
    /// Replaces what has the name.
    void set(std::string name, const kernels::TensorView& view);
    void remove(std::string_view name);

    /// Memory that lives as long as the table, or until views of all its bytes are released; of
    /// those no two overlap.
    [[nodiscard]] std::span<std::byte> allocate(std::size_t bytes);
    /// Bytes of such memory.
    [[nodiscard]] std::int64_t allocatedBytes() const;

private:
    struct KeptFile {
        std::shared_ptr<const void> file;
        std::function<void()> release;
    };
    struct Owned {
        std::unique_ptr<std::byte[]> data;
        std::size_t bytes = 0;
        std::size_t used = 0;  // that are not released
    };
    std::map<std::string, kernels::TensorView, std::less<>> m_views;
    std::vector<KeptFile> m_files;
    std::map<const std::byte*, Owned, std::greater<>> m_owned;  // by where it begins
};

/// Rows [first, first + count) of a matrix, or elements of a vector, as a view. The caller has
/// checked that they are there.
[[nodiscard]] kernels::TensorView rowSlice(const kernels::TensorView& view, std::int64_t first,
                                           std::int64_t count);

/// Rows [first, first + count) of a matrix.
struct RowRun {
    std::int64_t first = 0;
    std::int64_t count = 0;
};

/// A copy of those rows, one run after the other, in memory of `table`. The caller has checked that
/// they are there; `runs` is not empty.
[[nodiscard]] kernels::TensorView gatherRows(TensorTable& table, const kernels::TensorView& view,
                                             std::span<const RowRun> runs);

/// "[320, 64]"
[[nodiscard]] std::string shapeText(const kernels::Shape& shape);

}  // namespace quern::engine
