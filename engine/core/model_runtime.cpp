#include "engine/core/model_runtime.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <utility>

#include "engine/core/vector_result.h"
#include "engine/logprobs.h"

namespace quern::engine {

namespace {

constexpr std::uint8_t kColors = 8;

/// A chat's reply is a text of its own; anything else goes on with its prompt.
TextStart startOf(const Prompt& prompt) {
    const auto* chat = std::get_if<ChatPrompt>(&prompt);
    return chat != nullptr && !chat->continueFinalMessage ? TextStart::kBeginning
                                                          : TextStart::kMiddle;
}

double secondsBetween(std::chrono::steady_clock::time_point from,
                      std::chrono::steady_clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

}  // namespace

ModelRuntime::ModelRuntime(Config config)
    : m_config(std::move(config)),
      m_kv(m_config.groups, m_config.model->options.prefixCaching,
           static_cast<std::uint64_t>(Clock::now().time_since_epoch().count())),
      m_scheduler(m_kv, m_config.scheduler),
      m_adapters(*m_config.runner),
      m_metrics(m_config.model->options.contextTokens),
      m_weightBytes(m_config.runner->program().weightBytes()),
      m_scratchBytes(m_config.runner->program().scratchBytes()),
      m_kvBytes(m_config.runner->kvBytes()),
      m_lastUsed(Clock::now()) {
    if (const Tokenizer* tokenizer = m_config.model->tokenizer.get()) {
        const auto rows = m_config.runner->vocabSize();
        const std::int64_t known = std::min<std::int64_t>(tokenizer->vocabSize(), rows);
        m_padding.resize(static_cast<std::size_t>(rows - known));
        std::iota(m_padding.begin(), m_padding.end(), static_cast<TokenId>(known));
    }
}

ModelRuntime::~ModelRuntime() = default;

std::optional<ModelRuntime::Clock::time_point> ModelRuntime::nextDeadline() const {
    if (m_deadlines.empty()) {
        return std::nullopt;
    }
    return m_deadlines.begin()->first;
}

ModelRuntime::Active* ModelRuntime::find(SequenceId sequence) const {
    const auto found = m_requests.find(requestOf(sequence));
    return found == m_requests.end() ? nullptr : found->second.get();
}

bool ModelRuntime::submit(RequestId id, PreparedRequest& prepared,
                          std::shared_ptr<EventSink>& sink) {
    AdapterSlots::Use adapter;
    if (prepared.adapterId != 0) {
        auto entered = m_adapters.enter(prepared.adapterId);
        if (!entered) {
            return false;
        }
        adapter = std::move(*entered);
    }
    auto request = std::make_unique<Active>();
    request->id = id;
    request->adapterSlot = adapter.slot;
    request->prepared = std::move(prepared);
    request->sink = std::move(sink);
    request->color = m_nextColor;
    m_nextColor = static_cast<std::uint8_t>((m_nextColor + 1) % kColors);
    const Request& asked = request->prepared.request;
    const Tokenizer* tokenizer = m_config.model->tokenizer.get();
    for (std::int32_t c = 0; c < asked.choices; ++c) {
        request->choices.push_back(
            Choice{.reply = Reply(tokenizer, request->prepared, startOf(asked.prompt))});
    }
    request->choices[0].isStarted = true;
    if (asked.output.minTokens > 0) {
        request->bannedAtFirst = bannedBeforeMinTokens(tokenizer, asked.output, m_padding);
    }
    if (asked.deadline) {
        m_deadlines.emplace(*asked.deadline, id);
    }
    m_metrics.noteRequest(asked.choices, request->prepared.maxTokens);
    std::optional<std::int64_t> rowsFrom;
    if (asked.output.promptLogprobs) {
        rowsFrom = 0;
        // Nothing comes before the first token, so nothing gives it a probability.
        TokenLogprob first{.token = request->prepared.promptIds.front()};
        fillBytes(first);
        request->promptLogprobs.push_back(std::move(first));
    }
    m_scheduler.add(SequenceSpec{.id = sequenceOf(id, 0),
                                 .tokens = request->prepared.promptIds,
                                 .priority = asked.priority,
                                 .salt = asked.cacheSalt,
                                 .adapter = std::move(adapter.key),
                                 .adapterSlot = adapter.slot,
                                 .holder = {.request = id, .color = request->color},
                                 .rowsFrom = rowsFrom,
                                 .typesFrom = request->prepared.typesFrom});
    m_requests.emplace(id, std::move(request));
    return true;
}

void ModelRuntime::end(RequestId id, FinishReason reason, const std::optional<Error>& error) {
    const auto found = m_requests.find(id);
    if (found == m_requests.end()) {
        return;
    }
    Active& request = *found->second;
    const auto now = Clock::now();
    for (std::int32_t c = 0; c < static_cast<std::int32_t>(request.choices.size()); ++c) {
        Choice& choice = request.choices[static_cast<std::size_t>(c)];
        if (!choice.isFinished) {
            const auto view = m_scheduler.view(sequenceOf(id, c));
            const Usage usage = request.usage(choice, view ? view->preemptions : 0, now);
            TokenEvent event{.request = id, .choice = c, .text = choice.reply.takeHeld()};
            finishChoice(request, c, finishOf(reason, error, usage), std::move(event));
        }
    }
    eraseIfFinished(request);
}

void ModelRuntime::endAll(FinishReason reason, const std::optional<Error>& error) {
    while (!m_requests.empty()) {
        end(m_requests.begin()->first, reason, error);
    }
}

void ModelRuntime::endOverdue(Clock::time_point now) {
    while (!m_deadlines.empty() && m_deadlines.begin()->first <= now) {
        end(m_deadlines.begin()->second, FinishReason::kDeadline, std::nullopt);
    }
}

void ModelRuntime::setPaused(RequestId id, bool isPaused) {
    const auto found = m_requests.find(id);
    if (found == m_requests.end()) {
        return;
    }
    found->second->isPaused = isPaused;
    for (std::size_t c = 0; c < found->second->choices.size(); ++c) {
        m_scheduler.setPaused(sequenceOf(id, static_cast<std::int32_t>(c)), isPaused);
    }
}

bool ModelRuntime::plan() {
    m_planBegin = Clock::now();
    m_evictionsBefore = m_kv.evictions();
    m_scheduler.plan(m_plan);
    m_metrics.notePreemptions(m_scheduler.decisions().preempted.size());
    noteAdmissions(m_planBegin);
    endUnservable();
    return !m_plan.isEmpty();
}

void ModelRuntime::noteAdmissions(Clock::time_point now) {
    for (const Admission& admission : m_scheduler.decisions().admitted) {
        Active* request = find(admission.id);
        if (!admission.isFirst || request == nullptr) {
            continue;
        }
        request->scheduled = now;
        request->cachedTokens = static_cast<std::int32_t>(admission.hitTokens);
        leaveQueue(*request);
        m_metrics.noteScheduled(now, static_cast<std::int64_t>(request->prepared.promptIds.size()),
                                admission.hitTokens,
                                secondsBetween(request->prepared.request.arrival, now));
        deliver(*request, TokenEvent{.request = request->id,
                                     .choice = choiceOf(admission.id),
                                     .cachedTokens = request->cachedTokens});
    }
}

void ModelRuntime::endUnservable() {
    for (const SequenceId sequence : m_scheduler.decisions().unservable) {
        const auto view = m_scheduler.view(sequence);
        if (view) {
            end(requestOf(sequence), FinishReason::kError,
                Error{.code = ErrorCode::kOutOfMemory,
                      .message = std::to_string(view->tokens) +
                                 " tokens need more blocks than the KV cache has"});
        }
    }
}

void ModelRuntime::leaveQueue(Active& request) {
    if (request.isQueued) {
        request.isQueued = false;
        m_config.queued->fetch_sub(1, std::memory_order_relaxed);
    }
}

void ModelRuntime::run() {
    m_drawn.clear();
    m_pooled.clear();
    m_broken.clear();
    m_failure.reset();
    m_runBegin = Clock::now();
    try {
        auto logits = m_config.runner->run(m_plan);
        m_runEnd = Clock::now();
        if (!logits) {
            m_failure = std::move(logits.error());
            return;
        }
        for (std::size_t row = 0; row < m_plan.outputRows.size(); ++row) {
            if (m_config.model->info.task == ModelTask::kGenerate) {
                sampleRow(row, *logits);
            } else {
                takeVector(row, *logits);
            }
        }
    } catch (const std::exception& exception) {
        m_runEnd = Clock::now();
        m_failure = Error{
            .code = ErrorCode::kInternal, .message = "a step failed", .cause = exception.what()};
    }
}

void ModelRuntime::sampleRow(std::size_t row, std::span<float> logits) {
    const SequenceId sequence = m_plan.sequences[static_cast<std::size_t>(m_plan.outputSlice[row])];
    Active* request = find(sequence);
    if (request == nullptr) {
        return;
    }
    const auto vocab = static_cast<std::size_t>(m_config.runner->vocabSize());
    const std::span<float> values = logits.subspan(row * vocab, vocab);
    if (!areNumbers(values)) {
        m_broken.push_back(request->id);
        return;
    }
    const auto position = static_cast<std::size_t>(
        m_plan.positions[static_cast<std::size_t>(m_plan.outputRows[row])]);
    const std::span<const TokenId> tokens = m_scheduler.tokens(sequence);
    if (position + 1 < tokens.size()) {
        request->promptLogprobs.push_back(promptLogprob(*request, values, tokens[position + 1]));
        return;
    }
    const std::int32_t choice = choiceOf(sequence);
    const bool isPromptEnd = choice == 0 && !request->choices[0].firstToken;
    const auto choices = static_cast<std::int32_t>(request->choices.size());
    if (!isPromptEnd || choices == 1) {
        draw(*request, choice, values);
        return;
    }
    // All choices part here: each draws from the same logits.
    m_row.assign(values.begin(), values.end());
    for (std::int32_t c = 0; c < choices; ++c) {
        std::ranges::copy(m_row, values.begin());
        draw(*request, c, values);
    }
}

void ModelRuntime::takeVector(std::size_t row, std::span<const float> results) {
    const SequenceId sequence = m_plan.sequences[static_cast<std::size_t>(m_plan.outputSlice[row])];
    if (Active* request = find(sequence)) {
        const auto size = static_cast<std::size_t>(m_config.runner->vocabSize());
        if (!areNumbers(results.subspan(row * size, size))) {
            m_broken.push_back(request->id);
            return;
        }
        m_pooled.push_back(
            {.request = request,
             .vector = finishedVector(results.subspan(row * size, size),
                                      *request->prepared.request.vector, m_config.model->info)});
    }
}

void ModelRuntime::draw(Active& request, std::int32_t choice, std::span<float> logits) {
    // Before it parts from the first, a choice's sequence is the prompt.
    const bool isStarted = request.choices[static_cast<std::size_t>(choice)].isStarted;
    const std::span<const TokenId> tokens =
        m_scheduler.tokens(sequenceOf(request.id, isStarted ? choice : 0));
    const std::size_t promptSize = request.prepared.promptIds.size();
    const OutputParams& output = request.prepared.request.output;
    const auto generated = static_cast<std::int32_t>(tokens.size() - promptSize);
    const SamplerContext context{.prompt = tokens.first(promptSize),
                                 .output = tokens.subspan(promptSize),
                                 .seed = request.prepared.seed,
                                 .choice = choice,
                                 .position = static_cast<std::int32_t>(tokens.size()),
                                 .banned = generated < output.minTokens
                                               ? std::span<const TokenId>(request.bannedAtFirst)
                                               : std::span<const TokenId>(m_padding)};
    m_drawn.push_back(Drawn{.request = &request,
                            .choice = choice,
                            .token = m_sampler.sample(logits, request.prepared.request.sampling,
                                                      context, output.topLogprobs)});
}

TokenLogprob ModelRuntime::promptLogprob(const Active& request, std::span<const float> logits,
                                         TokenId token) const {
    const double logSum = logSumExp(logits);
    const auto entry = [&](TokenId id) {
        TokenLogprob logprob{.token = id,
                             .logprob = static_cast<float>(
                                 logProbability(logits[static_cast<std::size_t>(id)], logSum))};
        fillBytes(logprob);
        return logprob;
    };
    TokenLogprob result = entry(token);
    std::vector<TokenLogit> best;
    topTokens(logits, static_cast<std::size_t>(request.prepared.request.output.promptTopLogprobs),
              best);
    for (const TokenLogit& one : best) {
        result.top.push_back(entry(one.token));
    }
    return result;
}

void ModelRuntime::apply() {
    const auto now = Clock::now();
    m_lastUsed = now;
    if (m_failure) {
        failStep(*m_failure);
    } else {
        m_scheduler.completed(m_plan);
        for (const Drawn& drawn : m_drawn) {
            Choice& choice = drawn.request->choices[static_cast<std::size_t>(drawn.choice)];
            if (!choice.isStarted) {
                choice.isStarted = true;
                m_scheduler.fork(sequenceOf(drawn.request->id, 0),
                                 sequenceOf(drawn.request->id, drawn.choice));
            }
        }
        for (const Drawn& drawn : m_drawn) {
            accept(drawn, now);
        }
        for (Pooled& pooled : m_pooled) {
            accept(pooled, now);
        }
        for (const RequestId id : m_broken) {
            end(id, FinishReason::kError,
                Error{.code = ErrorCode::kCorrupt,
                      .message = "the model's results are no numbers (NaN or infinite): its file, "
                                 "or the adapter's, is broken"});
        }
        for (const SequenceId sequence : m_plan.sequences) {
            if (Active* request = find(sequence)) {
                eraseIfFinished(*request);
            }
        }
    }
    record(Clock::now());
}

void ModelRuntime::failStep(const Error& error) {
    m_scheduler.failed();
    for (const SequenceId sequence : m_plan.sequences) {
        end(requestOf(sequence), FinishReason::kError, error);
    }
}

void ModelRuntime::noteTiming(Active& request, Choice& choice, Clock::time_point now) {
    if (!choice.firstToken) {
        choice.firstToken = now;
        m_metrics.noteFirstToken(now, secondsBetween(request.prepared.request.arrival, now));
    } else {
        m_metrics.noteInterToken(now, secondsBetween(choice.lastToken, now));
    }
    choice.lastToken = now;
    ++choice.completionTokens;
    m_metrics.noteGenerated(1);
}

void ModelRuntime::accept(const Drawn& drawn, Clock::time_point now) {
    Active& request = *drawn.request;
    Choice& choice = request.choices[static_cast<std::size_t>(drawn.choice)];
    const SequenceId sequence = sequenceOf(request.id, drawn.choice);
    const OutputParams& output = request.prepared.request.output;
    const TokenId token = drawn.token.token;
    noteTiming(request, choice, now);

    Reply::Step step = choice.reply.push(token, choice.completionTokens > output.minTokens);
    TokenEvent event{.request = request.id, .choice = drawn.choice, .text = std::move(step.text)};
    if (step.isTokenShown) {
        event.tokens.push_back(token);
        if (output.topLogprobs >= 0) {
            event.logprobs.push_back(drawn.token.logprob);
            fillBytes(event.logprobs.back());
        }
    }
    event.promptLogprobs = std::exchange(request.promptLogprobs, {});
    const bool isFull = choice.completionTokens >= request.prepared.maxTokens;
    if (!step.isStopped && !isFull) {
        m_scheduler.append(sequence, token);
        deliver(request, std::move(event));
        return;
    }
    const auto view = m_scheduler.view(sequence);
    FinishInfo info{.usage = request.usage(choice, view ? view->preemptions : 0, now)};
    if (step.isStopped) {
        info.reason = FinishReason::kStop;
        info.stopReason = std::move(step.stopReason);
        info.stopToken = step.stopToken;
    } else {
        info.reason =
            request.prepared.endsAtContext ? FinishReason::kContext : FinishReason::kLength;
        event.text += choice.reply.takeHeld();
    }
    finishChoice(request, drawn.choice, std::move(info), std::move(event));
}

void ModelRuntime::accept(Pooled& pooled, Clock::time_point now) {
    Active& request = *pooled.request;
    const auto view = m_scheduler.view(sequenceOf(request.id, 0));
    FinishInfo info{.reason = FinishReason::kStop,
                    .usage = request.usage(request.choices[0], view ? view->preemptions : 0, now)};
    info.usage.prefillSeconds = secondsBetween(request.scheduled.value_or(now), now);
    finishChoice(request, 0, std::move(info),
                 TokenEvent{.request = request.id, .vector = std::move(pooled.vector)});
}

void ModelRuntime::finishChoice(Active& request, std::int32_t index, FinishInfo info,
                                TokenEvent event) {
    Choice& choice = request.choices[static_cast<std::size_t>(index)];
    choice.isFinished = true;
    m_scheduler.remove(sequenceOf(request.id, index));
    m_metrics.noteFinished(info.reason, info.usage,
                           secondsBetween(request.prepared.request.arrival, Clock::now()));
    event.finish = std::move(info);
    deliver(request, std::move(event));
}

void ModelRuntime::eraseIfFinished(Active& request) {
    if (!request.isFinished()) {
        return;
    }
    leaveQueue(request);
    if (const auto& deadline = request.prepared.request.deadline) {
        m_deadlines.erase({*deadline, request.id});
    }
    m_adapters.leave(request.adapterSlot);
    m_requests.erase(request.id);
}

void ModelRuntime::deliver(const Active& request, TokenEvent event) {
    m_deliveries.push_back(Delivery{.sink = request.sink, .event = std::move(event)});
}

void ModelRuntime::fillBytes(TokenLogprob& logprob) const {
    if (const Tokenizer* tokenizer = m_config.model->tokenizer.get()) {
        logprob.bytes = tokenizer->tokenBytes(logprob.token);
        for (TokenLogprob& other : logprob.top) {
            other.bytes = tokenizer->tokenBytes(other.token);
        }
    }
}

void ModelRuntime::takeDeliveries(std::vector<Delivery>& deliveries) {
    std::ranges::move(m_deliveries, std::back_inserter(deliveries));
    m_deliveries.clear();
}

void ModelRuntime::record(Clock::time_point end) {
    const StepDecisions& decisions = m_scheduler.decisions();
    m_metrics.noteStep(m_planBegin, end, decisions.prefillTokens, decisions.decodeTokens);
    StepRecord& record = m_recorder.next();
    record.step = m_scheduler.step();
    record.begin = m_planBegin;
    record.planSeconds = secondsBetween(m_planBegin, m_runBegin);
    record.runSeconds = secondsBetween(m_runBegin, m_runEnd);
    record.applySeconds = secondsBetween(m_runEnd, end);
    record.prefillTokens = decisions.prefillTokens;
    record.decodeTokens = decisions.decodeTokens;
    record.ran.clear();
    for (std::size_t s = 0; s < m_plan.slices.size(); ++s) {
        record.ran.push_back(
            {.sequence = m_plan.sequences[s], .tokens = m_plan.slices[s].tokenCount});
    }
    record.admitted = decisions.admitted;
    record.preempted = decisions.preempted;
    record.waiting = static_cast<std::int64_t>(m_scheduler.waitingCount());
    const auto first = m_scheduler.firstWaiting();
    record.firstWaiting = first ? first->id : 0;
    record.firstWait = first ? first->wait : WaitState{};
    record.evictions = m_kv.evictions() - m_evictionsBefore;
    record.heldBlocks = 0;
    for (std::size_t g = 0; g < m_kv.groupCount(); ++g) {
        record.heldBlocks += m_kv.pool(g).heldCount();
    }
}

const BlockPool* ModelRuntime::pool(std::int32_t group) const {
    if (group < 0 || static_cast<std::size_t>(group) >= m_kv.groupCount()) {
        return nullptr;
    }
    return &m_kv.pool(static_cast<std::size_t>(group));
}

}  // namespace quern::engine
