#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "engine/model_info.h"

namespace quern::engine {

namespace {

constexpr std::array<std::pair<std::string_view, Pooling>, 5> kNames{{{"none", Pooling::kNone},
                                                                      {"mean", Pooling::kMean},
                                                                      {"first", Pooling::kFirst},
                                                                      {"last", Pooling::kLast},
                                                                      {"cls", Pooling::kFirst}}};

}  // namespace

std::string_view taskName(ModelTask task) {
    switch (task) {
        case ModelTask::kGenerate:
            return "generate";
        case ModelTask::kEmbed:
            return "embed";
        case ModelTask::kScore:
            return "score";
    }
    return {};
}

std::string_view poolingName(Pooling pooling) {
    return std::ranges::find(kNames, pooling, &std::pair<std::string_view, Pooling>::second)->first;
}

Result<Pooling> poolingByName(std::string_view name) {
    const auto* found =
        std::ranges::find(kNames, name, &std::pair<std::string_view, Pooling>::first);
    if (found == kNames.end() || found->second == Pooling::kNone) {
        return failField("pooling", "pooling is '" + std::string(name.substr(0, 32)) +
                                        "'; mean, first (or cls) and last are known");
    }
    return found->second;
}

bool takesWhole(const ModelInfo& info) {
    return info.isBidirectional || info.pooling == Pooling::kMean ||
           info.pooling == Pooling::kFirst;
}

Status choosePooling(Pooling pooling, ModelInfo& info) {
    if (info.task == ModelTask::kScore) {
        return failField("pooling", "the model " + info.name +
                                        " scores documents, with a pooling of its own: " +
                                        std::string(poolingName(info.pooling)));
    }
    if (pooling == Pooling::kNone) {
        return failField("pooling", "without a pooling there is no vector of a text");
    }
    info.task = ModelTask::kEmbed;
    info.pooling = pooling;
    info.vectorSize = info.hiddenSize;
    return {};
}

}  // namespace quern::engine
