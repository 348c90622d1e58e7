#include "app/library/process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <stdexcept>

#include "tests/support/temp_folder.h"

namespace quern::app {
namespace {

TEST(Process, GivesOutputAndExitCode) {
    const auto ran = runProcess({"sh", "-c", "echo out; echo err >&2; exit 3"});
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->exitCode, 3);
    EXPECT_NE(ran->output.find("out"), std::string::npos);
    EXPECT_NE(ran->output.find("err"), std::string::npos);
}

TEST(Process, KeepsTheEndOfLongOutput) {
    const auto ran = runProcess({"sh", "-c", "seq 1 100000; echo the-end"});
    ASSERT_TRUE(ran);
    EXPECT_LE(ran->output.size(), std::size_t{64} * 1024);
    EXPECT_TRUE(ran->output.ends_with("the-end\n"));
}

TEST(Process, TellsWhatIsWrittenWhileItRuns) {
    std::string told;
    const auto ran =
        runProcess({"sh", "-c", "echo one; read never; echo two"}, [&](const std::string& fresh) {
            told += fresh;
            return true;
        });
    ASSERT_TRUE(ran);
    EXPECT_EQ(told, "one\ntwo\n");
    EXPECT_EQ(ran->output, told);
}

TEST(Process, WhatItStartedEndsWithIt) {
    // The one that sleeps holds the pipe open: the call would last as long as it.
    const auto ran = runProcess({"sh", "-c", "sleep 600 & echo started; sleep 600"},
                                [](const std::string& fresh) { return fresh.empty(); });
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().code, ErrorCode::kCancelled);
}

TEST(Process, OneThatWillNotEndIsKilled) {
    bool isReady = false;
    const auto ran = runProcess({"sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"},
                                [&](const std::string& fresh) {
                                    isReady = isReady || !fresh.empty();
                                    return !isReady;
                                });
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().code, ErrorCode::kCancelled);
}

TEST(Process, OneThatIsChattyAtItsEndMayFinish) {
    const test::TempFolder folder;
    const auto tidied = folder.path() / "tidied";
    const std::string script =
        "trap 'seq 1 100000; : > \"$0\"; exit' TERM; echo ready; "
        "while :; do sleep 1; done";
    const auto ran = runProcess({"sh", "-c", script, tidied.string()},
                                [](const std::string& fresh) { return fresh.empty(); });
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().code, ErrorCode::kCancelled);
    EXPECT_TRUE(std::filesystem::exists(tidied));
}

TEST(Process, AnObserverThatThrowsLeavesNothingRunning) {
    // The write end is the program's: it is at its end when the program is.
    int held[2];
    ASSERT_EQ(::pipe(held), 0);
    const auto run = [] {
        return runProcess({"sh", "-c", "sleep 600 & echo started; sleep 600"},
                          [](const std::string& fresh) {
                              if (!fresh.empty()) {
                                  throw std::runtime_error("full");
                              }
                              return true;
                          });
    };
    EXPECT_THROW((void)run(), std::runtime_error);
    ::close(held[1]);
    char byte = 0;
    EXPECT_EQ(::read(held[0], &byte, 1), 0);
    ::close(held[0]);
}

TEST(Process, CanBeCancelled) {
    const auto ran = runProcess({"sleep", "600"}, [](const auto&) { return false; });
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().code, ErrorCode::kCancelled);
}

TEST(Process, AChildHearsTheSignalsThatThisThreadHoldsBack) {
    sigset_t held;
    sigset_t before;
    sigemptyset(&held);
    sigaddset(&held, SIGTERM);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &held, &before), 0);
    const auto began = std::chrono::steady_clock::now();
    const auto ran = runProcess({"sleep", "20"}, [](const auto&) { return false; });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    EXPECT_FALSE(ran);
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(15));
}

TEST(Process, NamesAMissingProgram) {
    const auto ran = runProcess({"no-such-program-here"});
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().code, ErrorCode::kNotFound);
    EXPECT_NE(ran.error().message.find("no-such-program-here"), std::string::npos);
}

}  // namespace
}  // namespace quern::app
