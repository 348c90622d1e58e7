#include "app/cli/tokenize_command.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/exit_codes.h"
#include "app/cli/input_text.h"
#include "engine/text.h"

namespace quern::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string quoted(std::string_view bytes) {
    return Json(std::string(bytes)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

int runTokenize(const TokenizeOptions& options) {
    auto tokenizer = engine::loadTokenizer(options.model);
    if (!tokenizer) {
        return reportError(tokenizer.error());
    }
    auto text = options.text ? Result<std::string>(*options.text) : readStandardInput();
    if (!text) {
        return reportError(text.error());
    }
    auto ids = (*tokenizer)
                   ->encode(*text, {.addSpecial = options.addSpecial,
                                    .parseSpecial = options.parseSpecial});
    if (!ids) {
        return reportError(ids.error());
    }
    std::string out;
    if (options.asJson) {
        Json json{{"tokenizer", (*tokenizer)->description()}, {"ids", *ids}};
        auto& pieces = json["pieces"] = Json::array();
        for (const engine::TokenId id : *ids) {
            pieces.push_back(std::string((*tokenizer)->tokenBytes(id)));
        }
        out = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    } else if (options.idsOnly) {
        for (std::size_t i = 0; i < ids->size(); ++i) {
            out += (i == 0 ? "" : " ") + std::to_string((*ids)[i]);
        }
        out += "\n";
    } else {
        for (const engine::TokenId id : *ids) {
            out += std::to_string(id) + "\t" + quoted((*tokenizer)->tokenBytes(id)) + "\n";
        }
    }
    std::fwrite(out.data(), 1, out.size(), stdout);
    return kExitOk;
}

}  // namespace quern::cli
