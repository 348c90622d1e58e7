#include "app/chat/order_prompt.h"

#include <gtest/gtest.h>

#include "app/chat/chat_prompt_builder.h"
#include "app/chat/conversation_title.h"
#include "app/chat/reply_figures.h"
#include "tests/support/fake_tokenizer.h"

namespace quern::app {
namespace {

// Every message costs its text and one more token, after one for the beginning.
engine::LoadedModel plainModel() {
    engine::LoadedModel model;
    model.tokenizer = std::make_shared<test::FakeTokenizer>();
    model.templates.standard =
        engine::ChatTemplate::create("{% for m in messages %}{{ m.content }}|{% endfor %}").value();
    return model;
}

Message message(MessageId id, const char* role, std::string text) {
    Message made;
    made.id = id;
    made.parent = id - 1;
    made.role = role;
    made.text = std::move(text);
    return made;
}

// Six messages of 99 letters, and one that is about to be sent.
Conversation longChat() {
    Conversation conversation;
    for (MessageId id = 1; id <= 6; ++id) {
        conversation.path.push_back(
            message(id, id % 2 == 1 ? "user" : "assistant", std::string(99, 'x')));
    }
    return conversation;
}

TEST(OrderPrompt, TheOldestMessagesStayOutUntilTheRestFits) {
    const auto model = plainModel();
    const auto first = [&](const Conversation& conversation, const ReplyOrder& order,
                           std::int64_t limit) {
        return firstThatFits(conversation, order, model, limit).value().value_or(-1);
    };
    EXPECT_EQ(first(longChat(), {}, 601), 0);
    EXPECT_EQ(first(longChat(), {}, 600), 3);
    EXPECT_EQ(first(longChat(), {}, 201), 5);
    EXPECT_EQ(first(longChat(), {}, 200), -1);
    Conversation withDraft = longChat();
    ReplyOrder order;
    order.parent = 6;
    order.message = "abc";
    withDraft.path.push_back(message(0, "user", "abc"));
    EXPECT_EQ(first(withDraft, order, 5), 7) << "all that is saved stays out";
    EXPECT_EQ(first(withDraft, order, 4), -1);
}

TEST(OrderPrompt, MeasuresWhatIsHeldAndWhatTheDraftAdds) {
    const auto model = plainModel();
    Conversation conversation = longChat();
    ReplyOrder order;
    EXPECT_EQ(measurePrompt(conversation, order, model)->held, 601);
    order.message = "abc";
    conversation.path.push_back(message(0, "user", "abc"));
    EXPECT_EQ(measurePrompt(conversation, order, model)->held, 601);
    EXPECT_EQ(measurePrompt(conversation, order, model)->draft, 4);
    order.firstMessage = 5;
    EXPECT_EQ(measurePrompt(conversation, order, model)->held, 201);
    Conversation empty;
    empty.path.push_back(message(0, "user", "abc"));
    EXPECT_EQ(measurePrompt(empty, order, model)->held, 0);
}

TEST(ChatPromptBuilder, FailedAndEmptyRepliesAreNotPartOfThePrompt) {
    Conversation conversation;
    conversation.systemPrompt = "s";
    conversation.path = {message(1, "user", "q"), message(2, "assistant", "half"),
                         message(3, "assistant", "")};
    conversation.path[1].state = MessageState::kFailed;
    const auto prompt = buildChatPrompt(conversation, 0, false);
    ASSERT_EQ(prompt.messages.size(), 2U);
    EXPECT_EQ(prompt.messages[0].role, "system");
    EXPECT_EQ(prompt.messages[1].textParts, std::vector<std::string>{"q"});
    EXPECT_EQ(buildChatPrompt(conversation, 2, false).messages.size(), 1U)
        << "the first is left out";
}

std::string repeat(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) {
        all += text;
    }
    return all;
}

TEST(ConversationTitle, IsTheFirstWordsOnOneLine) {
    const std::pair<std::string, std::string> cases[] = {
        {"", ""},
        {"  Hi \n\t there  ", "Hi there"},
        {"Hi there, this is a rather long first message that gives the name",
         "Hi there, this is a rather long first message…"},
        {repeat("1", 48), repeat("1", 48)},
        {repeat("1", 49), repeat("1", 48) + "…"},
        {repeat("你", 49), repeat("你", 48) + "…"},
    };
    for (const auto& [message, title] : cases) {
        EXPECT_EQ(titleFrom(message), title);
    }
}

TEST(ReplyFigures, StopsAreSaidForPeople) {
    using engine::FinishReason;
    engine::FinishInfo finish;
    finish.stopToken = 2;
    EXPECT_EQ(describeStop(finish), "eos");
    finish.stopToken.reset();
    finish.stopReason = "END";
    EXPECT_EQ(describeStop(finish), "\"END\"");
    finish.reason = FinishReason::kCancelled;
    EXPECT_EQ(describeStop(finish), "stopped");
    finish.reason = FinishReason::kContext;
    EXPECT_EQ(describeStop(finish), "context full");
}

}  // namespace
}  // namespace quern::app
