#include "app/library/download.h"

#include <curl/curl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>

#include "app/library/checksum.h"
#include "app/library/disk_space.h"
#include "app/library/read_text.h"

namespace quern::app {

namespace fs = std::filesystem;

namespace {

constexpr long kConnectSeconds = 20;
constexpr long kStallSeconds = 60;  // under kStallBytes a second for this long is a broken transfer
constexpr long kStallBytes = 100;

struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

/// One transfer as curl's callbacks see it.
struct Transfer {
    CURL* handle = nullptr;
    fs::path part;
    File file;
    std::int64_t resumedFrom = 0;
    std::int64_t written = 0;
    std::string validator;  // ETag, else Last-Modified
    const TransferObserver* observer = nullptr;
    std::optional<Error> trouble;
    bool isCancelled = false;
};

std::size_t onHeader(char* data, std::size_t size, std::size_t count, void* user) {
    auto& transfer = *static_cast<Transfer*>(user);
    const std::string line(data, size * count);
    const auto valueOf = [&](const char* name) -> std::string {
        const std::string prefix = std::string(name) + ":";
        if (line.size() < prefix.size() ||
            !std::equal(prefix.begin(), prefix.end(), line.begin(),
                        [](char a, char b) { return std::tolower(a) == std::tolower(b); })) {
            return {};
        }
        const auto from = line.find_first_not_of(" \t", prefix.size());
        const auto to = line.find_last_not_of(" \t\r\n");
        return from == std::string::npos || to < from ? std::string()
                                                      : line.substr(from, to - from + 1);
    };
    if (line.starts_with("HTTP/")) {
        transfer.validator.clear();  // of a redirect
    }
    // A weak ETag does not promise the same bytes.
    if (const auto tag = valueOf("etag"); !tag.empty() && !tag.starts_with("W/")) {
        transfer.validator = tag;
    } else if (const auto date = valueOf("last-modified");
               !date.empty() && transfer.validator.empty()) {
        transfer.validator = date;
    }
    return size * count;
}

// Opens the part on the first byte, when the status is known: 206 goes on, 200 starts again.
bool openPart(Transfer& transfer) {
    long status = 0;
    curl_easy_getinfo(transfer.handle, CURLINFO_RESPONSE_CODE, &status);
    const std::int64_t there = transfer.resumedFrom;
    if (status != 206) {
        transfer.resumedFrom = 0;
    }
    if (there > 0 && *transfer.observer &&
        !(*transfer.observer)(
            {.stage = "downloading",
             .doneBytes = transfer.resumedFrom,
             .note = "a download had broken off after " + humanBytes(there) +
                     (status == 206 ? "; it goes on there" : "; it starts again")})) {
        transfer.isCancelled = true;
        return false;
    }
    curl_off_t length = -1;
    curl_easy_getinfo(transfer.handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    if (auto space = checkDiskSpace(transfer.part.parent_path(), length); !space) {
        transfer.trouble = space.error();
        return false;
    }
    transfer.file.reset(std::fopen(transfer.part.c_str(), transfer.resumedFrom > 0 ? "ab" : "wb"));
    if (!transfer.file) {
        transfer.trouble =
            Error{.code = ErrorCode::kIo, .message = "cannot write " + transfer.part.string()};
        return false;
    }
    std::ofstream(transfer.part.string() + ".tag", std::ios::binary) << transfer.validator;
    return true;
}

std::size_t onBody(char* data, std::size_t size, std::size_t count, void* user) {
    auto& transfer = *static_cast<Transfer*>(user);
    if (!transfer.file && !openPart(transfer)) {
        return 0;
    }
    const std::size_t bytes = size * count;
    if (std::fwrite(data, 1, bytes, transfer.file.get()) != bytes) {
        transfer.trouble = Error{.code = ErrorCode::kIo,
                                 .message = "the disk refused to take more of " +
                                            transfer.part.string() + ": is it full?"};
        return 0;
    }
    transfer.written += static_cast<std::int64_t>(bytes);
    return bytes;
}

int onProgress(void* user, curl_off_t total, curl_off_t, curl_off_t, curl_off_t) {
    auto& transfer = *static_cast<Transfer*>(user);
    if (*transfer.observer &&
        !(*transfer.observer)({"downloading", transfer.resumedFrom + transfer.written,
                               total > 0 ? transfer.resumedFrom + total : 0})) {
        transfer.isCancelled = true;
        return 1;
    }
    return 0;
}

tl::unexpected<Error> explain(const Transfer& transfer, CURLcode code, const std::string& url) {
    if (transfer.isCancelled) {
        return fail(ErrorCode::kCancelled, "the download was cancelled; it can be resumed");
    }
    if (transfer.trouble) {
        return tl::unexpected<Error>(*transfer.trouble);
    }
    long status = 0;
    curl_easy_getinfo(transfer.handle, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_HTTP_RETURNED_ERROR) {
        return fail(status == 404 ? ErrorCode::kNotFound : ErrorCode::kIo,
                    "the server answered " + std::to_string(status) + " for " + url);
    }
    if (code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT) {
        return fail(ErrorCode::kIo, "no network: " + url + " cannot be reached",
                    curl_easy_strerror(code));
    }
    return fail(ErrorCode::kIo,
                "the download broke off after " +
                    humanBytes(transfer.resumedFrom + transfer.written) +
                    "; start it again to resume",
                curl_easy_strerror(code));
}

}  // namespace

Status download(const DownloadRequest& request, const TransferObserver& observer) {
    static std::once_flag initialized;
    std::call_once(initialized, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });

    Transfer transfer;
    transfer.part = request.target.string() + ".part";
    transfer.observer = &observer;
    const fs::path tag = transfer.part.string() + ".tag";

    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                   &curl_easy_cleanup);
    if (!curl) {
        return fail(ErrorCode::kInternal, "libcurl did not start");
    }
    transfer.handle = curl.get();
    curl_slist* headers = nullptr;
    std::error_code ignored;
    const std::string validator = readText(tag);
    if (!validator.empty() && fs::exists(transfer.part, ignored)) {
        transfer.resumedFrom = static_cast<std::int64_t>(fs::file_size(transfer.part, ignored));
        headers = curl_slist_append(headers, ("If-Range: " + validator).c_str());
        // As a plain header: curl's own resuming takes a fresh 200 for an error.
        headers = curl_slist_append(
            headers, ("Range: bytes=" + std::to_string(transfer.resumedFrom) + "-").c_str());
    }
    const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> keepHeaders(
        headers, &curl_slist_free_all);

    curl_easy_setopt(curl.get(), CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, request.allowHttp ? "https,http" : "https");
    curl_easy_setopt(curl.get(), CURLOPT_REDIR_PROTOCOLS_STR,
                     request.allowHttp ? "https,http" : "https");
    curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl.get(), CURLOPT_MAXREDIRS, 10L);
    curl_easy_setopt(curl.get(), CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_LIMIT, kStallBytes);
    curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_TIME, kStallSeconds);
    curl_easy_setopt(curl.get(), CURLOPT_USERAGENT, "quern");
    curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl.get(), CURLOPT_HEADERFUNCTION, onHeader);
    curl_easy_setopt(curl.get(), CURLOPT_HEADERDATA, &transfer);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, onBody);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, onProgress);
    curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &transfer);

    const CURLcode code = curl_easy_perform(curl.get());
    if (transfer.file && std::fflush(transfer.file.get()) != 0 && !transfer.trouble) {
        transfer.trouble = Error{.code = ErrorCode::kIo,
                                 .message = "the disk refused to take " + transfer.part.string()};
    }
    long status = 0;
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
    // 416: the part is already whole.
    const bool isWholeAlready = code == CURLE_HTTP_RETURNED_ERROR && status == 416;
    if ((code != CURLE_OK && !isWholeAlready) || transfer.trouble) {
        return explain(transfer, code, request.url);
    }
    if (!transfer.file && !isWholeAlready) {
        return fail(ErrorCode::kIo, "the server sent nothing for " + request.url);
    }
    transfer.file.reset();

    if (!request.sha256.empty()) {
        auto sum = sha256OfFile(transfer.part, observer);
        if (!sum) {
            return forward(sum);
        }
        if (*sum != request.sha256) {
            fs::remove(transfer.part, ignored);
            fs::remove(tag, ignored);
            return fail(ErrorCode::kCorrupt, "what was downloaded has the checksum " + *sum +
                                                 " and not " + request.sha256 +
                                                 "; it was removed, start again");
        }
    }
    std::error_code error;
    fs::rename(transfer.part, request.target, error);
    fs::remove(tag, ignored);
    if (error) {
        return fail(ErrorCode::kIo, "cannot name the download " + request.target.string(),
                    error.message());
    }
    return {};
}

}  // namespace quern::app
