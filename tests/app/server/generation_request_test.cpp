#include "app/server/openai/generation_request.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace quern::app {
namespace {

using Json = nlohmann::ordered_json;

// A chat that is right, changed by `patch`.
std::string chat(const std::string& patch = "{}") {
    Json body = Json::parse(R"({"model": "m", "messages": [{"role": "user", "content": "Hi"}]})");
    body.merge_patch(Json::parse(patch));
    return body.dump();
}

tl::expected<GenerationRequest, ApiError> readRequest(GenerationKind kind,
                                                      const std::string& body) {
    return readGenerationRequest(kind, body, [](const std::string&) {
        return engine::SamplingParams{.temperature = 0.7F, .topK = 40};
    });
}

struct Refusal {
    const char* body;
    const char* param;
    const char* said;  // part of the message
};

TEST(GenerationRequest, RefusalsNameTheField) {
    const Refusal refusals[] = {
        {R"({"temperature": -1})", "temperature", "-1"},
        {R"({"temperature": "hot"})", "temperature", "number"},
        {R"({"top_p": 1.5})", "top_p", "between 0 and 1"},
        {R"({"top_k": -2})", "top_k", "-2"},
        {R"({"min_p": 2})", "min_p", "2"},
        {R"({"n": 0})", "n", "0"},
        {R"({"n": 2, "temperature": 0})", "n", "temperature"},
        {R"({"n": 1.5})", "n", "integer"},
        {R"({"max_tokens": 0})", "max_tokens", "0"},
        {R"({"max_completion_tokens": "x"})", "max_completion_tokens", "number"},
        {R"({"stream": "yes"})", "stream", "true or false"},
        {R"({"stream_options": {"include_usage": true}})", "stream_options", "stream"},
        {R"({"stop": ["a", ""]})", "stop", "empty"},
        {R"({"stop": 7})", "stop", "string"},
        {R"({"temperature": 2.5})", "temperature", "between 0 and 2"},
        {R"({"seed": 9223372036854775808})", "seed", "9223372036854775808"},
        {R"({"seed": 1e19})", "seed", "1e+19"},
        {R"({"max_tokens": 4294967297})", "max_tokens", "between 1 and 2147483647"},
        {R"({"stop_token_ids": [4294967301]})", "stop_token_ids", "4294967301"},
        {R"({"stop_token_ids": [9223372036854775815]})", "stop_token_ids", "9223372036854775815"},
        {R"({"allowed_token_ids": [4294967301]})", "allowed_token_ids", "4294967301"},
        {R"({"allowed_token_ids": ["5"]})", "allowed_token_ids", "string"},
        {R"({"logit_bias": {"x": 1}})", "logit_bias", "x"},
        {R"({"logit_bias": {"5": 1000}})", "logit_bias", "1000"},
        {R"({"top_logprobs": 5})", "top_logprobs", "logprobs"},
        {R"({"logprobs": true, "top_logprobs": 99})", "top_logprobs", "99"},
        {R"({"response_format": {"type": "json_object"}})", "response_format", "yet"},
        {R"({"structured_outputs": {"regex": "a"}})", "structured_outputs", "yet"},
        {R"({"guided_json": {}})", "guided_json", "yet"},
        {R"({"grammar": "root ::= \"a\""})", "grammar", "yet"},
        {R"({"json_schema": {}})", "json_schema", "yet"},
        {R"({"tools": 7})", "tools", "list"},
        {R"({"tools": [7]})", "tools[0]", "function"},
        {R"({"tools": [{"type": "retrieval"}]})", "tools[0]", "function"},
        {R"({"tools": [{"type": "function"}]})", "tools[0].function.name", "name"},
        {R"({"tools": [{"type": "function", "function": {"name": "f", "parameters": "x"}}]})",
         "tools[0].function.parameters", "schema"},
        {R"({"tools": [{"type": "function", "function": {"name": "f", "strict": true}}]})",
         "tools[0].function.strict", "yet"},
        {R"({"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "required"})",
         "tool_choice", "required"},
        {R"({"tool_choice": {"type": "function", "function": {"name": "f"}}})", "tool_choice",
         "yet"},
        {R"({"tool_choice": "sometimes"})", "tool_choice", "sometimes"},
        {R"({"parallel_tool_calls": "yes"})", "parallel_tool_calls", "true or false"},
        {R"({"functions": [{"name": "f"}]})", "functions", "tools"},
        {R"({"mirostat": 2})", "mirostat", "yet"},
        {R"({"messages": []})", "messages", "at least one"},
        {R"({"messages": "Hi"})", "messages", "list"},
        {R"({"messages": [{"content": "Hi"}]})", "messages[0].role", "role"},
        {R"({"messages": [{"role": "user"}]})", "messages[0].content", "missing"},
        {R"({"messages": [{"role": "user", "content": 7}]})", "messages[0].content", "string"},
        {R"({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})",
         "messages[0].content", "image_url"},
        {R"({"messages": [{"role": "user", "content": [{"type": 3, "text": "x"}]}]})",
         "messages[0].content", "text"},
        {R"({"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": 3}}]}]})",
         "messages[0].tool_calls", "name"},
        {R"({"chat_template_kwargs": [1]})", "chat_template_kwargs", "object"},
        {R"({"messages": [{"role": "user", "content": "x", "name": 3}]})", "messages[0].name",
         "string"},
        {R"({"messages": [{"role": "tool", "content": "x", "tool_call_id": {}}]})",
         "messages[0].tool_call_id", "string"},
        {R"({"messages": [{"role": "assistant", "reasoning": [1]}]})", "messages[0].reasoning",
         "string"},
        {R"({"messages": [{"role": "assistant", "tool_calls": [{"id": 3, "function":
            {"name": "f"}}]}]})",
         "messages[0].tool_calls.id", "string"},
        // What changes nothing is read as strictly as what does.
        {R"({"mirostat_eta": "0.1"})", "mirostat_eta", "number"},
        {R"({"dry_base": [1]})", "dry_base", "number"},
        {R"({"dry_sequence_breakers": 7})", "dry_sequence_breakers", "strings"},
        {R"({"dry_sequence_breakers": ["\n", 7]})", "dry_sequence_breakers", "strings"},
        {R"({"documents": "x"})", "documents", "objects"},
        {R"({"documents": ["x"]})", "documents", "objects"},
        {R"({"reasoning_effort": 3})", "reasoning_effort", "string"},
        {R"({"user": 3})", "user", "string"},
        {R"({"metadata": "x"})", "metadata", "object"},
        {R"({"prompt_cache_key": []})", "prompt_cache_key", "string"},
    };
    for (const Refusal& refusal : refusals) {
        const auto read = readRequest(GenerationKind::kChat, chat(refusal.body));
        ASSERT_FALSE(read) << refusal.body;
        EXPECT_EQ(read.error().status, 400) << refusal.body;
        EXPECT_EQ(read.error().param, refusal.param) << refusal.body;
        EXPECT_NE(read.error().message.find(refusal.said), std::string::npos)
            << refusal.body << ": " << read.error().message;
    }
    EXPECT_FALSE(readRequest(GenerationKind::kChat, "{"));
    EXPECT_FALSE(readRequest(GenerationKind::kChat, "[]"));
    EXPECT_EQ(readRequest(GenerationKind::kChat, R"({"model": "m"})").error().param, "messages");
}

TEST(GenerationRequest, ReadsWhatIsGiven) {
    const auto read = readRequest(GenerationKind::kChat, chat(R"({
        "temperature": 0.5, "top_p": 0.9, "top_k": -1, "min_p": 0.05, "seed": -3, "stop": "END",
        "max_tokens": 7, "max_completion_tokens": 9, "logit_bias": {"12": -100}, "logprobs": true,
        "top_logprobs": 3, "stream": true, "stream_options": {"include_usage": true},
        "chat_template_kwargs": {"enable_thinking": false}, "user": "u", "metadata": {"a": "b"},
        "mirostat_eta": 0.1, "dry_sequence_breakers": ["\n"], "shiny_new_thing": 1})"));
    ASSERT_TRUE(read) << read.error().message;
    const engine::Request& request = read->prompts.at(0);
    EXPECT_EQ(request.sampling.temperature, 0.5F);
    EXPECT_EQ(request.sampling.topK, 0) << "−1 means all";
    EXPECT_EQ(request.sampling.seed, static_cast<std::uint64_t>(-3));
    EXPECT_EQ(request.sampling.logitBias.at(12), -100.0F);
    EXPECT_EQ(request.output.maxTokens, 9) << "the newer name wins";
    EXPECT_EQ(request.output.stop, std::vector<std::string>{"END"});
    EXPECT_EQ(request.output.topLogprobs, 3);
    EXPECT_TRUE(read->isStream && read->includesUsage);
    EXPECT_EQ(std::get<engine::ChatPrompt>(request.prompt).templateKwargs,
              R"({"enable_thinking":false})");
    EXPECT_EQ(read->warnings, std::vector<std::string>{"shiny_new_thing"});
}

TEST(GenerationRequest, TheModelsOwnSamplingHoldsWhereNothingIsSaid) {
    const auto read = readRequest(GenerationKind::kChat, chat(R"({"temperature": 0.5})"));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->prompts.at(0).sampling.temperature, 0.5F);
    EXPECT_EQ(read->prompts.at(0).sampling.topK, 40);
}

TEST(GenerationRequest, ToolsGoToTheTemplateUnlessNoneAreWanted) {
    const std::string tools = R"("tools": [{"type": "function", "function": {"name": "f"}}])";
    for (const char* choice : {"null", "\"auto\"", "\"none\""}) {
        const auto read =
            readRequest(GenerationKind::kChat, chat("{" + tools + R"(, "tool_choice": )" + choice +
                                                    R"(, "parallel_tool_calls": false})"));
        ASSERT_TRUE(read) << read.error().message;
        const auto& prompt = std::get<engine::ChatPrompt>(read->prompts.at(0).prompt);
        EXPECT_EQ(prompt.tools.size(), std::string(choice) == "\"none\"" ? 0U : 1U) << choice;
        EXPECT_TRUE(read->hasOneCallAtMost);
    }
}

TEST(GenerationRequest, MessagesKeepTheirPartsAndCalls) {
    const auto read = readRequest(GenerationKind::kChat, chat(R"({"messages": [
        {"role": "system", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "42"}], "continue_final_message": true})"));
    ASSERT_TRUE(read) << read.error().message;
    const auto& prompt = std::get<engine::ChatPrompt>(read->prompts.at(0).prompt);
    EXPECT_EQ(prompt.messages.at(0).textParts.size(), 2U);
    EXPECT_EQ(prompt.messages.at(1).toolCalls.at(0).arguments, "{\"x\": 1}");
    EXPECT_EQ(prompt.messages.at(1).reasoning, "hm");
    EXPECT_EQ(prompt.messages.at(2).toolCallId, "c1");
    EXPECT_TRUE(prompt.continueFinalMessage);
    EXPECT_FALSE(prompt.addGenerationPrompt) << "follows when it is not said";
}

TEST(GenerationRequest, PromptsComeInFourForms) {
    const auto count = [](const std::string& prompt) {
        const auto read =
            readRequest(GenerationKind::kCompletion, R"({"model": "m", "prompt": )" + prompt + "}");
        return read ? static_cast<int>(read->prompts.size()) : -1;
    };
    EXPECT_EQ(count(R"("Hi")"), 1);
    EXPECT_EQ(count(R"(["a", "b", "c"])"), 3);
    EXPECT_EQ(count("[1, 2, 3]"), 1);
    EXPECT_EQ(count("[[1, 2], [3]]"), 2);
    for (const char* wrong :
         {"[]", "7", "[[]]", "[[1], \"a\", {}]", "[-1]", "[1.5]", "[[1, \"x\"]]", "null"}) {
        EXPECT_EQ(count(wrong), -1) << wrong;
    }
}

TEST(GenerationRequest, CompletionsHaveTheirOwnRules) {
    const auto read = [](const std::string& patch) {
        Json body{{"prompt", "x"}};
        body.merge_patch(Json::parse(patch));
        return readRequest(GenerationKind::kCompletion, body.dump());
    };
    EXPECT_EQ(read("{}")->prompts.at(0).output.maxTokens, 16);
    EXPECT_TRUE(read(R"({"max_tokens": 0, "echo": true})")->dropsOutput);
    EXPECT_EQ(read(R"({"max_tokens": 0})").error().param, "max_tokens");
    EXPECT_EQ(read(R"({"best_of": 3})").error().param, "best_of");
    EXPECT_TRUE(std::holds_alternative<engine::TextPrompt>(
        read(R"({"suffix": ""})")->prompts.at(0).prompt));
    const auto infill = read(R"({"suffix": "y"})")->prompts.at(0).prompt;
    ASSERT_TRUE(std::holds_alternative<engine::InfillPrompt>(infill));
    EXPECT_EQ(std::get<engine::InfillPrompt>(infill).prefix, "x");
    EXPECT_EQ(std::get<engine::InfillPrompt>(infill).suffix, "y");
    EXPECT_EQ(read(R"({"suffix": "y", "echo": true})").error().param, "suffix");
    EXPECT_EQ(read(R"({"suffix": "y", "prompt": [1, 2]})").error().param, "suffix");
    EXPECT_TRUE(read(R"({"logprobs": 2, "echo": true})")->prompts.at(0).output.promptLogprobs);
}

}  // namespace
}  // namespace quern::app
