#include "engine/convert/folder_tensors.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "engine/convert/expert_rows.h"
#include "engine/convert/latent_rows.h"
#include "engine/convert/state_rows.h"
#include "kernels/quant.h"

namespace quern::engine::convert {

namespace {

using kernels::RopeLayout;
using kernels::TensorView;

struct CanonicalName {
    std::int64_t layer = -1;
    std::string stem;  // "attn_q"
    std::string suffix;
};

CanonicalName split(const std::string& name) {
    CanonicalName result{.layer = -1, .stem = name, .suffix = {}};
    for (const std::string_view suffix : {".weight", ".bias"}) {
        if (result.stem.ends_with(suffix)) {
            result.stem.resize(result.stem.size() - suffix.size());
            result.suffix = suffix;
        }
    }
    constexpr std::string_view kLayer = "blk.";
    if (!result.stem.starts_with(kLayer)) {
        return result;
    }
    const char* from = result.stem.data() + kLayer.size();
    const auto [end, error] =
        std::from_chars(from, result.stem.data() + result.stem.size(), result.layer);
    result.stem = std::string(end + (error == std::errc() && *end == '.' ? 1 : 0));
    return result;
}

// Where the rows of one layer's queries and keys come from.
class AttentionRows {
public:
    AttentionRows(const ReadModel& model, std::size_t layer)
        : m_heads(model.parameters.heads[layer]),
          m_kvHeads(model.parameters.kvHeads[layer]),
          m_keyDim(model.parameters.keyDim),
          m_valueDim(model.parameters.valueDim),
          m_rotaryDim(model.parameters.rope.rotaryDim),
          m_fused(model.parameters.fusedQkv),
          m_pairs(model.architecture->hfRope == RopeLayout::kHalves &&
                  model.architecture->ggufRope == RopeLayout::kPairs) {}

    [[nodiscard]] bool movesRows() const { return m_pairs; }
    [[nodiscard]] bool movesFusedRows() const { return m_pairs || m_fused != FusedQkv::kBlocks; }
    [[nodiscard]] std::int64_t fusedRows() const {
        return m_heads * m_keyDim + m_kvHeads * (m_keyDim + m_valueDim);
    }

    /// The row of a tensor of whole heads that belongs at `row`: halves of the rotary columns
    /// become pairs.
    [[nodiscard]] std::int64_t rotated(std::int64_t row) const {
        const std::int64_t inHead = row % m_keyDim;
        if (!m_pairs || inHead >= m_rotaryDim) {
            return row;
        }
        return row - inHead + inHead / 2 + (inHead % 2) * (m_rotaryDim / 2);
    }

    /// The row of a fused tensor that belongs at `row`, where all queries stand before all keys and
    /// those before all values.
    [[nodiscard]] std::int64_t unfused(std::int64_t row) const {
        const std::int64_t queries = m_heads * m_keyDim;
        const std::int64_t keys = m_kvHeads * m_keyDim;
        if (row < queries) {
            return place(rotated(row), m_heads / m_kvHeads * m_keyDim, 0, 0);
        }
        const std::int64_t queryRows = m_heads / m_kvHeads * m_keyDim;
        if (row < queries + keys) {
            return place(rotated(row - queries), m_keyDim, queryRows, queries);
        }
        return place(row - queries - keys, m_valueDim, queryRows + m_keyDim, queries + keys);
    }

private:
    // Row `row` of a kind that has runs of `run` rows in each group, `first` rows into it, or that
    // begins at `block` where kinds are not interleaved.
    [[nodiscard]] std::int64_t place(std::int64_t row, std::int64_t run, std::int64_t first,
                                     std::int64_t block) const {
        if (m_fused == FusedQkv::kBlocks) {
            return block + row;
        }
        const std::int64_t stride = m_heads / m_kvHeads * m_keyDim + m_keyDim + m_valueDim;
        return row / run * stride + first + row % run;
    }

    std::int64_t m_heads;
    std::int64_t m_kvHeads;
    std::int64_t m_keyDim;
    std::int64_t m_valueDim;
    std::int64_t m_rotaryDim;
    FusedQkv m_fused;
    bool m_pairs;
};

bool isOneOf(std::string_view stem, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), stem) != names.end();
}

tl::unexpected<Error> wrongShape(const std::string& name, const TensorView& view) {
    return fail(ErrorCode::kCorrupt, "tensor '" + name + "' has shape " + shapeText(view.shape) +
                                         ", which does not fit the model's header");
}

// GGUF's name of a canonical one.
std::string fileName(const ReadModel& model, const CanonicalName& name) {
    const std::string& stem = name.stem;
    if (name.layer < 0) {
        // Models that keep states have the last norm under the name of the first.
        const bool isOfStates =
            model.architecture->state == StateKind::kShortConv && stem == "output_norm";
        return (isOfStates ? "token_embd_norm" : stem) + name.suffix;
    }
    const std::string prefix = layerPrefix(name.layer);
    if (stem == "ffn_gate_up") {
        return prefix + "ffn_up" + name.suffix;  // both go by the name of the second
    }
    // Such rules speak of blocks that have the tensor which the first one renames.
    const auto rules = model.architecture->ggufNames;
    if (!rules.empty() && model.tensors->has(prefix + std::string(rules.front().to) + ".weight")) {
        const auto found = std::find_if(rules.begin(), rules.end(),
                                        [&](const NameRule& rule) { return rule.to == stem; });
        if (found != rules.end()) {
            return prefix + std::string(found->from) + name.suffix;
        }
    }
    return prefix + stem + name.suffix;
}

Result<TensorRows> makeRows(const ReadModel& model, const std::string& canonical,
                            const CanonicalName& name, const TensorView& view) {
    TensorRows rows = rowsOf(view);
    const bool isVector = view.shape.rank == 1;
    if (const auto scales = model.scales.find(canonical); scales != model.scales.end()) {
        rows = scaled(std::move(rows), scales->second);
    }
    if (name.layer >= 0 && model.isTransposed && !isVector &&
        isOneOf(name.stem, {"attn_qkv", "attn_output", "ffn_up", "ffn_down"})) {
        if (view.shape.rank != 2 || kernels::traits(view.type).blockElements != 1) {
            return wrongShape(canonical, view);
        }
        rows = columnsOf(view, 0, 1);
    }
    if (name.stem.ends_with("norm") && name.suffix == ".weight" &&
        model.parameters.normOffset != 0.0F) {
        rows = mapped(std::move(rows), [offset = model.parameters.normOffset](float value) {
            return value + offset;
        });
    }
    if (name.stem == "position_embd" && model.parameters.positionOffset > 0) {
        // The rows before that of the first position are not written.
        const std::int64_t first = model.parameters.positionOffset;
        const kernels::Shape shape = shapeOf({view.shape.dims[0] - first, view.shape.cols()});
        if (view.shape.rank != 2 || shape.dims[0] < 1) {
            return wrongShape(canonical, view);
        }
        return reordered(std::move(rows), shape, [first](std::int64_t row) { return row + first; });
    }
    if (name.layer < 0 || name.layer >= model.parameters.layers()) {
        return rows;
    }
    const AttentionRows attention(model, static_cast<std::size_t>(name.layer));
    const bool isFused = name.stem == "attn_qkv";
    const bool isMoved =
        isFused ? attention.movesFusedRows()
                : attention.movesRows() &&
                      isOneOf(name.stem, {"attn_q", "attn_k", "attn_q_norm", "attn_k_norm"});
    if (!isMoved) {
        return rows;
    }
    const std::int64_t count = rows.shape.dims[0];
    if (isFused ? count != attention.fusedRows() : count % model.parameters.keyDim != 0) {
        return wrongShape(canonical, view);
    }
    const auto from = [attention, isFused](std::int64_t row) {
        return isFused ? attention.unfused(row) : attention.rotated(row);
    };
    const kernels::Shape shape = rows.shape;
    return isVector ? withColumns(std::move(rows), shape, from)
                    : reordered(std::move(rows), shape, from);
}

// Those that addLayer writes.
bool isOfLayerKind(const CanonicalName& name) {
    return isOfExperts(name.stem) || isOfState(name.stem) || name.stem == "attn_kv_b";
}

// What a layer has in place of plain attention and a plain feed-forward block.
Status addLayer(const ReadModel& model, std::int64_t layer, std::vector<NamedRows>& tensors) {
    const auto index = static_cast<std::size_t>(layer);
    Status status;
    if (model.parameters.keepsState[index]) {
        status = addStateRows(model, layer, tensors);
    } else if (model.parameters.latent.rank > 0) {
        status = addLatentRows(model, layer, tensors);
    }
    if (status && !model.parameters.hasExperts.empty() && model.parameters.hasExperts[index]) {
        status = addExpertRows(model, layer, tensors);
    }
    return status;
}

// token_embd first, then the layers by number, then the rest.
std::vector<std::string> inOrder(const TensorTable& table) {
    std::vector<std::string> names = table.names();
    const auto rank = [](const std::string& name) {
        const CanonicalName parts = split(name);
        return std::pair(name.starts_with("token_embd") ? 0
                         : parts.layer >= 0             ? 1
                                                        : 2,
                         parts.layer);
    };
    std::stable_sort(names.begin(), names.end(),
                     [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
    return names;
}

}  // namespace

Result<std::vector<NamedRows>> folderTensors(const ReadModel& model) {
    std::vector<NamedRows> tensors;
    for (const std::string& canonical : inOrder(*model.tensors)) {
        const CanonicalName name = split(canonical);
        // A head that the config ties is the table, whatever else the folder holds.
        if (name.stem == "output" && name.suffix == ".weight" && model.spec.isHeadTied) {
            continue;
        }
        if (isOfLayerKind(name)) {
            continue;
        }
        auto rows = makeRows(model, canonical, name, *model.tensors->find(canonical));
        if (!rows) {
            return forward(rows);
        }
        tensors.push_back({.name = fileName(model, name), .rows = std::move(*rows)});
    }
    for (std::int64_t layer = 0; layer < model.parameters.layers(); ++layer) {
        if (auto status = addLayer(model, layer, tensors); !status) {
            return forward(status);
        }
    }
    return tensors;
}

}  // namespace quern::engine::convert
