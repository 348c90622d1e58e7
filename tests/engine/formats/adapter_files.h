#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/formats/adapter_source.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/safetensors_builder.h"
#include "tests/support/temp_folder.h"

namespace quern::test {

inline std::vector<float> ascending(std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = static_cast<float>(i + 1);
    }
    return values;
}

// A llama of one layer: 2 heads of 4, one key/value head, hidden size 8.
inline engine::MatrixLayout tinyLlama(bool isGguf) {
    engine::MatrixLayout layout{.architecture = engine::architectureOfGguf("llama"),
                                .isGguf = isGguf};
    engine::Hyperparameters& p = layout.parameters;
    p.vocabSize = 10;
    p.hiddenSize = 8;
    p.contextTokens = 16;
    p.heads = {2};
    p.kvHeads = {1};
    p.intermediate = {12};
    p.keepsState = {false};
    p.keyDim = 4;
    p.valueDim = 4;
    p.rope.rotaryDim = 4;
    return layout;
}

inline constexpr const char* kPeftConfig =
    R"({"peft_type":"LORA","r":2,"lora_alpha":6,"bias":"none"})";

// A PEFT folder with one matrix, unless a test says otherwise.
class PeftFolder {
public:
    explicit PeftFolder(const std::string& config = kPeftConfig) {
        writeFile(m_folder->path() / "adapter_config.json", config);
    }
    SafetensorsBuilder& tensors() { return m_tensors; }
    PeftFolder& pair(const std::string& module, std::int64_t rank, std::int64_t inputs,
                     std::int64_t outputs) {
        const std::string name = "base_model.model." + module;
        m_tensors.values(name + ".lora_A.weight", {rank, inputs},
                         ascending(static_cast<std::size_t>(rank * inputs)));
        m_tensors.values(name + ".lora_B.weight", {outputs, rank},
                         ascending(static_cast<std::size_t>(outputs * rank)));
        return *this;
    }
    const std::filesystem::path& write() {
        writeFile(m_folder->path() / "adapter_model.safetensors", m_tensors.bytes());
        return m_folder->path();
    }
    const std::filesystem::path& path() { return m_folder->path(); }

private:
    std::unique_ptr<TempFolder> m_folder = std::make_unique<TempFolder>();
    SafetensorsBuilder m_tensors;
};

inline PeftFolder queryAdapter(const std::string& config = kPeftConfig) {
    PeftFolder folder(config);
    folder.pair("model.layers.0.self_attn.q_proj", 2, 8, 8);
    return folder;
}

}  // namespace quern::test
