// What goes wrong, as somebody at the window is told: over the real engine, store, library and
// server, with a model of a few thousand weights. Nothing that was written may be lost.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <QTcpServer>
#include <csignal>

#include "app/chat/schema.h"
#include "app/wiring/desktop/desktop_app.h"
#include "app/wiring/desktop/file_settings.h"
#include "app/wiring/desktop/hosted_server.h"
#include "app/wiring/desktop/shelved_models.h"
#include "app/wiring/desktop/stored_conversations.h"
#include "app/wiring/desktop/written_replies.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"
#include "tests/ui/waiting.h"
#include "ui/session.h"

namespace quern::app {
namespace {

constexpr const char* kPlainTemplate = "{% for m in messages %}{{ m.content }}{% endfor %}";
constexpr const char* kAlternating =
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate') }}{% endif %}{{ m.content }}"
    "{% endfor %}";
constexpr const char* kBroken = "{% if %}";

/// A tokenizer of single bytes, as byte-level BPE spells them, ids from 3 on.
nlohmann::json byteTokenizer() {
    nlohmann::json vocab{{"<pad>", 0}, {"<s>", 1}, {"</s>", 2}};
    char32_t beyond = 256;
    for (char32_t byte = 0; byte < 256; ++byte) {
        const bool isShown = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
        const char32_t spelled = isShown ? byte : beyond++;
        vocab[QString::fromUcs4(&spelled, 1).toStdString()] = byte + 3;
    }
    return {{"added_tokens", {{{"id", 2}, {"content", "</s>"}, {"special", true}}}},
            {"normalizer", nullptr},
            {"post_processor", nullptr},
            {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
            {"decoder", {{"type", "ByteLevel"}}},
            {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", nlohmann::json::array()}}}};
}

/// Files of this process cannot grow beyond `bytes`, as on a full disk; as before at the end.
class FullDisk {
public:
    explicit FullDisk(rlim_t bytes) {
        std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &m_before);
        const rlimit limit{.rlim_cur = bytes, .rlim_max = m_before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FullDisk() { setrlimit(RLIMIT_FSIZE, &m_before); }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

private:
    rlimit m_before{};
};

class ErrorsTest : public testing::Test {
protected:
    void SetUp() override {
        m_folders = openDataFolders(m_folder.path()).value();
        std::filesystem::create_directories(m_folders.models());
    }

    void start() {
        m_file = SettingsFile::open(m_folders.settingsFile);
        m_store = ConversationStore::open(m_folders.database()).value();
        m_engine = engine::makeEngine({}).value();
        m_settings.emplace(*m_file);
        m_chat.emplace(*m_engine, *m_store);
        m_conversations.emplace(*m_store);
        m_replies.emplace(*m_chat);
        m_library.emplace(m_folders, *m_engine);
        m_server.emplace(*m_engine);
        m_session.emplace(ui::DesktopPorts{.engine = *m_engine,
                                           .conversations = *m_conversations,
                                           .replies = *m_replies,
                                           .library = *m_library,
                                           .server = *m_server,
                                           .settings = *m_settings},
                          m_theme);
        ASSERT_TRUE(ui::waitFor([this] { return m_session->isIdle(); }));
        QCoreApplication::processEvents();
    }

    /// A model of 256 tokens of context whose replies are noise, loaded.
    void startWithModel(const char* chatTemplate) {
        QUERN_GOLDEN_OR_SKIP(golden, "models/llama");
        const auto folder = m_folders.models() / "tiny";
        std::filesystem::create_directories(folder);
        for (const char* name : {"config.json", "model.safetensors"}) {
            std::filesystem::copy_file(golden / name, folder / name);
        }
        test::writeFile(folder / "tokenizer.json", byteTokenizer().dump());
        test::writeFile(folder / "tokenizer_config.json",
                        nlohmann::json{{"chat_template", chatTemplate}}.dump());
        start();
        load(folder);
        ASSERT_TRUE(ui::waitFor([this] { return m_session->host()->hasModel(); })) << cause();
        chat().settings()->setSampling(QStringLiteral("temperature"), QStringLiteral("0"));
    }

    void change(const std::string& sql) {
        auto other = Database::open(m_folders.database(), kConversationSchema).value();
        ASSERT_TRUE(other->transact([&](SQLite::Database& db) { db.exec(sql); }));
    }
    void load(const std::filesystem::path& model) {
        m_session->shelf()->quickLoad(QString::fromStdString(model.string()));
    }
    [[nodiscard]] ui::Chat& chat() { return *m_session->chat(); }
    [[nodiscard]] const std::vector<ui::Turn>& path() { return chat().transcript()->path(); }
    void say(const QString& text) {
        chat().setDraft(text);
        chat().send();
    }
    [[nodiscard]] bool waitForReply(std::size_t turns) {
        return ui::waitFor(
            [&] { return !chat().isBusy() && path().size() == turns && m_session->isIdle(); });
    }
    [[nodiscard]] std::string text() { return m_session->notices()->text().toStdString(); }
    [[nodiscard]] std::string cause() { return m_session->notices()->cause().toStdString(); }
    [[nodiscard]] bool waitForNotice() {
        return ui::waitFor([this] { return !text().empty(); });
    }
    [[nodiscard]] std::string refusal() {
        return chat().property("refusal").toString().toStdString();
    }
    [[nodiscard]] bool waitForRefusal() {
        return ui::waitFor([this] { return !refusal().empty(); });
    }
    /// What the shelf says is wrong with the model of that file.
    [[nodiscard]] std::string problemOf(const std::filesystem::path& model) {
        ui::ModelShelf& shelf = *m_session->shelf();
        for (int row = 0; row < shelf.count(); ++row) {
            const auto of = [&](int role) {
                return shelf.data(shelf.index(row), role).toString().toStdString();
            };
            if (of(ui::ModelShelf::kPath) == model.string()) {
                return of(ui::ModelShelf::kProblem);
            }
        }
        return "not on the shelf";
    }

    test::TempFolder m_folder;
    DataFolders m_folders;
    ui::Theme m_theme{nullptr};
    std::unique_ptr<SettingsFile> m_file;
    std::unique_ptr<ConversationStore> m_store;
    std::unique_ptr<engine::Engine> m_engine;
    std::optional<FileSettings> m_settings;
    std::optional<ChatService> m_chat;
    std::optional<StoredConversations> m_conversations;
    std::optional<WrittenReplies> m_replies;
    std::optional<ShelvedModels> m_library;
    std::optional<HostedServer> m_server;
    std::optional<ui::Session> m_session;
};

bool says(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

TEST_F(ErrorsTest, AModelThatIsGone) {
    start();
    load(m_folders.models() / "gone.gguf");
    ASSERT_TRUE(waitForNotice());
    EXPECT_EQ(text(), "gone could not be loaded.");
    EXPECT_TRUE(says(cause(), "gone.gguf")) << cause();
}

TEST_F(ErrorsTest, AModelThatWasCut) {
    QUERN_GOLDEN_OR_SKIP(golden, "models/llama");
    const auto cut = m_folders.models() / "cut.gguf";
    std::string bytes = test::readFile(golden / "model.gguf");
    bytes.resize(bytes.size() / 2);
    test::writeFile(cut, bytes);
    start();
    EXPECT_TRUE(says(problemOf(cut), "cut off")) << problemOf(cut);
    load(cut);
    ASSERT_TRUE(waitForNotice());
    EXPECT_TRUE(says(cause(), "cut off")) << cause();
}

TEST_F(ErrorsTest, AnArchitectureThatIsNotKnown) {
    const auto strange = m_folders.models() / "strange.gguf";
    test::GgufBuilder().string("general.architecture", "sundial").write(strange);
    start();
    EXPECT_TRUE(says(problemOf(strange), "sundial")) << problemOf(strange);
    load(strange);
    ASSERT_TRUE(waitForNotice());
    EXPECT_TRUE(says(cause(), "sundial")) << cause();
}

TEST_F(ErrorsTest, AFileThatIsDeletedWhileTheWindowIsOpen) {
    QUERN_GOLDEN_OR_SKIP(golden, "models/llama");
    start();
    const auto file = m_folders.models() / "late.gguf";
    EXPECT_EQ(problemOf(file), "not on the shelf");
    std::filesystem::copy_file(golden / "model.gguf", file);
    ASSERT_TRUE(ui::waitFor([&] { return problemOf(file).empty(); })) << "new ones are noticed";
    std::string bytes = test::readFile(file);
    bytes.resize(bytes.size() / 2);
    test::writeFile(file, bytes);
    ASSERT_TRUE(ui::waitFor([&] { return says(problemOf(file), "cut off"); })) << problemOf(file);
    std::filesystem::remove(file);
    ASSERT_TRUE(ui::waitFor([&] { return says(problemOf(file), "gone"); })) << problemOf(file);
    m_session->shelf()->refresh();
    ASSERT_TRUE(ui::waitFor([&] { return problemOf(file) == "not on the shelf"; }));
}

TEST_F(ErrorsTest, AFileThatChangesUnderALoadedModel) {
    QUERN_GOLDEN_OR_SKIP(golden, "models/llama");
    const auto file = m_folders.models() / "loaded.gguf";
    std::filesystem::copy_file(golden / "model.gguf", file);
    start();
    load(file);
    ASSERT_TRUE(ui::waitFor([this] { return m_session->host()->hasModel(); })) << cause();
    const auto story = [this] {
        return m_session->host()
            ->loadedCards()[0]
            .toMap()[QStringLiteral("fileStory")]
            .toString()
            .toStdString();
    };
    EXPECT_EQ(story(), "");
    test::writeFile(file, test::readFile(file) + "more");
    ASSERT_TRUE(ui::waitFor([&] { return says(story(), "was changed since"); })) << story();
    std::filesystem::remove(file);
    ASSERT_TRUE(ui::waitFor([&] { return says(story(), "is gone"); })) << story();
    std::filesystem::copy_file(golden / "model.gguf", file);
    load(file);
    ASSERT_TRUE(ui::waitFor([&] { return story().empty(); })) << "loaded anew";
}

TEST_F(ErrorsTest, WhatDoesNotFitMemoryIsSaidBeforeLoading) {
    startWithModel(kPlainTemplate);
    m_session->shelf()->openSheetOfCurrent();
    ui::LoadSheet& sheet = *m_session->shelf()->sheet();
    ASSERT_TRUE(ui::waitFor([&] { return sheet.fit() == QStringLiteral("fits"); }));
    sheet.setKvMebibytes(1 << 30);
    ASSERT_TRUE(ui::waitFor([&] { return sheet.fit() == QStringLiteral("tooBig"); }));
    EXPECT_FALSE(sheet.advice().isEmpty());
    EXPECT_GT(sheet.fill(), 1.0);
    sheet.confirm();  // the button is off, and the engine refuses by itself
    ASSERT_TRUE(waitForNotice());
    EXPECT_TRUE(says(cause(), "free")) << cause();
}

TEST_F(ErrorsTest, ATakenPort) {
    start();
    QTcpServer other;
    ASSERT_TRUE(other.listen(QHostAddress::LocalHost));
    ui::ServerPanel& server = *m_session->server();
    server.setPort(other.serverPort());
    server.turn(true);
    ASSERT_TRUE(waitForNotice());
    EXPECT_EQ(text(), "The server did not start.");
    EXPECT_TRUE(says(cause(), std::to_string(other.serverPort()).c_str())) << cause();
    EXPECT_FALSE(server.isOn());
    other.close();
    server.turn(true);
    ASSERT_TRUE(ui::waitFor([&] { return server.isOn(); }));
    EXPECT_TRUE(server.property("problem").toString().isEmpty());
}

TEST_F(ErrorsTest, ATemplateThatIsBroken) {
    startWithModel(kBroken);
    EXPECT_TRUE(m_session->host()
                    ->loadedCards()[0]
                    .toMap()[QStringLiteral("notes")]
                    .toStringList()
                    .join(u' ')
                    .contains(QStringLiteral("template")));
    say(QStringLiteral("Hello"));
    ASSERT_TRUE(waitForRefusal());
    EXPECT_TRUE(says(refusal(), "the model's chat template cannot be used")) << refusal();
    EXPECT_EQ(chat().draft(), QStringLiteral("Hello"));
    EXPECT_FALSE(chat().isBusy());
}

TEST_F(ErrorsTest, ATemplateThatRefusesSaysItInItsOwnWords) {
    startWithModel(kAlternating);
    const ConversationId id = m_store->create({.title = "Title"}).value();
    Message reply;
    reply.id =
        m_store->beginReply(id, m_store->append(id, 0, "user", "first").value(), "tiny").value();
    reply.state = MessageState::kFailed;
    ASSERT_TRUE(m_store->finishReply(reply));
    chat().open(id);
    ASSERT_TRUE(ui::waitFor([&] { return path().size() == 2; }));
    say(QStringLiteral("second"));  // the failed reply is no part of the prompt: user after user
    ASSERT_TRUE(waitForRefusal());
    EXPECT_TRUE(says(refusal(), "Conversation roles must alternate")) << refusal();
    EXPECT_EQ(chat().draft(), QStringLiteral("second"));
    chat().regenerate(0);
    ASSERT_TRUE(ui::waitFor([&] { return !chat().isBusy() && path().back().id != reply.id; }));
    EXPECT_NE(path().back().state, ui::TurnState::kFailed);
}

TEST_F(ErrorsTest, AMessageLongerThanTheContext) {
    startWithModel(kPlainTemplate);
    say(QString(300, u'x'));
    ASSERT_TRUE(waitForRefusal());
    EXPECT_TRUE(chat().property("isTooLong").toBool());
    EXPECT_TRUE(says(refusal(), "300") && says(refusal(), "256")) << refusal();
    EXPECT_EQ(chat().draft().size(), 300);
    EXPECT_TRUE(m_conversations->list("")->empty());
}

TEST_F(ErrorsTest, AConversationLongerThanTheContextGoesOnWithoutItsOldestTurns) {
    startWithModel(kPlainTemplate);
    say(QString(200, u'x'));
    ASSERT_TRUE(waitForReply(2));
    say(QString(100, u'y'));
    ASSERT_TRUE(waitForRefusal());
    EXPECT_TRUE(chat().property("isTooLong").toBool());
    chat().leaveOutOldest();
    ASSERT_TRUE(waitForReply(4));
    EXPECT_EQ(path()[2].text, std::string(100, 'y'));
    EXPECT_EQ(path()[0].text, std::string(200, 'x')) << "left out of the prompt, not of the chat";
    EXPECT_EQ(chat().settings()->values().firstTurn, path()[2].id);
}

TEST_F(ErrorsTest, AFullDiskBeforeAMessage) {
    startWithModel(kPlainTemplate);
    {
        const FullDisk full(std::filesystem::file_size(m_folders.database().string() + "-wal"));
        say(QStringLiteral("Hello"));
        ASSERT_TRUE(waitForNotice());
    }
    EXPECT_EQ(text(), "Your message could not be saved, so it was not sent.");
    EXPECT_EQ(chat().draft(), QStringLiteral("Hello"));
    chat().send();
    ASSERT_TRUE(waitForReply(2));
    EXPECT_EQ(path()[0].text, "Hello");
    EXPECT_EQ(text(), "") << "what is true no longer is not said";
}

TEST_F(ErrorsTest, AFullDiskWhileAReplyIsSaved) {
    startWithModel(kPlainTemplate);
    // What is sent can be added, but nothing of the reply.
    change(
        "CREATE TRIGGER fails BEFORE UPDATE ON messages BEGIN "
        "SELECT RAISE(ABORT, 'the disk is full'); END");
    say(QStringLiteral("Hello"));
    ASSERT_TRUE(waitForNotice());
    ASSERT_TRUE(ui::waitFor([&] { return !chat().isBusy(); }));
    EXPECT_EQ(text(), "The reply is shown but could not be saved.");
    EXPECT_FALSE(cause().empty());
    const std::string shown = path().back().text;
    EXPECT_FALSE(shown.empty());
    change("DROP TRIGGER fails");
    m_session->notices()->act();
    ASSERT_TRUE(ui::waitFor([&] {
        const auto saved = m_conversations->open(chat().conversation());
        return saved && saved->path.back().text == shown &&
               saved->path.back().state == ui::TurnState::kComplete;
    }));
}

class StartTest : public testing::Test {
protected:
    void start(const std::filesystem::path& data) {
        auto made = DesktopApp::create({.dataFolder = data.string(), .model = {}, .file = {}});
        ASSERT_TRUE(made) << made.error().message;
        m_app = std::move(*made);
        ASSERT_TRUE(ui::waitFor([this] { return session().isIdle(); }));
    }
    [[nodiscard]] ui::Session& session() { return m_app->desktop().session(); }
    [[nodiscard]] ui::Notices& notices() { return *session().notices(); }
    [[nodiscard]] bool isPassing() {
        return session().chat()->conversations()->property("isPassing").toBool();
    }

    test::TempFolder m_folder;
    std::unique_ptr<DesktopApp> m_app;
};

TEST_F(StartTest, DamagedFilesAreKeptAndSaidOnce) {
    test::writeFile(m_folder.path() / "quern.db", std::string(5000, 'x'));
    test::writeFile(m_folder.path() / "settings.json", "{");
    start(m_folder.path());
    EXPECT_TRUE(notices().cause().contains(QStringLiteral("quern.db.damaged")));
    EXPECT_EQ(notices().waiting(), 1);
    notices().dismiss();
    EXPECT_TRUE(notices().cause().contains(QStringLiteral("settings.json.broken")));
    notices().dismiss();
    EXPECT_TRUE(notices().text().isEmpty());
    EXPECT_FALSE(isPassing()) << "the new file is saved";
    m_app.reset();
    start(m_folder.path());
    EXPECT_TRUE(notices().text().isEmpty());
}

TEST_F(StartTest, WithoutAFolderTheWindowOpensAndSaysThatNothingIsSaved) {
    test::writeFile(m_folder.path() / "taken", "a file");
    start(m_folder.path() / "taken" / "data");
    EXPECT_TRUE(notices().cause().contains(QStringLiteral("taken")));
    EXPECT_TRUE(isPassing());
    // That the models cannot be read either is said when the disk has answered.
    ASSERT_TRUE(ui::waitFor([this] { return session().isIdle(); }));
    const QString unsaved = QStringLiteral("Settings will not be saved.");
    QStringList said;
    for (; !notices().text().isEmpty(); notices().dismiss()) {
        said.append(notices().text());
    }
    EXPECT_EQ(said.count(unsaved), 1);
    session().setScreen(QStringLiteral("settings"));  // is remembered, or would be
    ASSERT_TRUE(ui::waitFor([this] { return session().isIdle(); }));
    EXPECT_NE(notices().text(), unsaved) << "said once, not with each setting";
}

}  // namespace
}  // namespace quern::app
