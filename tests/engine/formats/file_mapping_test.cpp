#include "engine/formats/file_mapping.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "tests/support/gguf_builder.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

// Another program may write its file anew at any time; that must not end this one.
TEST(FileMapping, OutlivesACutOfItsFile) {
    const test::TempFolder temp;
    const auto path = temp.path() / "weights";
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    test::writeFile(path, std::string(4 * page, 'x'));
    const auto mapping = FileMapping::open(path);
    ASSERT_TRUE(mapping) << mapping.error().message;
    const std::uint64_t cuts = FileMapping::cuts();
    std::filesystem::resize_file(path, page);

    const std::span<const std::byte> bytes = (*mapping)->bytes();
    ASSERT_EQ(bytes.size(), 4 * page);
    EXPECT_EQ(std::ranges::count(bytes.first(page), std::byte{'x'}), page);
    EXPECT_EQ(FileMapping::cuts(), cuts);
    EXPECT_EQ(std::ranges::count(bytes.subspan(2 * page), std::byte{}), 2 * page);
    EXPECT_EQ(FileMapping::cuts(), cuts + 1);

    const auto second = FileMapping::open(path);
    ASSERT_TRUE(second);
    EXPECT_EQ((*second)->bytes()[0], std::byte{'x'});
}

}  // namespace
}  // namespace quern::engine
