#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/convert/folder_tensors.h"
#include "engine/convert/gguf_header.h"
#include "engine/convert/quant_mix.h"
#include "engine/model/model_spec.h"
#include "engine/model_file.h"

namespace quern::engine::convert {

/// All that a GGUF file is to be, but for the types of its tensors. Keeps open what its tensors are
/// read from.
struct ImportDraft {
    GgufKeys keys;
    std::vector<NamedRows> tensors;
    MixFacts facts;
    std::optional<ModelSpec> spec;  // absent for models that cannot run here
    std::vector<std::string> notes;
    std::function<void()> releasePages;
    std::vector<std::shared_ptr<const void>> kept;
};

/// Errors as importModel.
[[nodiscard]] Result<ImportDraft> draftFromFolder(const ImportOptions& options,
                                                  const QuantMix& mix);
[[nodiscard]] Result<ImportDraft> draftFromGguf(const ImportOptions& options, const QuantMix& mix);

}  // namespace quern::engine::convert
