#include "app/library/checksum.h"

#include <openssl/evp.h>

#include <fstream>
#include <memory>
#include <vector>

namespace quern::app {

Result<std::string> sha256OfFile(const std::filesystem::path& file,
                                 const TransferObserver& observer) {
    std::ifstream in(file, std::ios::binary);
    if (!in) {
        return fail(ErrorCode::kIo, "cannot read " + file.string());
    }
    std::error_code ignored;
    const auto total = static_cast<std::int64_t>(std::filesystem::file_size(file, ignored));
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                          &EVP_MD_CTX_free);
    if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) {
        return fail(ErrorCode::kInternal, "SHA-256 is not available");
    }
    std::vector<char> buffer(std::size_t{4} << 20);
    std::int64_t done = 0;
    while (in) {
        in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
        EVP_DigestUpdate(context.get(), buffer.data(), static_cast<std::size_t>(in.gcount()));
        done += in.gcount();
        if (observer && !observer({"checking", done, total})) {
            return fail(ErrorCode::kCancelled, "cancelled while checking " + file.string());
        }
    }
    if (!in.eof()) {
        return fail(ErrorCode::kIo, "cannot read " + file.string() + " to its end");
    }
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int length = 0;
    EVP_DigestFinal_ex(context.get(), digest, &length);
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (unsigned int i = 0; i < length; ++i) {
        text += kDigits[digest[i] >> 4];
        text += kDigits[digest[i] & 15];
    }
    return text;
}

}  // namespace quern::app
