#include "app/server/openai/metrics_text.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <functional>
#include <sstream>

namespace quern::app {

namespace {

using engine::HistogramSnapshot;
using engine::ModelSnapshot;

// The order of engine::FinishReason, in vLLM's words.
constexpr std::array<const char*, 6> kFinishNames{"stop",  "length",   "length",
                                                  "abort", "deadline", "error"};

std::string escaped(const std::string& label) {
    std::string text;
    for (const char c : label) {
        if (c == '\\' || c == '"') {
            text += '\\';
        }
        text += c == '\n' ? ' ' : c;
    }
    return text;
}

/// Writes metric families: the head once, then a line a model.
class Writer {
public:
    explicit Writer(const engine::EngineSnapshot& snapshot) : m_snapshot(snapshot) {}

    void family(const char* name, const char* type, const char* help) {
        m_text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
    }
    void value(const std::string& name, const std::string& labels, double value) {
        m_text += labels.empty() ? fmt::format("{} {}\n", name, value)
                                 : fmt::format("{}{{{}}} {}\n", name, labels, value);
    }
    void histogram(const std::string& name, const std::string& labels,
                   const HistogramSnapshot& histogram) {
        std::uint64_t below = 0;
        const std::string comma = labels.empty() ? "" : ",";
        for (std::size_t i = 0; i < histogram.upperBounds.size() && i < histogram.counts.size();
             ++i) {
            below += histogram.counts[i];
            value(name + "_bucket",
                  fmt::format("{}{}le=\"{}\"", labels, comma, histogram.upperBounds[i]),
                  static_cast<double>(below));
        }
        value(name + "_bucket", fmt::format("{}{}le=\"+Inf\"", labels, comma),
              static_cast<double>(histogram.count()));
        value(name + "_sum", labels, histogram.sum);
        value(name + "_count", labels, static_cast<double>(histogram.count()));
    }

    static std::string labels(const ModelSnapshot& model) {
        return fmt::format("model_name=\"{}\",engine=\"0\"", escaped(model.name));
    }
    void perModel(const char* name, const char* type, const char* help,
                  const std::function<double(const ModelSnapshot&)>& get) {
        family(name, type, help);
        for (const auto& model : m_snapshot.models) {
            value(name, labels(model), get(model));
        }
    }
    void perModel(const char* name, const char* help,
                  const std::function<const HistogramSnapshot&(const ModelSnapshot&)>& get) {
        family(name, "histogram", help);
        for (const auto& model : m_snapshot.models) {
            histogram(name, labels(model), get(model));
        }
    }
    [[nodiscard]] std::string take() { return std::move(m_text); }

private:
    const engine::EngineSnapshot& m_snapshot;
    std::string m_text;
};

double blockShare(const ModelSnapshot& model) {
    std::int64_t held = 0;
    std::int64_t all = 0;
    for (const auto& group : model.groups) {
        held += group.held * group.blockBytes;
        all += group.blocks * group.blockBytes;
    }
    return all > 0 ? static_cast<double>(held) / static_cast<double>(all) : 0.0;
}

// As vLLM has it: one line a model, the names in labels, the time as value.
void writeAdapters(Writer& out, const engine::EngineSnapshot& snapshot) {
    const auto names = [](const ModelSnapshot& model,
                          std::int32_t engine::AdapterSnapshot::*count) {
        std::string text;
        for (const auto& adapter : model.adapters) {
            if (adapter.*count > 0) {
                text += (text.empty() ? "" : ",") + escaped(adapter.name);
            }
        }
        return text;
    };
    out.family("vllm:lora_requests_info", "gauge", "Adapters of running and waiting requests.");
    const auto now =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch());
    for (const auto& model : snapshot.models) {
        if (!model.adapters.empty()) {
            out.value("vllm:lora_requests_info",
                      fmt::format("{},max_lora=\"{}\",running_lora_adapters=\"{}\","
                                  "waiting_lora_adapters=\"{}\"",
                                  Writer::labels(model), model.adapters.size(),
                                  names(model, &engine::AdapterSnapshot::running),
                                  names(model, &engine::AdapterSnapshot::waiting)),
                      now.count());
        }
    }
    out.perModel("quern_adapter_bytes", "gauge", "Memory of LoRA adapters.",
                 [](const auto& m) { return static_cast<double>(m.adapterBytes); });
}

void writeEngine(Writer& out, const engine::EngineSnapshot& snapshot) {
    out.perModel("vllm:num_requests_running", "gauge", "Requests in the batch.",
                 [](const auto& m) { return m.running; });
    out.perModel("vllm:num_requests_waiting", "gauge", "Requests that wait.",
                 [](const auto& m) { return m.waiting; });
    out.perModel("vllm:kv_cache_usage_perc", "gauge", "Share of the KV cache in use, 0 to 1.",
                 blockShare);
    out.family("vllm:cache_config_info", "gauge", "The KV cache as it was set up.");
    for (const auto& model : snapshot.models) {
        for (std::size_t i = 0; i < model.groups.size(); ++i) {
            out.value(
                "vllm:cache_config_info",
                fmt::format("{},group=\"{}\",kind=\"{}\",block_size=\"16\",num_gpu_blocks=\"{}\","
                            "cache_dtype=\"{}\"",
                            Writer::labels(model), i, escaped(model.groups[i].kind),
                            model.groups[i].blocks, model.kvType),
                1);
        }
    }
    writeAdapters(out, snapshot);
    const auto counter = [&](const char* name, const char* help, auto member) {
        out.perModel(name, "counter", help, [member](const ModelSnapshot& m) {
            return static_cast<double>(m.counters.*member);
        });
    };
    using C = engine::ModelCounters;
    counter("vllm:prompt_tokens_total", "Prompt tokens computed.", &C::promptTokens);
    counter("vllm:generation_tokens_total", "Tokens generated.", &C::generationTokens);
    counter("vllm:prefix_cache_queries_total", "Prompt tokens looked up in the prefix cache.",
            &C::prefixCacheQueries);
    counter("vllm:prefix_cache_hits_total", "Prompt tokens found in the prefix cache.",
            &C::prefixCacheHits);
    counter("vllm:prompt_tokens_cached_total", "Prompt tokens served from the cache.",
            &C::promptTokensCached);
    counter("vllm:num_preemptions_total", "Requests that had to give up their blocks.",
            &C::preemptions);
    out.family("vllm:request_success_total", "counter", "Requests that ended, by reason.");
    for (const auto& model : snapshot.models) {
        std::map<std::string, std::uint64_t> byName;
        for (std::size_t i = 0; i < kFinishNames.size(); ++i) {
            byName[kFinishNames[i]] += model.counters.finished[i];
        }
        for (const auto& [name, count] : byName) {
            out.value("vllm:request_success_total",
                      fmt::format("{},finished_reason=\"{}\"", Writer::labels(model), name),
                      static_cast<double>(count));
        }
    }
    const auto histogram = [&](const char* name, const char* help, auto member) {
        out.perModel(name, help, [member](const ModelSnapshot& m) -> const HistogramSnapshot& {
            return m.counters.*member;
        });
    };
    histogram("vllm:time_to_first_token_seconds", "Arrival to first token.", &C::ttft);
    histogram("vllm:inter_token_latency_seconds", "Between tokens of a request.", &C::interToken);
    histogram("vllm:e2e_request_latency_seconds", "Arrival to last token.", &C::e2e);
    histogram("vllm:request_queue_time_seconds", "Arrival to first scheduled.", &C::queueTime);
    histogram("vllm:request_prefill_time_seconds", "Scheduled to first token.", &C::prefillTime);
    histogram("vllm:request_decode_time_seconds", "First to last token.", &C::decodeTime);
    histogram("vllm:request_inference_time_seconds", "Scheduled to last token.", &C::inferenceTime);
    histogram("vllm:request_prompt_tokens", "Length of prompts.", &C::promptLength);
    histogram("vllm:request_generation_tokens", "Length of replies.", &C::generationLength);
    histogram("vllm:request_params_n", "Choices asked for.", &C::requestChoices);
    histogram("vllm:request_params_max_tokens", "Tokens asked for.", &C::requestMaxTokens);
    histogram("vllm:iteration_tokens_total", "Tokens of a step.", &C::stepTokens);
    out.perModel("quern_steps_total", "counter", "Steps computed.",
                 [](const auto& m) { return static_cast<double>(m.counters.steps); });
    out.perModel("quern_evictions_total", "counter", "Cached blocks that were given away.",
                 [](const auto& m) { return static_cast<double>(m.counters.evictions); });
    out.perModel("quern_weight_bytes", "gauge", "Memory of the weights.",
                 [](const auto& m) { return static_cast<double>(m.weightBytes); });
    out.perModel("quern_kv_cache_bytes", "gauge", "Memory of the KV cache.",
                 [](const auto& m) { return static_cast<double>(m.kvBytes); });
}

void writeProcess(Writer& out, const engine::EngineSnapshot& snapshot) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    out.family("process_cpu_seconds_total", "counter", "Processor time, user and system.");
    out.value("process_cpu_seconds_total", "", seconds(usage.ru_utime) + seconds(usage.ru_stime));
    out.family("process_resident_memory_bytes", "gauge", "Resident memory.");
    out.value("process_resident_memory_bytes", "",
              static_cast<double>(snapshot.memory.processBytes));
}

}  // namespace

HttpMetrics::HttpMetrics() = default;

void HttpMetrics::add(const std::string& handler, const std::string& method, int status,
                      double seconds) {
    ++m_requests[{handler, method, status}];
    auto& histogram = m_durations[handler];
    if (histogram.upperBounds.empty()) {
        histogram.upperBounds = {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300};
        histogram.counts.resize(histogram.upperBounds.size() + 1);
    }
    std::size_t bucket = 0;
    while (bucket < histogram.upperBounds.size() && seconds > histogram.upperBounds[bucket]) {
        ++bucket;
    }
    ++histogram.counts[bucket];
    histogram.sum += seconds;
}

std::string HttpMetrics::text() const {
    const engine::EngineSnapshot none;
    Writer out(none);
    out.family("http_requests_total", "counter", "Requests answered.");
    for (const auto& [key, count] : m_requests) {
        const auto& [handler, method, status] = key;
        out.value("http_requests_total",
                  fmt::format("handler=\"{}\",method=\"{}\",status=\"{}\"", escaped(handler),
                              escaped(method), status),
                  static_cast<double>(count));
    }
    out.family("http_request_duration_seconds", "histogram", "Arrival to last byte.");
    for (const auto& [handler, histogram] : m_durations) {
        out.histogram("http_request_duration_seconds",
                      fmt::format("handler=\"{}\"", escaped(handler)), histogram);
    }
    return out.take();
}

std::string metricsText(const engine::EngineSnapshot& snapshot, const HttpMetrics& http) {
    Writer out(snapshot);
    writeEngine(out, snapshot);
    writeProcess(out, snapshot);
    return out.take() + http.text();
}

}  // namespace quern::app
