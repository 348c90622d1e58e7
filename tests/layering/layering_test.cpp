// Data flows one way: app → ui → engine → kernels. A room is known by its door, the headers that
// stand directly in its folder; this test reads every #include and holds it against that.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace quern {
namespace {

namespace fs = std::filesystem;

struct Include {
    fs::path from;  // relative to the top
    fs::path to;
};

// The pieces of "app/server/http/listener.cpp" as strings.
std::vector<std::string> pieces(const fs::path& path) {
    std::vector<std::string> result;
    for (const auto& piece : path) {
        result.push_back(piece.string());
    }
    return result;
}

bool isOurRoom(const std::string& name) {
    static const std::set<std::string> kRooms{"kernels", "engine", "ui", "app"};
    return kRooms.contains(name);
}

std::vector<Include> readIncludes(const fs::path& top) {
    static const std::regex kPattern(R"re(^\s*#\s*include\s*[<"]([^>"]+)[>"])re");
    std::vector<Include> includes;
    for (const char* room : {"kernels", "engine", "ui", "app"}) {
        for (const auto& entry : fs::recursive_directory_iterator(top / room)) {
            const auto extension = entry.path().extension();
            if (extension != ".h" && extension != ".cpp" && extension != ".cu") {
                continue;
            }
            std::ifstream in(entry.path());
            std::string line;
            std::smatch match;
            while (std::getline(in, line)) {
                if (std::regex_search(line, match, kPattern)) {
                    includes.push_back({fs::relative(entry.path(), top), match[1].str()});
                }
            }
        }
    }
    return includes;
}

// A service is a folder of app with its own purpose; wiring and cli are not services.
std::string serviceOf(const std::vector<std::string>& path) {
    if (path.size() < 3 || path[0] != "app" || path[1] == "wiring" || path[1] == "cli") {
        return {};
    }
    return path[1];
}

// Why an include breaks the layering, if it does.
std::optional<std::string> faultOf(const Include& include) {
    const auto from = pieces(include.from);
    const auto to = pieces(include.to);
    const std::string& room = from[0];

    const std::string target = include.to.string();
    if (room == "kernels" || room == "engine") {
        if (to[0].starts_with("Qt") || (to[0].size() > 1 && to[0][0] == 'Q' &&
                                        std::isupper(static_cast<unsigned char>(to[0][1])))) {
            return "Qt below ui";
        }
        if (target.starts_with("boost/asio") || target.starts_with("boost/beast") ||
            target == "sys/socket.h") {
            return "sockets below app";
        }
    }
    if (to.size() < 2 || !isOurRoom(to[0])) {
        return std::nullopt;  // a library, or a neighbour in the same folder
    }

    const auto rank = [](const std::string& name) {
        return name == "kernels" ? 0 : name == "engine" ? 1 : name == "ui" ? 2 : 3;
    };
    if (rank(to[0]) > rank(room)) {
        return "an include upwards";
    }
    const bool isDoor = to.size() == 2;
    if (to[0] != room && to[0] != "ui" && !isDoor) {
        return "past the door of " + to[0];
    }
    if (room == "ui" && to[0] == "kernels" && target != "kernels/result.h" &&
        target != "kernels/tensor.h" && target != "kernels/kernels.h") {
        return "ui knows the engine's doors, not the kernels";
    }
    if (room == "app") {
        const std::string service = serviceOf(from);
        if (to[0] == "ui" && from[1] != "wiring" && include.from != "app/main_desktop.cpp") {
            return "only wiring and the desktop's main know ui";
        }
        const bool isStorage = to[0] == "app" && to.size() == 3 && to[1] == "storage";
        if (!service.empty() && to[0] == "app" && serviceOf(to) != service && !isStorage) {
            return "a service includes no other service but storage's door";
        }
    }
    return std::nullopt;
}

TEST(Layering, IncludesPointDownThroughDoors) {
    const fs::path top = QUERN_SOURCE_DIR;
    const auto includes = readIncludes(top);
    ASSERT_GT(includes.size(), 50U) << "the sources were not found";
    for (const auto& include : includes) {
        if (const auto fault = faultOf(include)) {
            ADD_FAILURE() << include.from.string() << " includes " << include.to.string() << ": "
                          << *fault;
        }
    }
}

TEST(Layering, FaultsAreSeen) {
    const auto isFault = [](const char* from, const char* to) {
        return faultOf(Include{from, to}).has_value();
    };
    EXPECT_TRUE(isFault("engine/core/a.cpp", "app/chat/b.h"));
    EXPECT_TRUE(isFault("engine/core/a.cpp", "QString"));
    EXPECT_TRUE(isFault("engine/core/a.cpp", "kernels/cpu/gemm.h"));
    EXPECT_TRUE(isFault("kernels/quant.cpp", "engine/text.h"));
    EXPECT_TRUE(isFault("app/server/a.cpp", "app/chat/b.h"));
    EXPECT_TRUE(isFault("app/server/a.cpp", "engine/kv/pool.h"));
    EXPECT_TRUE(isFault("app/cli/a.cpp", "ui/theme.h"));
    EXPECT_TRUE(isFault("ui/a.cpp", "app/chat/b.h"));
    EXPECT_FALSE(isFault("engine/core/a.cpp", "engine/kv/pool.h"));
    EXPECT_FALSE(isFault("engine/core/a.cpp", "kernels/kernels.h"));
    EXPECT_FALSE(isFault("app/wiring/desktop/a.cpp", "ui/ports/store.h"));
    EXPECT_FALSE(isFault("app/cli/a.cpp", "app/chat/store.h"));
    EXPECT_FALSE(isFault("app/server/http/a.cpp", "app/server/b.h"));
    EXPECT_FALSE(isFault("app/chat/a.cpp", "app/storage/database.h"));
}

}  // namespace
}  // namespace quern
