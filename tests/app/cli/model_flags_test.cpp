#include "app/cli/model_flags.h"

#include <gtest/gtest.h>

namespace quern::cli {
namespace {

// What the command line says of these words; empty: they are taken.
std::string complaint(std::vector<std::string> words) {
    CLI::App app;
    ModelFlags model;
    SamplingFlags sampling;
    model.addTo(app);
    sampling.addTo(app);
    std::reverse(words.begin(), words.end());
    try {
        app.parse(words);
    } catch (const CLI::ParseError& error) {
        return error.what();
    }
    return {};
}

TEST(Switches, TakeWholeValuesOnly) {
    for (const char* name : {"--max-tokens", "--ctx", "--max-running", "--threads"}) {
        EXPECT_EQ(complaint({name, "7"}), "") << name;
        for (const char* wrong :
             {"0", "-5", "abc", "", "1.5", "0x10", "7 ", "99999999999999999999", "1e3", "\xff"}) {
            const std::string said = complaint({name, wrong});
            EXPECT_NE(said.find(std::string("'") + wrong + "' is no whole number from 1 to "),
                      std::string::npos)
                << name << " " << wrong << ": " << said;
        }
    }
    EXPECT_NE(complaint({"--max-tokens", "2147483648"}), "");
    EXPECT_EQ(complaint({"--top-k", "0"}), "");
    EXPECT_NE(complaint({"--top-k", "-1"}), "");
}

TEST(Switches, ASeedIsNeverWrapped) {
    EXPECT_EQ(complaint({"--seed", "18446744073709551615"}), "");
    for (const char* wrong : {"-1", "18446744073709551616", "1.0", "+1", ""}) {
        EXPECT_NE(complaint({"--seed", wrong}), "") << wrong;
    }
}

TEST(Switches, RangesHoldForWhatIsNoNumberToo) {
    for (const char* name : {"--temperature", "--top-p", "--min-p"}) {
        EXPECT_EQ(complaint({name, "0.5"}), "") << name;
        EXPECT_EQ(complaint({name, "1"}), "") << name;
        for (const char* wrong : {"nan", "inf", "-0.1", "2.5", "", "0,5", "half"}) {
            EXPECT_NE(complaint({name, wrong}), "") << name << " " << wrong;
        }
    }
    EXPECT_NE(complaint({"--temperature", "3"}).find("from 0 to 2"), std::string::npos);
}

TEST(Switches, SizesOfMemory) {
    for (const char* size : {"4096", "64K", "1.5G", "512MiB"}) {
        EXPECT_EQ(complaint({"--kv-memory", size}), "") << size;
    }
    for (const char* wrong : {"nan", "inf", "0", "-1G", "", "G", "12Q", "1e30G", "5M5"}) {
        EXPECT_NE(complaint({"--kv-memory", wrong}), "") << wrong;
    }
}

TEST(Switches, AStopTextTakesNoMoreThanItsText) {
    CLI::App app;
    SamplingFlags sampling;
    std::string prompt;
    app.add_option("prompt", prompt);
    sampling.addTo(app);
    app.parse(std::vector<std::string>{"the prompt", "b", "--stop", "a", "--stop"});  // backwards
    EXPECT_EQ(sampling.stop, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(prompt, "the prompt");
}

}  // namespace
}  // namespace quern::cli
