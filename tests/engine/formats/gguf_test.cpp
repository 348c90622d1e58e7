#include "engine/formats/gguf.h"

#include <gtest/gtest.h>

#include "tests/support/gguf_builder.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

namespace fs = std::filesystem;
using test::GgufBuilder;
using test::TempFolder;

TEST(Gguf, ReadsEveryKindOfValue) {
    const TempFolder folder;
    const fs::path path = folder.path() / "a.gguf";
    std::string u64Payload;
    test::appendBytes(u64Payload, std::uint64_t{1} << 40);
    GgufBuilder()
        .string("s", "grüße")
        .u32("u", 7)
        .f32("f", 0.5F)
        .boolean("b", true)
        .raw("big", 10, u64Payload)
        .strings("tokens", {"a", "", "ccc"})
        .u32s("types", {1, 2, 3})
        .f32s("scores", {0.25F, -1.0F})
        .bools("pattern", {true, false, true})
        .strings("none", {})
        .f32Tensor("w", {3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6})
        .write(path);
    const auto file = GgufFile::open(path);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    const GgufMetadata& meta = (*file)->metadata();
    EXPECT_EQ(meta.string("s").value(), "grüße");
    EXPECT_EQ(meta.integer("u").value(), 7);
    EXPECT_EQ(meta.integer("big").value(), std::int64_t{1} << 40);
    EXPECT_EQ(meta.number("f").value(), 0.5);
    EXPECT_EQ(meta.number("u").value(), 7.0);
    EXPECT_TRUE(meta.boolean("b").value());
    const GgufStrings tokens = meta.strings("tokens").value();
    EXPECT_EQ(std::vector<std::string_view>(tokens.begin(), tokens.end()),
              (std::vector<std::string_view>{"a", "", "ccc"}));
    EXPECT_EQ(tokens.size(), 3U);
    EXPECT_EQ(meta.integers("types").value()[2], 3);
    EXPECT_EQ(meta.numbers("scores").value()[1], -1.0);
    EXPECT_EQ(meta.integers("pattern").value()[1], 0);
    EXPECT_EQ(meta.strings("none").value().size(), 0U);
    EXPECT_EQ(meta.entries().size(), 10U);
    EXPECT_EQ(meta.entries()[0].first, "s");

    const GgufTensor* tensor = (*file)->find("w");
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(tensor->view.shape.rank, 2);
    EXPECT_EQ(tensor->view.shape.dims[0], 2);
    EXPECT_EQ(tensor->view.shape.cols(), 3);
    EXPECT_EQ(tensor->bytes, 24);
    EXPECT_EQ(reinterpret_cast<const float*>(tensor->view.data)[5], 6.0F);
    EXPECT_EQ((*file)->find("v"), nullptr);
}

TEST(Gguf, GettersNameTheKeyAndTheTypes) {
    const TempFolder folder;
    const fs::path path = folder.path() / "a.gguf";
    std::string tooBig;
    test::appendBytes(tooBig, ~std::uint64_t{0});
    GgufBuilder().string("s", "x").u32("u", 7).u32s("us", {1}).raw("big", 10, tooBig).write(path);
    const auto file = GgufFile::open(path);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    const GgufMetadata& meta = (*file)->metadata();
    EXPECT_EQ(meta.string("absent").error().code, ErrorCode::kNotFound);
    EXPECT_EQ(meta.stringOr("absent", "y").value(), "y");
    EXPECT_EQ(meta.stringOr("u", "y").error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(meta.string("u").error().message,
              "metadata key 'u' is of type u32; string was expected");
    EXPECT_FALSE(meta.integer("us").has_value());
    EXPECT_FALSE(meta.integer("big").has_value());
    EXPECT_FALSE(meta.integers("u").has_value());
    EXPECT_FALSE(meta.strings("us").has_value());
    EXPECT_FALSE(meta.boolean("u").has_value());
    EXPECT_FALSE(meta.number("s").has_value());
}

TEST(Gguf, OpensEveryFileOfASplitModelFromAnyOfThem) {
    const TempFolder folder;
    const auto part = [&](std::uint32_t number, std::uint32_t count) {
        return folder.path() / ("m-0000" + std::to_string(number + 1) + "-of-0000" +
                                std::to_string(count) + ".gguf");
    };
    const auto writePart = [&](std::uint32_t number, const std::string& tensor) {
        GgufBuilder()
            .string("only.in", "part " + std::to_string(number))
            .u32("split.no", number)
            .u32("split.count", 3)
            .u32("split.tensors.count", 3)
            .f32Tensor(tensor, {2})
            .write(part(number, 3));
    };
    writePart(0, "a");
    writePart(1, "b");
    writePart(2, "c");
    const auto file = GgufFile::open(part(1, 3));
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ((*file)->tensors().size(), 3U);
    EXPECT_NE((*file)->find("c"), nullptr);
    EXPECT_EQ((*file)->metadata().string("only.in").value(), "part 0");

    writePart(2, "a");
    EXPECT_EQ(GgufFile::open(part(0, 3)).error().code, ErrorCode::kCorrupt);
    writePart(2, "c");
    fs::rename(part(2, 3), folder.path() / "elsewhere.gguf");
    const auto missing = GgufFile::open(part(0, 3));
    EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
    EXPECT_NE(missing.error().message.find("00003-of-00003"), std::string::npos);
    const auto renamed = GgufFile::open(folder.path() / "elsewhere.gguf");
    EXPECT_EQ(renamed.error().code, ErrorCode::kCorrupt);
}

TEST(Gguf, SaysWhatCannotBeOpened) {
    const TempFolder folder;
    EXPECT_EQ(GgufFile::open(folder.path() / "none.gguf").error().code, ErrorCode::kNotFound);
    EXPECT_EQ(GgufFile::open(folder.path()).error().code, ErrorCode::kUnsupported);
    test::writeFile(folder.path() / "empty.gguf", "");
    EXPECT_EQ(GgufFile::open(folder.path() / "empty.gguf").error().code, ErrorCode::kCorrupt);
    EXPECT_FALSE(GgufFile::isGguf(folder.path() / "empty.gguf"));
    GgufBuilder().write(folder.path() / "right.gguf");
    EXPECT_TRUE(GgufFile::isGguf(folder.path() / "right.gguf"));
}

TEST(Gguf, OpensTheGoldenFiles) {
    QUERN_GOLDEN_OR_SKIP(models, "models");
    int opened = 0;
    for (const auto& entry : fs::directory_iterator(models)) {
        const fs::path path = entry.path() / "model.gguf";
        if (!fs::exists(path)) {
            continue;
        }
        const auto file = GgufFile::open(path);
        ASSERT_TRUE(file.has_value()) << path << ": " << file.error().message;
        EXPECT_FALSE((*file)->tensors().empty()) << path;
        EXPECT_TRUE((*file)->metadata().string("general.architecture").has_value()) << path;
        ++opened;
    }
    EXPECT_GT(opened, 0);
}

}  // namespace
}  // namespace quern::engine
