#include "engine/convert/tokenizer_keys.h"

#include <fstream>
#include <iterator>
#include <vector>

#include "engine/convert/splitter_name.h"
#include "engine/convert/tokenizer_draft.h"
#include "engine/text.h"

namespace quern::engine::convert {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using text::TokenizerData;

constexpr std::size_t kMostAddedProbes = 32;

// Probe texts, and added tokens among words and side by side.
std::vector<std::string> probesFor(const json& root) {
    std::vector<std::string> probes(probeTexts().begin(), probeTexts().end());
    if (root.contains("added_tokens") && root["added_tokens"].is_array()) {
        for (const json& added : root["added_tokens"]) {
            if (probes.size() >= probeTexts().size() + kMostAddedProbes) {
                break;
            }
            if (added.is_object() && added.contains("content") && added["content"].is_string()) {
                const auto content = added["content"].get<std::string>();
                probes.push_back("one " + content + " two" + content + content + "three");
            }
        }
    }
    return probes;
}

std::size_t countDiffering(const Tokenizer& a, const Tokenizer& b,
                           const std::vector<std::string>& probes) {
    std::size_t differing = 0;
    for (const std::string& probe : probes) {
        bool isSame = true;
        for (const bool parsesSpecial : {false, true}) {
            const EncodeOptions options{.addSpecial = true, .parseSpecial = parsesSpecial};
            const auto ofA = a.encode(probe, options);
            const auto ofB = b.encode(probe, options);
            isSame = isSame && ofA.has_value() == ofB.has_value() &&
                     (!ofA || (*ofA == *ofB && a.decode(*ofA, false) == b.decode(*ofB, false)));
        }
        differing += isSame ? 0 : 1;
    }
    return differing;
}

struct Choice {
    std::unique_ptr<TokenizerDraft> draft;  // null: GGUF has no such model
    std::size_t differing = 0;              // probes
};

Choice chooseDraft(const json& root, const Tokenizer& reference,
                   const std::vector<std::string>& probes, std::int64_t rows) {
    Choice best{.draft = nullptr, .differing = probes.size() + 1};
    for (auto& draft : draftTokenizers(root, reference, rows)) {
        const auto made = text::makeGgufTokenizer(draft->data);
        if (!made) {
            continue;
        }
        const std::size_t differing = countDiffering(reference, **made, probes);
        if (differing < best.differing) {
            best = {.draft = std::move(draft), .differing = differing};
        }
        if (differing == 0) {
            break;
        }
    }
    return best;
}

void addIds(const TokenizerData& data, GgufKeys& keys) {
    const std::pair<const char*, std::optional<TokenId>> ids[] = {
        {"bos", data.bos},           {"eos", data.eos},
        {"eot", data.endOfTurn},     {"eom", data.endOfMessage},
        {"unknown", data.unknown},   {"seperator", data.separator},  // so spelled by the format
        {"padding", data.padding},   {"cls", data.classify},
        {"mask", data.mask},         {"fim_pre", data.fimPrefix},
        {"fim_suf", data.fimSuffix}, {"fim_mid", data.fimMiddle},
    };
    for (const auto& [name, id] : ids) {
        if (id) {
            keys.u32("tokenizer.ggml." + std::string(name) + "_token_id",
                     static_cast<std::uint32_t>(*id));
        }
    }
    const std::pair<const char*, std::optional<bool>> flags[] = {
        {"add_bos_token", data.addsBos},
        {"add_eos_token", data.addsEos},
        {"add_space_prefix", data.addsSpacePrefix},
        {"remove_extra_whitespaces", data.removesExtraWhitespaces},
    };
    for (const auto& [name, flag] : flags) {
        if (flag) {
            keys.boolean("tokenizer.ggml." + std::string(name), *flag);
        }
    }
}

void addDraft(const TokenizerData& data, GgufKeys& keys) {
    keys.string("tokenizer.ggml.model", data.model);
    keys.string("tokenizer.ggml.pre", data.pre.empty() ? "default" : data.pre);
    keys.strings("tokenizer.ggml.tokens", data.tokens);
    std::vector<std::int32_t> kinds;
    for (const text::TokenKind kind : data.kinds) {
        kinds.push_back(static_cast<std::int32_t>(kind));
    }
    keys.i32s("tokenizer.ggml.token_type", kinds);
    if (!data.scores.empty()) {
        keys.f32s("tokenizer.ggml.scores", data.scores);
    }
    if (!data.merges.empty()) {
        keys.strings("tokenizer.ggml.merges", data.merges);
    }
    if (!data.characterMap.empty()) {
        keys.byteArray("tokenizer.ggml.precompiled_charsmap", data.characterMap);
    }
    addIds(data, keys);
}

void addTemplates(const fs::path& folder, GgufKeys& keys, std::vector<std::string>& notes) {
    const auto templates = loadChatTemplates(folder);
    if (!templates) {
        notes.push_back("the chat template does not parse and is left out: " +
                        templates.error().message);
        return;
    }
    // One that was chosen by recognizing the model will be again.
    if (templates->standard && templates->recognizedAs.empty()) {
        keys.string("tokenizer.chat_template", templates->standard->source());
    }
    if (templates->toolUse) {
        const std::string_view name = "tool_use";
        keys.strings("tokenizer.chat_templates", std::span(&name, 1));
        keys.string("tokenizer.chat_template.tool_use", templates->toolUse->source());
    }
}

}  // namespace

Result<std::vector<std::string>> addTokenizerKeys(const fs::path& folder, std::int64_t rows,
                                                  GgufKeys& keys) {
    std::vector<std::string> notes;
    auto reference = loadTokenizer(folder);
    if (!reference) {
        if (reference.error().code != ErrorCode::kNotFound) {
            return forward(reference);
        }
        keys.string("tokenizer.ggml.model", "none");
        notes.emplace_back("the folder has no tokenizer.json: the file will take token ids only");
        addTemplates(folder, keys, notes);
        return notes;
    }
    std::ifstream file(folder / "tokenizer.json", std::ios::binary);
    const std::string document{std::istreambuf_iterator<char>(file),
                               std::istreambuf_iterator<char>()};
    const json root = json::parse(document, nullptr, false);
    if (root.is_discarded()) {
        return fail(ErrorCode::kIo, "cannot read " + (folder / "tokenizer.json").string());
    }
    const std::vector<std::string> probes = probesFor(root);
    const Choice choice = chooseDraft(root, **reference, probes, rows);
    if (choice.draft == nullptr) {
        return fail(ErrorCode::kUnsupported, "tokenizer.json: GGUF has no tokenizer of the kind '" +
                                                 (*reference)->description() +
                                                 "'; BPE, Unigram and WordPiece can be written");
    }
    addDraft(choice.draft->data, keys);
    if (choice.differing > 0) {
        keys.string("tokenizer.huggingface.json", document);
        notes.push_back("GGUF's keys cannot say all of this tokenizer (" +
                        std::to_string(choice.differing) + " of " + std::to_string(probes.size()) +
                        " test texts differ): tokenizer.json is kept inside");
    }
    addTemplates(folder, keys, notes);
    return notes;
}

}  // namespace quern::engine::convert
