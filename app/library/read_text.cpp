#include "app/library/read_text.h"

#include <fstream>
#include <sstream>
#include <utility>

namespace quern::app {

std::string readText(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return std::move(text).str();
}

}  // namespace quern::app
