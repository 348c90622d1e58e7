#include "kernels/cpu/check_step.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/cpu/adapter.h"

namespace quern::kernels::cpu {

namespace {

template <class T>
std::int64_t ssize(std::span<T> span) {
    return static_cast<std::int64_t>(span.size());
}

bool sameLayout(const KvLayout& a, const KvLayout& b) {
    return a.groups == b.groups && a.type == b.type &&
           std::equal(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end(),
                      [](const KvLayer& x, const KvLayer& y) {
                          return x.group == y.group && x.kvHeads == y.kvHeads &&
                                 x.keyDim == y.keyDim && x.valueDim == y.valueDim &&
                                 x.isValueInKey == y.isValueInKey;
                      }) &&
           a.states == b.states;
}

tl::unexpected<Error> invalid(std::string message) {
    return fail(ErrorCode::kInvalidArgument, std::move(message));
}

Status checkTables(const StepLimits& limits, const CpuKvCache& cache, const StepInputs& inputs) {
    if (!sameLayout(cache.layout(), limits.kv)) {
        return invalid("the KV cache has another layout than the program");
    }
    if (ssize(inputs.tables) != limits.kv.groups) {
        return invalid("block tables of " + std::to_string(ssize(inputs.tables)) +
                       " groups; the model has " + std::to_string(limits.kv.groups));
    }
    for (std::int32_t group = 0; group < limits.kv.groups; ++group) {
        const std::int64_t window = limits.image.groupWindows[static_cast<std::size_t>(group)];
        if (window < 0) {
            continue;
        }
        const BlockTables& table = inputs.tables[static_cast<std::size_t>(group)];
        const std::int64_t sequences = ssize(inputs.sequences);
        if (table.stride < 0 ||
            (table.stride > 0 && ssize(table.blocks) / table.stride < sequences)) {
            return invalid("the block table of group " + std::to_string(group) + " has " +
                           std::to_string(ssize(table.blocks)) + " entries, not " +
                           std::to_string(sequences) + " rows of " + std::to_string(table.stride));
        }
        for (std::int64_t s = 0; s < sequences; ++s) {
            const SequenceSlice& slice = inputs.sequences[static_cast<std::size_t>(s)];
            const auto first = static_cast<std::size_t>(slice.firstToken);
            const std::int64_t from = inputs.positions[first];
            const std::int64_t to =
                inputs.positions[first + static_cast<std::size_t>(slice.tokenCount) - 1];
            const std::int64_t least =
                window > 0 ? std::max<std::int64_t>(0, from - window + 1) : 0;
            for (std::int64_t i = least / kBlockTokens; i <= to / kBlockTokens; ++i) {
                const std::int64_t block =
                    i < table.stride ? table.blocks[static_cast<std::size_t>(s * table.stride + i)]
                                     : -1;
                // Of states only the one before the step and the one that it ends in are needed.
                const bool isNeeded = !limits.image.isStateGroup[static_cast<std::size_t>(group)] ||
                                      i == to / kBlockTokens ||
                                      (from > 0 && i == (from - 1) / kBlockTokens);
                if ((block < 0 && isNeeded) || block >= cache.blocks(group)) {
                    return invalid(
                        "sequence " + std::to_string(s) + " needs block " + std::to_string(i) +
                        " of group " + std::to_string(group) + " for positions " +
                        std::to_string(least) + " to " + std::to_string(to) + "; its table says " +
                        std::to_string(block) + " of " + std::to_string(cache.blocks(group)));
                }
            }
        }
    }
    return {};
}

Status checkAdapters(const StepLimits& limits, const StepInputs& inputs) {
    if (!inputs.adapters.empty() && inputs.adapters.size() != inputs.sequences.size()) {
        return invalid(std::to_string(ssize(inputs.adapters)) + " adapters for " +
                       std::to_string(ssize(inputs.sequences)) + " sequences");
    }
    for (const Adapter* adapter : inputs.adapters) {
        const auto* own = dynamic_cast<const CpuAdapter*>(adapter);
        if (adapter != nullptr && (own == nullptr || own->programId() != limits.programId)) {
            return invalid("an adapter was made for another program");
        }
    }
    return {};
}

}  // namespace

Status checkStep(const StepLimits& limits, const CpuKvCache& cache, const StepInputs& inputs,
                 const StepOutputs& outputs) {
    const std::int64_t tokens = ssize(inputs.tokens);
    if (tokens < 1 || tokens > limits.options.maxTokens) {
        return invalid("a step with " + std::to_string(tokens) +
                       " tokens; the program takes 1 to " +
                       std::to_string(limits.options.maxTokens));
    }
    if (ssize(inputs.positions) != tokens) {
        return invalid(std::to_string(ssize(inputs.positions)) + " positions for " +
                       std::to_string(tokens) + " tokens");
    }
    for (const std::int32_t token : inputs.tokens) {
        if (token < 0 || (limits.image.vocab > 0 && token >= limits.image.vocab)) {
            return invalid("token id " + std::to_string(token) + "; the vocabulary has " +
                           std::to_string(limits.image.vocab));
        }
    }
    if (!inputs.tokenTypes.empty() && ssize(inputs.tokenTypes) != tokens) {
        return invalid(std::to_string(ssize(inputs.tokenTypes)) + " token types for " +
                       std::to_string(tokens) + " tokens");
    }
    for (const std::int32_t type : inputs.tokenTypes) {
        if (type < 0 || (limits.image.types > 0 && type >= limits.image.types)) {
            return invalid("token type " + std::to_string(type) + "; the model has " +
                           std::to_string(limits.image.types));
        }
    }
    const std::int64_t rows = ssize(inputs.outputRows);
    if (rows > limits.options.maxOutputs) {
        return invalid("a step with " + std::to_string(rows) +
                       " output rows; the program takes up to " +
                       std::to_string(limits.options.maxOutputs));
    }
    for (const std::int32_t row : inputs.outputRows) {
        if (row < 0 || row >= tokens) {
            return invalid("output row " + std::to_string(row) + " of " + std::to_string(tokens) +
                           " tokens");
        }
    }
    if (ssize(outputs.rows) < rows * limits.image.outputCols) {
        return invalid("room for " + std::to_string(ssize(outputs.rows)) +
                       " results; the step gives " + std::to_string(rows) + " × " +
                       std::to_string(limits.image.outputCols));
    }
    if (ssize(inputs.sequences) > limits.options.maxSequences) {
        return invalid("a step with " + std::to_string(ssize(inputs.sequences)) +
                       " sequences; the program takes up to " +
                       std::to_string(limits.options.maxSequences));
    }
    const bool hasStates = !limits.kv.states.empty();
    std::int64_t next = 0;
    for (const SequenceSlice& slice : inputs.sequences) {
        if (slice.firstToken != next || slice.tokenCount < 1 || slice.tokenCount > tokens - next) {
            return invalid("a sequence with tokens " + std::to_string(slice.firstToken) + " to " +
                           std::to_string(std::int64_t{slice.firstToken} + slice.tokenCount) +
                           "; the next one must start at token " + std::to_string(next) + " of " +
                           std::to_string(tokens));
        }
        std::int64_t last = -1;
        for (std::int64_t i = next; i < next + slice.tokenCount; ++i) {
            const std::int32_t position = inputs.positions[static_cast<std::size_t>(i)];
            if (position <= last) {
                return invalid("position " + std::to_string(position) + " of token " +
                               std::to_string(i) + " does not ascend");
            }
            if (limits.image.positions > 0 && position >= limits.image.positions) {
                return invalid("position " + std::to_string(position) +
                               "; the model has embeddings for " +
                               std::to_string(limits.image.positions) + " positions");
            }
            if (hasStates && i > next && position != last + 1) {
                return invalid("position " + std::to_string(position) + " after " +
                               std::to_string(last) +
                               "; a model with states takes every token in turn");
            }
            last = position;
        }
        if (limits.image.takesWhole && last != slice.tokenCount - 1) {
            return invalid("a sequence of " + std::to_string(slice.tokenCount) +
                           " tokens up to position " + std::to_string(last) +
                           "; the program takes sequences whole");
        }
        next += slice.tokenCount;
    }
    if (next != tokens) {
        return invalid("the sequences cover " + std::to_string(next) + " of " +
                       std::to_string(tokens) + " tokens");
    }
    if (auto status = checkAdapters(limits, inputs); !status) {
        return status;
    }
    return checkTables(limits, cache, inputs);
}

}  // namespace quern::kernels::cpu
