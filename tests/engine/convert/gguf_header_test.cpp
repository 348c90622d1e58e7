#include "engine/convert/gguf_header.h"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/convert/new_file.h"
#include "engine/formats/gguf_parser.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace quern::engine::convert {
namespace {

namespace fs = std::filesystem;
using kernels::DType;

GgufTensorPlan plan(std::string name, DType type, std::int64_t rows, std::int64_t cols) {
    return {
        .name = std::move(name), .type = type, .shape = {.dims = {rows, cols, 1, 1}, .rank = 2}};
}

TEST(GgufHeader, ReadsBackAsItWasWritten) {
    GgufKeys keys;
    keys.string("text", "two words");
    keys.u32("size", 4000000000U);
    keys.f32("number", 0.25F);
    keys.boolean("flag", true);
    const std::vector<std::string_view> words{"", "a", "bc"};
    keys.strings("words", words);
    keys.u32s("sizes", std::vector<std::uint32_t>{1, 2});
    keys.i32s("signed", std::vector<std::int32_t>{-3});
    keys.f32s("numbers", std::vector<float>{1.5F, -2.0F});
    keys.booleans("flags", {true, false, true});
    keys.byteArray("bytes", std::string_view("\0\xFF", 2));
    const std::vector<GgufTensorPlan> tensors{plan("a.weight", DType::kQ4_0, 3, 64),
                                              plan("b.weight", DType::kF32, 1, 5)};
    const auto layout = layOut(keys, tensors);
    ASSERT_TRUE(layout.has_value()) << layout.error().message;
    EXPECT_EQ(layout->header.size() % 32, 0U);
    EXPECT_EQ(layout->bytes, (std::vector<std::int64_t>{108, 20}));
    EXPECT_EQ(layout->offsets, (std::vector<std::int64_t>{0, 128}));
    std::string bytes = layout->header;
    bytes.resize(static_cast<std::size_t>(layout->fileBytes));

    const auto parsed = parseGguf(std::as_bytes(std::span(bytes)));
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
    const GgufMetadata& metadata = parsed->metadata;
    EXPECT_EQ(metadata.string("text").value(), "two words");
    EXPECT_EQ(metadata.integer("size").value(), 4000000000);
    EXPECT_EQ(metadata.number("number").value(), 0.25);
    EXPECT_TRUE(metadata.boolean("flag").value());
    const auto read = metadata.strings("words");
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(std::vector<std::string_view>(read->begin(), read->end()), words);
    EXPECT_EQ(metadata.integers("sizes").value()[1], 2);
    EXPECT_EQ(metadata.integers("signed").value()[0], -3);
    EXPECT_EQ(metadata.numbers("numbers").value()[1], -2.0);
    EXPECT_EQ(metadata.integers("flags").value()[2], 1);
    EXPECT_EQ(metadata.find("bytes")->count, 2U);
    ASSERT_EQ(parsed->tensors.size(), 2U);
    EXPECT_EQ(parsed->tensors[0].view.type, DType::kQ4_0);
    EXPECT_EQ(parsed->tensors[0].view.shape, tensors[0].shape);

    // What is copied from a file comes out as it went in.
    GgufKeys copied;
    for (const auto& [key, value] : metadata.entries()) {
        copied.copy(key, value);
    }
    EXPECT_EQ(copied.bytes(), keys.bytes());
    EXPECT_EQ(copied.count(), keys.count());
}

TEST(GgufHeader, RefusesWhatTheFormatCannotHold) {
    const auto errorOf = [](const GgufTensorPlan& tensor) {
        const auto layout = layOut(GgufKeys(), std::span(&tensor, 1));
        return layout ? Error{} : layout.error();
    };
    EXPECT_NE(errorOf(plan(std::string(64, 'x'), DType::kF32, 1, 1)).message.find("64"),
              std::string::npos);
    EXPECT_EQ(errorOf(plan(std::string(63, 'x'), DType::kF32, 1, 1)).message, "");
    EXPECT_NE(errorOf(plan("t", DType::kQ4_K, 1, 64)).message.find("'t'"), std::string::npos);
    EXPECT_EQ(errorOf(plan("t", DType::kF8E4M3, 1, 1)).code, ErrorCode::kUnsupported);
    EXPECT_EQ(errorOf(plan("t", DType::kF32, std::int64_t{1} << 40, std::int64_t{1} << 40)).code,
              ErrorCode::kInvalidArgument);
}

TEST(NewFile, IsThereWholeOrNotAtAll) {
    const test::TempFolder folder;
    const fs::path path = folder.path() / "m.gguf";
    const std::string text = "abcde";
    {
        auto file = NewFile::create(path, 100);
        ASSERT_TRUE(file.has_value()) << file.error().message;
        ASSERT_TRUE(file->append(std::as_bytes(std::span(text))).has_value());
        EXPECT_FALSE(fs::exists(path));
        EXPECT_EQ(NewFile::create(path, 100).error().code, ErrorCode::kBusy);
    }
    EXPECT_TRUE(fs::is_empty(folder.path()));
    {
        auto file = NewFile::create(path, 100);
        ASSERT_TRUE(file.has_value()) << file.error().message;
        ASSERT_TRUE(file->append(std::as_bytes(std::span(text))).has_value());
        ASSERT_TRUE(file->pad(32).has_value());
        ASSERT_TRUE(file->flush().has_value());
        ASSERT_TRUE(file->finish().has_value());
    }
    EXPECT_EQ(test::readFile(path), text + std::string(27, '\0'));
    EXPECT_EQ(NewFile::create(path, 100).error().code, ErrorCode::kConflict);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(NewFile, SaysWhatItLacks) {
    const test::TempFolder folder;
    const auto full = NewFile::create(folder.path() / "m.gguf", std::int64_t{1} << 60);
    ASSERT_FALSE(full.has_value());
    EXPECT_EQ(full.error().code, ErrorCode::kIo);
    EXPECT_NE(full.error().message.find("1152921504607 MB are needed"), std::string::npos)
        << full.error().message;
    EXPECT_EQ(NewFile::create(folder.path() / "none" / "m.gguf", 1).error().code, ErrorCode::kIo);
    EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace quern::engine::convert
