#include "app/library/download.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "app/library/checksum.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_http_server.h"

namespace quern::app {
namespace {

namespace fs = std::filesystem;

std::string body() {
    std::string text;
    for (int i = 0; i < 20000; ++i) {
        text += std::to_string(i) + "\n";
    }
    return text;
}

/// Serves body() with an ETag, honours Range with If-Range, and can break off.
struct Origin {
    std::string etag = "\"v1\"";
    std::size_t breakOffAfter = std::string::npos;
    std::int64_t statedLength = -1;
    std::vector<std::string> requests;

    std::string operator()(const std::string& request) {
        requests.push_back(request);
        if (request.starts_with("GET /missing")) {
            return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
        }
        const std::string whole = body();
        std::size_t from = 0;
        const auto range = request.find("Range: bytes=");
        if (range != std::string::npos && request.find("If-Range: " + etag) != std::string::npos) {
            from = std::stoul(request.substr(range + 13));
        }
        const std::string rest = whole.substr(from);
        const auto length =
            statedLength >= 0 ? static_cast<std::size_t>(statedLength) : rest.size();
        return std::string(from > 0 ? "HTTP/1.1 206 Partial Content\r\n" : "HTTP/1.1 200 OK\r\n") +
               "ETag: " + etag + "\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n" +
               rest.substr(0, breakOffAfter);
    }
};

class DownloadTest : public ::testing::Test {
protected:
    DownloadRequest request(const std::string& path = "/model.gguf") {
        return {.url = m_server.url(path),
                .target = m_temp.path() / "model.gguf",
                .sha256 = {},
                .allowHttp = true};
    }
    static TransferObserver noting(std::string& notes) {
        return [&notes](const TransferProgress& progress) {
            notes += progress.note;
            return true;
        };
    }
    test::TempFolder m_temp;
    Origin m_origin;
    test::TinyHttpServer m_server{[this](const std::string& head) { return m_origin(head); }};
};

TEST_F(DownloadTest, FetchesAFile) {
    std::int64_t lastDone = 0;
    const auto done = download(request(), [&](const TransferProgress& progress) {
        lastDone = progress.doneBytes;
        return true;
    });
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(test::readFile(m_temp.path() / "model.gguf"), body());
    EXPECT_EQ(lastDone, static_cast<std::int64_t>(body().size()));
    EXPECT_FALSE(fs::exists(m_temp.path() / "model.gguf.part"));
}

TEST_F(DownloadTest, ResumesWhatBrokeOff) {
    m_origin.breakOffAfter = 50000;
    std::string notes;
    const auto broken = download(request(), noting(notes));
    ASSERT_FALSE(broken);
    EXPECT_EQ(notes, "");
    EXPECT_EQ(broken.error().code, ErrorCode::kIo);
    EXPECT_EQ(fs::file_size(m_temp.path() / "model.gguf.part"), 50000U);
    EXPECT_FALSE(fs::exists(m_temp.path() / "model.gguf")) << "half a file never has the name";

    m_origin.breakOffAfter = std::string::npos;
    ASSERT_TRUE(download(request(), noting(notes)));
    EXPECT_EQ(notes, "a download had broken off after 50.0 kB; it goes on there");
    EXPECT_NE(m_origin.requests.back().find("Range: bytes=50000-"), std::string::npos);
    EXPECT_EQ(test::readFile(m_temp.path() / "model.gguf"), body());
}

TEST_F(DownloadTest, StartsAgainWhenTheFileChanged) {
    m_origin.breakOffAfter = 50000;
    ASSERT_FALSE(download(request(), {}));
    m_origin.breakOffAfter = std::string::npos;
    m_origin.etag = "\"v2\"";
    std::string notes;
    ASSERT_TRUE(download(request(), noting(notes)));
    EXPECT_EQ(notes, "a download had broken off after 50.0 kB; it starts again");
    EXPECT_EQ(test::readFile(m_temp.path() / "model.gguf"), body());
}

TEST_F(DownloadTest, RefusesAWrongChecksumAndTakesTheRightOne) {
    auto wanted = request();
    wanted.sha256 = std::string(64, '0');
    const auto wrong = download(wanted, {});
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, ErrorCode::kCorrupt);
    EXPECT_FALSE(fs::exists(m_temp.path() / "model.gguf"));
    EXPECT_FALSE(fs::exists(m_temp.path() / "model.gguf.part"));

    std::ofstream(m_temp.path() / "same", std::ios::binary) << body();
    wanted.sha256 = sha256OfFile(m_temp.path() / "same").value();
    EXPECT_TRUE(download(wanted, {}));
}

TEST_F(DownloadTest, ChecksTheSpaceBeforeTheFirstByte) {
    m_origin.statedLength = std::int64_t{1} << 60;
    const auto refused = download(request(), {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kIo);
    EXPECT_NE(refused.error().message.find("free"), std::string::npos) << refused.error().message;
    EXPECT_FALSE(fs::exists(m_temp.path() / "model.gguf.part"));
}

TEST_F(DownloadTest, CancelKeepsThePart) {
    const auto cancelled = download(
        request(), [](const TransferProgress& progress) { return progress.doneBytes == 0; });
    if (!cancelled) {  // a fast transfer may end before it is asked
        EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled);
    }
}

TEST_F(DownloadTest, NamesWhatFailed) {
    EXPECT_EQ(download(request("/missing"), {}).error().code, ErrorCode::kNotFound);
    auto plain = request();
    plain.allowHttp = false;
    EXPECT_FALSE(download(plain, {})) << "http is not taken from strangers";
    auto unreachable = request();
    unreachable.url = "http://127.0.0.1:1/x.gguf";
    const auto failed = download(unreachable, {});
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().message.find("no network"), std::string::npos);
}

TEST(Checksum, KnownDigests) {
    const test::TempFolder temp;
    std::ofstream(temp.path() / "abc") << "abc";
    // FIPS 180-2, appendix B.1
    EXPECT_EQ(sha256OfFile(temp.path() / "abc").value(),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256OfFile(temp.path() / "none").error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace quern::app
