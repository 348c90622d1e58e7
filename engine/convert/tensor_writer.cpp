#include "engine/convert/tensor_writer.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "kernels/quant.h"
#include "kernels/quantize.h"

namespace quern::engine::convert {

namespace {

// 16 MiB of float32: enough for the threads, little beside a tensor.
constexpr std::int64_t kStretchElements = std::int64_t{1} << 22;

tl::unexpected<Error> cancelled() {
    return fail(ErrorCode::kCancelled, "the import was cancelled");
}

// Makes rows [first, first + count) in `type`: as the source holds them where it holds that.
Status makeRows(const TensorRows& rows, kernels::DType type, std::int64_t first, std::int64_t count,
                std::span<std::byte> out) {
    const bool isCopied = rows.copy && rows.type == type;
    std::vector<float> values(isCopied ? 0 : static_cast<std::size_t>(rows.shape.cols()));
    const std::size_t rowBytes = out.size() / static_cast<std::size_t>(count);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto row = out.subspan(static_cast<std::size_t>(i) * rowBytes, rowBytes);
        if (isCopied) {
            rows.copy(first + i, row);
            continue;
        }
        Status status = rows.read(first + i, values);
        if (status) {
            status = kernels::quantize(type, values, row);
        }
        if (!status) {
            status.error().message =
                "row " + std::to_string(first + i) + ": " + status.error().message;
            return status;
        }
    }
    return {};
}

}  // namespace

Status TensorWriter::write(const TensorRows& rows, kernels::DType type,
                           const std::function<bool(std::int64_t)>& wrote) {
    const auto rowBytes = kernels::rowBytes(type, rows.shape.cols());
    if (!rowBytes) {
        return tl::unexpected<Error>(rowBytes.error());
    }
    const std::int64_t total = rows.shape.rows();
    const std::int64_t stretch =
        std::clamp(kStretchElements / rows.shape.cols(), std::int64_t{1}, total);
    std::vector<std::byte> out;
    for (std::int64_t first = 0; first < total; first += stretch) {
        const std::int64_t count = std::min(stretch, total - first);
        out.resize(static_cast<std::size_t>(count * *rowBytes));
        const std::int64_t share = (count + m_threads - 1) / m_threads;
        std::vector<Status> done(static_cast<std::size_t>(m_threads));
        {
            std::vector<std::jthread> threads;
            for (std::int64_t begin = 0; begin < count; begin += share) {
                const std::int64_t rowsHere = std::min(share, count - begin);
                const auto part =
                    std::span(out).subspan(static_cast<std::size_t>(begin * *rowBytes),
                                           static_cast<std::size_t>(rowsHere * *rowBytes));
                const auto index = static_cast<std::size_t>(begin / share);
                threads.emplace_back([&, begin, rowsHere, part, index] {
                    done[index] = makeRows(rows, type, first + begin, rowsHere, part);
                });
            }
        }
        for (Status& status : done) {
            if (!status) {
                return std::move(status);
            }
        }
        if (auto status = m_file.append(out); !status) {
            return status;
        }
        if (!wrote(static_cast<std::int64_t>(out.size()))) {
            return cancelled();
        }
    }
    return {};
}

}  // namespace quern::engine::convert
