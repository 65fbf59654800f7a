// The java.util.concurrent locks that threads own: `jtrace inspect threads`, `locks` and `events` against the JVM's own
// Thread.print -l, for each JDK and collector.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/live/inspect_peers.h"
#include "tests/testlib/java_app.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_document.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kProgram = R"(
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.*;
public final class Owning {
    static final class Mine extends AbstractOwnableSynchronizer {
        void take() {
            setExclusiveOwnerThread(Thread.currentThread());
        }
    }
    static final ReentrantLock PLAIN = new ReentrantLock();
    static final ReentrantLock FAIR = new ReentrantLock(true);
    static final ReentrantLock FREE = new ReentrantLock();
    static final ReentrantLock LEFT = new ReentrantLock();
    static final ReentrantReadWriteLock WRITTEN = new ReentrantReadWriteLock();
    static final ReentrantReadWriteLock READ = new ReentrantReadWriteLock();
    static final Mine MINE = new Mine();
    static Object kept;
    static void stand(String name, Runnable first, boolean stays) throws Exception {
        CountDownLatch stands = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            first.run();
            stands.countDown();
            while (stays) {
                LockSupport.park();
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
        stands.await();
        if (!stays) {
            thread.join();
        }
    }
    public static void main(String[] args) throws Exception {
        FREE.lock();
        FREE.unlock();
        stand("owner", () -> {
            PLAIN.lock();
            WRITTEN.writeLock().lock();
            READ.readLock().lock();
            MINE.take();
        }, true);
        stand("fair", FAIR::lock, true);
        stand("left", LEFT::lock, false);
        Thread waiter = new Thread(PLAIN::lock, "waiter");
        waiter.setDaemon(true);
        waiter.start();
        while (waiter.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        ExecutorService pool = Executors.newFixedThreadPool(1);
        CountDownLatch works = new CountDownLatch(1);
        pool.execute(() -> {
            works.countDown();
            while (kept == null) {
                LockSupport.park();
            }
        });
        works.await();
        Object[] much = new Object[args.length > 0 ? Integer.parseInt(args[0]) : 0];
        for (int i = 0; i < much.length; i++) {
            much[i] = new int[64];
        }
        System.gc();
        System.out.println("READY");
        System.in.read();
        kept = much;
        System.exit(0);
    }
}
)";

Result<std::unique_ptr<JvmProcess>> start(const Jdk& jdk, std::vector<std::string> flags,
                                          const std::string& much = "0") {
  JTRACE_ASSIGN_OR_RETURN(const std::string classes, compiled_source("Owning", kProgram));
  JvmOptions options = attachable(jdk, std::move(flags));
  options.arguments = {much};
  return JvmProcess::start_classes(jdk, classes, "Owning", options);
}

CommandOutput look(const JvmProcess& jvm, std::vector<std::string> words) {
  words.insert(words.begin(), {"inspect", jvm.pid_text()});
  const auto done = run_jtrace(words);
  return done ? *done : CommandOutput{.err = done.error().message()};
}

std::set<std::string> classes_of(const std::set<std::string>& owned) {
  std::set<std::string> names;
  for (const std::string& each : owned) names.insert(each.substr(each.find(' ') + 1));
  return names;
}

class OwnedLocks : public ::testing::TestWithParam<JdkAndCollector> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OwnedLocks);
INSTANTIATE_TEST_SUITE_P(Jvms, OwnedLocks, ::testing::ValuesIn(jdks_and_collectors()), NameOf());

TEST_P(OwnedLocks, AreThoseThatTheJvmReports) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  const JdkAndCollector& pair = GetParam();
  const auto jvm = must(start(pair.jdk, pair.jdk.collector_flags(pair.collector)));
  const auto asked = must(run_jtrace({"cmd", jvm->pid_text(), "jcmd", "Thread.print -l"}));
  const Dump theirs = parse_thread_print(asked.out);
  ASSERT_TRUE(theirs.contains("owner")) << asked.out << asked.err;
  const CommandOutput threads = look(*jvm, {"threads", "--format", "json", "--max-stop", "20000"});
  ASSERT_EQ(threads.status, 0) << threads.err;
  EXPECT_EQ(json::parse(threads.out)["ownedComplete"], true) << json::parse(threads.out)["ownedMissing"];
  Dump ours = dump_of_json(threads.out);
  EXPECT_EQ(classes_of(ours["owner"].owned),
            (std::set<std::string>{"Owning$Mine", "java.util.concurrent.locks.ReentrantLock$NonfairSync",
                                   "java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync"}));
  EXPECT_EQ(ours["waiter"].owned.size(), 0u);
  EXPECT_THAT(look(*jvm, {"locks", "--max-stop", "20000"}).out,
              AllOf(HasSubstr("\n1 thread of a pool runs a task and owns its Worker: \"pool-1-thread-1\"\n"),
                    Not(HasSubstr("ThreadPoolExecutor$Worker"))));
  // ZGC may move objects between the two commands.
  for (const auto& [name, thread] : theirs) {
    if (pair.collector == Collector::kZ) {
      EXPECT_EQ(classes_of(ours[name].owned), classes_of(thread.owned)) << name;
    } else {
      EXPECT_EQ(ours[name].owned, thread.owned) << name;
    }
  }

  const CommandOutput locks = look(*jvm, {"locks", "--format", "json", "--max-stop", "20000"});
  ASSERT_EQ(locks.status, 0) << locks.err;
  std::multiset<std::string> owned, waiting;
  const json all = json::parse(locks.out);
  for (const json& row : all["data"]) {
    if (row["thread"] == "main") continue;  // main reads from stdin, which takes a lock in JDK 19 to 23
    const std::string text = row["thread"].get<std::string>() + " " + row["class"].get<std::string>();
    if (row["kind"] == "owned") owned.insert(text + (row.value("listed", true) ? "" : " ended"));
    if (row["kind"] == "park" && row.contains("owner")) waiting.insert(text + " of " + row["owner"].get<std::string>());
  }
  const std::string lock = " java.util.concurrent.locks.";
  EXPECT_EQ(owned, (std::multiset<std::string>{"fair" + lock + "ReentrantLock$FairSync",
                                               "left" + lock + "ReentrantLock$NonfairSync ended", "owner Owning$Mine",
                                               "owner" + lock + "ReentrantLock$NonfairSync",
                                               "owner" + lock + "ReentrantReadWriteLock$NonfairSync",
                                               "pool-1-thread-1 java.util.concurrent.ThreadPoolExecutor$Worker"}));
  EXPECT_EQ(waiting, (std::multiset<std::string>{"waiter" + lock + "ReentrantLock$NonfairSync of owner"}));

  const ScratchDir folder;
  const std::string path = folder.file("locks.xml");
  ASSERT_EQ(look(*jvm, {"locks", "--format", "xml", "-o", path, "--max-stop", "20000"}).status, 0);
  EXPECT_TRUE(valid(path));
  const auto document = must(TraceDocument::read(path));
  EXPECT_TRUE(none(document.id_faults()));
  EXPECT_GE(document.count("monContendedEntered"), 5u);
  record_support(pair.jdk, to_string(pair.collector), "live", "owned java.util.concurrent locks");
}

// A heap that takes longer than the bound: possible gaps are reported, and locks that are waited for are shown anyway.
TEST(OwnedLocksOfALargeHeap, MayBeMissingAndThatIsReported) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK on this machine");
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  const auto jvm = must(start(*jdk, {"-XX:+UseSerialGC", "-Xmx400m"}, "700000"));
  const CommandOutput text = look(*jvm, {"locks", "--max-stop", "10"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("java.util.concurrent locks that threads own may be missing: a heap of "));
  EXPECT_THAT(text.out, HasSubstr("\"owner\" #"));
  const CommandOutput whole = look(*jvm, {"threads", "--max-stop", "20000"});
  EXPECT_EQ(whole.status, 0) << whole.err;
  EXPECT_THAT(whole.out, ::testing::Not(HasSubstr("may be missing")));
  EXPECT_THAT(whole.out, HasSubstr("- owns <0x"));
}

}  // namespace
}  // namespace jtrace::test
