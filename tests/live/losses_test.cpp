// A program with a known call tree makes far more events than can be kept. The stacks in the trace are right, the trace
// says for each thread how much was lost between which events, and it is valid.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "tests/testlib/run_command.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"
#include "trace/gap_option.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

// The attribute of a document's line; "" if it has none.
std::string_view get(std::string_view line, std::string_view name) {
  const std::string key = " " + std::string(name) + "=\"";
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + key.size();
  return line.substr(begin, line.find('"', begin) - begin);
}

// The calls of tests/apps/Tree.java in a document, read line by line without jtrace's readers.
struct Account {
  std::uint64_t entries = 0, untrue = 0, lost = 0, dropped = 0, gaps = 0;
  std::string first_untrue;
};
struct OfThread {
  std::vector<std::pair<std::string, std::string>> stack;  // ticket, name
  bool cut = false;                                        // callers are unknown
};

void enter(Account& account, OfThread& thread, std::string name, std::string_view line) {
  ++account.entries;
  // A caller's name is the callee's without its last letter.
  const bool root = thread.stack.empty();
  const bool may_be_root = thread.cut || name == "n" || get(line, "stackDepth") != "1";
  if (root ? !may_be_root : thread.stack.back().second != name.substr(0, name.size() - 1)) {
    ++account.untrue;
    if (account.first_untrue.empty()) account.first_untrue = line;
  }
  thread.stack.emplace_back(get(line, "ticket"), std::move(name));
}

Account account_of(const std::string& path) {
  Account account;
  std::map<std::string, OfThread, std::less<>> threads;
  std::map<std::string, std::string, std::less<>> methods;
  bool any = false;  // a gap of any thread, threads that start later included
  const auto thread_of = [&](std::string_view line) -> OfThread& {
    return threads.try_emplace(std::string(get(line, "threadIdRef")), OfThread{{}, any}).first->second;
  };
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("<methodDef ")) {
      methods[std::string(get(line, "methodId"))] = get(line, "name");
    } else if (line.starts_with("<methodEntry ")) {
      enter(account, thread_of(line), methods[std::string(get(line, "methodIdRef"))], line);
    } else if (line.starts_with("<methodExit ")) {
      auto& stack = thread_of(line).stack;
      while (!stack.empty()) {
        const bool own = stack.back().first == get(line, "ticket");
        stack.pop_back();
        if (own) break;
      }
    } else if (get(line, "key") == "jtrace.dropped") {
      account.dropped += std::stoull(std::string(get(line, "value")));
    } else if (get(line, "key") == trace::kGapKey) {
      const auto gap = trace::read_gap(get(line, "value"));
      if (!gap) continue;
      ++account.gaps;
      account.lost += gap->lost;
      any = any || gap->thread == 0;
      for (auto& [id, thread] : threads)
        if (gap->thread == 0 || id == std::to_string(gap->thread)) thread = {{}, true};
      if (gap->thread != 0) threads[std::to_string(gap->thread)].cut = true;
    }
  }
  return account;
}

void expect_true(const std::string& path, Account* all = nullptr) {
  const Account account = account_of(path);
  EXPECT_GT(account.entries, 0u);
  EXPECT_EQ(account.untrue, 0u) << "of " << account.entries << ", first " << account.first_untrue;
  const auto verdict = must(run_jtrace({"validate", path}));
  EXPECT_EQ(verdict.status, 0) << verdict.out << verdict.err;
  if (all != nullptr) *all = account;
}

// The parts of the flame graph in stacks of the program are right.
void expect_true_stacks(const std::string& path) {
  const auto collapsed = must(run_jtrace({"convert", path, "--to", "collapsed"}));
  std::istringstream lines(collapsed.out);
  for (std::string line; std::getline(lines, line);) {
    std::string before;
    bool first = true;  // the thread
    std::istringstream stack(line.substr(0, line.rfind(' ')));
    for (std::string frame; std::getline(stack, frame, ';'); first = false) {
      if (first) continue;
      const std::string name = frame.substr(frame.rfind('.') + 1);
      if (before.empty()) {
        EXPECT_TRUE(name == "n" || name == "(callers not known)") << line;
      } else {
        EXPECT_TRUE(before == "(callers not known)" || name.substr(0, name.size() - 1) == before) << line;
      }
      before = name;
    }
  }
}

::testing::AssertionResult is_rewritten(TraceRun& run) {
  return succeeded(
      wait_for_bytes(run.path(), "jtrace.rewritten", std::chrono::seconds(60), [&] { return run.command().alive(); }));
}

void overload(const Jdk& jdk, const std::string& command, Words options, const std::function<void(TraceRun&)>& judge) {
  options.insert(options.end(), {"--ring-memory", "1M", "--filter", "Tree n* include", "--filter", "* exclude"});
  TracedJvm jvm(jdk, "Tree", options);
  ASSERT_TRUE(is_rewritten(jvm.run()));
  jvm.ask(command);
  jvm.stop(9);
  EXPECT_THAT(jvm.command().err(), HasSubstr("events were lost"));
  judge(jvm.run());
  jvm.process().close_input();
  EXPECT_TRUE(succeeded(jvm.process().wait_exit()));
  EXPECT_EQ(jvm.process().crash_report(), "");
}

TEST_P(EachJdk, LeaveOnlyStacksThatExisted) {
  overload(GetParam(), "spin 60000 2", {"--events", "methods"}, [](TraceRun& run) {
    Account account;
    expect_true(run.path(), &account);
    expect_true_stacks(run.path());
    EXPECT_GT(account.gaps, 0u);
    EXPECT_EQ(account.lost, account.dropped);
    // Losses are long stretches, not every other chunk of a thousand.
    EXPECT_GT(account.entries * 2, account.gaps * 5000);
  });
  record_support(GetParam(), "G1", "live", "losses");
}

TEST_P(EachJdk, LeaveTheStacksOfVirtualThreadsTrue) {
  if (GetParam().version < 21) GTEST_SKIP() << "no virtual threads";
  overload(GetParam(), "virtual 20000 6", {"--events", "methods"}, [](TraceRun& run) {
    expect_true(run.path());
    expect_true_stacks(run.path());
  });
}

TEST_P(EachJdk, LeaveCallsAndExceptionsTrue) {
  overload(GetParam(), "spin 40000 2", {"--events", "methods,calls,exceptions,monitors,threads", "--time", "precise"},
           [](TraceRun& run) { expect_true(run.path()); });
}

TEST_P(EachJdk, AreInEachFileOfARotatedTrace) {
  overload(GetParam(), "spin 40000 2", {"--events", "methods", "--max-size", "4M", "--rotate", "1000"},
           [](TraceRun& run) {
             int files = 0;
             for (const auto& each : fs::directory_iterator(fs::path(run.path()).parent_path())) {
               ++files;
               expect_true_stacks(each.path());
               if (account_of(each.path()).entries != 0) expect_true(each.path());
             }
             EXPECT_GT(files, 1);
           });
}

// A gap that a spill kept is the same as one that is written at once.
TEST(Spill, HasTheGaps) {
  JTRACE_NEED_JDK(jdk);
  const ScratchDir folder;
  const std::string kept = folder.file("a.spill");
  auto jvm = must(JvmProcess::start(*jdk, "Tree", attachable(*jdk)));
  auto command =
      must(BackgroundCommand::start({jtrace_binary(), "attach", jvm->pid_text(), "--spill", kept, "--events", "methods",
                                     "--ring-memory", "1M", "--filter", "Tree n* include", "--filter", "* exclude"}));
  must(wait_for_bytes(kept, "jtrace.rewritten", std::chrono::seconds(60), [&] { return command->alive(); }));
  command->signal(SIGSTOP);
  must(jvm->ask("spin 40000 2"));
  command->signal(SIGCONT);
  must(jvm->ask("spin 2000 2"));
  command->signal(SIGINT);
  EXPECT_EQ(command->wait_exit(std::chrono::minutes(1)).value_or(-1), 9);
  const std::string path = folder.file("a.xml");
  const auto done = must(run_jtrace({"convert", kept, "-o", path}));
  EXPECT_EQ(done.status, 9) << done.err;
  EXPECT_THAT(done.err, HasSubstr("events lost while tracing"));
  Account account;
  expect_true(path, &account);
  EXPECT_GT(account.gaps, 0u);
}

// System.exit, Runtime.halt, and a daemon that runs when main returns: the JVM ends threads within their calls.
TEST_P(EachJdk, AreNotWhatTheEndOfTheJvmLeavesOpen) {
  for (const std::string how : {"exit", "halt", "daemon"}) {
    TracedJvm jvm(GetParam(), "Tree",
                  {"--events", "threads,runtime,methods,counts", "--filter", "Tree end include", "--filter",
                   "Tree within include", "--filter", "Tree spin include", "--filter", "* exclude"});
    ASSERT_TRUE(is_rewritten(jvm.run()));
    must(jvm.process().send("exit " + how));
    must(jvm.process().wait_exit());
    EXPECT_EQ(jvm.command().wait_exit(std::chrono::minutes(1)).value_or(-1), 0) << jvm.command().err();
    const TraceDocument trace = jvm.document();
    EXPECT_EQ(trace.option(trace::kGapKey), "");
    EXPECT_EQ(trace.count("methodEntry") - trace.count("methodExit"), how == "daemon" ? 1u : 2u) << how;
    EXPECT_EQ(trace.option(trace::kExitKey).empty(), how == "daemon") << how;
    const std::string sddf = jvm.path() + ".sddf";
    const auto converted = must(run_jtrace({"convert", jvm.path(), "-o", sddf}));
    EXPECT_EQ(converted.status, 0) << converted.err;
    for (const std::string& path : {jvm.path(), sddf}) {
      const auto verdict = must(run_jtrace({"validate", path}));
      EXPECT_EQ(verdict.status, 0) << how << " " << path << "\n" << verdict.out << verdict.err;
    }
    fs::remove(sddf);
  }
}

// A callout cannot write on a full stack: ends of calls are missing, and the end of the thread reports it.
TEST_P(EachJdk, AreReportedIfACalloutFindsNoStack) {
  auto jvm = must(JvmProcess::start(GetParam(), "Calls", attachable(GetParam())));
  for (const char* events : {"threads,methods", "threads,methods,calls,exceptions,lines"}) {
    SCOPED_TRACE(events);
    auto run = must(TraceRun::start(jvm->pid(), {"--events", events, "--filter", "Calls overflow* include", "--filter",
                                                 "* exclude", "--when-full", "block", "--block-limit", "10000"}));
    ASSERT_TRUE(is_rewritten(*run));
    must(jvm->ask("overflows 8"));
    must(run->stop());
    const auto verdict = must(run_jtrace({"validate", run->path()}));
    EXPECT_EQ(verdict.status, 0) << events << "\n" << verdict.out << verdict.err;
  }
}

}  // namespace
}  // namespace jtrace::test
