// Whose a sample is, with and without the address of a stack.
#include "sampling/sampled_threads.h"

#include <gtest/gtest.h>

#include "coreinspect/tools/profile.h"

namespace jtrace::sampling {
namespace {

using coreinspect::JavaThread;

constexpr std::uint64_t kSecond = 1'000'000'000;

// The threads of a JVM, as the VM and the kernel have them.
struct Jvm {
  std::map<pid_t, KernelThread> kernel;
  std::vector<JavaThread> java;
  std::uint64_t now = kSecond, cost = 0;  // `cost`: of a read of the list
  std::size_t reads = 0;
  SampledThreads threads{SampledThreads::Sources{.java =
                                                     [this] {
                                                       ++reads;
                                                       now += cost;
                                                       return std::optional(java);
                                                     },
                                                 .kernel = [this](pid_t tid) -> std::optional<KernelThread> {
                                                   const auto found = kernel.find(tid);
                                                   return found == kernel.end() ? std::nullopt
                                                                                : std::optional(found->second);
                                                 },
                                                 .now = [this] { return now; }}};

  // Its stack is below `base`; in its own namespace its number is 900 less.
  void start(pid_t tid, const std::string& name, target::Address base) {
    kernel[tid] = {.name = name.substr(0, 15), .native_id = tid - 900};
    if (base == 0) return;
    JavaThread thread;
    thread.address = base + 0x10'0000;
    thread.name = name;
    thread.native_id = tid - 900;
    thread.stack_base = base;
    thread.stack_size = 0x1000;
    java.push_back(thread);
  }
  std::string name_of(pid_t tid, target::Address sp) { return coreinspect::thread_label(threads.of(tid, sp)); }
};

constexpr const char* kLong = "http-nio-8080-exec-1";

TEST(SampledThreads, AreThoseWhoseStackHasTheAddress) {
  Jvm jvm;
  jvm.start(1001, kLong, 0x2000);
  jvm.start(1002, "C2 CompilerThre", 0);
  EXPECT_EQ(jvm.name_of(1001, 0x1ff0), kLong);
  EXPECT_EQ(jvm.name_of(1002, 0x9000), "C2 CompilerThre");
}

TEST(SampledThreads, WithoutAStackAreFoundByTheirNumber) {
  Jvm jvm;
  jvm.start(1001, kLong, 0x2000);
  EXPECT_EQ(jvm.name_of(1001, 0), kLong);
  EXPECT_EQ(jvm.threads.of(1001, 0).native_id, 101);
  jvm.start(1002, "GC Thread#0", 0);
  EXPECT_EQ(jvm.name_of(1002, 0), "GC Thread#0");
}

TEST(SampledThreads, KeepTheirNamesWhenASampleHasNoStack) {
  Jvm jvm;
  jvm.start(1001, kLong, 0x2000);
  EXPECT_EQ(jvm.name_of(1001, 0x1ff0), kLong);
  jvm.java.clear();  // it is ending
  jvm.now += 2 * kSecond;
  EXPECT_EQ(jvm.name_of(1001, 0), kLong);
  EXPECT_NE(jvm.threads.of(1001, 0x1ff0).java.address, 0u);
}

TEST(SampledThreads, AreLookedForAgainWhenThereIsAStack) {
  Jvm jvm;
  jvm.start(1001, kLong, 0);
  EXPECT_EQ(jvm.name_of(1001, 0), "http-nio-8080-e") << "it is not in the VM's list yet";
  jvm.start(1001, kLong, 0x2000);
  jvm.now += kSecond / 10;
  EXPECT_EQ(jvm.name_of(1001, 0x1ff0), kLong);
}

TEST(SampledThreads, TakeATenthOfTheTimeHoweverLongTheListIs) {
  Jvm jvm;
  jvm.cost = kSecond / 10;
  for (pid_t i = 0; i < 1000; ++i) jvm.start(1001 + i, "t-" + std::to_string(i), 0x10'0000u + 0x1000u * unsigned(i));
  for (pid_t i = 0; i < 1000; ++i)
    EXPECT_EQ(jvm.name_of(1001 + i, 0x10'0000u + 0x1000u * unsigned(i) - 16), "t-" + std::to_string(i));
  EXPECT_EQ(jvm.reads, 1u);
  jvm.start(3000, kLong, 0x9000);
  EXPECT_EQ(jvm.name_of(3000, 0x8ff0), "http-nio-8080-e") << "the list is older";
  jvm.now += kSecond * 9 / 10;
  EXPECT_EQ(jvm.name_of(3000, 0x8ff0), kLong) << "less than a second after the last look";
  EXPECT_EQ(jvm.reads, 2u);
}

TEST(SampledThreads, ThatHaveEndedDoNotGiveTheirNamesAway) {
  Jvm jvm;
  jvm.start(1001, kLong, 0x2000);
  EXPECT_EQ(jvm.name_of(1001, 0x1ff0), kLong);
  jvm.java.clear();
  jvm.kernel.clear();
  EXPECT_EQ(jvm.name_of(1001, 0), kLong);
  jvm.threads.forget(1001);
  jvm.start(1001, "next", 0x8000);
  jvm.now += kSecond / 10;
  EXPECT_EQ(jvm.name_of(1001, 0), "next");
}

TEST(SampledThreads, ThatHaveEndedHaveTheNameOfTheirRecord) {
  Jvm jvm;
  EXPECT_EQ(jvm.name_of(1001, 0), "thread 1001");
  jvm.threads.named(1001, "brief-1");
  jvm.now += 2 * kSecond;
  EXPECT_EQ(jvm.name_of(1001, 0), "brief-1");
  jvm.threads.forget(1001);
  EXPECT_EQ(jvm.name_of(1001, 0), "thread 1001") << "another one";
  jvm.start(1002, kLong, 0x2000);
  jvm.threads.named(1002, "http-nio-8080-e");
  jvm.now += kSecond;
  EXPECT_EQ(jvm.name_of(1002, 0x1ff0), kLong);
  jvm.java.clear();
  jvm.kernel.clear();
  jvm.now += 2 * kSecond;
  EXPECT_EQ(jvm.name_of(1002, 0), kLong) << "that of the VM is longer";
}

// The C library gives the stack of a thread that has ended to the next one, and both are gone.
TEST(SampledThreads, ThatHaveEndedDoNotTakeTheNameOfWhoHadTheirStackBefore) {
  Jvm jvm;
  jvm.start(1001, "brief-1", 0x2000);
  EXPECT_EQ(jvm.name_of(1001, 0x1ff0), "brief-1");
  jvm.kernel.clear();
  jvm.threads.named(1002, "brief-2");
  EXPECT_EQ(jvm.name_of(1002, 0x1ff0), "brief-2");
  EXPECT_EQ(jvm.name_of(1001, 0x1ff0), "brief-1");
}

TEST(SampledThreads, HaveTheKernelsNameWhileTheVmHasNone) {
  Jvm jvm;
  jvm.start(1001, "brief-1", 0x2000);
  jvm.java[0].name.clear();
  EXPECT_EQ(jvm.name_of(1001, 0x1ff0), "brief-1");
  jvm.java[0].name = kLong;
  jvm.now += kSecond / 10;
  EXPECT_EQ(jvm.name_of(1001, 0x1ff0), kLong);
}

// It had its parent's name when it was looked up.
TEST(SampledThreads, ThatWereJustStartingGetTheirOwnName) {
  Jvm jvm;
  jvm.start(1001, "java", 0);
  EXPECT_EQ(jvm.name_of(1001, 0x1ff0), "java");
  jvm.threads.named(1001, "brief-1");
  EXPECT_EQ(jvm.name_of(1001, 0x1ff0), "brief-1");
  jvm.kernel.clear();
  jvm.now += 2 * kSecond;
  EXPECT_EQ(jvm.name_of(1001, 0x1ff0), "brief-1");
}

// The C library gives the stack of a thread that has ended to the next one that starts.
TEST(SampledThreads, DoNotTakeTheNameOfWhoHadTheirStackBefore) {
  Jvm jvm;
  jvm.cost = kSecond / 10;
  jvm.start(1001, "first", 0x2000);
  EXPECT_EQ(jvm.name_of(1001, 0x1ff0), "first");
  jvm.java.clear();
  jvm.start(1002, kLong, 0x2000);
  EXPECT_EQ(jvm.name_of(1002, 0x1ff0), "http-nio-8080-e") << "the list has the first one";
  jvm.now += kSecond;
  EXPECT_EQ(jvm.name_of(1002, 0x1ff0), kLong);
}

TEST(SampledThreads, AreLookedForAgainIfTheyHadNoNameYet) {
  Jvm jvm;
  jvm.start(1001, "", 0x2000);
  EXPECT_EQ(jvm.name_of(1001, 0x1ff0), "");
  jvm.java[0].name = kLong;
  EXPECT_EQ(jvm.name_of(1001, 0), "") << "the list was just read";
  jvm.now += kSecond / 10;
  EXPECT_EQ(jvm.name_of(1001, 0), kLong);
}

TEST(SampledThreads, AreLookedForAgainIfTheyWereJustStarting) {
  Jvm jvm;
  jvm.start(1001, "java", 0);
  EXPECT_EQ(jvm.name_of(1001, 0x1ff0), "java") << "the list has it without its stack";
  jvm.start(1001, kLong, 0x2000);
  EXPECT_EQ(jvm.name_of(1001, 0x1ff0), "java") << "the list was just read";
  jvm.now += kSecond / 10;
  EXPECT_EQ(jvm.name_of(1001, 0x1ff0), kLong);
}

}  // namespace
}  // namespace jtrace::sampling
