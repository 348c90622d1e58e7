#include "tests/support/safetensors_builder.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/support/gguf_builder.h"
#include "tests/support/golden.h"

namespace quern::test {

SafetensorsBuilder& SafetensorsBuilder::tensor(std::string_view name,
                                               const std::vector<std::int64_t>& shape,
                                               std::string_view dtype, std::size_t elementBytes) {
    std::size_t bytes = elementBytes;
    for (const std::int64_t dim : shape) {
        bytes *= static_cast<std::size_t>(dim);
    }
    return raw(name, shape, dtype, std::string(bytes, '\0'));
}

SafetensorsBuilder& SafetensorsBuilder::raw(std::string_view name,
                                            const std::vector<std::int64_t>& shape,
                                            std::string_view dtype, std::string_view bytes) {
    std::string dims;
    for (const std::int64_t dim : shape) {
        dims += (dims.empty() ? "" : ",") + std::to_string(dim);
    }
    m_header += m_header.empty() ? "" : ",";
    m_header += "\"" + std::string(name) + "\":{\"dtype\":\"" + std::string(dtype) +
                "\",\"shape\":[" + dims + "],\"data_offsets\":[" + std::to_string(m_data.size()) +
                "," + std::to_string(m_data.size() + bytes.size()) + "]}";
    m_data += bytes;
    return *this;
}

SafetensorsBuilder& SafetensorsBuilder::values(std::string_view name,
                                               const std::vector<std::int64_t>& shape,
                                               const std::vector<float>& values) {
    return raw(name, shape, "F32",
               {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

SafetensorsBuilder& SafetensorsBuilder::copyOf(const std::filesystem::path& file) {
    const std::string bytes = readFile(file);
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof(size));
    const auto header = nlohmann::json::parse(bytes.substr(sizeof(size), size));
    for (const auto& [name, entry] : header.items()) {
        if (name != "__metadata__") {
            const auto begin = entry["data_offsets"][0].get<std::size_t>();
            const auto end = entry["data_offsets"][1].get<std::size_t>();
            raw(name, entry["shape"].get<std::vector<std::int64_t>>(),
                entry["dtype"].get<std::string>(),
                std::string_view(bytes).substr(sizeof(size) + size + begin, end - begin));
        }
    }
    return *this;
}

std::string SafetensorsBuilder::bytes() const {
    return withHeader("{" + m_header + "}", m_data);
}

std::string SafetensorsBuilder::withHeader(std::string_view header, std::string_view data) {
    std::string out;
    appendBytes(out, static_cast<std::uint64_t>(header.size()));
    return out + std::string(header) + std::string(data);
}

SafetensorsBuilder llamaTensors(std::int64_t layers, std::int64_t hidden, std::int64_t intermediate,
                                std::int64_t vocab, std::int64_t kvRows) {
    SafetensorsBuilder builder;
    builder.tensor("model.embed_tokens.weight", {vocab, hidden})
        .tensor("model.norm.weight", {hidden})
        .tensor("lm_head.weight", {vocab, hidden});
    for (std::int64_t i = 0; i < layers; ++i) {
        const std::string at = "model.layers." + std::to_string(i) + ".";
        builder.tensor(at + "input_layernorm.weight", {hidden})
            .tensor(at + "self_attn.q_proj.weight", {hidden, hidden})
            .tensor(at + "self_attn.k_proj.weight", {kvRows, hidden})
            .tensor(at + "self_attn.v_proj.weight", {kvRows, hidden})
            .tensor(at + "self_attn.o_proj.weight", {hidden, hidden})
            .tensor(at + "post_attention_layernorm.weight", {hidden})
            .tensor(at + "mlp.gate_proj.weight", {intermediate, hidden})
            .tensor(at + "mlp.up_proj.weight", {intermediate, hidden})
            .tensor(at + "mlp.down_proj.weight", {hidden, intermediate});
    }
    return builder;
}

}  // namespace quern::test
