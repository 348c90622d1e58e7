#pragma once

#include <filesystem>
#include <memory>

#include "engine/adapter.h"
#include "engine/formats/adapter_source.h"
#include "kernels/kernels.h"

namespace quern::engine {

/// An adapter that a program can run with.
struct MadeAdapter {
    AdapterInfo info;
    std::unique_ptr<const kernels::Adapter> adapter;
};

/// Makes adapters for one model's program, beside steps that run. Keeps the program alive; the
/// backend must outlive it. Immutable; any thread.
class AdapterMaker {
public:
    AdapterMaker(kernels::Backend& backend, std::shared_ptr<const kernels::Program> program,
                 std::shared_ptr<const MatrixLayout> layout)
        : m_backend(backend), m_program(std::move(program)), m_layout(std::move(layout)) {}

    /// Errors as Engine::loadAdapter: those of the file, and kInvalidArgument naming the tensor
    /// that does not fit the model, with both shapes.
    [[nodiscard]] Result<MadeAdapter> make(const std::filesystem::path& path) const;

private:
    kernels::Backend& m_backend;
    std::shared_ptr<const kernels::Program> m_program;
    std::shared_ptr<const MatrixLayout> m_layout;
};

}  // namespace quern::engine
