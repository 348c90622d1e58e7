#include "ui/demo/demo_world.h"

#include <array>
#include <random>

#include "ui/core/sizes.h"

namespace quern::ui {
namespace {

class DemoTokenizer : public engine::Tokenizer {
public:
    std::int32_t vocabSize() const override { return 1000; }
    Result<std::vector<engine::TokenId>> encode(std::string_view text,
                                                engine::EncodeOptions) const override {
        return std::vector<engine::TokenId>((text.size() + 3) / 4, 1);
    }
    std::string_view tokenBytes(engine::TokenId) const override { return "…"; }
    bool isControl(engine::TokenId) const override { return false; }
    std::string decode(std::span<const engine::TokenId>, bool) const override { return {}; }
    std::optional<engine::TokenId> find(std::string_view) const override { return {}; }
    const engine::SpecialTokens& special() const override { return m_special; }
    std::string description() const override { return "demo"; }
    bool addsSpacePrefix() const override { return false; }

private:
    engine::SpecialTokens m_special;
};

}  // namespace

std::shared_ptr<const engine::Tokenizer> makeDemoTokenizer() {
    return std::make_shared<DemoTokenizer>();
}

std::shared_ptr<const engine::LoadedModel> demoModel(const engine::LoadOptions& options) {
    auto model = std::make_shared<engine::LoadedModel>();
    model->name = options.name.empty() ? engine::nameOfPath(options.path) : options.name;
    model->info.path = options.path;
    model->info.name = model->name;
    model->info.quantization = "Q4_K_M";
    model->info.contextTokens = 40960;
    model->options = options;
    if (model->options.contextTokens == 0) {
        model->options.contextTokens = kDemoContext;
    }
    model->estimate.items = {{"weights", 4792 * kMiB},
                             {"KV cache", 4 * kGiB},
                             {"scratch", 96 * kMiB},
                             {"tokenizer", 18 * kMiB}};
    for (const engine::FitItem& item : model->estimate.items) {
        model->estimate.totalBytes += item.bytes;
    }
    model->measuredBytes = model->estimate.totalBytes - 61 * kMiB;
    model->loadSeconds = 3.4;
    model->notes = {"KV cache of 4.0 GiB: four full contexts",
                    "context 8 192 of the 40 960 the model was trained for"};
    model->tokenizer = makeDemoTokenizer();
    model->templates.standard =
        engine::ChatTemplate::create("{% for m in messages %}{{ m.content }}\n{% endfor %}")
            .value();
    model->defaults.temperature = 0.7F;
    model->defaults.topP = 0.8F;
    model->defaults.topK = 20;
    return model;
}

engine::KvMap demoMap() {
    engine::KvMap map;
    map.version = 1;
    map.step = 48210;
    map.cells.resize(static_cast<std::size_t>(kDemoBlocks));
    std::mt19937 random(20260115);
    const auto upTo = [&](std::uint32_t most) {
        return static_cast<std::uint32_t>(random() % most);
    };
    std::size_t at = 0;
    std::uint32_t hue = 0;
    while (at < map.cells.size() * 81 / 100) {
        hue = (hue + 1 + upTo(6)) % 8;
        const std::uint32_t dice = upTo(100);
        const auto state = dice < 9    ? engine::BlockState::kShared
                           : dice < 27 ? engine::BlockState::kCached
                           : dice < 31 ? engine::BlockState::kFree
                                       : engine::BlockState::kHeld;
        const std::uint32_t length = 12 + upTo(state == engine::BlockState::kShared ? 60 : 110);
        for (std::uint32_t i = 0; i < length && at < map.cells.size(); ++i, ++at) {
            map.cells[at] = {
                .state = state,
                .color = static_cast<std::uint8_t>(hue),
                .sharers = static_cast<std::uint16_t>(state == engine::BlockState::kShared ? 3 : 1),
                .lastWrite = map.step - 40 - upTo(9000),
                .owner = 61 + hue,
                .logicalIndex = static_cast<std::int32_t>(i)};
        }
    }
    return map;
}

std::vector<engine::RequestSnapshot> demoRequests() {
    static constexpr std::array kClients{"chat", "127.0.0.1", "notebook", "127.0.0.1", "editor"};
    std::vector<engine::RequestSnapshot> requests;
    for (std::int32_t i = 0; i < 17; ++i) {
        engine::RequestSnapshot request;
        request.id = static_cast<engine::RequestId>(61 + i);
        request.clientId = kClients[static_cast<std::size_t>(i) % kClients.size()];
        request.color = i % 8;
        request.promptTokens = 240 + (i * 7919) % 3800;
        request.computedTokens = request.promptTokens;
        request.cachedTokens = request.promptTokens * ((i * 37) % 96) / 100 / 16 * 16;
        request.generatedTokens = (i * 613) % 900;
        request.ageSeconds = 0.4 + ((i * 211) % 190) / 10.0;
        request.tokensPerSecond = 71.5 + (i * 29) % 40;
        request.state = engine::RequestState::kDecode;
        if (i >= 14) {
            request.state = engine::RequestState::kWaiting;
            request.waitReason = "no free blocks: needs 212, 96 are free";
        } else if (i >= 12) {
            request.state = engine::RequestState::kPrefill;
            request.computedTokens = request.promptTokens * 2 / 5;
        }
        if (i >= 12) {
            request.generatedTokens = 0;
            request.tokensPerSecond = 0;
        }
        request.blocks = i >= 14 ? 0 : (request.computedTokens + request.generatedTokens + 15) / 16;
        requests.push_back(std::move(request));
    }
    return requests;
}

}  // namespace quern::ui
