#include "engine/formats/adapter_source.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "engine/formats/adapter_file.h"
#include "engine/formats/gguf_metadata.h"
#include "engine/formats/hf_names.h"
#include "engine/formats/state_tensors.h"
#include "engine/formats/tensor_table.h"
#include "kernels/quant.h"

namespace quern::engine {

namespace {

using kernels::RopeLayout;
using kernels::TensorView;

// "blk.3.attn_q.weight" → 3 and "attn_q"; layer −1 for what belongs to none.
struct MatrixName {
    std::int64_t layer = -1;
    std::string stem;
};

MatrixName split(std::string_view canonical) {
    constexpr std::string_view kLayer = "blk.";
    constexpr std::string_view kEnd = ".weight";
    MatrixName name;
    if (canonical.ends_with(kEnd)) {
        canonical.remove_suffix(kEnd.size());
    }
    if (canonical.starts_with(kLayer)) {
        const char* end = canonical.data() + canonical.size();
        const auto [rest, error] =
            std::from_chars(canonical.data() + kLayer.size(), end, name.layer);
        if (error == std::errc() && rest != end && *rest == '.') {
            name.stem.assign(rest + 1, end);
            return name;
        }
        name.layer = -1;
    }
    name.stem = canonical;
    return name;
}

Status checkFinite(const std::string& name, const TensorView& view) {
    std::vector<float> row(static_cast<std::size_t>(view.shape.cols()));
    const auto bytes = kernels::rowBytes(view.type, view.shape.cols());
    for (std::int64_t r = 0; bytes && r < view.shape.rows(); ++r) {
        const std::span<const std::byte> raw(view.data + r * *bytes,
                                             static_cast<std::size_t>(*bytes));
        if (auto status = kernels::dequantize(view.type, raw, row); !status) {
            return fail(ErrorCode::kUnsupported,
                        "adapter of " + quotedName(name) + ": " + status.error().message);
        }
        if (!std::ranges::all_of(row, [](float x) { return std::isfinite(x); })) {
            return fail(ErrorCode::kCorrupt,
                        "adapter of " + quotedName(name) + " has numbers that are not finite");
        }
    }
    return {};
}

/// Brings the parts of a file to a model's names, matrices and rows, one after the other: B as the
/// model's own matrix would be, while what is multiplied first, A, stays the same for all that a
/// fused matrix is parted into.
class AdapterMapper {
public:
    AdapterMapper(const MatrixLayout& layout, const AdapterFile& file)
        : m_layout(layout), m_file(file), m_parameters(layout.parameters) {
        if (file.isGguf) {
            m_parameters.fusedQkv = FusedQkv::kBlocks;
        } else if (layout.isGguf) {
            m_parameters.fusedQkv = layout.architecture->fusedQkv;
        }
    }

    Status map() {
        if (m_file.isGguf && m_file.architecture != m_layout.architecture->gguf) {
            return fail(ErrorCode::kInvalidArgument,
                        "the adapter was made for architecture " + quotedName(m_file.architecture) +
                            "; the model's is '" + std::string(m_layout.architecture->gguf) + "'");
        }
        for (const AdapterFilePart& part : m_file.parts) {
            if (auto status = mapPart(part); !status) {
                return status;
            }
        }
        return {};
    }

    std::map<std::string, AdapterMatrix> matrices;     // by canonical name
    std::vector<std::unique_ptr<TensorTable>> memory;  // of rows that were moved

private:
    Status mapPart(const AdapterFilePart& part) {
        auto canonical = nameOf(part);
        if (!canonical) {
            return forward(canonical);
        }
        memory.push_back(std::make_unique<TensorTable>());
        TensorTable& table = *memory.back();
        table.set(*canonical, part.b);
        if (m_file.isGguf) {
            renameGgufState(*m_layout.architecture, m_parameters, table);
        }
        auto status = arrangeState(*m_layout.architecture, m_parameters, table);
        if (status) {
            status = splitFused(m_parameters, table);
        }
        for (const std::string& weight : table.names()) {
            TensorView b = *table.find(weight);
            if (status) {
                status = moveRotated(weight, table, b);
            }
            const bool isNew = matrices
                                   .emplace(weight, AdapterMatrix{.weight = weight,
                                                                  .name = part.name,
                                                                  .a = part.a,
                                                                  .b = b,
                                                                  .scale = part.scale})
                                   .second;
            if (status && !isNew) {
                status = fail(ErrorCode::kCorrupt,
                              "the adapter adds to " + quotedName(part.name) + " twice");
            }
        }
        if (!status) {
            return fail(status.error().code,
                        "adapter of " + quotedName(part.name) + ": " + status.error().message);
        }
        return {};
    }

    Result<std::string> nameOf(const AdapterFilePart& part) const {
        std::string canonical = part.name;
        if (!m_file.isGguf) {
            HfName found = canonicalHfName(*m_layout.architecture, part.name + ".weight");
            if (found.kind != HfName::Kind::kKnown) {
                return fail(ErrorCode::kInvalidArgument, "the adapter adds to " +
                                                             quotedName(part.name) +
                                                             ", which the model does not have");
            }
            canonical = std::move(found.canonical);
        } else if (isFusedUp(part)) {
            const std::int64_t layer = split(part.name).layer;
            canonical = "blk." + std::to_string(layer) + ".ffn_gate_up.weight";
        }
        if (canonical.starts_with("token_embd.")) {
            return fail(ErrorCode::kUnsupported, "the adapter adds to " + quotedName(part.name) +
                                                     ": adapters of the embedding are not "
                                                     "supported");
        }
        return canonical;
    }

    // In GGUF files gate and up in one tensor go by the name of the second.
    bool isFusedUp(const AdapterFilePart& part) const {
        const MatrixName name = split(part.name);
        const auto& sizes = m_parameters.intermediate;
        return name.stem == "ffn_up" && name.layer >= 0 && name.layer < std::ssize(sizes) &&
               part.b.shape.rows() == 2 * sizes[static_cast<std::size_t>(name.layer)];
    }

    // Files of some families hold rotated rows of q and k as pairs in GGUF and as halves in
    // folders.
    Status moveRotated(const std::string& weight, TensorTable& table, TensorView& b) const {
        const Architecture& architecture = *m_layout.architecture;
        const MatrixName name = split(weight);
        if (m_file.isGguf == m_layout.isGguf || architecture.hfRope == architecture.ggufRope ||
            name.layer < 0 || (name.stem != "attn_q" && name.stem != "attn_k")) {
            return {};
        }
        const std::int64_t headRows = m_layout.parameters.keyDim;
        const std::int64_t turned = m_layout.parameters.rope.rotaryDim;
        if (headRows < 1 || b.shape.rows() % headRows != 0 || turned > headRows) {
            return fail(ErrorCode::kInvalidArgument, "B has shape " + shapeText(b.shape) +
                                                         ", and the model's heads have " +
                                                         std::to_string(headRows) + " rows");
        }
        std::vector<RowRun> runs;
        for (std::int64_t row = 0; row < b.shape.rows(); ++row) {
            const std::int64_t inHead = row % headRows;
            std::int64_t source = inHead;
            if (inHead < turned) {
                // Row 2i of pairs is row i of the first half, row 2i + 1 of the second.
                source = m_layout.isGguf ? inHead / 2 + inHead % 2 * (turned / 2)
                                         : inHead % (turned / 2) * 2 + inHead / (turned / 2);
            }
            runs.push_back({.first = row - inHead + source, .count = 1});
        }
        b = gatherRows(table, b, runs);
        return {};
    }

    const MatrixLayout& m_layout;
    const AdapterFile& m_file;
    Hyperparameters m_parameters;  // of the file that the adapter was made for
};

/// What an adapter's views lie in.
struct AdapterMemory {
    std::shared_ptr<const void> file;
    std::vector<std::unique_ptr<TensorTable>> tables;
};

Result<AdapterSource> mapChecked(AdapterFile& file, const MatrixLayout& layout) {
    for (const AdapterFilePart& part : file.parts) {
        for (const TensorView* view : {&part.a, &part.b}) {
            if (auto status = checkFinite(part.name, *view); !status) {
                return forward(status);
            }
        }
    }
    AdapterMapper mapper(layout, file);
    if (auto status = mapper.map(); !status) {
        return forward(status);
    }
    AdapterSource source{.info = std::move(file.info), .matrices = {}, .memory = {}};
    for (auto& [weight, matrix] : mapper.matrices) {
        source.matrices.push_back(std::move(matrix));
    }
    source.memory = std::make_shared<AdapterMemory>(
        AdapterMemory{.file = file.file, .tables = std::move(mapper.memory)});
    return source;
}

}  // namespace

Result<AdapterSource> openAdapter(const std::filesystem::path& path, const MatrixLayout& layout) {
    auto file = readAdapterFile(path);
    if (!file) {
        return forward(file);
    }
    try {
        return mapChecked(*file, layout);
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::kOutOfMemory, "not enough memory to read the adapter");
    }
}

}  // namespace quern::engine
