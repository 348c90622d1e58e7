#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/result.h"

namespace quern::engine {

using TokenId = std::int32_t;

struct EncodeOptions {
    /// Adds what the model adds by itself: BOS, EOS, CLS, SEP. BOS is never added twice: text that
    /// already begins with it (parsed as special) keeps one.
    bool addSpecial = false;
    /// With addSpecial: also what stands at the end (EOS, SEP). False for a text that the model is
    /// to go on with.
    bool addEnd = true;
    /// Text that spells a control token becomes that token. User-defined (not control) tokens
    /// always match, before splitting.
    bool parseSpecial = false;
};

/// Two texts as one sequence.
struct EncodedPair {
    std::vector<TokenId> ids;
    std::int64_t secondFrom = 0;  // the first token of the second text …
    bool hasTypes = false;  // … from which on they are of type 1, for models that know types
};

/// Tokens with a role. Absent where the model has none.
struct SpecialTokens {
    std::optional<TokenId> bos;
    std::optional<TokenId> eos;
    std::optional<TokenId> unknown;
    std::optional<TokenId> separator;
    std::optional<TokenId> padding;
    std::optional<TokenId> classify;
    std::optional<TokenId> mask;
    std::vector<TokenId> endOfGeneration;  // eos, end of turn, end of message: any of them stops
    std::optional<TokenId> fimPrefix;
    std::optional<TokenId> fimSuffix;
    std::optional<TokenId> fimMiddle;
};

/// Text to tokens and back, exactly as the model's own tokenizer does it. Immutable; any thread.
class Tokenizer {
public:
    virtual ~Tokenizer() = default;
    [[nodiscard]] virtual std::int32_t vocabSize() const = 0;
    /// `text` is any bytes; invalid UTF-8 is encoded as the vocabulary allows and never an error.
    /// kInvalidArgument only where the vocabulary has no token at all for a character and no
    /// unknown one; BPE leaves such characters out, as the reference does.
    [[nodiscard]] virtual Result<std::vector<TokenId>> encode(std::string_view text,
                                                              EncodeOptions options) const = 0;
    /// A query and a document, with the tokens that the model has before, between and behind them.
    /// Texts that spell special tokens stay texts. kUnsupported where it knows no pairs.
    [[nodiscard]] virtual Result<EncodedPair> encodePair(std::string_view first,
                                                         std::string_view second) const {
        (void)first;
        (void)second;
        return fail(ErrorCode::kUnsupported, "the tokenizer knows no pairs of texts");
    }
    /// The bytes a token stands for in the middle of a text; control tokens give their spelling.
    /// Empty for ids out of range.
    [[nodiscard]] virtual std::string_view tokenBytes(TokenId id) const = 0;
    /// The bytes of a token that begins a text: without the space that the format adds.
    [[nodiscard]] virtual std::string leadingBytes(TokenId id) const {
        return decode(std::span(&id, 1), false);
    }
    /// Control tokens: not text, unless asked for.
    [[nodiscard]] virtual bool isControl(TokenId id) const = 0;
    /// The text of ids as the reference decoder gives it (a leading space that the format adds is
    /// taken away again). Bytes may be cut inside a character at the ends.
    [[nodiscard]] virtual std::string decode(std::span<const TokenId> ids,
                                             bool skipSpecial) const = 0;
    /// The id of a token by its exact spelling.
    [[nodiscard]] virtual std::optional<TokenId> find(std::string_view piece) const = 0;
    [[nodiscard]] virtual const SpecialTokens& special() const = 0;
    /// "BPE (llama-bpe)", "SentencePiece BPE": for people.
    [[nodiscard]] virtual std::string description() const = 0;
    /// The SentencePiece habit of a space before the first word, which a detokenizer takes away.
    [[nodiscard]] virtual bool addsSpacePrefix() const = 0;
};

/// Reads the tokenizer of a GGUF file (vocabulary-only ones too), of a Hugging Face folder, or a
/// tokenizer.json. kNotFound when the folder has none; kUnsupported names the model or splitter.
[[nodiscard]] Result<std::shared_ptr<const Tokenizer>> loadTokenizer(
    const std::filesystem::path& model);

/// Where the tokens that a detokenizer is given stand.
enum class TextStart {
    kBeginning,  // they begin a text: a leading space that the format adds is taken away
    kMiddle,     // they continue one, as a completion its prompt: that space belongs to the text
};

/// Turns a stream of tokens into text that never ends inside a UTF-8 sequence. All that it gives,
/// with what is unfinished, is what `decode` gives for all tokens; only bytes that no further
/// token can complete to a character become U+FFFD each, because what is sent must be UTF-8.
/// One per choice; belongs to one thread.
class Detokenizer {
public:
    /// `tokenizer` must outlive it. `shown`: control tokens that are not skipped.
    Detokenizer(const Tokenizer& tokenizer, bool skipSpecial,
                TextStart start = TextStart::kBeginning, std::vector<TokenId> shown = {});
    ~Detokenizer();
    Detokenizer(Detokenizer&&) noexcept;
    Detokenizer& operator=(Detokenizer&&) noexcept;

    /// Takes one more token; returns the complete characters that are now certain.
    [[nodiscard]] std::string push(TokenId id);
    /// What is left at the end: the bytes of an unfinished character (not valid UTF-8), or empty.
    [[nodiscard]] std::string takeUnfinished();

private:
    struct State;
    std::unique_ptr<State> m_state;
};

/// What a template is given. JSON texts, so that no JSON library shows in this door.
struct TemplateInput {
    std::string messages;   // JSON array, as the API has it
    std::string tools;      // JSON array; empty: null
    std::string documents;  // JSON array; empty: null
    std::string kwargs;     // JSON object of further variables; empty: none
    std::string bos;
    std::string eos;
    bool addGenerationPrompt = true;  // kwargs may say otherwise
    /// Seconds since 1970 that strftime_now shows, read as UTC; the clock's local time when absent.
    std::optional<std::int64_t> now;
};

/// A chat template: Jinja as transformers runs it (trim_blocks, lstrip_blocks, loop controls).
/// Immutable; any thread. Bounded in steps and in output.
class ChatTemplate {
public:
    /// kInvalidArgument with line and reason when the source does not parse.
    [[nodiscard]] static Result<std::shared_ptr<const ChatTemplate>> create(std::string source);
    virtual ~ChatTemplate() = default;
    /// The raw rendering: `messages` go in as they are. kInvalidArgument with the template's own
    /// sentence when it refuses (raise_exception) or fails.
    [[nodiscard]] virtual Result<std::string> render(const TemplateInput& input) const = 0;
    /// As `render`, but first gives the template what it takes: text parts joined where it does not
    /// iterate content, arguments of tool calls as object or as string, a system message where it
    /// knows none. For real chats.
    [[nodiscard]] virtual Result<std::string> renderChat(const TemplateInput& input) const = 0;
    [[nodiscard]] virtual const std::string& source() const = 0;
};

/// The chat templates a model brings: the default one, and named ones such as "tool_use".
struct ChatTemplates {
    std::shared_ptr<const ChatTemplate> standard;  // null: the model has none
    std::shared_ptr<const ChatTemplate> toolUse;   // null: the standard one serves tools
    /// Where the file brought none and one was chosen by recognizing the model: what was chosen.
    std::string recognizedAs;
};
[[nodiscard]] Result<ChatTemplates> loadChatTemplates(const std::filesystem::path& model);

}  // namespace quern::engine
