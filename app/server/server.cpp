#include "app/server/server.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>

#include "app/server/access.h"
#include "app/server/http/http_server.h"
#include "app/server/openai/adapter_routes.h"
#include "app/server/openai/generation_job.h"
#include "app/server/openai/metrics_text.h"
#include "app/server/openai/model_routes.h"
#include "app/server/openai/random_id.h"
#include "app/server/openai/vector_job.h"
#include "app/server/task_thread.h"

namespace quern::app {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kRecentKept = 200;
constexpr std::size_t kLongestRequestId = 128;
constexpr std::chrono::milliseconds kLastWords{1000};

/// What is known of a request while it is answered.
struct Pending {
    ServedRequest line;
    Clock::time_point began = Clock::now();
};

std::string requestIdOf(const HttpRequest& request) {
    const auto given = request.header("x-request-id");
    const bool isClean = !given.empty() && given.size() <= kLongestRequestId &&
                         given.find_first_of("\r\n") == std::string_view::npos;
    if (isClean) {
        return std::string(given);
    }
    return randomId("req-");
}

// As a label: what clients make up must not become a counter each.
std::string knownMethod(const std::string& method) {
    for (const char* known : {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
        if (method == known) {
            return method;
        }
    }
    return "other";
}

class ApiServer : public Server {
public:
    ApiServer(engine::Engine& engine, const ServerOptions& options)
        : m_engine(engine),
          m_host(options.host),
          m_access(options.apiKeys, options.adminKeys, isLoopbackHost(options.host)) {
        addRoutes();
    }

    Status listen(const ServerOptions& options) {
        HttpLimits limits;
        limits.bodyBytes = options.maxBodyBytes;
        limits.connections = options.maxConnections;
        limits.stalled = options.stalledClient;
        auto http = HttpServer::start(
            options.host, options.port, limits,
            [this](std::shared_ptr<Exchange> exchange) { handle(std::move(exchange)); },
            [](int status, const std::string& message) {
                return errorBody(fromStatus(status, message));
            });
        if (!http) {
            return forward(http);
        }
        m_http = std::move(*http);
        return {};
    }

    std::string url() const override {
        const bool isV6 = m_host.find(':') != std::string::npos;
        return "http://" + (isV6 ? "[" + m_host + "]" : m_host) + ":" +
               std::to_string(m_http->port());
    }

    std::uint16_t port() const override { return m_http->port(); }

    ServerFigures figures() const override {
        const HttpFigures http = m_http->figures();
        const std::lock_guard lock(m_mutex);
        return {.connections = http.connections,
                .answering = http.exchanges,
                .served = m_served,
                .failed = m_failed};
    }

    std::vector<ServedRequest> recent() const override {
        const std::lock_guard lock(m_mutex);
        return {m_recent.rbegin(), m_recent.rend()};
    }

    void stop(std::chrono::milliseconds grace) override {
        m_isEnding = true;
        m_http->endKeepAlive();
        if (!m_http->waitUntilIdle(grace)) {
            // Clients are told why their answers end; who does not listen is left.
            m_http->endExchanges();
            if (!m_http->waitUntilIdle(kLastWords)) {
                m_http->closeConnections();
            }
        }
        m_http->stopAccepting();
    }

private:
    using Handler = std::function<void(std::shared_ptr<Exchange>, std::shared_ptr<Pending>)>;
    struct Route {
        std::string method;
        Handler handler;
        Access::Right right = Access::Right::kUse;
    };

    void add(const std::string& method, const std::string& path, Handler handler,
             Access::Right right = Access::Right::kUse) {
        m_routes[path].push_back({method, std::move(handler), right});
    }

    // A handler that answers at once.
    template <class Answer>
    Handler atOnce(Answer answerOf) {
        return
            [this, answerOf](std::shared_ptr<Exchange> exchange, std::shared_ptr<Pending> pending) {
                HttpResponse response = answerOf(exchange->request());
                finish(*pending, response.status);
                exchange->respond(std::move(response));
            };
    }

    // A handler whose answer takes the longer the more text it gets: made beside the I/O thread,
    // which has other clients.
    template <class Answer>
    Handler aside(Answer answerOf) {
        return
            [this, answerOf](std::shared_ptr<Exchange> exchange, std::shared_ptr<Pending> pending) {
                m_textWork.post(
                    [this, answerOf, exchange = std::move(exchange), pending = std::move(pending)] {
                        auto response = std::make_shared<HttpResponse>();
                        try {
                            *response = answerOf(exchange->request());
                        } catch (const std::exception&) {  // no memory for so much text
                            *response = errorResponse(fromStatus(500, "the server failed"));
                        }
                        exchange->post([this, exchange, pending, response] {
                            finish(*pending, response->status);
                            exchange->respond(std::move(*response));
                        });
                    });
            };
    }

    void addRoutes() {
        add("POST", "/v1/chat/completions", generation(GenerationKind::kChat));
        add("POST", "/v1/completions", generation(GenerationKind::kCompletion));
        add("POST", "/v1/embeddings", vectors(VectorKind::kEmbeddings));
        add("POST", "/v1/rerank", vectors(VectorKind::kRerank));
        add("POST", "/v1/score", vectors(VectorKind::kScore));
        add("GET", "/v1/models", atOnce([this](const auto&) { return listModels(m_engine); }));
        add("POST", "/tokenize",
            aside([this](const auto& request) { return tokenize(m_engine, request.body); }));
        add("POST", "/detokenize",
            aside([this](const auto& request) { return detokenize(m_engine, request.body); }));
        add("POST", "/apply-template",
            aside([this](const auto& request) { return applyTemplate(m_engine, request.body); }));
        add("POST", "/v1/load_lora_adapter",
            aside([this](const auto& request) { return loadLoraAdapter(m_engine, request.body); }),
            Access::Right::kAdmin);
        add("POST", "/v1/unload_lora_adapter", aside([this](const auto& request) {
                return unloadLoraAdapter(m_engine, request.body);
            }),
            Access::Right::kAdmin);
        const auto health = atOnce([this](const auto&) {
            return m_isEnding ? errorResponse(serverEnding()) : describeHealth(m_engine);
        });
        add("GET", "/health", health, Access::Right::kNone);
        add("GET", "/ready", health, Access::Right::kNone);
        add("GET", "/version", atOnce([](const auto&) {
                return HttpResponse{.status = 200,
                                    .contentType = "application/json",
                                    .body = "{\"version\":\"" QUERN_VERSION "\"}",
                                    .headers = {}};
            }),
            Access::Right::kNone);
        add("GET", "/metrics", atOnce([this](const auto&) {
                return HttpResponse{.status = 200,
                                    .contentType = "text/plain; version=0.0.4; charset=utf-8",
                                    .body = metricsText(m_engine.snapshot(), m_metrics),
                                    .headers = {}};
            }));
    }

    Handler generation(GenerationKind kind) {
        return [this, kind](std::shared_ptr<Exchange> exchange, std::shared_ptr<Pending> pending) {
            auto request = readGenerationRequest(
                kind, exchange->request().body, [this](const std::string& name) {
                    // A model that is not there is told of when the request is started.
                    const auto model = m_engine.find(name);
                    return model ? (*model)->defaults : engine::SamplingParams{};
                });
            if (!request) {
                finish(*pending, request.error().status);
                exchange->respond(errorResponse(request.error()));
                return;
            }
            startGeneration(std::move(exchange), m_engine, std::move(*request),
                            finisher(std::move(pending)));
        };
    }

    Handler vectors(VectorKind kind) {
        return [this, kind](std::shared_ptr<Exchange> exchange, std::shared_ptr<Pending> pending) {
            auto request = readVectorRequest(kind, exchange->request().body);
            if (!request) {
                finish(*pending, request.error().status);
                exchange->respond(errorResponse(request.error()));
                return;
            }
            startVectors(std::move(exchange), m_engine, kind, std::move(*request),
                         finisher(std::move(pending)));
        };
    }

    std::function<void(const RequestOutcome&)> finisher(std::shared_ptr<Pending> pending) {
        return [this, pending = std::move(pending)](const RequestOutcome& outcome) {
            pending->line.model = outcome.model;
            pending->line.promptTokens = outcome.promptTokens;
            pending->line.completionTokens = outcome.completionTokens;
            finish(*pending, outcome.status);
        };
    }

    void handle(std::shared_ptr<Exchange> exchange) {
        const HttpRequest& request = exchange->request();
        auto pending = std::make_shared<Pending>();
        pending->line.timeMs = std::chrono::duration_cast<std::chrono::milliseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count();
        pending->line.client = request.client;
        pending->line.method = request.method;
        pending->line.path = request.path;
        exchange->setHeader("X-Request-Id", requestIdOf(request));
        const auto refuse = [&](const ApiError& error) {
            finish(*pending, error.status);
            exchange->respond(errorResponse(error));
        };
        if (m_isEnding && request.method == "POST") {  // what asks for work; looking on is free
            refuse(serverEnding());
            return;
        }
        const Route* route = nullptr;
        if (const auto error = findRoute(request, route)) {
            if (const auto refused = m_access.refusal(request, Access::Right::kUse)) {
                refuse(*refused);
                return;
            }
            if (error->status == 405) {
                exchange->setHeader("Allow", allowedMethods(request.path));
            }
            pending->line.path = "other";
            refuse(*error);
            return;
        }
        if (const auto error =
                m_access.refusal(request, route == nullptr ? Access::Right::kUse : route->right)) {
            refuse(*error);
            return;
        }
        if (route == nullptr) {  // GET /v1/models/{id}
            HttpResponse response =
                describeModel(m_engine, request.path.substr(kModelPrefix.size()));
            pending->line.path = "/v1/models/{id}";
            finish(*pending, response.status);
            exchange->respond(std::move(response));
            return;
        }
        route->handler(std::move(exchange), std::move(pending));
    }

    // Null with no error: the one path with a name in it.
    std::optional<ApiError> findRoute(const HttpRequest& request, const Route*& route) const {
        const std::string method = request.method == "HEAD" ? "GET" : request.method;
        const auto found = m_routes.find(request.path);
        if (found == m_routes.end()) {
            if (request.path.starts_with(kModelPrefix) &&
                request.path.size() > kModelPrefix.size()) {
                return method == "GET" ? std::nullopt
                                       : std::optional(fromStatus(405, "only GET is allowed here"));
            }
            return fromStatus(404, "there is no " + request.path);
        }
        for (const Route& candidate : found->second) {
            if (candidate.method == method) {
                route = &candidate;
                return std::nullopt;
            }
        }
        return fromStatus(405, request.method + " is not allowed on " + request.path + "; " +
                                   allowedMethods(request.path) + " is");
    }

    std::string allowedMethods(const std::string& path) const {
        const auto found = m_routes.find(path);
        if (found == m_routes.end()) {
            return "GET";
        }
        std::string methods;
        for (const Route& route : found->second) {
            methods += (methods.empty() ? "" : ", ") + route.method;
        }
        return methods;
    }

    // Takes down the audit line. On the I/O thread.
    void finish(Pending& pending, int status) {
        pending.line.status = status;
        pending.line.seconds = std::chrono::duration<double>(Clock::now() - pending.began).count();
        m_metrics.add(pending.line.path, knownMethod(pending.line.method), status,
                      pending.line.seconds);
        const std::lock_guard lock(m_mutex);
        ++m_served;
        m_failed += status >= 400 ? 1 : 0;
        m_recent.push_back(pending.line);
        if (m_recent.size() > kRecentKept) {
            m_recent.pop_front();
        }
    }

    static constexpr std::string_view kModelPrefix = "/v1/models/";

    engine::Engine& m_engine;
    std::string m_host;
    Access m_access;
    std::atomic<bool> m_isEnding = false;
    std::map<std::string, std::vector<Route>> m_routes;
    HttpMetrics m_metrics;  // I/O thread
    mutable std::mutex m_mutex;
    std::deque<ServedRequest> m_recent;
    std::uint64_t m_served = 0;
    std::uint64_t m_failed = 0;
    TaskThread m_textWork;
    std::unique_ptr<HttpServer> m_http;  // once it listens; last: its thread uses the rest
};

}  // namespace

Status checkServerOptions(const ServerOptions& options) {
    for (const auto* keys : {&options.apiKeys, &options.adminKeys}) {
        if (std::ranges::any_of(*keys, &std::string::empty)) {
            return failField("api_key", "an API key must not be empty");
        }
    }
    if (options.apiKeys.empty() && !isLoopbackHost(options.host)) {
        return failField("host", "'" + options.host +
                                     "' can be reached from other machines, which needs a key: "
                                     "give --api-key, or stay on 127.0.0.1");
    }
    return {};
}

Result<std::unique_ptr<Server>> Server::start(engine::Engine& engine,
                                              const ServerOptions& options) {
    if (auto checked = checkServerOptions(options); !checked) {
        return forward(checked);
    }
    auto server = std::make_unique<ApiServer>(engine, options);
    if (auto listening = server->listen(options); !listening) {
        return forward(listening);
    }
    return server;
}

}  // namespace quern::app
