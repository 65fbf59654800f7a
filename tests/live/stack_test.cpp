// `jtrace stack`, `profile`, `top` and the events of a snapshot on every JDK found: complete stacks from the innermost
// native function to the thread's start, and a target that is unharmed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.h"
#include "base/strings.h"
#include "base/terminal.h"
#include "tests/live/inspect_peers.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

CommandOutput run(const std::vector<std::string>& words) {
  const auto done = run_jtrace(words, {.timeout = std::chrono::minutes(2)});
  return done ? *done : CommandOutput{.err = done.error().message()};
}

json stacks_of(const JvmProcess& jvm, std::vector<std::string> more = {}) {
  std::vector<std::string> words{"stack", jvm.pid_text(), "--format", "json"};
  words.insert(words.end(), more.begin(), more.end());
  const CommandOutput done = run(words);
  EXPECT_EQ(done.status, 0) << done.err;
  return json::accept(done.out) ? json::parse(done.out) : json::object({{"data", json::array()}});
}

// "Class.method" of the Java frames of a row, innermost first.
std::vector<std::string> java_frames(const json& row) {
  std::vector<std::string> frames;
  for (const json& frame : row["frames"])
    if (frame.contains("method"))
      frames.push_back(frame["class"].get<std::string>() + "." + frame["method"].get<std::string>());
  return frames;
}

bool is_subsequence(const std::vector<std::string>& part, const std::vector<std::string>& whole) {
  auto at = whole.begin();
  for (const std::string& frame : part) {
    at = std::find(at, whole.end(), frame);
    if (at == whole.end()) return false;
    ++at;
  }
  return true;
}

class StackOnEachJdk : public ::testing::TestWithParam<Jdk> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
    JvmOptions options = attachable(GetParam(), {"-Xmx32m", "-Xss512k"});
    auto jvm = must(JvmProcess::start(GetParam(), "Standing", options));
    jvm_ = std::move(jvm);
  }
  void expect_unharmed() {
    EXPECT_TRUE(jvm_->alive());
    EXPECT_TRUE(succeeded(jvm_->ask("more 1")));
    EXPECT_EQ(jvm_->err(), "");
  }
  // Frames of parked virtual threads as Thread.dump_to_file has them, by name: "Class.method", innermost first.
  std::map<std::string, std::vector<std::string>> dumped_virtual_threads() {
    const std::string path = "/tmp/jtrace-test-" + jvm_->pid_text() + "-threads";
    EXPECT_EQ(run({"cmd", jvm_->pid_text(), "jcmd", "Thread.dump_to_file " + path}).status, 0);
    std::ifstream file(jvm_->inside(path));
    std::map<std::string, std::vector<std::string>> threads;
    std::vector<std::string>* frames = nullptr;
    for (std::string line; std::getline(file, line);) {
      const std::size_t quote = line.find('"');
      if (line.starts_with('#') && quote != line.npos)
        frames = line.find("\" virtual") == line.npos ? nullptr
                                                      : &threads[line.substr(quote + 1, line.rfind('"') - quote - 1)];
      const std::size_t open = line.rfind('(');
      if (!frames || !line.starts_with("  ") || open == line.npos) continue;
      std::string name = line.substr(line.find_first_not_of(' '), open - line.find_first_not_of(' '));
      if (name.starts_with("at ")) name.erase(0, 3);  // JDK 25 and later
      if (const std::size_t module = name.find('/'); module != name.npos && name.find("/0x") != module)
        name.erase(0, module + 1);
      frames->push_back(name);
    }
    (void)::unlink(jvm_->inside(path).c_str());
    return threads;
  }

  std::unique_ptr<JvmProcess> jvm_;
};
JTRACE_ON_EACH_JDK(StackOnEachJdk);

TEST_P(StackOnEachJdk, IsWholeFromTheTopToTheBottom) {
  const auto dump = run({"cmd", jvm_->pid_text(), "jcmd", "Thread.print"});
  const Dump theirs = parse_thread_print(dump.out);
  const json document = stacks_of(*jvm_);
  EXPECT_TRUE(document["pauseMicros"].is_number());
  std::size_t threads = 0, whole = 0, java_frames_of_theirs = 0, found_frames = 0;
  for (const json& row : document["data"]) {
    ++threads;
    whole += row["bottom"].get<bool>();
    EXPECT_FALSE(row["frames"].empty()) << row["name"];
    const auto theirs_of = theirs.find(row["name"]);
    if (!row["java"].get<bool>() || theirs_of == theirs.end()) continue;
    java_frames_of_theirs += theirs_of->second.frames.size();
    const auto ours = java_frames(row);
    found_frames += std::min(ours.size(), theirs_of->second.frames.size());
  }
  EXPECT_GE(threads, 20u);
  EXPECT_GE(java_frames_of_theirs, 100u);
  EXPECT_GE(found_frames * 100, java_frames_of_theirs * 99);
  EXPECT_GE(whole * 100, threads * 95) << document.dump(1).substr(0, 20000);
  const CommandOutput text = run({"stack", jvm_->pid_text()});
  EXPECT_THAT(text.out, AllOf(HasSubstr("The target was stopped for "), HasSubstr("call_stub entry"),
                              HasSubstr("(libjvm.so) native"), HasSubstr("Standing.park")));
  expect_unharmed();
  record_support(GetParam(), "default", "live", "mixed stacks");
}

TEST_P(StackOnEachJdk, WorksOnAJvmThatHangsAndLeavesItSo) {
  jvm_->signal(SIGSTOP);
  const json document = stacks_of(*jvm_);
  EXPECT_GE(document["data"].size(), 20u);
  const auto state = read_file("/proc/" + jvm_->pid_text() + "/stat");
  ASSERT_TRUE(state);
  EXPECT_THAT(*state, HasSubstr(") T ")) << "it was stopped before, and is so after";
  jvm_->signal(SIGCONT);
  expect_unharmed();
}

TEST_P(StackOnEachJdk, ShowsTheThreadsThatAreAskedFor) {
  must(jvm_->ask("more 60"));
  std::size_t members = 0, largest = 0;
  const json groups = stacks_of(*jvm_, {"--thread", "more-*", "--java", "--group"});
  for (const json& group : groups["data"]) {
    EXPECT_EQ(group["count"], group["threads"].size());
    EXPECT_EQ(java_frames(group).size(), group["frames"].size()) << "a frame that is not Java's";
    members += group["threads"].size();
    largest = std::max(largest, group["threads"].size());
  }
  EXPECT_EQ(members, 60u);
  EXPECT_GE(largest, 30u) << "their stacks are equal";
  const json blocked = stacks_of(*jvm_, {"--state", "BLOCKED"});
  EXPECT_FALSE(blocked["data"].empty());
  for (const json& thread : blocked["data"]) EXPECT_EQ(thread["state"], "BLOCKED") << thread["name"];
  const CommandOutput none = run({"stack", jvm_->pid_text(), "--thread", "nobody"});
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr("no thread matches"));
  EXPECT_EQ(run({"stack", jvm_->pid_text(), "--java", "--format", "xml"}).status, 2);
  expect_unharmed();
}

TEST_P(StackOnEachJdk, TakesManyThreadsInBatches) {
  must(jvm_->ask("more 60"));
  const json document = stacks_of(*jvm_, {"--max-stop", "2ms"});
  EXPECT_GT(document["batches"].get<int>(), 1);
  std::size_t deep = 0;
  for (const json& row : document["data"])
    if (row["name"].get<std::string>().starts_with("more-")) deep += java_frames(row).size() >= 18;
  EXPECT_EQ(deep, 60u);
  EXPECT_THAT(run({"stack", jvm_->pid_text(), "--max-pause", "2"}).out, HasSubstr("not one instant"));
  expect_unharmed();
}

// A thread's state changes as soon as it runs on: in a shop whose clerks block and park in turns, who is BLOCKED is not
// in a park.
TEST_P(StackOnEachJdk, ShowsTheStatesThatBelongToTheFrames) {
  const auto shop =
      must(JvmProcess::start(GetParam(), "Shop", attachable(GetParam(), {"-Xmx64m", "-XX:+UseSerialGC"})));
  int blocked = 0;
  for (int look = 0; look < 300 && blocked < 100; ++look) {
    // A stack that cannot be read to its native end, in a moment of one in some hundred looks, has its Java frames.
    const CommandOutput done = run({"stack", shop->pid_text(), "--format", "json", "--java", "--thread", "clerk*"});
    EXPECT_THAT(done.status, ::testing::AnyOf(0, 9)) << done.err;
    const json document = json::parse(done.out);
    for (const json& row : document["data"]) {
      if (row["state"] != "BLOCKED") continue;
      ++blocked;
      const std::vector<std::string> frames = java_frames(row);
      EXPECT_FALSE(!frames.empty() && frames.front().ends_with("Unsafe.park")) << row;
    }
  }
  EXPECT_GT(blocked, 20) << "the shop has a lock that all clerks need";
}

TEST_P(StackOnEachJdk, ShowsParkedVirtualThreads) {
  if (GetParam().version < 21) GTEST_SKIP() << "JDK " << GetParam().version << " has no virtual threads";
  must(jvm_->ask("virtual 50"));
  const auto theirs = dumped_virtual_threads();
  EXPECT_EQ(theirs.size(), 50u);
  const json document = stacks_of(*jvm_);
  std::map<std::string, json> ours;
  for (const json& row : document["data"])
    if (row.value("virtual", false)) ours[row["name"]] = row;
  EXPECT_EQ(ours.size(), 50u);
  for (const auto& [name, frames] : theirs) {
    ASSERT_TRUE(ours.contains(name)) << name;
    EXPECT_EQ(ours[name]["state"], "WAITING") << name;
    EXPECT_TRUE(is_subsequence(frames, java_frames(ours[name]))) << name << "\n"
                                                                 << ::testing::PrintToString(frames) << "\n"
                                                                 << ::testing::PrintToString(java_frames(ours[name]));
  }
  expect_unharmed();
  record_support(GetParam(), "default", "live", "virtual threads");
}

TEST_P(StackOnEachJdk, ShowsWhichThreadsWaitForVirtualOnes) {
  if (GetParam().version < 21) GTEST_SKIP() << "JDK " << GetParam().version << " has no virtual threads";
  // Before 24 a monitor pins virtual threads to their carriers (JEP 491).
  const JvmOptions options = attachable(GetParam(), {"-Xmx32m", "-Djdk.virtualThreadScheduler.parallelism=8"});
  jvm_ = must(JvmProcess::start(GetParam(), "Standing", options));
  must(jvm_->ask("virtual-locks"));
  std::map<std::string, std::string> waits;  // thread: what it waits for, and which thread has it
  const CommandOutput locks = run({"inspect", jvm_->pid_text(), "locks", "--format", "json"});
  ASSERT_EQ(locks.status, 0) << locks.err;
  const json document = json::parse(locks.out);
  for (const json& row : document["data"])
    if (row.contains("thread"))
      waits[row["thread"]] =
          row["kind"].get<std::string>() + " " + row["class"].get<std::string>() + " " + row.value("owner", "nobody");
  EXPECT_EQ(waits["v-enter"], "monitor java.lang.StringBuilder v-holder");
  EXPECT_EQ(waits["p-enter"], "monitor java.lang.StringBuilder v-holder");
  EXPECT_EQ(waits["v-lock"], "park java.util.concurrent.locks.ReentrantLock$NonfairSync v-holder");
  EXPECT_EQ(waits["p-lock"], "park java.util.concurrent.locks.ReentrantLock$NonfairSync v-holder");
  EXPECT_EQ(waits["v-wait"], "wait java.lang.StringBuilder nobody");
  for (const auto& [name, wait] : waits)
    if (name.starts_with("ForkJoinPool-")) {
      EXPECT_THAT(wait, ::testing::Not(HasSubstr("StringBuilder"))) << name << ": it is its virtual thread's";
    }
  const std::map<std::string, std::string> states = {{"v-enter", "BLOCKED"}, {"v-wait", "WAITING"}};
  for (const auto& [name, state] : states) {
    const json found = stacks_of(*jvm_, {"--thread", name, "--state", state});
    ASSERT_EQ(found["data"].size(), 1u) << name;
    EXPECT_EQ(found["data"][0]["waitingOn"]["class"], "java.lang.StringBuilder") << name;
  }
  expect_unharmed();
  record_support(GetParam(), "default", "live", "locks of virtual threads");
}

TEST_P(StackOnEachJdk, WritesAValidTrace) {
  const ScratchDir folder;
  const std::vector<std::vector<std::string>> views = {{"events"},
                                                       {"stack"},
                                                       {"threads"},
                                                       {"locks"},
                                                       {"classes"},
                                                       {"class", "Standing"},
                                                       {"properties"},
                                                       {"counters"},
                                                       {"flags"},
                                                       {"args"},
                                                       {"method", "Standing.park"}};
  for (const auto& words : views) {
    const std::string& view = words.front();
    const std::string path = folder.file(view + ".xml");
    std::vector<std::string> command{"inspect", jvm_->pid_text()};
    command.insert(command.end(), words.begin(), words.end());
    if (view == "stack") command = {"stack", jvm_->pid_text()};
    command.insert(command.end(), {"--format", "xml", "-o", path});
    const auto done = run(command);
    ASSERT_EQ(done.status, 0) << view << done.err;
    EXPECT_TRUE(valid(path)) << view;
    const auto document = must(TraceDocument::read(path));
    EXPECT_EQ(document.option("jtrace.kind"), "snapshot");
    EXPECT_TRUE(none(document.id_faults())) << view;
    EXPECT_TRUE(none(document.collation_faults())) << view;
    if (view == "classes") {
      EXPECT_GT(document.count("classDef"), 300u);
    }
    if (view == "class" || view == "method") {
      EXPECT_EQ(count_classes(document, "Standing"), 1);
      EXPECT_GT(document.count("methodDef"), 20u);
    }
    if (view == "flags") {
      EXPECT_EQ(document.option("flag.MaxHeapSize"), std::to_string(32 << 20));
    }
    if (view == "args") {
      EXPECT_EQ(document.option("java_command"), "Standing");
    }
    if (view == "locks") {
      EXPECT_EQ(document.count("monContendedEnter"), 3u);
    }
    if (view != "events") continue;
    for (const TraceElement* thread : document.all("threadStart"))
      if (thread->get("threadName") == "sleeper") {
        EXPECT_EQ(thread->get("groupName"), "main");
      }
    EXPECT_GE(document.count("methodEntry"), 100u);
    EXPECT_EQ(document.count("monContendedEnter"), 3u) << "blocked, dead-1, dead-2";
    for (const TraceElement* enter : document.all("monContendedEnter")) EXPECT_GT(enter->number("threadOwner"), 0u);
    EXPECT_EQ(document.count("gcFinish"), 1u);
    EXPECT_EQ(document.option("flag.MaxHeapSize"), std::to_string(32 << 20));
  }
}

TEST_P(StackOnEachJdk, IsProfiledWithoutAnAgent) {
  must(jvm_->ask("spin 1"));
  const CommandOutput busy =
      run({"profile", jvm_->pid_text(), "--ptrace", "--duration", "1", "--max-share", "50", "-o", "-"});
  EXPECT_EQ(busy.status, 0) << busy.err;
  EXPECT_THAT(busy.out, HasSubstr(";Standing.spin")) << busy.err;
  EXPECT_THAT(busy.err, AllOf(HasSubstr(" samples in "), HasSubstr("the target was stopped for ")));
  const ScratchDir folder;
  const std::string path = folder.file("profile.xml");
  const CommandOutput wall = run({"profile", jvm_->pid_text(), "--ptrace", "--wall", "--hz", "5", "--duration", "1",
                                  "--max-share", "50", "-o", path});
  EXPECT_EQ(wall.status, 0) << wall.err;
  EXPECT_TRUE(valid(path));
  const auto document = must(TraceDocument::read(path));
  EXPECT_GE(document.count("traceStart"), 1u);
  EXPECT_TRUE(none(document.id_faults()));
  const CommandOutput top = run({"top", jvm_->pid_text(), "--count", "1", "--interval", "0.5", "--format", "json"});
  EXPECT_THAT(top.status, ::testing::AnyOf(0, 9)) << top.err;  // 9: a busy machine, some samples were lost
  ASSERT_TRUE(json::accept(top.out)) << top.out;
  const json table = json::parse(top.out);
  const auto spinner = std::find_if(table["data"].begin(), table["data"].end(),
                                    [](const json& row) { return row["name"] == "spinner-0"; });
  ASSERT_NE(spinner, table["data"].end()) << top.out;
  EXPECT_GT((*spinner)["cpuShare"].get<double>(), 0.0);
  EXPECT_THAT((*spinner)["frame"].get<std::string>(), HasSubstr("Standing."));
  expect_unharmed();
}

// The interval is longer than the test may take.
TEST_P(StackOnEachJdk, TopEndsByItsKey) {
  const std::string top = jtrace_binary() + " top " + jvm_->pid_text() + " --interval 10m";
  const auto done =
      must(run_command({"script", "-qec", top, "/dev/null"}, {.input = "q", .timeout = std::chrono::minutes(5)}));
  EXPECT_EQ(done.status, 0) << done.out;
  expect_unharmed();
}

TEST_P(StackOnEachJdk, TopHasThreadsThatDidNothingInOneLine) {
  must(jvm_->ask("spin 1"));
  const std::string plain = run({"top", jvm_->pid_text(), "--count", "1", "--interval", "0.5"}).out;
  EXPECT_THAT(plain, ::testing::ContainsRegex("\n    0\\.0        - [0-9]+ threads: "));
  EXPECT_THAT(plain, ::testing::ContainsRegex("spinner-0"));
  EXPECT_EQ(plain.find("    0.0        -"), plain.rfind("    0.0 ")) << "such a thread has no row: " << plain;
  EXPECT_THAT(run({"top", jvm_->pid_text(), "--count", "1", "--interval", "0.5", "--rows", "0"}).out,
              ::testing::Not(HasSubstr("    0.0        - ")));
}

TEST_P(StackOnEachJdk, TopFitsTheTerminal) {
  const std::string top = jtrace_binary() + " top " + jvm_->pid_text() + " --count 1 --rows 100 --interval 0.3";
  const auto shown = must(run_command({"script", "-qec", "stty rows 8 cols 60; " + top, "/dev/null"}));
  EXPECT_EQ(shown.status, 0) << shown.out;
  constexpr std::string_view kClear = "\033[H\033[2J";
  ASSERT_TRUE(shown.out.starts_with(kClear)) << shown.out;
  const std::string_view table = std::string_view(shown.out).substr(kClear.size());
  const auto lines = split(table.substr(0, table.find_last_not_of("\r\n") + 1), '\n');
  EXPECT_EQ(lines.size(), 7u) << shown.out;  // the cursor is in the eighth
  EXPECT_THAT(shown.out, HasSubstr(" threads, the busiest 5 shown"));
  for (const std::string_view line : lines) EXPECT_EQ(cut_to_columns(line, 60 + 1), line);  // ends in \r
}

}  // namespace
}  // namespace jtrace::test
