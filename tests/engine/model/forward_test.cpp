#include "engine/model/forward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/support/memory_tensors.h"

namespace quern::engine {
namespace {

using kernels::kNone;

constexpr std::int64_t kHidden = 24;
constexpr std::int64_t kVocab = 40;

LayerSpec smallLayer(std::int64_t window = 0) {
    return {.attention =
                {.heads = 4, .kvHeads = 2, .keyDim = 8, .valueDim = 6, .window = window, .rope = 0},
            .mlp = {.intermediate = 32}};
}

ModelSpec smallSpec(std::vector<LayerSpec> layers) {
    return {.architecture = "llama",
            .vocabSize = kVocab,
            .hiddenSize = kHidden,
            .contextTokens = 128,
            .layers = std::move(layers),
            .ropes = {{.rotaryDim = 8}}};
}

/// Every tensor that a spec stands for, at its right shape.
test::MemoryTensors tensorsOf(const ModelSpec& spec) {
    test::MemoryTensors tensors;
    tensors.fill("token_embd.weight", {spec.vocabSize, spec.hiddenSize});
    tensors.fill("output_norm.weight", {spec.hiddenSize});
    if (!spec.isHeadTied) {
        tensors.fill("output.weight", {spec.vocabSize, spec.hiddenSize});
    }
    for (std::size_t i = 0; i < spec.layers.size(); ++i) {
        const LayerSpec& layer = spec.layers[i];
        const AttentionSpec& a = layer.attention;
        const std::string blk = "blk." + std::to_string(i) + ".";
        if (layer.attentionNorms.hasPre) {
            tensors.fill(blk + "attn_norm.weight", {spec.hiddenSize});
        }
        if (layer.attentionNorms.hasPost) {
            tensors.fill(blk + "post_attention_norm.weight", {spec.hiddenSize});
        }
        if (layer.mlpNorms.hasPre) {
            tensors.fill(blk + "ffn_norm.weight", {spec.hiddenSize});
        }
        if (layer.mlpNorms.hasPost) {
            tensors.fill(blk + "post_ffw_norm.weight", {spec.hiddenSize});
        }
        tensors.fill(blk + "attn_q.weight", {a.heads * a.keyDim, spec.hiddenSize});
        tensors.fill(blk + "attn_k.weight", {a.kvHeads * a.keyDim, spec.hiddenSize});
        tensors.fill(blk + "attn_v.weight", {a.kvHeads * a.valueDim, spec.hiddenSize});
        tensors.fill(blk + "attn_output.weight", {spec.hiddenSize, a.heads * a.valueDim});
        if (layer.mlp.isGated) {
            tensors.fill(blk + "ffn_gate.weight", {layer.mlp.intermediate, spec.hiddenSize});
        }
        tensors.fill(blk + "ffn_up.weight", {layer.mlp.intermediate, spec.hiddenSize});
        tensors.fill(blk + "ffn_down.weight", {spec.hiddenSize, layer.mlp.intermediate});
    }
    return tensors;
}

ForwardPass built(const ModelSpec& spec, const TensorSource& tensors) {
    auto pass = buildForward(spec, tensors);
    EXPECT_TRUE(pass.has_value()) << pass.error().message;
    return pass ? std::move(*pass) : ForwardPass{};
}

std::vector<std::string> opNames(const ForwardPass& pass) {
    std::vector<std::string> names;
    for (const kernels::Op& op : pass.ops.ops) {
        names.push_back(op.name);
    }
    return names;
}

template <class OpType>
const OpType* find(const ForwardPass& pass, const std::string& name) {
    for (const kernels::Op& op : pass.ops.ops) {
        if (op.name == name) {
            return std::get_if<OpType>(&op.op);
        }
    }
    return nullptr;
}

std::string errorOf(const ModelSpec& spec, const TensorSource& tensors) {
    const auto pass = buildForward(spec, tensors);
    if (pass) {
        return "no error";
    }
    EXPECT_EQ(pass.error().code, ErrorCode::kCorrupt);
    return pass.error().message;
}

TEST(Forward, WritesTheOpsOfALlamaLayerInOrder) {
    const ModelSpec spec = smallSpec({smallLayer()});
    const test::MemoryTensors tensors = tensorsOf(spec);
    const std::string at = "layer 0 / ";
    const std::vector<std::string> expected = {"embed",
                                               at + "attn.norm",
                                               at + "attn.q",
                                               at + "attn.k",
                                               at + "attn.v",
                                               at + "attn.q.rope",
                                               at + "attn.k.rope",
                                               at + "attn.write",
                                               at + "attn.mix",
                                               at + "attn.gather",
                                               at + "gather",
                                               at + "attn.out",
                                               at + "attn.residual",
                                               at + "mlp.norm",
                                               at + "mlp.gate",
                                               at + "mlp.up",
                                               at + "mlp.glu",
                                               at + "mlp.down",
                                               at + "mlp.residual",
                                               "output.norm",
                                               "output"};
    EXPECT_EQ(opNames(built(spec, tensors)), expected);
}

/// Every value is written before it is read, by one op, and widths fit.
void expectSound(const ForwardPass& pass) {
    std::set<kernels::ValueId> written;
    const auto reads = [&](const std::string& name, kernels::ValueId id) {
        EXPECT_TRUE(written.contains(id)) << name << " reads value " << id;
    };
    const auto writes = [&](const std::string& name, kernels::ValueId id) {
        EXPECT_TRUE(written.insert(id).second) << name << " writes value " << id << " again";
    };
    const auto colsOf = [&](kernels::ValueId id) {
        return pass.ops.values.at(static_cast<std::size_t>(id)).cols;
    };
    for (const kernels::Op& op : pass.ops.ops) {
        if (const auto* o = std::get_if<kernels::EmbedOp>(&op.op)) {
            writes(op.name, o->out);
        } else if (const auto* norm = std::get_if<kernels::NormOp>(&op.op)) {
            reads(op.name, norm->in);
            writes(op.name, norm->out);
            EXPECT_EQ(colsOf(norm->in), colsOf(norm->out));
        } else if (const auto* mul = std::get_if<kernels::MatMulOp>(&op.op)) {
            reads(op.name, mul->in);
            writes(op.name, mul->out);
            const auto& weight = pass.ops.weights.at(static_cast<std::size_t>(mul->weight));
            EXPECT_EQ(colsOf(mul->in), weight.cols);
            EXPECT_EQ(colsOf(mul->out), weight.rows);
        } else if (const auto* rope = std::get_if<kernels::RopeOp>(&op.op)) {
            reads(op.name, rope->inOut);
        } else if (const auto* write = std::get_if<kernels::KvWriteOp>(&op.op)) {
            reads(op.name, write->key);
            reads(op.name, write->value);
        } else if (const auto* mix = std::get_if<kernels::AttentionOp>(&op.op)) {
            reads(op.name, mix->query);
            writes(op.name, mix->out);
        } else if (const auto* sum = std::get_if<kernels::AddOp>(&op.op)) {
            reads(op.name, sum->a);
            reads(op.name, sum->b);
            writes(op.name, sum->out);
            EXPECT_EQ(pass.ops.values[static_cast<std::size_t>(sum->a)].rows,
                      pass.ops.values[static_cast<std::size_t>(sum->b)].rows)
                << op.name;
        } else if (const auto* scaled = std::get_if<kernels::ScaleOp>(&op.op)) {
            reads(op.name, scaled->in);
            writes(op.name, scaled->out);
        } else if (const auto* active = std::get_if<kernels::ActivationOp>(&op.op)) {
            reads(op.name, active->in);
            writes(op.name, active->out);
        } else if (const auto* glu = std::get_if<kernels::GluOp>(&op.op)) {
            reads(op.name, glu->gate);
            reads(op.name, glu->up);
            writes(op.name, glu->out);
        } else if (const auto* cap = std::get_if<kernels::SoftcapOp>(&op.op)) {
            reads(op.name, cap->in);
            writes(op.name, cap->out);
        } else if (const auto* gather = std::get_if<kernels::GatherOutputsOp>(&op.op)) {
            reads(op.name, gather->in);
            writes(op.name, gather->out);
        }
    }
    reads("output", pass.ops.output);
    EXPECT_EQ(pass.ops.values[static_cast<std::size_t>(pass.ops.output)].rows,
              kernels::Rows::kOutputs);
    ASSERT_EQ(pass.weights.size(), pass.ops.weights.size());
}

TEST(Forward, EveryVariantIsSound) {
    for (int bits = 0; bits < 256; ++bits) {
        const auto has = [bits](int bit) { return (bits >> bit & 1) != 0; };
        LayerSpec layer = smallLayer(has(0) ? 8 : 0);
        layer.isParallel = has(1);
        layer.attentionNorms = {.hasPre = has(2), .hasPost = has(3)};
        layer.mlpNorms = {.hasPre = has(4), .hasPost = has(3)};
        layer.mlp.isGated = has(5);
        layer.attention.rope = has(6) ? 0 : kNone;
        ModelSpec spec = smallSpec({layer, layer});
        spec.isHeadTied = has(7);
        spec.residualScale = has(6) ? 0.5F : 1.0F;
        spec.logitSoftcap = has(5) ? 30.0F : 0.0F;
        spec.logitScale = has(4) ? 2.0F : 1.0F;
        const test::MemoryTensors tensors = tensorsOf(spec);
        expectSound(built(spec, tensors));
        ASSERT_FALSE(HasFailure()) << "variant " << bits;
    }
}

TEST(Forward, ParallelLayersReadTheirNormsAsDeclared) {
    LayerSpec layer = smallLayer();
    layer.isParallel = true;
    layer.mlpNorms.hasPre = false;
    ModelSpec spec = smallSpec({layer, layer});
    const test::MemoryTensors shared = tensorsOf(spec);
    const ForwardPass phi = built(spec, shared);
    const auto* attention = find<kernels::MatMulOp>(phi, "layer 0 / attn.q");
    EXPECT_EQ(find<kernels::MatMulOp>(phi, "layer 0 / mlp.up")->in, attention->in);

    spec.layers[0].mlpNorms.hasPre = spec.layers[1].mlpNorms.hasPre = true;
    const test::MemoryTensors own = tensorsOf(spec);
    const ForwardPass neox = built(spec, own);
    EXPECT_EQ(find<kernels::NormOp>(neox, "layer 0 / mlp.norm")->in,
              find<kernels::NormOp>(neox, "layer 0 / attn.norm")->in);
}

TEST(Forward, LayersOfOneWindowShareAGroup) {
    const ModelSpec spec =
        smallSpec({smallLayer(64), smallLayer(16), smallLayer(0), smallLayer(64)});
    const test::MemoryTensors tensors = tensorsOf(spec);
    const ForwardPass pass = built(spec, tensors);
    ASSERT_EQ(pass.groups.size(), 3U);
    EXPECT_EQ(pass.kv.groups, 3);
    EXPECT_EQ(pass.groups[0].window, 0);
    EXPECT_EQ(pass.groups[1].window, 16);
    EXPECT_EQ(pass.groups[2].window, 64);
    ASSERT_EQ(pass.kv.layers.size(), 4U);
    EXPECT_EQ(pass.kv.layers[0].group, 2);
    EXPECT_EQ(pass.kv.layers[1].group, 1);
    EXPECT_EQ(pass.kv.layers[2].group, 0);
    EXPECT_EQ(pass.kv.layers[3].group, 2);
    EXPECT_EQ(pass.kv.layers[0].kvHeads, 2);
    EXPECT_EQ(pass.kv.layers[0].keyDim, 8);
    EXPECT_EQ(pass.kv.layers[0].valueDim, 6);
    EXPECT_EQ(find<kernels::AttentionOp>(pass, "layer 1 / attn.mix")->window, 16);
}

TEST(Forward, BiasesAndHeadNormsFollowTheTensors) {
    ModelSpec spec = smallSpec({smallLayer(), smallLayer(), smallLayer()});
    for (LayerSpec& layer : spec.layers) {
        layer.attention.hasQkNorm = true;
    }
    spec.layers[2].attention.isQkNormWholeRow = true;
    spec.isHeadTied = true;
    test::MemoryTensors tensors = tensorsOf(spec);
    tensors.fill("blk.0.attn_q.bias", {32});
    tensors.fill("output.bias", {kVocab});
    tensors.fill("blk.0.attn_q_norm.weight", {8});
    tensors.fill("blk.0.attn_k_norm.weight", {8});
    tensors.fill("blk.1.attn_q_norm.weight", {4, 8});
    tensors.fill("blk.1.attn_k_norm.weight", {2, 8});
    tensors.fill("blk.2.attn_q_norm.weight", {32});
    tensors.fill("blk.2.attn_k_norm.weight", {16});
    const ForwardPass pass = built(spec, tensors);
    EXPECT_NE(find<kernels::MatMulOp>(pass, "layer 0 / attn.q")->bias, kNone);
    EXPECT_EQ(find<kernels::MatMulOp>(pass, "layer 0 / attn.k")->bias, kNone);
    const auto* head = find<kernels::MatMulOp>(pass, "output");
    EXPECT_NE(head->bias, kNone);
    EXPECT_EQ(head->weight, find<kernels::EmbedOp>(pass, "embed")->table);
    const auto weightCols = [&](const std::string& op) {
        const auto* norm = find<kernels::NormOp>(pass, op);
        return pass.ops.weights[static_cast<std::size_t>(norm->weight)].cols;
    };
    EXPECT_EQ(find<kernels::NormOp>(pass, "layer 0 / attn.q.norm")->groupCols, 8);
    EXPECT_EQ(weightCols("layer 0 / attn.q.norm"), 8);
    EXPECT_EQ(find<kernels::NormOp>(pass, "layer 1 / attn.k.norm")->groupCols, 8);
    EXPECT_EQ(weightCols("layer 1 / attn.k.norm"), 16);
    EXPECT_EQ(find<kernels::NormOp>(pass, "layer 2 / attn.q.norm")->groupCols, 0);
    EXPECT_EQ(weightCols("layer 2 / attn.q.norm"), 32);
}

TEST(Forward, ErrorsNameTheTensorAndBothShapes) {
    const ModelSpec spec = smallSpec({smallLayer()});
    test::MemoryTensors missing = tensorsOf(spec);
    missing.erase("blk.0.ffn_up.weight");
    EXPECT_EQ(errorOf(spec, missing), "tensor 'blk.0.ffn_up.weight' is missing");

    test::MemoryTensors wrong = tensorsOf(spec);
    wrong.fill("blk.0.attn_k.weight", {24, 16});
    EXPECT_EQ(errorOf(spec, wrong),
              "tensor 'blk.0.attn_k.weight' has shape [24, 16] where the model's header wants "
              "[16, 24]");

    test::MemoryTensors bias = tensorsOf(spec);
    bias.fill("blk.0.attn_q.bias", {31});
    EXPECT_EQ(errorOf(spec, bias),
              "tensor 'blk.0.attn_q.bias' has shape [31] where the model's header wants [32]");

    test::MemoryTensors flat = tensorsOf(spec);
    flat.fill("token_embd.weight", {kVocab * kHidden});
    EXPECT_EQ(errorOf(spec, flat),
              "tensor 'token_embd.weight' has shape [960] where the model's header wants [40, 24]");
}

TEST(Forward, LearnedPositionsCoverTheContext) {
    ModelSpec spec = smallSpec({smallLayer()});
    spec.hasPositionEmbedding = true;
    spec.positionOffset = 2;
    test::MemoryTensors tensors = tensorsOf(spec);
    tensors.fill("position_embd.weight", {130, kHidden});
    const ForwardPass pass = built(spec, tensors);
    expectSound(pass);
    const auto* positions = find<kernels::EmbedOp>(pass, "embed.position");
    ASSERT_NE(positions, nullptr);
    EXPECT_EQ(positions->index, kernels::EmbedIndex::kPosition);
    EXPECT_EQ(positions->offset, 2);
    tensors.fill("position_embd.weight", {129, kHidden});
    EXPECT_EQ(errorOf(spec, tensors),
              "tensor 'position_embd.weight' has 129 positions; a context of 128 needs 130");
}

TEST(Forward, SpecsThatMakeNoSenseAreRefused) {
    const ModelSpec good = smallSpec({smallLayer()});
    const test::MemoryTensors tensors = tensorsOf(good);
    const auto refusal = [&](auto change) {
        ModelSpec spec = good;
        change(spec);
        return errorOf(spec, tensors);
    };
    EXPECT_EQ(refusal([](ModelSpec& s) { s.layers[0].attention.kvHeads = 3; }),
              "layer 0: 4 attention heads cannot share 3 key/value heads evenly");
    EXPECT_EQ(refusal([](ModelSpec& s) { s.layers[0].attention.kvHeads = 0; }),
              "layer 0: key/value heads is 0, not in 1…2147483647");
    EXPECT_EQ(refusal([](ModelSpec& s) { s.layers[0].attention.keyDim = std::int64_t{1} << 62; }),
              "layer 0: key dimension is 4611686018427387904, not in 1…2147483647");
    EXPECT_EQ(refusal([](ModelSpec& s) { s.layers[0].mlp.intermediate = -1; }),
              "layer 0: intermediate size is -1, not in 1…2147483647");
    EXPECT_EQ(refusal([](ModelSpec& s) { s.layers[0].attention.rope = 1; }),
              "layer 0: rope 1 of 1");
    EXPECT_EQ(refusal([](ModelSpec& s) { s.ropes[0].rotaryDim = 16; }),
              "layer 0: rotary dimension 16 exceeds the key dimension 8");
    EXPECT_EQ(refusal([](ModelSpec& s) { s.ropes[0].theta = 0; }),
              "rope: theta 0.000000 must be above 1 and below 1e30");
    EXPECT_EQ(refusal([](ModelSpec& s) { s.layers[0].attention.window = -4; }),
              "layer 0: window is -4");
    EXPECT_EQ(refusal([](ModelSpec& s) { s.hiddenSize = 0; }),
              "hidden size is 0, not in 1…2147483647");
    EXPECT_EQ(refusal([](ModelSpec& s) { s.vocabSize = -7; }),
              "vocabulary size is -7, not in 1…2147483647");
    for (const float eps : {0.0F, -1e-6F, 1.0F, std::nanf("")}) {
        EXPECT_TRUE(refusal([&](ModelSpec& s) { s.norm.eps = eps; }).starts_with("the norms'"));
    }
    EXPECT_EQ(refusal([](ModelSpec& s) { s.residualScale = 0; }),
              "residual scale is 0.000000; a finite number but 0 was expected");
    EXPECT_TRUE(refusal([](ModelSpec& s) { s.logitScale = HUGE_VALF; }).starts_with("logit scale"));
    EXPECT_TRUE(refusal([](ModelSpec& s) { s.logitSoftcap = -1; }).starts_with("logit softcap"));
    EXPECT_EQ(refusal([](ModelSpec& s) { s.layers[0].attention.scale = 0; }),
              "layer 0: attention scale is 0.000000; a finite number but 0 was expected");
    EXPECT_EQ(
        refusal([](ModelSpec& s) { s.layers[0].attention.softcap = -2; }),
        "layer 0: attention softcap is -2.000000; a finite number of at least 0 was expected");
}

ModelSpec spec2of4() {
    ModelSpec spec = smallSpec({smallLayer(), smallLayer()});
    spec.layers[1].experts = {.count = 4,
                              .used = 2,
                              .intermediate = 16,
                              .normalizes = true,
                              .sharedIntermediate = 12,
                              .hasSharedGate = true};
    return spec;
}

test::MemoryTensors tensors2of4(const ModelSpec& spec) {
    test::MemoryTensors tensors = tensorsOf(spec);
    const std::string blk = "blk.1.";
    tensors.fill(blk + "ffn_gate_inp.weight", {4, kHidden});
    tensors.fill(blk + "ffn_gate_exps.weight", {4, 16, kHidden}, 1.0F);
    tensors.fill(blk + "ffn_down_exps.weight", {4, kHidden, 16}, 2.0F);
    for (int expert = 0; expert < 4; ++expert) {
        tensors.fill(blk + "ffn_up_exps." + std::to_string(expert) + ".weight", {16, kHidden},
                     3.0F + static_cast<float>(expert));
    }
    tensors.fill(blk + "ffn_gate_shexp.weight", {12, kHidden});
    tensors.fill(blk + "ffn_up_shexp.weight", {12, kHidden});
    tensors.fill(blk + "ffn_down_shexp.weight", {kHidden, 12});
    tensors.fill(blk + "ffn_gate_inp_shexp.weight", {1, kHidden});
    return tensors;
}

TEST(Forward, ExpertsAreStackedOrEachByItself) {
    const ModelSpec spec = spec2of4();
    const test::MemoryTensors tensors = tensors2of4(spec);
    const ForwardPass pass = built(spec, tensors);
    const auto grouped = [&](const std::string& name) {
        const auto op = std::find_if(pass.ops.ops.begin(), pass.ops.ops.end(),
                                     [&](const kernels::Op& o) { return o.name == name; });
        return std::get<kernels::GroupedMatMulOp>(op->op);
    };
    const auto first = [&](kernels::WeightId id) {
        return *reinterpret_cast<const float*>(pass.weights[static_cast<std::size_t>(id)].data);
    };
    for (std::size_t expert = 0; expert < 4; ++expert) {
        EXPECT_EQ(first(grouped("layer 1 / mlp.experts.gate").weights[expert]), 1.0F);
        EXPECT_EQ(first(grouped("layer 1 / mlp.experts.up").weights[expert]),
                  3.0F + static_cast<float>(expert));
    }
    const auto down = grouped("layer 1 / mlp.experts.down").weights;
    const kernels::Weight& weight = pass.ops.weights[static_cast<std::size_t>(down[3])];
    EXPECT_EQ(weight.name, "blk.1.ffn_down_exps.3.weight");
    EXPECT_EQ(weight.rows, kHidden);
    EXPECT_EQ(weight.cols, 16);
    EXPECT_EQ(pass.weights[static_cast<std::size_t>(down[3])].data -
                  pass.weights[static_cast<std::size_t>(down[0])].data,
              3 * kHidden * 16 * 4);
}

TEST(Forward, NamesTheExpertsTensorThatIsWrong) {
    const ModelSpec spec = spec2of4();
    const auto refusal = [&](const test::MemoryTensors& tensors) {
        const auto pass = buildForward(spec, tensors);
        return pass ? std::string() : pass.error().message;
    };
    test::MemoryTensors missing = tensors2of4(spec);
    missing.erase("blk.1.ffn_up_exps.2.weight");
    EXPECT_NE(refusal(missing).find("blk.1.ffn_up_exps.2.weight"), std::string::npos);
    test::MemoryTensors small = tensors2of4(spec);
    small.fill("blk.1.ffn_gate_exps.weight", {3, 16, kHidden});
    EXPECT_EQ(refusal(small),
              "tensor 'blk.1.ffn_gate_exps.weight' has shape [3, 16, 24] where the model's header "
              "wants [4, 16, 24]");
}

TEST(Forward, RefusesExpertsThatCannotBe) {
    const auto refusal = [](auto change) {
        ModelSpec spec = spec2of4();
        change(spec.layers[1].experts);
        const auto pass = buildForward(spec, tensors2of4(spec));
        return pass ? std::string() : pass.error().message;
    };
    EXPECT_EQ(refusal([](ExpertsSpec& e) { e.used = 5; }),
              "layer 1: experts used by a token are 5 of 4");
    EXPECT_EQ(refusal([](ExpertsSpec& e) { e.count = -1; }),
              "layer 1: expert count is -1; 1 to 65536 are allowed");
    EXPECT_EQ(refusal([](ExpertsSpec& e) { e.groups = 3; }),
              "layer 1: 3 groups do not divide 4 experts");
    EXPECT_EQ(refusal([](ExpertsSpec& e) {
                  e.groups = 4;
                  e.groupsUsed = 1;
              }),
              "layer 1: a token uses 2 experts, but 1 of 4 groups hold only 1");
    EXPECT_EQ(refusal([](ExpertsSpec& e) { e.intermediate = 0; }),
              "layer 1: expert feed-forward length is 0; 1 to 16777216 are allowed");
}

}  // namespace
}  // namespace quern::engine
