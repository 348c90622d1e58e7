#include "app/library/model_library.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/support/temp_folder.h"

namespace quern::app {
namespace {

namespace fs = std::filesystem;

class ModelLibraryTest : public ::testing::Test {
protected:
    static void write(const fs::path& path, const std::string& text) {
        fs::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << text;
    }
    test::TempFolder m_temp;
    DataFolders m_folders = openDataFolders(m_temp.path() / "data").value();
    ModelLibrary m_library{m_folders};
};

TEST_F(ModelLibraryTest, ListsFilesFoldersAndLinks) {
    write(m_folders.models() / "b.gguf", "12345");
    write(m_folders.models() / "big-00001-of-00002.gguf", "1");
    write(m_folders.models() / "big-00002-of-00002.gguf", "2");
    write(m_folders.models() / "hf" / "config.json", "{}");
    write(m_folders.models() / "half.gguf.part", "x");
    write(m_folders.models() / "notes.txt", "x");
    write(m_temp.path() / "elsewhere" / "a.gguf", "GGUF");
    ASSERT_TRUE(m_library.link(m_temp.path() / "elsewhere" / "a.gguf"));
    ASSERT_TRUE(m_library.link(m_temp.path() / "elsewhere" / "a.gguf")) << "twice is once";
    const auto models = m_library.list().value();
    ASSERT_EQ(models.size(), 4U);
    EXPECT_EQ(models[0].name, "a");
    EXPECT_TRUE(models[0].isLinked);
    EXPECT_EQ(models[1].name, "b");
    EXPECT_EQ(models[1].bytes, 5);
    EXPECT_EQ(models[2].name, "big");
    EXPECT_EQ(models[3].name, "hf");
}

TEST_F(ModelLibraryTest, ALinkIsListedByTheNameThatItGives) {
    const fs::path folder = m_temp.path() / "elsewhere" / "poet";
    write(folder / "config.json", "{}");
    write(folder / "model.safetensors", "x");
    for (const fs::path& path : {folder / "", folder / ".", folder}) {
        const auto name = m_library.link(path);
        ASSERT_TRUE(name) << name.error().message;
        EXPECT_EQ(*name, "poet") << path;
    }
    EXPECT_TRUE(m_library.remove("poet")) << "it was one link";
    EXPECT_FALSE(m_library.remove("poet"));
}

TEST_F(ModelLibraryTest, ADamagedListOfLinksIsNotWrittenOver) {
    const fs::path model = m_temp.path() / "elsewhere" / "a.gguf";
    const fs::path list = m_folders.data / "linked_models.json";
    write(model, "GGUF");
    write(m_folders.models() / "b.gguf", "x");
    for (const char* damaged : {"[\"/one.gguf\", \"/tw", "", "null", "[1]"}) {
        write(list, damaged);
        const auto refused = m_library.link(model);
        ASSERT_FALSE(refused) << damaged;
        EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
        EXPECT_NE(refused.error().message.find("linked_models.json"), std::string::npos);
        EXPECT_FALSE(m_library.checkLinks());
        EXPECT_EQ(m_library.list().value().size(), 1U) << "the folder's own are there";
        std::ifstream in(list);
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), damaged);
    }
    fs::remove(list);
    fs::create_directory(list);
    EXPECT_FALSE(m_library.link(model));
    fs::remove(list);
    EXPECT_TRUE(m_library.link(model));
    EXPECT_TRUE(m_library.checkLinks());
}

TEST_F(ModelLibraryTest, NothingElseIsCalledStarter) {
    const fs::path model = m_temp.path() / "elsewhere" / "starter.gguf";
    write(model, "GGUF");
    EXPECT_EQ(m_library.link(model).error().code, ErrorCode::kConflict);
}

TEST_F(ModelLibraryTest, RemovingALinkLeavesTheFile) {
    const fs::path linked = m_temp.path() / "elsewhere" / "a.gguf";
    write(linked, "GGUF");
    write(m_folders.models() / "b.gguf", "x");
    ASSERT_TRUE(m_library.link(linked));
    ASSERT_TRUE(m_library.remove("a"));
    EXPECT_TRUE(fs::exists(linked));
    ASSERT_TRUE(m_library.remove("b"));
    EXPECT_FALSE(fs::exists(m_folders.models() / "b.gguf"));
    const auto gone = m_library.remove("b");
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code, ErrorCode::kNotFound);
    EXPECT_EQ(m_library.link(m_temp.path() / "none.gguf").error().code, ErrorCode::kNotFound);
}

TEST_F(ModelLibraryTest, LinksAreOfModelsAndCanBeForgotten) {
    const fs::path script = m_temp.path() / "elsewhere" / "tool.py";
    write(script, "import sys\n");
    const auto refused = m_library.link(script);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("is no GGUF file"), std::string::npos);
    const fs::path linked = m_temp.path() / "elsewhere" / "a.gguf";
    write(linked, "GGUF");
    ASSERT_TRUE(m_library.link(linked));
    fs::remove(linked);
    EXPECT_TRUE(m_library.list()->empty());
    ASSERT_TRUE(m_library.remove("a")) << "a link to a file that is gone";
    EXPECT_EQ(m_library.remove("a").error().code, ErrorCode::kNotFound);
}

TEST_F(ModelLibraryTest, ResolvesPathsNamesAndSaysWhatThereIs) {
    write(m_folders.models() / "b.gguf", "x");
    EXPECT_EQ(m_library.resolve("b").value(), m_folders.models() / "b.gguf");
    EXPECT_EQ(m_library.resolve("b.gguf").value(), m_folders.models() / "b.gguf");
    write(m_temp.path() / "c.gguf", "x");
    EXPECT_EQ(m_library.resolve((m_temp.path() / "c.gguf").string()).value(),
              m_temp.path() / "c.gguf");
    const auto unknown = m_library.resolve("zzz");
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.error().message.find("there are: b"), std::string::npos);
    EXPECT_NE(m_library.resolve("starter").error().message.find("pull starter"), std::string::npos);
    EXPECT_FALSE(m_library.resolve(""));
    EXPECT_EQ(m_library.resolve("/dev/null").error().code, ErrorCode::kUnsupported);
}

TEST_F(ModelLibraryTest, FindsWhatOtherProgramsHave) {
    ::setenv("HOME", (m_temp.path() / "home").c_str(), 1);
    const fs::path home = m_temp.path() / "home";
    write(home / ".lmstudio/models/maker/repo/lm.gguf", "GGUF");
    write(
        home / ".ollama/models/manifests/registry/library/smol/135m",
        R"({"layers": [{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:ab12"}]})");
    write(
        home / ".ollama/models/manifests/registry/library/evil/1",
        R"({"layers": [{"mediaType": "application/vnd.ollama.image.model", "digest": "../../x"}, 7]})");
    write(home / ".ollama/models/blobs/sha256-ab12", "GGUF");
    const auto found = m_library.findElsewhere();
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].name, "lm");
    EXPECT_EQ(found[0].origin, "LM Studio");
    EXPECT_EQ(found[1].name, "smol-135m");
    EXPECT_EQ(found[1].path, home / ".ollama/models/blobs/sha256-ab12");
    ASSERT_TRUE(m_library.link(found[0].path));
    EXPECT_EQ(m_library.findElsewhere().size(), 1U) << "what is linked is not offered again";
}

TEST_F(ModelLibraryTest, PullRefusesWhatItDoesNotKnow) {
    for (const char* source :
         {"", "smol", "http://x/y.gguf", "https://host/", "https://host/x.zip", "ftp://x/y.gguf"}) {
        const auto pulled = m_library.pull(source, {});
        ASSERT_FALSE(pulled) << source;
        EXPECT_EQ(pulled.error().code, ErrorCode::kInvalidArgument) << source;
    }
}

}  // namespace
}  // namespace quern::app
