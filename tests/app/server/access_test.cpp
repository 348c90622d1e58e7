#include "app/server/access.h"

#include <gtest/gtest.h>

namespace quern::app {
namespace {

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
    const Access access({}, true);
    EXPECT_FALSE(access.refusal(with({{"host", "localhost:11535"}}), true));
    EXPECT_FALSE(access.refusal(with({{"host", "[::1]:11535"}}), true));
    EXPECT_FALSE(
        access.refusal(with({{"host", "127.0.0.1"}, {"origin", "http://localhost:3000"}}), true));
    EXPECT_EQ(access.refusal(with({{"host", "evil.example"}}), true)->status, 403);
    EXPECT_EQ(
        access.refusal(with({{"host", "localhost"}, {"origin", "https://evil.example"}}), true)
            ->status,
        403);
    EXPECT_EQ(access.refusal(with({{"origin", "null"}}), true)->status, 403);
    EXPECT_FALSE(Access({"k"}, false)
                     .refusal(with({{"host", "desk.lan"}, {"authorization", "Bearer k"}}), true));
}

TEST(Access, WantsOneOfTheKeys) {
    const Access access({"first", "second-key"}, true);
    EXPECT_FALSE(access.refusal(with({{"authorization", "Bearer second-key"}}), true));
    EXPECT_FALSE(access.refusal(with({{"authorization", "bearer second-key"}}), true));
    EXPECT_FALSE(access.refusal(with({{"x-api-key", "first"}}), true));
    EXPECT_FALSE(access.refusal(with({}), false)) << "/health asks for none";
    for (const char* wrong :
         {"", "Bearer ", "Bearer firs", "Bearer firstfirst", "first", "Basic first"}) {
        const auto refused = access.refusal(with({{"authorization", wrong}}), true);
        ASSERT_TRUE(refused) << wrong;
        EXPECT_EQ(refused->status, 401);
        EXPECT_EQ(refused->code, "invalid_api_key");
    }
}

}  // namespace
}  // namespace quern::app
