#include "engine/formats/adapter_source.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "engine/formats/adapter_file.h"
#include "engine/formats/gguf_metadata.h"
#include "engine/formats/hf_names.h"
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

/// Brings the parts of a file to a model's names, matrices and rows. What A an output comes from
/// stays the same when rows of B are parted or moved.
class AdapterMapper {
public:
    AdapterMapper(const MatrixLayout& layout, const AdapterFile& file)
        : m_layout(layout), m_file(file), m_table(std::make_shared<TensorTable>()) {}

    Status map() {
        if (m_file.isGguf && m_file.architecture != m_layout.architecture->gguf) {
            return fail(ErrorCode::kInvalidArgument,
                        "the adapter was made for architecture " + quotedName(m_file.architecture) +
                            "; the model's is '" + std::string(m_layout.architecture->gguf) + "'");
        }
        for (const AdapterFilePart& part : m_file.parts) {
            if (auto status = name(part); !status) {
                return status;
            }
        }
        Hyperparameters parameters = m_layout.parameters;
        if (m_file.isGguf) {
            parameters.fusedQkv = FusedQkv::kBlocks;
            nameFusedUps();
        } else if (m_layout.isGguf) {
            parameters.fusedQkv = m_layout.architecture->fusedQkv;
        }
        return splitFused(parameters, *m_table);
    }

    Result<std::vector<AdapterMatrix>> take() {
        std::vector<AdapterMatrix> matrices;
        for (const std::string& weight : m_table->names()) {
            const AdapterFilePart& part = *origin(weight);
            TensorView b = *m_table->find(weight);
            if (auto status = moveRotated(weight, part.name, b); !status) {
                return forward(status);
            }
            matrices.push_back(
                {.weight = weight, .name = part.name, .a = part.a, .b = b, .scale = part.scale});
        }
        return matrices;
    }

    std::shared_ptr<TensorTable> memory() const { return m_table; }

private:
    Status name(const AdapterFilePart& part) {
        std::string canonical = part.name;
        if (!m_file.isGguf) {
            HfName found = canonicalHfName(*m_layout.architecture, part.name + ".weight");
            if (found.kind != HfName::Kind::kKnown) {
                return fail(ErrorCode::kInvalidArgument, "the adapter adds to " +
                                                             quotedName(part.name) +
                                                             ", which the model does not have");
            }
            canonical = std::move(found.canonical);
        }
        if (canonical.starts_with("token_embd.")) {
            return fail(ErrorCode::kUnsupported, "the adapter adds to " + quotedName(part.name) +
                                                     ": adapters of the embedding are not "
                                                     "supported");
        }
        if (m_table->has(canonical)) {
            return fail(ErrorCode::kCorrupt,
                        "the adapter adds to " + quotedName(part.name) + " twice");
        }
        m_table->set(canonical, part.b);
        m_parts.emplace(canonical, &part);
        return {};
    }

    // In GGUF files gate and up in one tensor go by the name of the second.
    void nameFusedUps() {
        for (const auto& [weight, part] : std::map(m_parts)) {
            const MatrixName name = split(weight);
            const auto& sizes = m_layout.parameters.intermediate;
            if (name.stem != "ffn_up" || name.layer < 0 || name.layer >= std::ssize(sizes) ||
                part->b.shape.rows() != 2 * sizes[static_cast<std::size_t>(name.layer)]) {
                continue;
            }
            const std::string fused = "blk." + std::to_string(name.layer) + ".ffn_gate_up.weight";
            m_table->remove(weight);
            m_table->set(fused, part->b);
            m_parts.emplace(fused, part);
        }
    }

    // The part of the file that a matrix, whole or split off, came from.
    const AdapterFilePart* origin(const std::string& weight) const {
        if (const auto own = m_parts.find(weight); own != m_parts.end() && !isSplit(weight)) {
            return own->second;
        }
        const MatrixName name = split(weight);
        const bool isMlp = name.stem.starts_with("ffn");
        return m_parts.at("blk." + std::to_string(name.layer) +
                          (isMlp ? ".ffn_gate_up.weight" : ".attn_qkv.weight"));
    }

    // A name that the file has of its own can also be that of a half (ffn_up).
    bool isSplit(const std::string& weight) const {
        const MatrixName name = split(weight);
        return name.stem == "ffn_up" &&
               m_parts.contains("blk." + std::to_string(name.layer) + ".ffn_gate_up.weight");
    }

    // Files of some families hold rotated rows of q and k as pairs in GGUF and as halves in
    // folders.
    Status moveRotated(const std::string& weight, const std::string& from, TensorView& b) {
        const Architecture& architecture = *m_layout.architecture;
        const MatrixName name = split(weight);
        if (m_file.isGguf == m_layout.isGguf || architecture.hfRope == architecture.ggufRope ||
            name.layer < 0 || (name.stem != "attn_q" && name.stem != "attn_k")) {
            return {};
        }
        const std::int64_t headRows = m_layout.parameters.keyDim;
        const std::int64_t turned = m_layout.parameters.rope.rotaryDim;
        if (headRows < 1 || b.shape.rows() % headRows != 0 || turned > headRows) {
            return fail(ErrorCode::kInvalidArgument,
                        "adapter of " + quotedName(from) + ": B has shape " + shapeText(b.shape) +
                            ", and the model's heads have " + std::to_string(headRows) + " rows");
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
        b = gatherRows(*m_table, b, runs);
        return {};
    }

    const MatrixLayout& m_layout;
    const AdapterFile& m_file;
    std::shared_ptr<TensorTable> m_table;  // B by canonical name; holds rows that were moved
    std::map<std::string, const AdapterFilePart*> m_parts;
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
    auto matrices = mapper.take();
    if (!matrices) {
        return forward(matrices);
    }
    mapper.memory()->keepFile(file.file, [] {});
    return AdapterSource{
        .info = std::move(file.info), .matrices = std::move(*matrices), .memory = mapper.memory()};
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
