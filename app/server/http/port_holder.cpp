#include "app/server/http/port_holder.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace quern::app {

namespace fs = std::filesystem;

namespace {

// Socket inodes that listen on the port, from a table such as /proc/net/tcp: the second field is
// "ADDRESS:PORT" in hexadecimal, the fourth the state (0A: listen), the tenth the inode.
void collectInodes(const char* table, std::uint16_t port, std::set<std::string>& inodes) {
    std::ifstream in(table);
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
        std::istringstream fields(line);
        std::string slot;
        std::string local;
        std::string remote;
        std::string state;
        std::string skipped;
        std::string inode;
        fields >> slot >> local >> remote >> state;
        for (int i = 0; i < 5; ++i) {
            fields >> skipped;
        }
        fields >> inode;
        const auto colon = local.rfind(':');
        if (state == "0A" && colon != std::string::npos &&
            std::stoul(local.substr(colon + 1), nullptr, 16) == port) {
            inodes.insert("socket:[" + inode + "]");
        }
    }
}

}  // namespace

std::string portHolder(std::uint16_t port) {
    std::set<std::string> inodes;
    collectInodes("/proc/net/tcp", port, inodes);
    collectInodes("/proc/net/tcp6", port, inodes);
    std::error_code error;
    for (const auto& process : fs::directory_iterator("/proc", error)) {
        const std::string pid = process.path().filename().string();
        if (pid.find_first_not_of("0123456789") != std::string::npos) {
            continue;
        }
        std::error_code unreadable;
        for (const auto& descriptor : fs::directory_iterator(process.path() / "fd", unreadable)) {
            std::error_code gone;
            if (inodes.contains(fs::read_symlink(descriptor.path(), gone).string())) {
                std::ifstream in(process.path() / "comm");
                std::string name;
                std::getline(in, name);
                return name + " (process " + pid + ")";
            }
        }
    }
    return {};
}

}  // namespace quern::app
