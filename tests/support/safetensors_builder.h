#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace quern::test {

/// Writes safetensors files for tests. One thread.
class SafetensorsBuilder {
public:
    /// A tensor of zeros, of "F32", "BF16", "F16" or another type of `elementBytes`.
    SafetensorsBuilder& tensor(std::string_view name, const std::vector<std::int64_t>& shape,
                               std::string_view dtype = "F32", std::size_t elementBytes = 4);
    /// A tensor with these bytes.
    SafetensorsBuilder& raw(std::string_view name, const std::vector<std::int64_t>& shape,
                            std::string_view dtype, std::string_view bytes);
    /// An F32 tensor of these values, row by row.
    SafetensorsBuilder& values(std::string_view name, const std::vector<std::int64_t>& shape,
                               const std::vector<float>& values);
    /// All tensors of a file.
    SafetensorsBuilder& copyOf(const std::filesystem::path& file);
    [[nodiscard]] std::string bytes() const;

    /// A file of any header and data, right or wrong.
    [[nodiscard]] static std::string withHeader(std::string_view header, std::string_view data);

private:
    std::string m_header;
    std::string m_data;
};

/// The tensors of a llama of this shape, as a Hugging Face folder names them.
[[nodiscard]] SafetensorsBuilder llamaTensors(std::int64_t layers, std::int64_t hidden,
                                              std::int64_t intermediate, std::int64_t vocab,
                                              std::int64_t kvRows);

}  // namespace quern::test
