// Adapters of every architecture against the same model with the adapter merged into its weights:
// names, fused and transposed matrices, and where a result is added.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "engine/formats/safetensors.h"
#include "engine/model_info.h"
#include "engine/score.h"
#include "kernels/quant.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/golden.h"
#include "tests/support/safetensors_builder.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

namespace fs = std::filesystem;
using namespace test;

constexpr std::int64_t kRank = 3;
constexpr double kScale = 2.0;  // lora_alpha / r

std::vector<float> valuesOf(const SafetensorsEntry& entry) {
    std::vector<float> values(static_cast<std::size_t>(entry.shape.elements()));
    EXPECT_TRUE(kernels::dequantize(*entry.type, entry.data, values));
    return values;
}

/// "model.layers.3.mlp.up_proj.weight" → "mlp.up_proj"; empty for what no adapter is made for.
std::string kindOf(const SafetensorsEntry& entry) {
    constexpr std::string_view kEnd = ".weight";
    std::string name = entry.name;
    if (!name.ends_with(kEnd) || entry.shape.rank != 2 || !entry.type) {
        return {};
    }
    name.resize(name.size() - kEnd.size());
    for (const char* other : {"emb", "wte", "wpe", "experts", "block_sparse_moe", "norm"}) {
        if (name.find(other) != std::string::npos && name != "embed_out") {
            return {};
        }
    }
    std::size_t digit = name.find_first_of("0123456789");
    while (digit != std::string::npos && (digit == 0 || name[digit - 1] != '.')) {
        digit = name.find_first_of("0123456789", digit + 1);
    }
    return digit == std::string::npos ? name : name.substr(name.find('.', digit) + 1);
}

/// A model's folder, an adapter of some kinds of its matrices, and the two made one.
class Merged {
public:
    Merged(const fs::path& model, const std::set<std::string>& kinds) : m_model(model) {
        const auto weights = SafetensorsModel::open(model);
        EXPECT_TRUE(weights);
        const bool isTransposed = model.filename() == "gpt2";
        SafetensorsBuilder merged;
        SafetensorsBuilder adapter;
        for (const SafetensorsEntry& entry : (*weights)->entries()) {
            const std::vector<std::int64_t> shape(entry.shape.dims.begin(),
                                                  entry.shape.dims.begin() + entry.shape.rank);
            const std::string kind = kindOf(entry);
            if (!kinds.contains(kind)) {
                merged.raw(entry.name, shape, entry.dtype,
                           {reinterpret_cast<const char*>(entry.data.data()), entry.data.size()});
                continue;
            }
            const bool turns = isTransposed && kind != "lm_head";
            const std::int64_t outputs = shape[turns ? 1 : 0];
            const std::int64_t inputs = shape[turns ? 0 : 1];
            const auto a = numbers(kRank * inputs, 0.1F);
            const auto b = numbers(outputs * kRank, 0.1F);
            const std::string name = entry.name.substr(0, entry.name.size() - 7);
            adapter.values("base_model.model." + name + ".lora_A.weight", {kRank, inputs}, a);
            adapter.values("base_model.model." + name + ".lora_B.weight", {outputs, kRank}, b);
            std::vector<float> sum = valuesOf(entry);
            for (std::int64_t o = 0; o < outputs; ++o) {
                for (std::int64_t i = 0; i < inputs; ++i) {
                    double added = 0;
                    for (std::int64_t r = 0; r < kRank; ++r) {
                        added += double{b[static_cast<std::size_t>(o * kRank + r)]} *
                                 a[static_cast<std::size_t>(r * inputs + i)];
                    }
                    const auto at =
                        static_cast<std::size_t>(turns ? i * outputs + o : o * inputs + i);
                    sum[at] = static_cast<float>(sum[at] + kScale * added);
                }
            }
            merged.values(entry.name, shape, sum);
        }
        fs::copy(model / "config.json", m_merged.path() / "config.json");
        writeFile(m_merged.path() / "model.safetensors", merged.bytes());
        writeFile(m_adapter.path() / "adapter_model.safetensors", adapter.bytes());
        writeFile(m_adapter.path() / "adapter_config.json",
                  R"({"peft_type":"LORA","r":3,"lora_alpha":6})");
    }

    [[nodiscard]] Result<std::vector<float>> beside() const {
        return logits(m_model, {m_adapter.path()});
    }
    [[nodiscard]] Result<std::vector<float>> inside() const { return logits(m_merged.path(), {}); }
    [[nodiscard]] Result<std::vector<float>> bare() const { return logits(m_model, {}); }

private:
    static Result<std::vector<float>> logits(const fs::path& model,
                                             const std::vector<fs::path>& adapters) {
        auto scorer = Scorer::create(model, {.adapters = adapters});
        if (!scorer) {
            return tl::unexpected<Error>(scorer.error());
        }
        return (*scorer)->logits(std::vector<TokenId>{5, 9, 60, 31, 7, 7, 44, 18, 2, 90, 11});
    }

    std::vector<float> numbers(std::int64_t count, float range) {
        std::uniform_real_distribution<float> distribution(-range, range);
        std::vector<float> values(static_cast<std::size_t>(count));
        for (float& value : values) {
            value = distribution(m_random);
        }
        return values;
    }

    fs::path m_model;
    std::mt19937 m_random{7};
    TempFolder m_merged;
    TempFolder m_adapter;
};

/// Kinds of matrices that adapters cannot add to, because latent attention applies them to other
/// rows; the program says which one it was.
const std::map<std::string, std::set<std::string>> kRefused{
    {"deepseek-v2", {"self_attn.kv_b_proj"}}, {"deepseek-v3", {"self_attn.kv_b_proj"}}};

TEST(AdapterMerge, BesideTheWeightsIsInsideThem) {
    QUERN_GOLDEN_OR_SKIP(models, "models");
    for (const auto& entry : fs::directory_iterator(models)) {
        SCOPED_TRACE(entry.path().filename().string());
        const auto info = inspectModel(entry.path());
        ASSERT_TRUE(info);
        if (info->task != ModelTask::kGenerate) {
            continue;
        }
        std::set<std::string> kinds;
        const auto weights = SafetensorsModel::open(entry.path());
        ASSERT_TRUE(weights);
        for (const SafetensorsEntry& tensor : (*weights)->entries()) {
            if (const std::string kind = kindOf(tensor); !kind.empty()) {
                kinds.insert(kind);
            }
        }
        std::set<std::string> refused;
        auto model = std::make_unique<Merged>(entry.path(), kinds);
        auto beside = model->beside();
        while (!beside && !kinds.empty()) {
            const auto named = std::ranges::find_if(kinds, [&](const std::string& kind) {
                return beside.error().message.find(kind) != std::string::npos;
            });
            ASSERT_NE(named, kinds.end()) << beside.error().message;
            refused.insert(*named);
            kinds.erase(named);
            model = std::make_unique<Merged>(entry.path(), kinds);
            beside = model->beside();
        }
        const auto expected = kRefused.find(entry.path().filename());
        EXPECT_EQ(refused, expected == kRefused.end() ? std::set<std::string>() : expected->second);
        const auto inside = model->inside();
        const auto bare = model->bare();
        ASSERT_TRUE(beside) << beside.error().message;
        ASSERT_TRUE(inside) << inside.error().message;
        ASSERT_EQ(beside->size(), inside->size());
        float error = 0;
        float moved = 0;
        float largest = 0;
        for (std::size_t i = 0; i < inside->size(); ++i) {
            error = std::max(error, std::abs((*beside)[i] - (*inside)[i]));
            moved = std::max(moved, std::abs((*bare)[i] - (*inside)[i]));
            largest = std::max(largest, std::abs((*inside)[i]));
        }
        EXPECT_LE(error, 1e-4F * largest);
        EXPECT_GT(moved, 1e-2F * largest) << "it must be seen that something is added";
    }
}

}  // namespace
}  // namespace quern::engine
