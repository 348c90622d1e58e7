#include "ui/demo/demo_ports.h"

#include <algorithm>
#include <cctype>

namespace quern::ui {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;
constexpr std::int64_t kGiB = 1024 * kMiB;

bool contains(const std::string& text, const std::string& part) {
    const auto same = [](unsigned char a, unsigned char b) {
        return std::tolower(a) == std::tolower(b);
    };
    return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

}  // namespace

Status MemoryConversations::mayWrite() const {
    if (m_fails) {
        return fail(ErrorCode::kIo, "the disk is full: 0 bytes are free, 4096 are needed");
    }
    return {};
}

Result<MemoryConversations::Stored*> MemoryConversations::find(std::int64_t conversation) {
    const auto at = m_stored.find(conversation);
    if (at == m_stored.end()) {
        return fail(ErrorCode::kNotFound,
                    "there is no conversation " + std::to_string(conversation));
    }
    return &at->second;
}

Result<std::vector<ConversationSummary>> MemoryConversations::list(const std::string& search) {
    const std::lock_guard lock(m_mutex);
    std::vector<ConversationSummary> found;
    for (const auto& [id, stored] : m_stored) {
        if (stored.isRemoved) {
            continue;
        }
        ConversationSummary summary = stored.summary;
        const auto match =
            std::find_if(stored.turns.begin(), stored.turns.end(),
                         [&](const Turn& turn) { return contains(turn.text, search); });
        if (!search.empty()) {
            if (match != stored.turns.end()) {
                summary.snippet = match->text.substr(0, 80);
            } else if (!contains(summary.title, search)) {
                continue;
            }
        }
        found.push_back(std::move(summary));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return std::pair(a.updatedAt, a.id) > std::pair(b.updatedAt, b.id);
    });
    return found;
}

Result<std::int64_t> MemoryConversations::create(const std::string& title,
                                                 const ConversationSettings& settings) {
    const std::lock_guard lock(m_mutex);
    if (Status may = mayWrite(); !may) {
        return forward(may);
    }
    const std::int64_t id = m_nextConversation++;
    m_stored[id].summary = {.id = id, .title = title, .updatedAt = m_time, .snippet = {}};
    m_stored[id].settings = settings;
    return id;
}

Status MemoryConversations::rename(std::int64_t conversation, const std::string& title) {
    const std::lock_guard lock(m_mutex);
    return find(conversation).map([&](Stored* stored) { stored->summary.title = title; });
}

Status MemoryConversations::remove(std::int64_t conversation) {
    const std::lock_guard lock(m_mutex);
    return find(conversation).map([](Stored* stored) { stored->isRemoved = true; });
}

Status MemoryConversations::restore(std::int64_t conversation) {
    const std::lock_guard lock(m_mutex);
    return find(conversation).map([](Stored* stored) { stored->isRemoved = false; });
}

Result<ConversationContent> MemoryConversations::open(std::int64_t conversation) {
    const std::lock_guard lock(m_mutex);
    return find(conversation).map([](Stored* stored) {
        ConversationContent content{
            .summary = stored->summary, .settings = stored->settings, .path = {}};
        for (std::int64_t at = stored->leaf; at != 0;) {
            const auto turn = std::find_if(stored->turns.begin(), stored->turns.end(),
                                           [at](const Turn& t) { return t.id == at; });
            content.path.push_back(*turn);
            content.path.back().branches = 0;
            for (const Turn& other : stored->turns) {
                if (other.parent == turn->parent) {
                    ++content.path.back().branches;
                    content.path.back().branch =
                        other.id == at ? content.path.back().branches : content.path.back().branch;
                }
            }
            at = turn->parent;
        }
        std::reverse(content.path.begin(), content.path.end());
        return content;
    });
}

Status MemoryConversations::saveSettings(std::int64_t conversation,
                                         const ConversationSettings& settings) {
    const std::lock_guard lock(m_mutex);
    return find(conversation).map([&](Stored* stored) { stored->settings = settings; });
}

Result<std::int64_t> MemoryConversations::addTurn(std::int64_t conversation, const Turn& turn) {
    const std::lock_guard lock(m_mutex);
    if (Status may = mayWrite(); !may) {
        return forward(may);
    }
    return find(conversation).map([&](Stored* stored) {
        stored->turns.push_back(turn);
        stored->turns.back().id = m_nextTurn++;
        stored->leaf = stored->turns.back().id;
        stored->summary.updatedAt = std::max(stored->summary.updatedAt, m_time);
        return stored->leaf;
    });
}

Status MemoryConversations::updateTurn(std::int64_t conversation, const Turn& turn) {
    const std::lock_guard lock(m_mutex);
    if (Status may = mayWrite(); !may) {
        return may;
    }
    return find(conversation).map([&](Stored* stored) {
        for (Turn& old : stored->turns) {
            if (old.id == turn.id) {
                old.text = turn.text;
                old.state = turn.state;
                old.failure = turn.failure;
                old.figures = turn.figures;
            }
        }
    });
}

Status MemoryConversations::selectSibling(std::int64_t conversation, std::int64_t turn,
                                          int offset) {
    const std::lock_guard lock(m_mutex);
    return find(conversation).map([&](Stored* stored) {
        std::int64_t parent = 0;
        for (const Turn& other : stored->turns) {
            parent = other.id == turn ? other.parent : parent;
        }
        std::vector<std::int64_t> siblings;
        for (const Turn& other : stored->turns) {
            if (other.parent == parent) {
                siblings.push_back(other.id);
            }
        }
        const auto at = std::find(siblings.begin(), siblings.end(), turn);
        const std::ptrdiff_t wanted = at - siblings.begin() + offset;
        if (wanted < 0 || wanted >= static_cast<std::ptrdiff_t>(siblings.size())) {
            return;
        }
        stored->leaf = siblings[static_cast<std::size_t>(wanted)];
        for (bool isDeeper = true; isDeeper;) {
            const auto child =
                std::find_if(stored->turns.rbegin(), stored->turns.rend(),
                             [&](const Turn& other) { return other.parent == stored->leaf; });
            isDeeper = child != stored->turns.rend();
            stored->leaf = isDeeper ? child->id : stored->leaf;
        }
    });
}

void MemoryConversations::failWrites(bool fails) {
    const std::lock_guard lock(m_mutex);
    m_fails = fails;
}

void MemoryConversations::setTime(std::int64_t seconds) {
    const std::lock_guard lock(m_mutex);
    m_time = seconds;
}

std::optional<std::string> MemorySettings::get(const std::string& key) const {
    const std::lock_guard lock(m_mutex);
    const auto at = m_values.find(key);
    return at == m_values.end() ? std::nullopt : std::optional(at->second);
}

Status MemorySettings::set(const std::string& key, const std::string& value) {
    const std::lock_guard lock(m_mutex);
    m_values[key] = value;
    return {};
}

Result<std::vector<LibraryModel>> DemoLibrary::list() {
    if (m_isEmpty) {
        return std::vector<LibraryModel>{};
    }
    const auto model = [](const char* file, const char* name, const char* architecture,
                          const char* quantization, const char* license, double billions,
                          double gibibytes, std::int64_t context) {
        LibraryModel made;
        made.info.path = std::filesystem::path("/home/ada/.local/share/quern/models") / file;
        made.info.name = name;
        made.info.format = "GGUF v3";
        made.info.architecture = architecture;
        made.info.quantization = quantization;
        made.info.license = license;
        made.info.isSupported = true;
        made.info.parameters = static_cast<std::int64_t>(billions * 1e9);
        made.info.fileBytes = static_cast<std::int64_t>(gibibytes * static_cast<double>(kGiB));
        made.info.weightBytes = made.info.fileBytes;
        made.info.contextTokens = context;
        made.source = "models folder";
        return made;
    };
    std::vector<LibraryModel> models{
        model("qwen3-8b-q4_k_m.gguf", "qwen3-8b", "qwen3", "Q4_K", "apache-2.0", 8.19, 4.68, 40960),
        model("SmolLM2-135M-Instruct.Q4_1.gguf", "SmolLM2 135M Instruct", "llama", "Q4_1",
              "apache-2.0", 0.1345, 0.086, 8192),
        model("gemma-3-270m-q4_k_m.gguf", "gemma-3-270m", "gemma3", "Q4_K", "gemma", 0.268, 0.236,
              32768),
        model("llama-3.3-70b-q4_k_m.gguf", "Llama 3.3 70B Instruct", "llama", "Q4_K", "llama3.3",
              70.6, 39.6, 131072),
        model("mamba-2.8b-f16.gguf", "mamba-2.8b", "mamba", "F16", "apache-2.0", 2.77, 5.16, 2048),
        model("qwen2.5-7b.gguf", "Qwen2.5 7B Instruct", "qwen2", "Q4_K", "apache-2.0", 7.62, 4.36,
              32768),
        model("half-downloaded.gguf", "half-downloaded", "", "", "", 0, 0, 0),
    };
    models[4].info.isSupported = false;
    models[4].info.whyNot = "the architecture \"mamba\" is not one of llama, qwen2, qwen3, gemma3";
    models[5].source = "Ollama";
    models[5].isInPlace = true;
    models[5].isAdded = false;
    models[6].problem =
        "the file ends at byte 1 048 576, but tensor \"blk.3.ffn_up.weight\" needs 412 090 368";
    return models;
}

Status DemoLibrary::add(const std::filesystem::path& model) {
    if (model.extension() != ".gguf") {
        return fail(ErrorCode::kCorrupt, "the file does not begin with \"GGUF\"");
    }
    return {};
}

Status DemoLibrary::forget(const std::filesystem::path&) {
    return {};
}

Result<engine::FitEstimate> DemoLibrary::estimate(const engine::LoadOptions& options) {
    Result<std::vector<LibraryModel>> models = list();
    if (!models) {
        return forward(models);
    }
    for (const LibraryModel& model : *models) {
        if (model.info.path != options.path) {
            continue;
        }
        const std::int64_t context = options.contextTokens > 0
                                         ? options.contextTokens
                                         : std::min<std::int64_t>(8192, model.info.contextTokens);
        const std::int64_t perToken =
            (options.kvType == kernels::DType::kF32 ? 2 : 1) * model.info.parameters / 65536;
        engine::FitEstimate estimate;
        estimate.items = {{"weights", model.info.weightBytes},
                          {"KV cache", options.kvBytes > 0 ? options.kvBytes : context * perToken},
                          {"scratch", 96 * kMiB},
                          {"tokenizer", 18 * kMiB},
                          {"margin", 512 * kMiB}};
        for (const engine::FitItem& item : estimate.items) {
            estimate.totalBytes += item.bytes;
        }
        estimate.freeBytes = 15 * kGiB;
        estimate.contextTokens = context;
        estimate.kvTokens = estimate.items[1].bytes / std::max<std::int64_t>(1, perToken);
        estimate.fit = estimate.totalBytes > estimate.freeBytes           ? engine::Fit::kDoesNotFit
                       : estimate.totalBytes > estimate.freeBytes * 4 / 5 ? engine::Fit::kTight
                                                                          : engine::Fit::kFits;
        if (estimate.fit != engine::Fit::kFits) {
            estimate.advice = "A context of 4 096 instead saves half of the KV cache.";
        }
        return estimate;
    }
    return fail(ErrorCode::kNotFound, "there is no model at this path");
}

std::filesystem::path DemoLibrary::folder() const {
    return "/home/ada/.local/share/quern/models";
}

Status DemoServer::start(const ServerSettings& settings) {
    const std::lock_guard lock(m_mutex);
    if (m_isPortTaken) {
        return fail(ErrorCode::kConflict, "port " + std::to_string(settings.port) +
                                              " is held by another program: node, process 4711");
    }
    m_status = {.isRunning = true,
                .address = "http://" + settings.host + ":" + std::to_string(settings.port),
                .connections = 3,
                .requestsServed = 1284,
                .requestsActive = 2};
    return {};
}

void DemoServer::stop() {
    const std::lock_guard lock(m_mutex);
    m_status = {};
}

ServerStatus DemoServer::status() const {
    const std::lock_guard lock(m_mutex);
    return m_status;
}

}  // namespace quern::ui
