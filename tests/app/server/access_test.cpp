#include "app/server/access.h"

#include <gtest/gtest.h>

namespace quern::app {
namespace {

using Right = Access::Right;

HttpRequest with(std::vector<std::pair<std::string, std::string>> headers) {
    HttpRequest request;
    request.headers = std::move(headers);
    return request;
}

TEST(Access, LoopbackNames) {
    for (const char* host : {"localhost", "LocalHost", "127.0.0.1", "127.8.8.8", "::1"}) {
        EXPECT_TRUE(isLoopbackHost(host)) << host;
    }
    for (const char* host : {"", "0.0.0.0", "::", "127.evil.example", "localhost.example",
                             "10.0.0.1", "127.0.0.1.nip.io"}) {
        EXPECT_FALSE(isLoopbackHost(host)) << host;
    }
}

TEST(Access, RefusesOtherNamesOnLoopback) {
    const Access access({}, {}, true);
    EXPECT_FALSE(access.refusal(with({{"host", "localhost:11535"}}), Right::kUse));
    EXPECT_FALSE(access.refusal(with({{"host", "[::1]:11535"}}), Right::kUse));
    EXPECT_FALSE(access.refusal(with({{"host", "127.0.0.1"}, {"origin", "http://localhost:3000"}}),
                                Right::kUse));
    EXPECT_EQ(access.refusal(with({{"host", "evil.example"}}), Right::kUse)->status, 403);
    EXPECT_EQ(
        access
            .refusal(with({{"host", "localhost"}, {"origin", "https://evil.example"}}), Right::kUse)
            ->status,
        403);
    EXPECT_EQ(access.refusal(with({{"origin", "null"}}), Right::kUse)->status, 403);
    EXPECT_FALSE(
        Access({"k"}, {}, false)
            .refusal(with({{"host", "desk.lan"}, {"authorization", "Bearer k"}}), Right::kUse));
}

TEST(Access, WantsOneOfTheKeys) {
    const Access access({"first", "second-key"}, {}, true);
    EXPECT_FALSE(access.refusal(with({{"authorization", "Bearer second-key"}}), Right::kUse));
    EXPECT_FALSE(access.refusal(with({{"authorization", "bearer second-key"}}), Right::kUse));
    EXPECT_FALSE(access.refusal(with({{"x-api-key", "first"}}), Right::kUse));
    EXPECT_FALSE(access.refusal(with({}), Right::kNone)) << "/health asks for none";
    for (const char* wrong :
         {"", "Bearer ", "Bearer firs", "Bearer firstfirst", "first", "Basic first"}) {
        const auto refused = access.refusal(with({{"authorization", wrong}}), Right::kUse);
        ASSERT_TRUE(refused) << wrong;
        EXPECT_EQ(refused->status, 401);
        EXPECT_EQ(refused->code, "invalid_api_key");
    }
}

TEST(Access, ChangesAreForTheAdminKey) {
    const auto statusOf = [](const Access& access, const char* key, Right right) {
        const auto refused = access.refusal(with({{"x-api-key", key}}), right);
        return refused ? refused->status : 200;
    };
    const Access both({"use"}, {"admin"}, true);
    EXPECT_EQ(statusOf(both, "use", Right::kUse), 200);
    EXPECT_EQ(statusOf(both, "use", Right::kAdmin), 403);
    EXPECT_EQ(statusOf(both, "admin", Right::kUse), 200);
    EXPECT_EQ(statusOf(both, "admin", Right::kAdmin), 200);
    EXPECT_EQ(statusOf(both, "wrong", Right::kAdmin), 401);
    EXPECT_EQ(statusOf(both, "", Right::kAdmin), 401);
    // Who may use the models may not change them, though nobody else may either.
    const Access useOnly({"use"}, {}, true);
    EXPECT_EQ(statusOf(useOnly, "use", Right::kAdmin), 403);
    EXPECT_EQ(statusOf(useOnly, "", Right::kAdmin), 401);
    const Access adminOnly({}, {"admin"}, true);
    EXPECT_EQ(statusOf(adminOnly, "", Right::kUse), 200);
    EXPECT_EQ(statusOf(adminOnly, "", Right::kAdmin), 401);
    EXPECT_EQ(statusOf(adminOnly, "admin", Right::kAdmin), 200);
    const Access open({}, {}, true);
    EXPECT_EQ(statusOf(open, "", Right::kAdmin), 200);
}

}  // namespace
}  // namespace quern::app
