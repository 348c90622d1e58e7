#include "tests/support/scripted_engine.h"

namespace quern::test {

using namespace quern::engine;

namespace {

// The bytes of all messages, one after the other: enough to see what was asked, and to count it.
std::string promptText(const Prompt& prompt) {
    if (const auto* chat = std::get_if<ChatPrompt>(&prompt)) {
        std::string text;
        for (const auto& message : chat->messages) {
            text += message.role + ":";
            for (const auto& part : message.textParts) {
                text += part;
            }
            text += "|";
        }
        return text;
    }
    if (const auto* text = std::get_if<TextPrompt>(&prompt)) {
        return text->text;
    }
    return {};
}

}  // namespace

ScriptedEngine::ScriptedEngine(std::int32_t contextTokens) : m_contextTokens(contextTokens) {
    auto model = std::make_shared<LoadedModel>();
    model->name = "scripted";
    model->options.name = "scripted";
    model->options.contextTokens = contextTokens;
    m_model = std::move(model);
}

void ScriptedEngine::speakLike(const std::string& templateSource) {
    auto model = std::make_shared<LoadedModel>(*this->model());
    model->templates.standard = ChatTemplate::create(templateSource).value();
    const std::lock_guard lock(m_mutex);
    m_model = std::move(model);
}

std::shared_ptr<const LoadedModel> ScriptedEngine::model() const {
    const std::lock_guard lock(m_mutex);
    return m_model;
}

void ScriptedEngine::say(RequestId id, const std::string& text,
                         std::vector<TokenLogprob> logprobs) {
    std::shared_ptr<EventSink> sink;
    TokenEvent event;
    {
        const std::lock_guard lock(m_mutex);
        auto& running = m_running.at(id);
        event.promptLogprobs = std::exchange(running.promptLogprobs, {});
        running.tokens += static_cast<std::int32_t>(text.size());
        sink = running.sink;
    }
    event.request = id;
    event.text = text;
    event.logprobs = std::move(logprobs);
    for (const char byte : text) {
        event.tokens.push_back(static_cast<unsigned char>(byte));
    }
    sink->onEvent(std::move(event));
}

void ScriptedEngine::finish(RequestId id, FinishInfo info) {
    std::shared_ptr<EventSink> sink;
    {
        const std::lock_guard lock(m_mutex);
        const auto found = m_running.find(id);
        if (found == m_running.end()) {
            return;
        }
        sink = found->second.sink;
        info.usage.promptTokens = found->second.promptTokens;
        info.usage.completionTokens = found->second.tokens;
        m_running.erase(found);
    }
    TokenEvent event;
    event.request = id;
    event.finish = std::move(info);
    sink->onEvent(std::move(event));
}

std::vector<RequestId> ScriptedEngine::running() const {
    const std::lock_guard lock(m_mutex);
    std::vector<RequestId> ids;
    for (const auto& [id, running] : m_running) {
        ids.push_back(id);
    }
    return ids;
}

std::vector<PreparedRequest> ScriptedEngine::submitted() const {
    const std::lock_guard lock(m_mutex);
    return m_submitted;
}

void ScriptedEngine::refuse(Error error) {
    const std::lock_guard lock(m_mutex);
    m_refusal = std::move(error);
}

void ScriptedEngine::holdPrepare() {
    const std::lock_guard lock(m_mutex);
    m_holdsPrepare = true;
}

void ScriptedEngine::releasePrepare() {
    {
        const std::lock_guard lock(m_mutex);
        m_holdsPrepare = false;
    }
    m_released.notify_all();
}

Result<std::shared_ptr<const LoadedModel>> ScriptedEngine::load(
    const LoadOptions&, std::function<bool(const LoadProgress&)>) {
    return model();
}

Status ScriptedEngine::unload(const std::string&) {
    return {};
}

std::vector<std::shared_ptr<const LoadedModel>> ScriptedEngine::models() const {
    return {model()};
}

Result<std::shared_ptr<const LoadedModel>> ScriptedEngine::find(const std::string& name) const {
    if (auto known = model(); name.empty() || name == known->name) {
        return known;
    }
    return fail(ErrorCode::kNotFound, "no model '" + name + "'");
}

Result<PreparedRequest> ScriptedEngine::prepare(Request request) const {
    {
        std::unique_lock lock(m_mutex);
        m_released.wait(lock, [this] { return !m_holdsPrepare; });
    }
    auto model = find(request.model);
    if (!model) {
        return forward(model);
    }
    PreparedRequest prepared;
    prepared.promptText = promptText(request.prompt);
    for (const char byte : prepared.promptText) {
        prepared.promptIds.push_back(static_cast<unsigned char>(byte));
    }
    if (prepared.promptIds.size() >= static_cast<std::size_t>(m_contextTokens)) {
        return fail(ErrorCode::kContextLength,
                    "the prompt has " + std::to_string(prepared.promptIds.size()) +
                        " tokens, the context holds " + std::to_string(m_contextTokens));
    }
    if (std::holds_alternative<ChatPrompt>(request.prompt) && (*model)->templates.standard) {
        prepared.replyFormat = recognizeReplyFormat((*model)->templates.standard->source());
    }
    request.model = (*model)->name;
    prepared.request = std::move(request);
    return prepared;
}

void ScriptedEngine::prepareAsync(Request request,
                                  std::function<void(Result<PreparedRequest>)> done) const {
    done(prepare(std::move(request)));
}

Result<RequestId> ScriptedEngine::submit(PreparedRequest request, std::shared_ptr<EventSink> sink) {
    RequestId id = 0;
    {
        const std::lock_guard lock(m_mutex);
        if (m_refusal) {
            return tl::unexpected<Error>(*m_refusal);
        }
        id = m_next++;
        Running running{.sink = sink,
                        .promptTokens = static_cast<std::int32_t>(request.promptIds.size())};
        if (request.request.output.promptLogprobs) {
            for (const TokenId token : request.promptIds) {
                running.promptLogprobs.push_back(
                    {.token = token, .logprob = -1, .bytes = {static_cast<char>(token)}});
            }
        }
        m_running[id] = std::move(running);
        m_submitted.push_back(std::move(request));
    }
    // As the real one tells that a request was scheduled, before there is a token.
    sink->onEvent(TokenEvent{.request = id, .cachedTokens = 0});
    return id;
}

void ScriptedEngine::cancel(RequestId id) {
    FinishInfo info;
    info.reason = FinishReason::kCancelled;
    finish(id, std::move(info));
}

void ScriptedEngine::setPaused(RequestId, bool) {}

EngineSnapshot ScriptedEngine::snapshot() const {
    return {};
}

Status ScriptedEngine::foldKvMap(const std::string&, std::int32_t, KvMap&) const {
    return {};
}

Status ScriptedEngine::resetPrefixCache(const std::string&) {
    return {};
}

void ScriptedEngine::shutdown(std::chrono::milliseconds) {
    for (const RequestId id : running()) {
        cancel(id);
    }
}

}  // namespace quern::test
