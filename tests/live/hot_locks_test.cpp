// Locks that change hands all the time: `jtrace inspect locks` and `threads` report waits and owners of one moment, no
// deadlock where there is none, and the one that there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/testlib/java_app.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::AnyOf;

// Six threads take two monitors and two ReentrantLocks one after the other, never one within another. The word
// "deadlock" on stdin makes two more wait for each other.
constexpr const char* kProgram = R"(
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
public final class Hot {
    static final Object A = new Object(), B = new Object(), LEFT = new Object(), RIGHT = new Object();
    static final ReentrantLock C = new ReentrantLock(), D = new ReentrantLock();
    static long number;
    static void spin() {
        for (int i = 0; i < 2000; i++) {
            number += i;
        }
    }
    static void monitors(Object first, Object second) {
        synchronized (first) {
            spin();
        }
        synchronized (second) {
            spin();
        }
    }
    static void lock(ReentrantLock lock) {
        lock.lock();
        spin();
        lock.unlock();
    }
    static void begin(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }
    static void cross(Object first, Object second, CountDownLatch both) {
        synchronized (first) {
            both.countDown();
            try {
                both.await();
            } catch (InterruptedException e) {
                return;
            }
            synchronized (second) {
                spin();
            }
        }
    }
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 6; i++) {
            int which = i;
            begin("hot-" + i, () -> {
                while (true) {
                    switch (which % 4) {
                        case 0: monitors(A, B); break;
                        case 1: monitors(B, A); break;
                        case 2: lock(C); lock(D); break;
                        default: lock(D); lock(C);
                    }
                }
            });
        }
        System.out.println("READY");
        while (System.in.read() >= 0) {
            CountDownLatch both = new CountDownLatch(2);
            begin("left", () -> cross(LEFT, RIGHT, both));
            begin("right", () -> cross(RIGHT, LEFT, both));
            both.await();
            System.out.println("OK crossed");
            while (System.in.read() >= 0) {
                spin();
            }
        }
        System.exit(0);
    }
}
)";

constexpr int kTimes = 25;

class HotLocks : public ::testing::TestWithParam<Jdk> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
    const auto classes = must(compiled_source("Hot", kProgram));
    jvm_ = must(JvmProcess::start_classes(GetParam(), classes, "Hot", attachable(GetParam())));
  }
  json look(const std::string& view) {
    const auto done = must(run_jtrace({"inspect", jvm_->pid_text(), view, "--format", "json"}));
    EXPECT_THAT(done.status, AnyOf(0, 9)) << done.err;  // 9: a collection ran, on a machine that has little time
    return json::parse(done.out)["data"];
  }
  std::unique_ptr<JvmProcess> jvm_;
};
JTRACE_ON_EACH_JDK(HotLocks);

TEST_P(HotLocks, MakeNoDeadlockAndHideNone) {
  const auto deadlocks = [&](std::vector<std::set<std::string>>& found) {
    for (const json& row : look("locks"))
      if (row["kind"] == "deadlock") found.push_back(row["threads"].get<std::set<std::string>>());
  };
  std::vector<std::set<std::string>> none;
  for (int i = 0; i < kTimes; ++i) deadlocks(none);
  EXPECT_EQ(none, decltype(none)());
  must(jvm_->ask("deadlock"));
  std::vector<std::set<std::string>> found;
  const auto both = std::set<std::string>{"left", "right"};
  for (int i = 0; i < 100 && found.empty(); ++i) deadlocks(found);  // they may not wait yet
  found.clear();
  for (int i = 0; i < 5; ++i) deadlocks(found);
  EXPECT_EQ(found, std::vector(5, both));
  record_support(GetParam(), "G1", "live", "locks that change hands");
}

// No thread waits for one lock while it has another one, so an owner does not wait, but for the lock that it just got.
TEST_P(HotLocks, HaveTheOwnersOfTheSameMoment) {
  int owned = 0;
  for (int i = 0; i < kTimes; ++i) {
    const json threads = look("threads");
    std::map<std::string, json> waits;
    for (const json& thread : threads)
      if (thread.contains("waitingOn")) waits[thread["name"]] = thread["waitingOn"];
    for (const auto& [name, wait] : waits) {
      if (!name.starts_with("hot-")) continue;
      EXPECT_THAT(wait["class"].get<std::string>(),
                  AnyOf("java.lang.Object", "java.util.concurrent.locks.ReentrantLock$NonfairSync"));
      if (!wait.contains("owner")) continue;
      ++owned;
      const std::string owner = wait["owner"];
      EXPECT_NE(owner, name);
      if (waits.contains(owner)) {
        EXPECT_EQ(waits[owner]["object"], wait["object"]) << name << " waits for " << owner << "\n" << threads;
      }
    }
  }
  EXPECT_GT(owned, 0);
}

}  // namespace
}  // namespace jtrace::test
