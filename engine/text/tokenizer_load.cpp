#include "engine/text/tokenizer_load.h"

#include <system_error>

#include "engine/formats/gguf.h"

namespace quern::engine {

Result<std::shared_ptr<const Tokenizer>> loadTokenizer(const std::filesystem::path& model) {
    std::error_code error;
    if (std::filesystem::is_directory(model, error)) {
        const std::filesystem::path file = model / "tokenizer.json";
        if (!std::filesystem::is_regular_file(file, error)) {
            return fail(ErrorCode::kNotFound,
                        "the folder " + model.string() + " has no tokenizer.json");
        }
        return text::readJsonTokenizer(file, model);
    }
    if (!std::filesystem::exists(model, error)) {
        return fail(ErrorCode::kNotFound, "there is no file " + model.string());
    }
    if (model.extension() == ".json") {
        return text::readJsonTokenizer(model, model.parent_path());
    }
    auto file = GgufFile::open(model);
    if (!file) {
        return forward(file);
    }
    return text::readGgufTokenizer((*file)->metadata());
}

}  // namespace quern::engine
