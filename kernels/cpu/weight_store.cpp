#include "kernels/cpu/weight_store.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <string>
#include <tuple>

#include "kernels/quant.h"

namespace quern::kernels::cpu {

namespace {

std::size_t index(std::int32_t id) {
    return static_cast<std::size_t>(id);
}

Error inWeight(const Weight& weight, Error error) {
    if (error.code == ErrorCode::kCancelled) {
        return error;
    }
    error.message = "weight '" + weight.name + "': " + error.message;
    return error;
}

std::int64_t dataBytes(const Weight& weight) {
    return rowBytes(weight.type, weight.cols).value_or(0) * weight.rows;
}

}  // namespace

std::span<const WeightId> matricesOf(const OpVariant& op) {
    if (const auto* matMul = std::get_if<MatMulOp>(&op)) {
        return {&matMul->weight, 1};
    }
    if (const auto* grouped = std::get_if<GroupedMatMulOp>(&op)) {
        return grouped->weights;
    }
    return {};
}

Result<std::unique_ptr<WeightStore>> WeightStore::create(const OpList& ops,
                                                         std::span<const TensorView> views,
                                                         const GemmKernels& gemm,
                                                         const CompileOptions& options) {
    auto store = std::make_unique<WeightStore>();
    if (auto status = store->take(ops, views, gemm, options); !status) {
        return forward(status);
    }
    if (auto status = store->takeVectors(ops, views); !status) {
        return forward(status);
    }
    for (std::size_t i = 0; options.taken && i < views.size(); ++i) {
        if (store->m_packed[i] == nullptr && store->m_tables[i].rows == 0) {
            options.taken(static_cast<WeightId>(i));
        }
    }
    return store;
}

Status WeightStore::take(const OpList& ops, std::span<const TensorView> views,
                         const GemmKernels& gemm, const CompileOptions& options) {
    std::vector<bool> isMatrix(views.size(), false);
    std::vector<bool> isTable(views.size(), false);
    for (const Op& op : ops.ops) {
        for (const WeightId weight : matricesOf(op.op)) {
            isMatrix[index(weight)] = true;
        }
        if (const auto* embed = std::get_if<EmbedOp>(&op.op)) {
            isTable[index(embed->table)] = true;
        }
    }
    double total = 0.0;
    for (std::size_t i = 0; i < views.size(); ++i) {
        total += static_cast<double>(dataBytes(ops.weights[i]));
    }
    m_packed.resize(views.size(), nullptr);
    m_tables.resize(views.size());
    m_elements.resize(views.size(), 0);
    // Tensors of a file that are tied come as two weights with the same data.
    using Key = std::tuple<const std::byte*, DType, std::int64_t, std::int64_t>;
    std::map<Key, const PackedWeight*> known;
    // The largest first: then its source and its copy are there together while little else is.
    std::vector<std::size_t> order(views.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater(),
                             [&](std::size_t i) { return dataBytes(ops.weights[i]); });
    double done = 0.0;
    const auto tell = [&](double bytes) {
        return !options.progress || options.progress(total > 0.0 ? bytes / total : 1.0);
    };
    for (const std::size_t i : order) {
        const Weight& weight = ops.weights[i];
        m_elements[i] = weight.rows * weight.cols;
        const auto bytes = static_cast<double>(dataBytes(weight));
        if (isMatrix[i]) {
            const PackedWeight*& packed =
                known[{views[i].data, weight.type, weight.rows, weight.cols}];
            if (packed == nullptr) {
                TensorView view = views[i];
                view.shape = {.dims = {weight.rows, weight.cols, 1, 1}, .rank = 2};
                const auto told = [&](std::int64_t rows) {
                    const double share =
                        static_cast<double>(rows) / static_cast<double>(weight.rows);
                    return tell(done + share * bytes);
                };
                auto made = gemm.pack(view, options.activations, m_memory, told);
                if (!made) {
                    return tl::unexpected<Error>(inWeight(weight, std::move(made.error())));
                }
                packed = made->get();
                m_matrices.push_back(std::move(*made));
            }
            m_packed[i] = packed;
            if (options.taken) {
                options.taken(static_cast<WeightId>(i));
            }
        }
        done += bytes;
        if (!tell(done)) {
            return fail(ErrorCode::kCancelled, "compilation was cancelled");
        }
    }
    for (std::size_t i = 0; i < views.size(); ++i) {
        if (!isTable[i]) {
            continue;
        }
        const Weight& weight = ops.weights[i];
        EmbedTable& table = m_tables[i];
        table.type = weight.type;
        table.rows = weight.rows;
        table.cols = weight.cols;
        const auto twin = known.find({views[i].data, weight.type, weight.rows, weight.cols});
        if (twin != known.end()) {
            table.packed = twin->second;
        } else if (auto status = copyTable(weight, views[i], table); !status) {
            return status;
        }
        if (options.taken && !isMatrix[i]) {
            options.taken(static_cast<WeightId>(i));
        }
    }
    return {};
}

Status WeightStore::copyTable(const Weight& weight, const TensorView& view, EmbedTable& table) {
    table.rowBytes = rowBytes(weight.type, weight.cols).value_or(0);
    // A type that has no reader is found out now and not in the middle of a step.
    std::vector<float> row(static_cast<std::size_t>(weight.cols));
    const std::span first(view.data, static_cast<std::size_t>(table.rowBytes));
    if (auto status = dequantize(weight.type, first, row); !status) {
        return tl::unexpected<Error>(inWeight(weight, std::move(status.error())));
    }
    auto memory = m_memory.allocate(dataBytes(weight));
    if (!memory) {
        return tl::unexpected<Error>(inWeight(weight, std::move(memory.error())));
    }
    std::memcpy(memory->data(), view.data, memory->size());
    table.data = memory->data();
    return {};
}

Status WeightStore::takeVectors(const OpList& ops, std::span<const TensorView> views) {
    for (const Op& op : ops.ops) {
        Status status;
        const auto addAll = [&](std::initializer_list<WeightId> ids) {
            for (const WeightId id : ids) {
                if (status) {
                    status = addVector(ops, views, id, 0.0F);
                }
            }
        };
        if (const auto* norm = std::get_if<NormOp>(&op.op)) {
            status = addVector(ops, views, norm->weight, norm->weightOffset);
            if (status) {
                status = addVector(ops, views, norm->bias, 0.0F);
            }
        } else if (const auto* matMul = std::get_if<MatMulOp>(&op.op)) {
            status = addVector(ops, views, matMul->bias, 0.0F);
        } else if (const auto* rope = std::get_if<RopeOp>(&op.op)) {
            status = addVector(ops, views, rope->freqs, 0.0F);
        } else if (const auto* attention = std::get_if<AttentionOp>(&op.op)) {
            status = addVector(ops, views, attention->sinks, 0.0F);
        } else if (const auto* conv = std::get_if<ConvOp>(&op.op)) {
            addAll({conv->weight, conv->bias});
        } else if (const auto* ssd = std::get_if<SsdScanOp>(&op.op)) {
            addAll({ssd->a, ssd->d, ssd->dtBias});
        } else if (const auto* delta = std::get_if<DeltaRuleOp>(&op.op)) {
            addAll({delta->decay, delta->dtBias});
        } else if (const auto* route = std::get_if<RouteOp>(&op.op)) {
            status = addVector(ops, views, route->bias, 0.0F);
        } else if (const auto* grouped = std::get_if<GroupedMatMulOp>(&op.op)) {
            status = addVector(ops, views, grouped->bias, 0.0F);
        }
        if (!status) {
            return status;
        }
    }
    return {};
}

Status WeightStore::addVector(const OpList& ops, std::span<const TensorView> views, WeightId id,
                              float offset) {
    if (id == kNone || m_vectors.contains({id, offset})) {
        return {};
    }
    const Weight& weight = ops.weights[index(id)];
    std::vector<float> data(static_cast<std::size_t>(m_elements[index(id)]));
    const std::span bytes(views[index(id)].data, static_cast<std::size_t>(dataBytes(weight)));
    if (weight.type == DType::kF32) {
        std::memcpy(data.data(), bytes.data(), bytes.size());
    } else if (auto status = dequantize(weight.type, bytes, data); !status) {
        return tl::unexpected<Error>(inWeight(weight, std::move(status.error())));
    }
    for (float& x : data) {
        x += offset;
    }
    m_vectors.emplace(std::pair{id, offset}, std::move(data));
    return {};
}

const PackedWeight& WeightStore::packed(WeightId id) const {
    return *m_packed[index(id)];
}

const EmbedTable& WeightStore::table(WeightId id) const {
    return m_tables[index(id)];
}

const float* WeightStore::vector(WeightId id, float offset) const {
    const auto found = m_vectors.find({id, offset});
    return found == m_vectors.end() ? nullptr : found->second.data();
}

std::int64_t WeightStore::elements(WeightId id) const {
    return id == kNone ? 0 : m_elements[index(id)];
}

std::int64_t WeightStore::bytes() const {
    std::int64_t bytes = m_memory.bytes();
    for (const auto& [key, data] : m_vectors) {
        bytes += static_cast<std::int64_t>(data.size() * sizeof(float));
    }
    return bytes;
}

}  // namespace quern::kernels::cpu
