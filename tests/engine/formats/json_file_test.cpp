#include "engine/formats/json_file.h"

#include <gtest/gtest.h>

#include <string>

namespace quern::engine {
namespace {

TEST(JsonFile, AsPeopleHaveIt) {
    EXPECT_EQ(
        parseJson(R"({"a":Infinity,"b":-Infinity,"c":NaN,"d":"NaN Infinity"})", "x").value().dump(),
        R"({"a":"Infinity","b":"-Infinity","c":"NaN","d":"NaN Infinity"})");
    for (const std::string text : {"", "{", "{\"a\":nan}", "\"\\", "\"", "{\"a\":\"\xff\"}"}) {
        EXPECT_EQ(parseJson(text, "x").error().code, ErrorCode::kCorrupt) << text;
    }
    EXPECT_EQ(parseJson(std::string(1000000, '['), "x").error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(parseJson(std::string((std::size_t{16} << 20U) + 1, ' '), "x").error().code,
              ErrorCode::kCorrupt);
}

// So many members that they are found through an index, and so few that they are not.
TEST(JsonFile, ObjectsKeepTheOrderOfTheText) {
    for (const int count : {3, 100}) {
        std::string text = "{";
        for (int i = count; i > 0; --i) {
            text += "\"k" + std::to_string(i) + "\":" + std::to_string(i) + (i > 1 ? "," : "}");
        }
        const Json json = parseJson(text, "x").value();
        EXPECT_EQ(json.dump(), text);
        for (int i = count; i > 0; --i) {
            EXPECT_EQ(json.at("k" + std::to_string(i)), i);
        }
        EXPECT_FALSE(json.contains("k0"));

        Json copy = json;
        copy["k1"] = "one";
        copy["new"] = 7;
        EXPECT_EQ(copy["new"], 7);
        EXPECT_EQ(copy["k1"], "one");
        EXPECT_EQ(copy.size(), json.size() + 1);
        EXPECT_EQ(json["k1"], 1) << "a copy is apart";
        const Json moved = std::move(copy);
        EXPECT_EQ(moved["new"], 7);
        EXPECT_EQ(moved.front(), count);
    }
}

TEST(JsonFile, OfTwoMembersOfOneNameTheLastHolds) {
    EXPECT_EQ(parseJson(R"({"a":1,"b":2,"a":3})", "x").value().dump(), R"({"a":3,"b":2})");
}

// What a library's ordered objects need minutes for: each name looked for among all before it.
TEST(JsonFile, WideObjectsTakeTheTimeOfTheirLength) {
    std::string text = "{\"k\":0";
    constexpr int kMembers = 400'000;
    for (int i = 1; i < kMembers; ++i) {
        text += ",\"k" + std::to_string(i) + "\":0";
    }
    const Json json = parseJson(text + "}", "x").value();
    EXPECT_EQ(json.size(), std::size_t{kMembers});
    EXPECT_TRUE(json.contains("k399999"));
}

}  // namespace
}  // namespace quern::engine
