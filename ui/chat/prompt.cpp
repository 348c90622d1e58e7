#include "ui/chat/prompt.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <utility>

namespace quern::ui {
namespace {

std::string spelling(const engine::Tokenizer& tokenizer, std::optional<engine::TokenId> id) {
    return id ? std::string(tokenizer.tokenBytes(*id)) : std::string();
}

}  // namespace

std::vector<engine::ChatMessage> promptMessages(const ConversationSettings& settings,
                                                const std::vector<Turn>& path) {
    std::vector<engine::ChatMessage> messages;
    if (!settings.systemPrompt.empty()) {
        engine::ChatMessage system;
        system.role = "system";
        system.textParts = {settings.systemPrompt};
        messages.push_back(std::move(system));
    }
    for (const Turn& turn : path) {
        const bool isEmptyReply = turn.role != "user" && turn.text.empty();
        if (turn.id != 0 && turn.id < settings.firstTurn) {
            continue;
        }
        if (isEmptyReply || turn.state == TurnState::kFailed) {
            continue;
        }
        engine::ChatMessage message;
        message.role = turn.role;
        message.textParts = {turn.text};
        messages.push_back(std::move(message));
    }
    return messages;
}

engine::SamplingParams chatSampling(const engine::LoadedModel& model) {
    constexpr float kTemperature = 0.6F;
    constexpr float kTopP = 0.9F;
    engine::SamplingParams sampling = model.defaults;
    const engine::SamplingParams bare;
    if (sampling.temperature == bare.temperature && sampling.topP == bare.topP &&
        sampling.topK == bare.topK && sampling.minP == bare.minP) {
        sampling.temperature = kTemperature;
        sampling.topP = kTopP;
    }
    return sampling;
}

Result<std::int64_t> countPromptTokens(const engine::LoadedModel& model,
                                       const std::vector<engine::ChatMessage>& messages,
                                       bool addGenerationPrompt) {
    if (!model.tokenizer) {
        return fail(ErrorCode::kUnsupported, "the model has no tokenizer");
    }
    std::string text;
    if (model.templates.standard) {
        QJsonArray list;
        for (const engine::ChatMessage& message : messages) {
            QString content;
            for (const std::string& part : message.textParts) {
                content += QString::fromStdString(part);
            }
            list.append(QJsonObject{{QStringLiteral("role"), QString::fromStdString(message.role)},
                                    {QStringLiteral("content"), content}});
        }
        engine::TemplateInput input;
        input.messages = QJsonDocument(list).toJson(QJsonDocument::Compact).toStdString();
        input.bos = spelling(*model.tokenizer, model.tokenizer->special().bos);
        input.eos = spelling(*model.tokenizer, model.tokenizer->special().eos);
        input.addGenerationPrompt = addGenerationPrompt;
        Result<std::string> rendered = model.templates.standard->renderChat(input);
        if (!rendered) {
            return forward(rendered);
        }
        text = std::move(*rendered);
    } else {
        for (const engine::ChatMessage& message : messages) {
            for (const std::string& part : message.textParts) {
                text += part + "\n";
            }
        }
    }
    Result<std::vector<engine::TokenId>> ids =
        model.tokenizer->encode(text, {.addSpecial = true, .parseSpecial = true});
    if (!ids) {
        return forward(ids);
    }
    return static_cast<std::int64_t>(ids->size());
}

Result<std::int64_t> firstTurnThatFits(const engine::LoadedModel& model,
                                       ConversationSettings settings, const std::vector<Turn>& path,
                                       std::int64_t limit) {
    for (const Turn& turn : path) {
        if (turn.role != "user" || (turn.id != 0 && turn.id < settings.firstTurn)) {
            continue;
        }
        // A turn that has no id yet is the one about to be sent: all saved ones before it go.
        const std::int64_t first = turn.id != 0 ? turn.id : path.back().parent + 1;
        settings.firstTurn = first;
        Result<std::int64_t> tokens =
            countPromptTokens(model, promptMessages(settings, path), true);
        if (!tokens) {
            return forward(tokens);
        }
        if (*tokens <= limit) {
            return &turn == path.data() ? 0 : first;
        }
    }
    return -1;
}

}  // namespace quern::ui
