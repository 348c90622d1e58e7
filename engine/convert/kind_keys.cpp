#include "engine/convert/kind_keys.h"

#include <algorithm>

namespace quern::engine::convert {

namespace {

// The format's numbers.
std::int64_t gatingNumber(kernels::Gating gating) {
    switch (gating) {
        case kernels::Gating::kSoftmax:
            return 1;
        case kernels::Gating::kSigmoid:
            return 2;
        case kernels::Gating::kSoftmaxOfChosen:
            return 3;
    }
    return 0;
}

std::int64_t poolingNumber(Pooling pooling) {
    switch (pooling) {
        case Pooling::kNone:
            return 0;
        case Pooling::kMean:
            return 1;
        case Pooling::kFirst:
            return 2;
        case Pooling::kLast:
            return 3;
    }
    return 0;
}

void addState(std::monostate /*none*/, PrefixedKeys& /*keys*/) {}

void addState(const ShortConvSpec& spec, PrefixedKeys& keys) {
    keys.size("shortconv.l_cache", spec.rows);
}

void addState(const Mamba2Spec& spec, PrefixedKeys& keys) {
    keys.size("ssm.conv_kernel", spec.rows);
    keys.size("ssm.inner_size", innerOf(spec));
    keys.size("ssm.state_size", spec.stateSize);
    keys.size("ssm.time_step_rank", spec.heads);
    keys.size("ssm.group_count", spec.groups);
}

void addState(const DeltaNetSpec& spec, PrefixedKeys& keys) {
    keys.size("ssm.conv_kernel", spec.rows);
    keys.size("ssm.inner_size", innerOf(spec));
    keys.size("ssm.state_size", spec.keyDim);
    keys.size("ssm.time_step_rank", spec.valueHeads);
    keys.size("ssm.group_count", spec.keyHeads);
}

}  // namespace

void addExpertKeys(const ReadModel& model, PrefixedKeys& keys) {
    const Hyperparameters& parameters = model.parameters;
    const auto first = std::ranges::find(parameters.hasExperts, true);
    if (first == parameters.hasExperts.end()) {
        return;
    }
    const ExpertsSpec& experts = parameters.experts;
    // What a file without the keys means: its name is all it says.
    const ExpertRules& usual = architectureOfGguf(model.architecture->gguf)->experts;
    keys.size("expert_count", experts.count);
    keys.size("expert_used_count", experts.used);
    const std::int64_t dense = first - parameters.hasExperts.begin();
    keys.size("expert_feed_forward_length", experts.intermediate);
    const bool isSigmoid = experts.gating == kernels::Gating::kSigmoid;
    if (experts.gating != usual.gating || isSigmoid) {
        keys.size("expert_gating_func", gatingNumber(experts.gating));
    }
    if (experts.normalizes != usual.normalizes || (isSigmoid && experts.normalizes)) {
        keys.flag("expert_weights_norm", experts.normalizes);
    }
    // Readers of latent attention's models expect the rest whatever it is.
    const bool isLatent = parameters.latent.rank > 0;
    if (isLatent || experts.scale != 1.0F) {
        keys.number("expert_weights_scale", static_cast<double>(experts.scale));
    }
    if (isLatent || experts.groups > 1) {
        keys.size("expert_group_count", experts.groups);
        keys.size("expert_group_used_count", experts.groupsUsed);
    }
    if (isLatent || isSigmoid || dense > 0) {
        keys.size("leading_dense_block_count", dense);
    }
    if (usual.hasInterval) {
        const auto next = std::find(first + 1, parameters.hasExperts.end(), true);
        keys.size("interleave_moe_layer_step",
                  next == parameters.hasExperts.end() ? 1 : next - first);
    }
    const bool areSharedAlike =
        !experts.hasSharedGate && experts.sharedIntermediate % experts.intermediate == 0;
    if (isLatent || (isSigmoid && areSharedAlike)) {
        keys.size("expert_shared_count", experts.sharedIntermediate / experts.intermediate);
    }
    if (!isLatent && experts.sharedIntermediate > 0) {
        keys.size("expert_shared_feed_forward_length", experts.sharedIntermediate);
    }
}

void addLatentKeys(const ReadModel& model, PrefixedKeys& keys) {
    const LatentSpec& latent = model.parameters.latent;
    if (latent.rank == 0) {
        return;
    }
    keys.size("attention.kv_lora_rank", latent.rank);
    if (latent.queryRank > 0) {
        keys.size("attention.q_lora_rank", latent.queryRank);
    }
    keys.size("attention.key_length_mla", latent.nopeDim + latent.ropeDim);
    keys.size("attention.value_length_mla", latent.valueDim);
    if (const RopeSpec& rope = model.parameters.rope;
        rope.scaling == RopeSpec::Scaling::kYarn && rope.mscaleAllDim.value_or(0) != 0) {
        keys.number("rope.scaling.yarn_log_multiplier", 0.1 * *rope.mscaleAllDim);
    }
}

void addStateKeys(const ReadModel& model, PrefixedKeys& keys) {
    const std::vector<bool>& keepsState = model.parameters.keepsState;
    std::visit([&](const auto& spec) { addState(spec, keys); }, model.parameters.state);
    if (model.architecture->state == StateKind::kDeltaNet) {
        // Every so many layers one has attention; the reading back tells whether that is all.
        const auto attention = std::ranges::find(keepsState, false);
        keys.size("full_attention_interval", attention - keepsState.begin() + 1);
    }
}

void addVectorKeys(const ReadModel& model, PrefixedKeys& keys) {
    if (model.architecture->isBidirectional) {
        keys.flag("attention.causal", false);
    }
    if (model.parameters.isScorer) {
        constexpr std::int64_t kRank = 4;
        keys.size("pooling_type", kRank);
    } else if (model.parameters.pooling) {
        keys.size("pooling_type", poolingNumber(*model.parameters.pooling));
    }
}

}  // namespace quern::engine::convert
