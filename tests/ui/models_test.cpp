#include "tests/ui/chat_fixture.h"

namespace quern::ui {
namespace {

class ModelsTest : public SessionTest {
protected:
    [[nodiscard]] ModelShelf& shelf() { return *m_session->shelf(); }
    [[nodiscard]] ModelHost& host() { return *m_session->host(); }
    [[nodiscard]] QVariant card(int row, int role) {
        return shelf().data(shelf().index(row), role);
    }
    [[nodiscard]] QString pathOf(int row) { return card(row, ModelShelf::kPath).toString(); }
};

TEST_F(ModelsTest, CardsSayWhetherTheyFit) {
    start({.hasModel = false, .text = {}});
    ASSERT_EQ(shelf().count(), 7);
    ASSERT_TRUE(waitFor([&] { return !card(3, ModelShelf::kFit).toString().isEmpty(); }));
    EXPECT_EQ(card(1, ModelShelf::kFit).toString(), QStringLiteral("fits"));
    EXPECT_EQ(card(3, ModelShelf::kFit).toString(), QStringLiteral("tooBig"));
    EXPECT_EQ(card(1, ModelShelf::kParameters).toString(), QStringLiteral("135\u00A0M"));
    EXPECT_TRUE(card(4, ModelShelf::kProblem).toString().contains(QStringLiteral("mamba")));
    EXPECT_TRUE(card(6, ModelShelf::kProblem).toString().contains(QStringLiteral("blk.3")));
}

TEST_F(ModelsTest, TheSheetReckonsAgainWhenAChoiceChanges) {
    start({.hasModel = false, .text = {}});
    shelf().openSheet(pathOf(3));
    LoadSheet& sheet = *shelf().sheet();
    ASSERT_TRUE(waitFor([&] { return !sheet.fit().isEmpty(); }));
    EXPECT_EQ(sheet.fit(), QStringLiteral("tooBig"));
    EXPECT_FALSE(sheet.advice().isEmpty());
    EXPECT_EQ(sheet.items().size(), 5);
    EXPECT_GT(sheet.fill(), 1.0);
    const QString before = sheet.total();
    sheet.setContext(1024);
    ASSERT_TRUE(waitFor([&] { return sheet.total() != before; }));
    sheet.setContext(1 << 30);
    EXPECT_EQ(sheet.context(), 131072) << "no more than it was trained for";
}

TEST_F(ModelsTest, ALoadedModelShowsEstimateBesideMeasured) {
    start({.hasModel = false, .text = {}});
    shelf().openSheet(pathOf(1));
    shelf().sheet()->confirm();
    ASSERT_TRUE(waitFor([&] { return host().hasModel(); }));
    EXPECT_EQ(host().current()->options.contextTokens, 8192);
    EXPECT_TRUE(card(1, ModelShelf::kIsLoaded).toBool());
    const QVariantMap shown = host().loadedCards()[0].toMap();
    EXPECT_EQ(shown[QStringLiteral("estimate")].toString(), QStringLiteral("8.8\u00A0GiB"));
    EXPECT_EQ(shown[QStringLiteral("measured")].toString(), QStringLiteral("8.7\u00A0GiB"));
    host().unload(host().currentName());
    ASSERT_TRUE(waitFor([&] { return !host().hasModel(); }));
    EXPECT_FALSE(card(1, ModelShelf::kIsLoaded).toBool());
}

TEST_F(ModelsTest, ALoadCanBeCancelledAndIsNoError) {
    start({.hasModel = false, .loadsForever = true, .text = {}});
    shelf().quickLoad(pathOf(1));
    ASSERT_TRUE(waitFor([&] { return host().loadFraction() > 0.4; }));
    EXPECT_TRUE(host().isLoading());
    EXPECT_EQ(host().loadStage(), QStringLiteral("Taking over weights"));
    shelf().quickLoad(pathOf(2));
    EXPECT_FALSE(m_session->notices()->text().isEmpty()) << "one load at a time";
    m_session->notices()->dismiss();
    host().cancelLoad();
    ASSERT_TRUE(waitFor([&] { return !host().isLoading(); }));
    EXPECT_FALSE(host().hasModel());
    EXPECT_TRUE(m_session->notices()->text().isEmpty());
}

TEST_F(ModelsTest, AFileThatIsNoModelIsRefusedByName) {
    start({.text = {}});
    shelf().addFile(QUrl::fromLocalFile(QStringLiteral("/tmp/picture.png")));
    ASSERT_TRUE(waitFor([&] { return !m_session->notices()->text().isEmpty(); }));
    EXPECT_TRUE(m_session->notices()->cause().contains(QStringLiteral("GGUF")));
    EXPECT_FALSE(shelf().sheet()->isOpen());
}

class ServerTest : public SessionTest {};

TEST_F(ServerTest, ItIsSwitchedOnAndOff) {
    start({.text = {}});
    ServerPanel& server = *m_session->server();
    server.turn(true);
    ASSERT_TRUE(waitFor([&] { return server.isOn(); }));
    EXPECT_EQ(server.address(), QStringLiteral("http://127.0.0.1:11535"));
    EXPECT_EQ(server.served(), QStringLiteral("1\u202F284"));
    server.turn(false);
    ASSERT_TRUE(waitFor([&] { return !server.isOn(); }));
}

TEST_F(ServerTest, ATakenPortIsSaidWithItsHolder) {
    m_window.server.takePort();
    start({.text = {}});
    ServerPanel& server = *m_session->server();
    server.turn(true);
    ASSERT_TRUE(waitFor([&] { return !server.property("problem").toString().isEmpty(); }));
    EXPECT_TRUE(server.property("problem").toString().contains(QStringLiteral("4711")));
    EXPECT_FALSE(server.isOn());
    EXPECT_TRUE(m_session->notices()->cause().contains(QStringLiteral("4711")))
        << "somebody on another screen is told too";
}

TEST_F(ServerTest, ExamplesCarryAddressKeyAndModel) {
    start({.text = {}});
    ServerPanel& server = *m_session->server();
    server.setPort(8080);
    server.setPort(70000);  // there is no such port
    server.makeKey();
    EXPECT_EQ(server.port(), 8080);
    ASSERT_EQ(server.apiKey().size(), 35);
    for (const char* kind : {"curl", "python"}) {
        const QString example = server.example(QLatin1String(kind));
        EXPECT_TRUE(example.contains(QStringLiteral("127.0.0.1:8080/v1")));
        EXPECT_TRUE(example.contains(server.apiKey()));
        EXPECT_TRUE(example.contains(QStringLiteral("qwen3-8b")));
    }
    ASSERT_TRUE(waitFor([&] { return m_window.settings.get("server.port") == "8080"; }));
}

}  // namespace
}  // namespace quern::ui
