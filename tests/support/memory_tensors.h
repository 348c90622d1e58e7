#pragma once

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/formats/model_source.h"

namespace quern::test {

/// A model's tensors made up in memory.
class MemoryTensors final : public engine::TensorSource {
public:
    void put(const std::string& name, std::vector<std::int64_t> dims, std::vector<float> data) {
        Tensor& tensor = m_tensors[name];
        tensor.shape = {};
        for (const std::int64_t dim : dims) {
            tensor.shape.dims[static_cast<std::size_t>(tensor.shape.rank++)] = dim;
        }
        tensor.data = std::move(data);
    }
    /// All elements `value`.
    void fill(const std::string& name, std::vector<std::int64_t> dims, float value = 0.0F) {
        std::int64_t elements = 1;
        for (const std::int64_t dim : dims) {
            elements *= dim;
        }
        put(name, std::move(dims), std::vector<float>(static_cast<std::size_t>(elements), value));
    }
    void erase(const std::string& name) { m_tensors.erase(name); }

    std::optional<kernels::TensorView> find(std::string_view name) const override {
        const auto found = m_tensors.find(std::string(name));
        if (found == m_tensors.end()) {
            return std::nullopt;
        }
        return kernels::TensorView{
            .type = kernels::DType::kF32,
            .shape = found->second.shape,
            .data = reinterpret_cast<const std::byte*>(found->second.data.data())};
    }
    std::vector<std::string> names() const override {
        std::vector<std::string> all;
        for (const auto& [name, tensor] : m_tensors) {
            all.push_back(name);
        }
        return all;
    }
    void releasePages() const override { ++m_releases; }
    void release(const kernels::TensorView&) override { ++m_released; }
    int releases() const { return m_releases; }
    int released() const { return m_released; }

private:
    struct Tensor {
        kernels::Shape shape;
        std::vector<float> data;
    };
    std::map<std::string, Tensor> m_tensors;
    mutable int m_releases = 0;
    int m_released = 0;
};

}  // namespace quern::test
