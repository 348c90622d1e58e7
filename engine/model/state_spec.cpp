#include "engine/model/state_spec.h"

#include <string>
#include <utility>
#include <vector>

namespace quern::engine {

std::int64_t innerOf(const Mamba2Spec& spec) {
    return spec.heads * spec.headDim;
}

std::int64_t convCols(const Mamba2Spec& spec) {
    return innerOf(spec) + 2 * spec.groups * spec.stateSize;
}

std::int64_t innerOf(const DeltaNetSpec& spec) {
    return spec.valueHeads * spec.valueDim;
}

std::int64_t convCols(const DeltaNetSpec& spec) {
    return 2 * spec.keyHeads * spec.keyDim + innerOf(spec);
}

namespace {

std::int64_t floatsOf(std::monostate /*none*/, std::int64_t /*hidden*/) {
    return 0;
}

std::int64_t floatsOf(const ShortConvSpec& spec, std::int64_t hidden) {
    return (spec.rows - 1) * hidden;
}

std::int64_t floatsOf(const Mamba2Spec& spec, std::int64_t /*hidden*/) {
    return (spec.rows - 1) * convCols(spec) + innerOf(spec) * spec.stateSize;
}

std::int64_t floatsOf(const DeltaNetSpec& spec, std::int64_t /*hidden*/) {
    return (spec.rows - 1) * convCols(spec) + innerOf(spec) * spec.keyDim;
}

std::int64_t widthOf(std::monostate /*none*/, std::int64_t /*hidden*/) {
    return 0;
}

std::int64_t widthOf(const ShortConvSpec& /*as wide as a row*/, std::int64_t hidden) {
    return hidden;
}

template <class Spec>
std::int64_t widthOf(const Spec& spec, std::int64_t /*hidden*/) {
    return convCols(spec);
}

using Sizes = std::vector<std::pair<const char*, std::int64_t>>;

Sizes sizesOf(std::monostate /*none*/) {
    return {};
}

Sizes sizesOf(const ShortConvSpec& /*only a convolution*/) {
    return {};
}

Sizes sizesOf(const Mamba2Spec& spec) {
    return {{"scan heads", spec.heads},
            {"scan head dimension", spec.headDim},
            {"state size", spec.stateSize},
            {"scan groups", spec.groups}};
}

Sizes sizesOf(const DeltaNetSpec& spec) {
    return {{"linear key heads", spec.keyHeads},
            {"linear value heads", spec.valueHeads},
            {"linear key dimension", spec.keyDim},
            {"linear value dimension", spec.valueDim}};
}

std::int64_t rowsOf(std::monostate /*none*/) {
    return 2;
}

template <class Spec>
std::int64_t rowsOf(const Spec& spec) {
    return spec.rows;
}

}  // namespace

std::int64_t stateFloats(const StateSpec& spec, std::int64_t hidden) {
    return std::visit([&](const auto& s) { return floatsOf(s, hidden); }, spec);
}

std::int64_t stateWidth(const StateSpec& spec, std::int64_t hidden) {
    return std::visit([&](const auto& s) { return widthOf(s, hidden); }, spec);
}

Status checkState(const StateSpec& spec, const std::string& at) {
    // A state has up to two products of three of these: all stay below 2^63.
    constexpr std::int64_t kMostSize = 1 << 16;
    constexpr std::int64_t kMostRows = 64;
    const auto wrong = [&](const std::string& what, std::int64_t size, std::int64_t least,
                           std::int64_t most) {
        return fail(ErrorCode::kCorrupt, at + what + " is " + std::to_string(size) + ", not in " +
                                             std::to_string(least) + "…" + std::to_string(most));
    };
    const std::int64_t rows = std::visit([](const auto& s) { return rowsOf(s); }, spec);
    if (rows < 2 || rows > kMostRows) {
        return wrong("convolution length", rows, 2, kMostRows);
    }
    for (const auto& [what, size] : std::visit([](const auto& s) { return sizesOf(s); }, spec)) {
        if (size < 1 || size > kMostSize) {
            return wrong(what, size, 1, kMostSize);
        }
    }
    if (const auto* mamba = std::get_if<Mamba2Spec>(&spec)) {
        if (mamba->heads % mamba->groups != 0) {
            return fail(ErrorCode::kCorrupt, at + std::to_string(mamba->heads) +
                                                 " scan heads cannot share " +
                                                 std::to_string(mamba->groups) + " groups evenly");
        }
        if (!(mamba->stepMin <= mamba->stepMax)) {
            return fail(ErrorCode::kCorrupt, at + "the least step exceeds the largest");
        }
    }
    if (const auto* net = std::get_if<DeltaNetSpec>(&spec)) {
        if (net->valueHeads % net->keyHeads != 0) {
            return fail(ErrorCode::kCorrupt,
                        at + std::to_string(net->valueHeads) + " linear value heads cannot share " +
                            std::to_string(net->keyHeads) + " key heads evenly");
        }
    }
    return {};
}

}  // namespace quern::engine
