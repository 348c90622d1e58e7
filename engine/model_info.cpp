#include "engine/model_info.h"

#include <algorithm>
#include <limits>
#include <string>

#include "engine/core/byte_text.h"
#include "engine/kv/group_rules.h"
#include "kernels/paged_kv.h"
#include "kernels/quant.h"
#include "kernels/weight_formats.h"

namespace quern::engine {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kDefaultContext = 8192;
constexpr std::int64_t kMostContexts = 4;
constexpr std::int64_t kMostStates = 16;
// A spelling, its length and a node of a hash table: what a token costs in our tokenizers.
constexpr std::int64_t kBytesPerToken = 96;

// Sums and products that stay at the largest number: what is too large does not fit anyway.
std::int64_t times(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? kMost : product;
}

std::int64_t plus(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? kMost : sum;
}

std::int64_t wholeBlocks(std::int64_t tokens) {
    return plus(tokens, kernels::kBlockTokens - 1) / kernels::kBlockTokens * kernels::kBlockTokens;
}

// What `bytes` of a type grow by when they are taken over, if it has no kernel of its own.
std::int64_t growth(kernels::DType type, std::int64_t bytes) {
    const auto held = kernels::heldAs(type);
    if (!held) {
        return 0;
    }
    const auto& traits = kernels::traits(type);
    const std::int64_t elements = times(bytes / traits.blockBytes, traits.blockElements);
    return std::max<std::int64_t>(times(elements, held->bits) / 8 - bytes, 0);
}

// Weights as they are held once they were taken over.
std::int64_t heldWeightBytes(const ModelInfo& info) {
    std::int64_t bytes = info.weightBytes;
    for (const TensorSummary& tensor : info.tensors) {
        if (tensor.shape.size() > 1) {
            bytes = plus(bytes, growth(tensor.type, tensor.bytes));
        }
    }
    for (const Rewritten& part : info.rewritten) {
        bytes = plus(bytes, part.bytes - part.fileBytes - growth(part.from, part.fileBytes));
    }
    return bytes;
}

// Activations of one step, and one row of results a sequence.
std::int64_t scratchBytes(const ModelInfo& info, const LoadOptions& options,
                          std::int64_t contextTokens) {
    const std::int64_t stepTokens =
        takesWhole(info) ? std::max(options.stepTokens, contextTokens) : options.stepTokens;
    const std::int64_t perToken =
        plus(plus(times(6, info.hiddenSize), times(2, info.queryElements)),
             times(3, info.intermediateSize));
    const std::int64_t floats =
        plus(times(stepTokens, perToken),
             times(options.maxRunning,
                   info.task == ModelTask::kGenerate ? info.vocabSize : info.vectorSize));
    return times(floats, sizeof(float));
}

// The longest context whose cache takes no more than `bytes`; whole blocks.
std::int64_t longestContext(const ModelInfo& info, const LoadOptions& options, std::int64_t most,
                            std::int64_t bytes) {
    std::int64_t low = 0;
    std::int64_t high = most / kernels::kBlockTokens;
    while (low < high) {
        const std::int64_t middle = high - (high - low) / 2;
        if (kvBytesOfContext(info, options, middle * kernels::kBlockTokens) <= bytes) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low * kernels::kBlockTokens;
}

Result<std::int64_t> resolveContext(const ModelInfo& info, const LoadOptions& options) {
    if (!info.isSupported) {
        return fail(ErrorCode::kUnsupported, info.whyNot);
    }
    if (options.contextTokens < 0 || options.contextTokens > info.contextTokens) {
        return fail(ErrorCode::kInvalidArgument, "contextTokens is " +
                                                     std::to_string(options.contextTokens) +
                                                     "; the model was trained for at most " +
                                                     std::to_string(info.contextTokens));
    }
    return options.contextTokens > 0 ? options.contextTokens
                                     : std::min(info.contextTokens, kDefaultContext);
}

}  // namespace

std::int64_t kvBytesOfContext(const ModelInfo& info, const LoadOptions& options,
                              std::int64_t contextTokens) {
    const auto& traits = kernels::traits(options.kvType);
    std::int64_t elements = 0;
    std::int64_t states = 0;
    for (const CacheLayer& layer : info.cacheLayers) {
        // While a step runs, its tokens are held besides the window, and a block more at the
        // border.
        const std::int64_t held =
            layer.window > 0 ? std::min(contextTokens, plus(plus(layer.window, options.stepTokens),
                                                            kernels::kBlockTokens))
                             : contextTokens;
        elements = plus(elements, times(layer.elementsPerToken, wholeBlocks(held)));
        states = plus(states, times(layer.stateFloats, kStatesPerSequence));
    }
    return plus(times(elements / traits.blockElements, traits.blockBytes),
                times(states, sizeof(float)));
}

Result<FitEstimate> estimateFit(const ModelInfo& info, const LoadOptions& options,
                                std::int64_t freeBytes) {
    auto context = resolveContext(info, options);
    if (!context) {
        return forward(context);
    }
    // What others were promised may be more than there is.
    freeBytes = std::max<std::int64_t>(freeBytes, 0);
    FitEstimate estimate;
    estimate.freeBytes = freeBytes;
    estimate.contextTokens = *context;
    const std::int64_t weights = heldWeightBytes(info);
    const std::int64_t scratch = scratchBytes(info, options, *context);
    const std::int64_t tokenizer = times(info.vocabSize, kBytesPerToken);
    const std::int64_t margin = std::max(256 * kMiB, freeBytes / 20);
    const std::int64_t fixed = plus(plus(plus(weights, scratch), tokenizer), options.adapterBytes);

    const std::int64_t perContext = kvBytesOfContext(info, options, *context);
    // States take the same whatever a sequence's length, so there more sequences have room.
    const bool growsByTokens = std::ranges::any_of(
        info.cacheLayers, [](const CacheLayer& layer) { return layer.elementsPerToken > 0; });
    const std::int64_t contexts = std::clamp(options.maxRunning, std::int64_t{1},
                                             growsByTokens ? kMostContexts : kMostStates);
    const std::int64_t left = freeBytes - plus(fixed, margin);
    const std::int64_t kv = options.kvBytes > 0
                                ? options.kvBytes
                                : std::max(perContext, std::min(left, times(contexts, perContext)));
    estimate.kvTokens = static_cast<std::int64_t>(
        static_cast<double>(kv) / static_cast<double>(std::max<std::int64_t>(perContext, 1)) *
        static_cast<double>(*context));
    estimate.items = {{"weights", weights},
                      {"KV cache", kv},
                      {"scratch", scratch},
                      {"tokenizer", tokenizer},
                      {"margin", margin}};
    if (options.adapterBytes > 0) {
        estimate.items.insert(estimate.items.end() - 1, {"adapters", options.adapterBytes});
    }
    for (const FitItem& item : estimate.items) {
        estimate.totalBytes = plus(estimate.totalBytes, item.bytes);
    }

    if (options.kvBytes > 0 && kv < perContext) {
        estimate.fit = Fit::kDoesNotFit;
        estimate.advice = "KV memory of " + byteText(kv) + " holds " +
                          std::to_string(longestContext(info, options, *context, kv)) +
                          " tokens; a context of " + std::to_string(*context) + " needs " +
                          byteText(perContext);
        return estimate;
    }
    if (estimate.totalBytes <= freeBytes) {
        return estimate;
    }
    estimate.fit = estimate.totalBytes - margin <= freeBytes ? Fit::kTight : Fit::kDoesNotFit;
    const auto longest = [&](std::int64_t bytes) {
        return longestContext(info, options, *context, std::max<std::int64_t>(bytes, 0));
    };
    const std::int64_t fitting = longest(left);
    const std::int64_t withoutMargin =
        estimate.fit == Fit::kDoesNotFit && options.kvBytes == 0 ? longest(freeBytes - fixed) : 0;
    if (options.kvBytes > 0 && left >= perContext) {
        estimate.advice = "less KV memory: " + byteText(left) + " is left for it";
    } else if (fitting >= kernels::kBlockTokens) {
        estimate.advice = "a context of " + std::to_string(fitting) + " tokens fits";
    } else if (withoutMargin >= kernels::kBlockTokens) {
        estimate.advice = "a context of " + std::to_string(withoutMargin) + " tokens fits, tightly";
    } else {
        estimate.advice = "free " + byteText(estimate.totalBytes - freeBytes) +
                          " more, or take a smaller or more quantized model";
    }
    return estimate;
}

}  // namespace quern::engine
