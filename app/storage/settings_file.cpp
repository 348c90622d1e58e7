#include "app/storage/settings_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

namespace quern::app {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr int kDeepest = 16;  // our own names have three levels

// Nested objects become dotted names; lists, nulls and what lies deeper than any setting are left
// out.
void flatten(const Json& object, const std::string& prefix, int depth,
             std::map<std::string, SettingValue, std::less<>>& out) {
    for (const auto& [key, value] : object.items()) {
        const std::string name = prefix.empty() ? key : prefix + "." + key;
        if (value.is_object() && depth < kDeepest) {
            flatten(value, name, depth + 1, out);
        } else if (value.is_boolean()) {
            out[name] = value.get<bool>();
        } else if (value.is_number_integer()) {
            out[name] = value.get<std::int64_t>();
        } else if (value.is_number()) {
            out[name] = value.get<double>();
        } else if (value.is_string()) {
            out[name] = value.get<std::string>();
        }
    }
}

std::string systemError() {
    return std::strerror(errno);
}

struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

// Streams of the standard library do not tell the end of a file from a read that failed.
Result<std::string> readAll(const fs::path& path) {
    if (Status isFile = checkIsFile(path); !isFile) {
        return forward(isFile);
    }
    const std::unique_ptr<std::FILE, FileCloser> file(std::fopen(path.c_str(), "rbe"));
    if (file == nullptr) {
        return fail(ErrorCode::kIo, path.string() + " cannot be read", systemError());
    }
    std::string text;
    std::array<char, 4096> bytes{};
    while (const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), file.get())) {
        text.append(bytes.data(), count);
    }
    if (std::ferror(file.get()) != 0) {
        return fail(ErrorCode::kIo, path.string() + " cannot be read", systemError());
    }
    return text;
}

}  // namespace

Status writeFileAtomically(const fs::path& file, std::string_view bytes) {
    // Of this process and thread: others may write the same file at the same time.
    const fs::path temporary = file.string() + "." + std::to_string(::gettid()) + ".new";
    const int descriptor =
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (descriptor < 0) {
        return fail(ErrorCode::kIo, "cannot write " + file.string(), systemError());
    }
    std::size_t written = 0;
    std::string trouble;
    while (written < bytes.size() && trouble.empty()) {
        const ssize_t count = ::write(descriptor, bytes.data() + written, bytes.size() - written);
        if (count >= 0) {
            written += static_cast<std::size_t>(count);
        } else if (errno != EINTR) {
            trouble = systemError();
        }
    }
    if (trouble.empty() && ::fsync(descriptor) != 0) {
        trouble = systemError();
    }
    if (::close(descriptor) != 0 && trouble.empty()) {
        trouble = systemError();
    }
    if (trouble.empty() && ::rename(temporary.c_str(), file.c_str()) != 0) {
        trouble = systemError();
    }
    if (!trouble.empty()) {
        ::unlink(temporary.c_str());
        return fail(ErrorCode::kIo, "cannot write " + file.string(), trouble);
    }
    return {};
}

Result<SettingsFile::Values> SettingsFile::read(const fs::path& file) {
    Values values;
    std::error_code error;
    const bool isThere = fs::exists(file, error);
    if (!isThere && !error) {
        return values;
    }
    Result<std::string> text = readAll(file);
    if (!text) {
        return forward(text);
    }
    const Json parsed = Json::parse(*text, nullptr, false);
    if (!parsed.is_object()) {
        return fail(ErrorCode::kCorrupt, file.string() + " is not a JSON object");
    }
    flatten(parsed, "", 0, values);
    return values;
}

std::unique_ptr<SettingsFile> SettingsFile::open(fs::path file) {
    std::unique_ptr<SettingsFile> settings(new SettingsFile(std::move(file)));
    const fs::path& path = settings->m_file;
    Result<Values> values = read(path);
    if (values) {
        settings->m_values = std::move(*values);
        if (Status writable = checkWritable(path.parent_path()); !writable) {
            settings->m_trouble = FileTrouble{.outcome = FileTrouble::Outcome::kReadOnly,
                                              .file = path,
                                              .error = std::move(writable.error())};
        }
        return settings;
    }
    FileTrouble trouble{
        .outcome = FileTrouble::Outcome::kUnread, .file = path, .error = std::move(values.error())};
    if (trouble.error.code == ErrorCode::kCorrupt) {
        if (Result<fs::path> kept = setAside(path, kBrokenSuffix)) {
            trouble.outcome = FileTrouble::Outcome::kSetAside;
            trouble.kept = std::move(*kept);
        } else {
            trouble.error.cause = std::move(kept.error().cause);
        }
    }
    settings->m_trouble = std::move(trouble);
    return settings;
}

Status SettingsFile::examine(const fs::path& file) {
    if (Result<Values> values = read(file); !values) {
        return forward(values);
    }
    return checkWritable(file.parent_path());
}

std::optional<SettingValue> SettingsFile::find(std::string_view name) const {
    const std::lock_guard lock(m_mutex);
    const auto found = m_values.find(name);
    return found == m_values.end() ? std::nullopt : std::optional(found->second);
}

Status SettingsFile::set(std::string_view name, SettingValue value) {
    const std::lock_guard lock(m_mutex);
    m_values.insert_or_assign(std::string(name), std::move(value));
    return save();
}

Status SettingsFile::remove(std::string_view name) {
    const std::lock_guard lock(m_mutex);
    if (const auto found = m_values.find(name); found != m_values.end()) {
        m_values.erase(found);
        return save();
    }
    return {};
}

Status SettingsFile::save() const {
    if (m_trouble && m_trouble->outcome == FileTrouble::Outcome::kUnread) {
        return tl::unexpected<Error>(m_trouble->error);
    }
    Json json = Json::object();
    for (const auto& [name, value] : m_values) {
        std::visit([&, key = name](const auto& typed) { json[key] = typed; }, value);
    }
    // Names stay dotted in the file: one line a setting, easy to read and to diff.
    return writeFileAtomically(m_file,
                               json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace quern::app
