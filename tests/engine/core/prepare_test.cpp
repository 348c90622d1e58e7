#include "engine/core/prepare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/engine/core/core_helpers.h"

namespace quern::engine {
namespace {

using namespace test;

class Prepare : public ::testing::Test {
protected:
    void SetUp() override {
        FakeEngineModel model;
        model.contextTokens = 100;
        m_engine = makeEngineForTest(model);
        loadFake(*m_engine, "m");
    }
    /// The error of a request that one change has made wrong.
    template <class Change>
    Error errorOf(Change change) {
        Request request = greedy("hello", 10);
        change(request);
        auto prepared = m_engine->prepare(request);
        if (prepared) {
            ADD_FAILURE() << "was accepted";
            return {};
        }
        return prepared.error();
    }

    std::unique_ptr<Engine> m_engine;
};

TEST_F(Prepare, NamesTheFieldAndWhatIsAllowed) {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    const struct {
        const char* field;
        void (*change)(Request&);
    } kCases[] = {
        {"temperature", [](Request& r) { r.sampling.temperature = -0.1F; }},
        {"temperature", [](Request& r) { r.sampling.temperature = 2.5F; }},
        {"temperature", [](Request& r) { r.sampling.temperature = kNan; }},
        {"top_k", [](Request& r) { r.sampling.topK = -2; }},
        {"top_p", [](Request& r) { r.sampling.topP = 1.1F; }},
        {"top_p", [](Request& r) { r.sampling.topP = -0.1F; }},
        {"min_p", [](Request& r) { r.sampling.minP = 1.5F; }},
        {"typical_p", [](Request& r) { r.sampling.typicalP = 0.0F; }},
        {"repetition_penalty", [](Request& r) { r.sampling.repetitionPenalty = 0.0F; }},
        {"frequency_penalty", [](Request& r) { r.sampling.frequencyPenalty = 2.1F; }},
        {"presence_penalty", [](Request& r) { r.sampling.presencePenalty = -2.1F; }},
        {"repeat_last_n", [](Request& r) { r.sampling.repeatLastN = -2; }},
        {"logit_bias",
         [](Request& r) {
             r.sampling.logitBias = {{300, 1.0F}};
         }},
        {"logit_bias",
         [](Request& r) {
             r.sampling.logitBias = {{1, 101.0F}};
         }},
        {"allowed_token_ids", [](Request& r) { r.sampling.allowedTokenIds = {-1}; }},
        {"max_tokens", [](Request& r) { r.output.maxTokens = 0; }},
        {"min_tokens", [](Request& r) { r.output.minTokens = -1; }},
        {"min_tokens", [](Request& r) { r.output.minTokens = 11; }},
        {"stop",
         [](Request& r) {
             r.output.stop = {"a", ""};
         }},
        {"stop", [](Request& r) { r.output.stop.assign(65, "x"); }},
        {"stop_token_ids", [](Request& r) { r.output.stopTokenIds = {300}; }},
        {"top_logprobs", [](Request& r) { r.output.topLogprobs = 21; }},
        {"prompt_logprobs", [](Request& r) { r.output.promptTopLogprobs = 21; }},
        {"n", [](Request& r) { r.choices = 0; }},
        {"n", [](Request& r) { r.choices = 129; }},
        {"prompt", [](Request& r) { r.prompt = TokenPrompt{}; }},
        {"prompt",
         [](Request& r) {
             r.prompt = TokenPrompt{1, 300};
         }},
        {"model", [](Request& r) { r.model = "other"; }},
        {"continue_final_message",
         [](Request& r) { r.prompt = ChatPrompt{.continueFinalMessage = true}; }},
    };
    for (const auto& one : kCases) {
        const Error error = errorOf(one.change);
        EXPECT_EQ(error.field, one.field) << error.message;
        EXPECT_TRUE(error.code == ErrorCode::kInvalidArgument ||
                    error.code == ErrorCode::kNotFound);
    }
    EXPECT_EQ(errorOf([](Request& r) { r.sampling.temperature = 2.5F; }).message,
              "temperature is 2.5; it must be from 0 to 2");
}

TEST_F(Prepare, AnOverlongPromptIsRefusedWithBothNumbers) {
    const Error longPrompt = errorOf([](Request& r) {
        r.prompt = TextPrompt{.text = std::string(300, 'x'), .addSpecial = false};
        r.output.maxTokens = std::nullopt;
    });
    EXPECT_EQ(longPrompt.code, ErrorCode::kContextLength);
    EXPECT_EQ(longPrompt.message,
              "the prompt has 300 tokens and leaves no room for a reply in the context of 100 "
              "tokens");
    const Error longChat = errorOf([](Request& r) {
        r.prompt =
            ChatPrompt{.messages = {{.role = "user",
                                     .textParts = {std::string(std::size_t{17} << 20U, 'x')}}}};
    });
    EXPECT_EQ(longChat.code, ErrorCode::kContextLength);
    EXPECT_EQ(longChat.field, "messages");
    const Error longReply = errorOf([](Request& r) { r.output.maxTokens = 96; });
    EXPECT_EQ(longReply.code, ErrorCode::kContextLength);
    EXPECT_EQ(longReply.field, "max_tokens");
    EXPECT_EQ(longReply.message,
              "the prompt has 5 tokens and max_tokens is 96: together 101, more than the context "
              "of 100 tokens");
}

TEST_F(Prepare, ResolvesWhatIsLeftOpen) {
    auto prepared = m_engine->prepare(greedy("hello", std::nullopt));
    ASSERT_TRUE(prepared);
    EXPECT_EQ(prepared->maxTokens, 95);
    EXPECT_TRUE(prepared->endsAtContext);
    EXPECT_EQ(prepared->request.model, "m");
    EXPECT_EQ(prepared->promptText, "hello");
    EXPECT_EQ(prepared->promptIds.size(), 5U);
    auto other = m_engine->prepare(greedy("hello", 95));
    ASSERT_TRUE(other);
    EXPECT_FALSE(other->endsAtContext);
    EXPECT_NE(other->seed, prepared->seed) << "drawn";
    Request seeded = greedy("hello", 5);
    seeded.sampling.seed = 3;
    seeded.sampling.topK = -1;
    auto third = m_engine->prepare(seeded);
    EXPECT_EQ(third->seed, 3U);
    EXPECT_EQ(third->request.sampling.topK, 0) << "-1 and 0 both mean all";
}

TEST(PrepareChat, GoesThroughTheModelsTemplate) {
    FakeEngineModel model;
    auto source = ChatTemplate::create(
        "{% for m in messages %}{% if m.role == 'robot' %}"
        "{{ raise_exception('Only people may speak') }}{% endif %}"
        "{{ bos_token }}[{{ m.role }}]{{ m.content }}{% endfor %}"
        "{% if add_generation_prompt %}[assistant]{% endif %}");
    ASSERT_TRUE(source) << source.error().message;
    model.templates.standard = *source;
    auto engine = makeEngineForTest(model);
    loadFake(*engine, "m");
    Request request;
    request.prompt = ChatPrompt{.messages = {{.role = "user", .textParts = {"Hi"}}}};
    const auto prepared = engine->prepare(request);
    ASSERT_TRUE(prepared) << prepared.error().message;
    EXPECT_EQ(prepared->promptText, "<s>[user]Hi[assistant]");
    EXPECT_EQ(std::ranges::count(prepared->promptIds, FakeTokenizer::kBos), 1) << "BOS once";
    EXPECT_EQ(prepared->promptIds.front(), FakeTokenizer::kBos);

    request.prompt = ChatPrompt{.messages = {{.role = "robot", .textParts = {"Hi"}}}};
    const auto refused = engine->prepare(request);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(refused.error().message.find("Only people may speak"), std::string::npos);

    auto plain = makeEngineForTest();
    loadFake(*plain, "m");
    EXPECT_EQ(plain->prepare(request).error().code, ErrorCode::kUnsupported) << "no template";
}

TEST(PrepareChat, APromptIsNeverEndedByTheModelsOwnEos) {
    FakeEngineModel model;
    model.tokenizer = std::make_shared<FakeTokenizer>(std::vector<std::string>{}, true);
    for (const char* bos : {"", "{{ bos_token }}"}) {
        model.templates.standard =
            ChatTemplate::create(std::string(bos) + "{{ messages[0].content }}").value();
        auto engine = makeEngineForTest(model);
        loadFake(*engine, "m");
        Request request;
        for (const Prompt& prompt :
             {Prompt(ChatPrompt{.messages = {{.role = "user", .textParts = {"Hi"}}}}),
              Prompt(TextPrompt{.text = "Hi"})}) {
            request.prompt = prompt;
            const auto prepared = engine->prepare(request);
            ASSERT_TRUE(prepared) << prepared.error().message;
            EXPECT_EQ(prepared->promptIds, (std::vector<TokenId>{FakeTokenizer::kBos, 'H', 'i'}));
        }
    }
}

TEST(PrepareChat, MarksOfTheReplyAreShown) {
    FakeEngineModel model;
    model.templates.standard =
        ChatTemplate::create("{{ messages[0].content }}{# <|channel|> #}").value();
    auto engine = makeEngineForTest(model);
    loadFake(*engine, "m");
    Request request;
    request.prompt = ChatPrompt{.messages = {{.role = "user", .textParts = {"Hi"}}}};
    const auto prepared = engine->prepare(request);
    ASSERT_TRUE(prepared) << prepared.error().message;
    EXPECT_EQ(prepared->replyFormat.calls, CallDialect::kHarmony);
    EXPECT_EQ(prepared->markTokens, std::vector<TokenId>{FakeTokenizer::kEndOfTurn}) << "<|end|>";
    request.prompt = TextPrompt{.text = "Hi"};
    EXPECT_TRUE(engine->prepare(request)->markTokens.empty());
}

TEST_F(Prepare, SubmitChecksWhatAFrontDoorMayHaveMade) {
    auto prepared = m_engine->prepare(greedy("hello", 5));
    ASSERT_TRUE(prepared);
    PreparedRequest wrong = *prepared;
    wrong.promptIds.push_back(4711);
    EXPECT_EQ(m_engine->submit(wrong, nullptr).error().field, "prompt");
    wrong = *prepared;
    wrong.maxTokens = 96;
    EXPECT_EQ(m_engine->submit(wrong, nullptr).error().code, ErrorCode::kContextLength);
    wrong = *prepared;
    wrong.request.choices = 0;
    EXPECT_EQ(m_engine->submit(wrong, nullptr).error().field, "n");
    wrong = *prepared;
    wrong.promptIds.clear();
    EXPECT_FALSE(m_engine->submit(wrong, nullptr));
}

}  // namespace
}  // namespace quern::engine
