#pragma once

#include <filesystem>
#include <string>

#include "app/library/transfer.h"
#include "kernels/result.h"

namespace quern::app {

struct DownloadRequest {
    std::string url;  // https only, unless allowHttp
    std::filesystem::path target;
    std::string sha256;      // empty: not known
    bool allowHttp = false;  // for tests on loopback
};

/// Fetches a file. Bytes go to TARGET.part and take its name when all are there and right; a
/// transfer that broke off is resumed if the server still has the same file (its ETag or date),
/// else it starts again. The space is checked before the first byte. kIo names what failed,
/// kNotFound a 404, kCorrupt a wrong checksum (the part is removed), kCancelled keeps the part.
[[nodiscard]] Status download(const DownloadRequest& request, const TransferObserver& observer);

}  // namespace quern::app
