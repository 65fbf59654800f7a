// `jtrace inspect` on every JDK found, on the live JVM and on its core: equal to the output of the JVM and its JDK.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "base/file.h"
#include "base/strings.h"
#include "tests/live/core_folder.h"
#include "tests/live/inspect_peers.h"
#include "tests/testlib/java_app.h"
#include "tests/testlib/places.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

// Flags that keep the core small, with so much room that no collection moves objects during the test.
std::vector<std::string> small_flags() {
  return {"-Xms48m",
          "-Xmx48m",
          "-Xss512k",
          "-XX:+UseSerialGC",
          "-XX:ReservedCodeCacheSize=24m",
          "-XX:CompressedClassSpaceSize=16m",
          "-Dtest.password=hunter2",
          "-Dtest.text=a=b:\\c\u20ac"};
}

std::string asked_of_jvm(const JvmProcess& jvm, const std::string& command) {
  const auto done = run_jtrace({"cmd", jvm.pid_text(), "--show-secrets", "jcmd", command});
  EXPECT_TRUE(succeeded(done));
  return done ? utf8_from_modified(done->out) : "";
}

std::string inspected(const std::string& target, std::vector<std::string> words) {
  words.insert(words.begin(), {"inspect", target});
  words.insert(words.end(), {"--format", "json"});
  const auto done = run_jtrace(words);
  EXPECT_TRUE(succeeded(done));
  if (!done) return {};
  EXPECT_EQ(done->status, 0) << words[2] << ": " << done->err;
  EXPECT_TRUE(json::accept(done->out)) << words[2] << ": " << done->out.substr(0, 2000);
  return done->out;
}

// Removes threads that start or end with the attach, and those that ran in the meantime.
void leave_out_restless(Dump& dump) {
  for (const char* name : {"Attach Listener", "C1 CompilerThread0", "C2 CompilerThread0", "Sweeper thread"})
    dump.erase(name);
}

// Threads that are in both dumps have the same frames, lines, locks and waits.
void expect_same(Dump ours, Dump theirs) {
  leave_out_restless(ours);
  leave_out_restless(theirs);
  EXPECT_GE(ours.size(), 14u);
  int owners = 0;  // of a java.util.concurrent lock
  for (const auto& [name, thread] : theirs) {
    ASSERT_TRUE(ours.contains(name)) << name;
    EXPECT_EQ(ours[name].frames, thread.frames) << name;
    EXPECT_EQ(ours[name].state, thread.state) << name;
    EXPECT_EQ(ours[name].locked, thread.locked) << name;
    EXPECT_EQ(ours[name].waiting, thread.waiting) << name;
    EXPECT_EQ(ours[name].owned, thread.owned) << name;
    owners += thread.owned.empty() ? 0 : 1;
  }
  EXPECT_GE(owners, 2);
  EXPECT_EQ(ours.size(), theirs.size());
}

// Flags that the JVM itself changes while it runs: C2 stores in this one what it found out about the loop that it
// compiles (policy_unroll in opto/loopTransform.cpp, JDK 9 and later).
const std::set<std::string>& restless_flags() {
  static const std::set<std::string> names{"LoopMaxUnroll"};
  return names;
}

// `ours` has the same value for each key.
void expect_equal_values(const std::map<std::string, std::string>& ours,
                         const std::map<std::string, std::string>& theirs, std::size_t at_least,
                         const std::set<std::string>& but = {}) {
  EXPECT_GE(theirs.size(), at_least);
  for (const auto& [key, value] : theirs) {
    const auto found = ours.find(key);
    if (but.contains(key)) continue;
    EXPECT_TRUE(found != ours.end()) << key;
    if (found != ours.end()) {
      EXPECT_EQ(found->second, value) << key;
    }
  }
}

void expect_two_deadlocks(const std::string& locks) {
  std::set<std::set<std::string>> cycles;
  const json all = json::parse(locks);
  for (const json& row : all["data"])
    if (row["kind"] == "deadlock") cycles.insert(row["threads"].get<std::set<std::string>>());
  EXPECT_EQ(cycles, (std::set<std::set<std::string>>{{"dead-1", "dead-2"}, {"juc-1", "juc-2"}}));
}

const std::vector<std::vector<std::string>>& views() {
  static const std::vector<std::vector<std::string>> all = {{"info"},
                                                            {"flags", "--all"},
                                                            {"properties", "--show-secrets"},
                                                            {"args"},
                                                            {"counters"},
                                                            {"threads"},
                                                            {"locks"},
                                                            {"classes"},
                                                            {"loaders"},
                                                            {"class", "Standing"},
                                                            {"statics", "Standing"},
                                                            {"symbols"},
                                                            {"codecache"},
                                                            {"vmstructs"},
                                                            {"pmap"}};
  return all;
}

std::map<std::string, std::string> all_views(const std::string& target, const std::vector<std::string>& more = {}) {
  std::map<std::string, std::string> outputs;
  for (std::vector<std::string> view : views()) {
    view.insert(view.end(), more.begin(), more.end());
    outputs[view.front()] = inspected(target, view);
  }
  return outputs;
}

// "bci name" of all instructions of a class's methods, in the order of the class file, from javap.
std::vector<std::string> javap_code(const Jdk& jdk, const std::string& classes, const std::string& name) {
  std::vector<std::string> code;
  const auto done = run_command({jdk.host_path("bin/javap"), "-c", "-p", "-cp", classes, name});
  static const std::regex instruction("^ +([0-9]+): ([a-z][a-z0-9_]*)");
  std::istringstream lines(done ? done->out : "");
  std::smatch parts;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line, parts, instruction)) code.push_back(parts[1].str() + " " + parts[2].str());
  return code;
}

std::vector<std::string> code_of_class(const JvmProcess& jvm, const std::string& name) {
  std::vector<std::string> code;
  const json all = json::parse(inspected(jvm.pid_text(), {"class", name}));
  for (const json& method : all["data"][0]["methods"]) {
    const std::string wanted = name + "." + method["name"].get<std::string>() + method["signature"].get<std::string>();
    const json view = json::parse(inspected(jvm.pid_text(), {"method", wanted}));
    for (const json& instruction : view["data"][0]["code"])
      code.push_back(std::to_string(instruction["bci"].get<int>()) + " " + instruction["name"].get<std::string>());
  }
  return code;
}

class EachJdk : public ::testing::TestWithParam<Jdk> {
 protected:
  void compare_with_peers(const JvmProcess& jvm, std::map<std::string, std::string>& live) {
    // Before the other commands, because a command may load classes and set properties.
    const std::string flags = asked_of_jvm(jvm, "VM.flags -all");
    const std::string properties = asked_of_jvm(jvm, "VM.system_properties");
    const std::string dump = asked_of_jvm(jvm, "Thread.print -l");
    live = all_views(jvm.pid_text());
    expect_same(dump_of_json(live["threads"]), parse_thread_print(dump));
    expect_two_deadlocks(live["locks"]);
    expect_equal_values(rows_of_json(live["flags"], "name", "value"), parse_flags(flags), 300, restless_flags());
    expect_equal_values(rows_of_json(live["properties"], "key", "value"), parse_properties(properties), 40,
                        {"user.timezone"});  // the command sets it
    EXPECT_THAT(live["args"], HasSubstr("-XX:+UseSerialGC"));
    compare_counters(jvm, live["counters"]);
    compare_bcis(jvm, live["threads"]);
  }
  static void compare_counters(const JvmProcess& jvm, const std::string& counters) {
    const auto theirs = parse_counters(run_jdk_tool(jvm, "jcmd", {jvm.pid_text(), "PerfCounter.print"}));
    const auto ours = rows_of_json(counters, "name", "value");
    const auto variability = rows_of_json(counters, "name", "variability");
    EXPECT_GE(theirs.size(), 100u);
    for (const auto& [name, value] : theirs) {
      if (name.starts_with("sun.perfdata.")) continue;  // made by the tool from the prologue
      ASSERT_TRUE(ours.contains(name)) << name;
      if (variability.at(name) == "constant") {
        EXPECT_EQ(ours.at(name), value) << name;
      }
    }
  }
  static void compare_bcis(const JvmProcess& jvm, const std::string& threads) {
    const std::string text = run_jdk_tool(jvm, "jhsdb", {"jstack", "--pid", jvm.pid_text()});
    if (text.empty()) return;  // JDK 8 has none
    auto theirs = parse_jhsdb(text);
    auto ours = bcis_of_json(threads);
    EXPECT_GE(theirs.size(), 10u) << text;
    for (const char* name : {"Attach Listener", "C1 CompilerThread0", "C2 CompilerThread0", "Sweeper thread"})
      theirs.erase(name);
    for (const auto& [name, frames] : theirs) EXPECT_EQ(ours[name], frames) << name;
  }
};
JTRACE_ON_EACH_JDK(EachJdk);

TEST_P(EachJdk, LiveAndCoreAreEqualToTheJdksOwnTools) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  const std::string no_core = why_no_kernel_core();
  const auto jvm = must(JvmProcess::start(GetParam(), "Standing", attachable(GetParam(), small_flags())));
  std::map<std::string, std::string> live;
  compare_with_peers(*jvm, live);
  // The VM keeps methods in an order of its own.
  const auto classes = compiled_app("Standing");
  const auto any = any_jdk(11);
  if (classes && any && any->has_javac()) {
    auto ours = code_of_class(*jvm, "Standing"), theirs = javap_code(*any, *classes, "Standing");
    EXPECT_GT(theirs.size(), 300u);
    std::sort(ours.begin(), ours.end());
    std::sort(theirs.begin(), theirs.end());
    EXPECT_EQ(ours, theirs);
  }
  EXPECT_TRUE(jvm->alive());
  record_support(GetParam(), "Serial", "live", "inspect");
  if (!no_core.empty()) JTRACE_SKIP("live", no_core);

  const CoreFolder folder(*jvm);
  // JDK 8 does not change the kernel's default: no shared mappings, so no counters.
  std::ofstream("/proc/" + jvm->pid_text() + "/coredump_filter") << "0x3f";
  jvm->signal(SIGABRT);
  const auto status = must(jvm->wait_exit());
  ASSERT_TRUE(WCOREDUMP(status));
  const std::string core = folder.core();
  ASSERT_NE(core, "");
  // The paths in the core are those inside the root of the JVM.
  std::vector<std::string> sysroot;
  if (GetParam().root) sysroot = {"--sysroot", *GetParam().root};
  auto dumped = all_views(core, sysroot);
  expect_same(dump_of_json(dumped["threads"]), dump_of_json(live["threads"]));
  EXPECT_EQ(bcis_of_json(dumped["threads"]), bcis_of_json(live["threads"]));
  expect_two_deadlocks(dumped["locks"]);
  expect_equal_values(rows_of_json(dumped["properties"], "key", "value"),
                      rows_of_json(live["properties"], "key", "value"), 40);
  expect_equal_values(rows_of_json(dumped["flags"], "name", "value"), rows_of_json(live["flags"], "name", "value"), 300,
                      restless_flags());
  for (const char* view : {"args", "class", "statics", "vmstructs", "symbols"})
    EXPECT_EQ(json::parse(dumped[view])["data"], json::parse(live[view])["data"]) << view;
  EXPECT_THAT(dumped["info"], HasSubstr("\"signal\":\"SIGABRT\""));
  std::vector<std::string> masked{"properties"};
  masked.insert(masked.end(), sysroot.begin(), sysroot.end());
  EXPECT_THAT(inspected(core, masked), Not(HasSubstr("hunter2")));
  record_support(GetParam(), "Serial", "core", "inspect");
}

// 0: all locks are monitors, 1: on stacks, 2: in lock stacks (LockingMode, globals.hpp, 21 to 25).
TEST_P(EachJdk, DeadlocksAreFoundWithEachKindOfLocks) {
  if (GetParam().version < 21 || GetParam().version > 25) GTEST_SKIP() << "has one kind of locks";
  for (const char* mode : {"0", "1", "2"}) {
    auto flags = small_flags();
    flags.insert(flags.end(), {"-XX:+UnlockExperimentalVMOptions", "-XX:LockingMode=" + std::string(mode)});
    auto jvm = must(JvmProcess::start(GetParam(), "Standing", attachable(GetParam(), flags)));
    SCOPED_TRACE("LockingMode=" + std::string(mode));
    expect_two_deadlocks(inspected(jvm->pid_text(), {"locks"}));
    const ScratchDir folder;
    const std::string core = folder.file("core");
    ASSERT_EQ(must(run_jtrace({"core", jvm->pid_text(), "-o", core, "--small"})).status, 0);
    expect_two_deadlocks(inspected(core, {"locks"}));
  }
}

// One JVM, whose core is read with several parts missing.
class DamagedCore : public ::testing::Test {
 protected:
  // Kills the JVM with that coredump_filter (core(5)); returns the path of its core.
  std::string core_with_filter(const std::string& filter, std::string* live_threads = nullptr) {
    const auto jdk = any_jdk(11);
    if (!jdk) return {};
    auto jvm = JvmProcess::start(*jdk, "Standing", attachable(*jdk, small_flags()));
    EXPECT_TRUE(succeeded(jvm));
    if (!jvm) return {};
    jvm_ = std::move(*jvm);
    if (live_threads) *live_threads = inspected(jvm_->pid_text(), {"threads"});
    std::ofstream("/proc/" + jvm_->pid_text() + "/coredump_filter") << filter;
    folder_ = std::make_unique<CoreFolder>(*jvm_);
    jvm_->signal(SIGABRT);
    EXPECT_TRUE(succeeded(jvm_->wait_exit()));
    return folder_->core();
  }
  static CommandOutput look(std::vector<std::string> words) {
    words.insert(words.begin(), "inspect");
    const auto done = run_jtrace(words);
    return done ? *done : CommandOutput{.err = done.error().message()};
  }

 private:
  std::unique_ptr<JvmProcess> jvm_;  // deletes its working folder too
  std::unique_ptr<CoreFolder> folder_;
};

TEST_F(DamagedCore, WithoutFilePagesIsWholeWithTheFilesAndPartialWithout) {
  if (!any_jdk(11)) JTRACE_SKIP("live", "no JDK of 11 or later found");
  if (const std::string why = why_no_kernel_core(); !why.empty()) JTRACE_SKIP("live", why);
  std::string live;
  const std::string core = core_with_filter("0x11", &live);  // private anonymous memory and ELF headers
  ASSERT_NE(core, "");
  expect_same(dump_of_json(inspected(core, {"threads"})), dump_of_json(live));
  expect_two_deadlocks(inspected(core, {"locks"}));

  const CommandOutput lost = look({core, "threads", "--sysroot", "/proc/self/fdinfo"});
  EXPECT_THAT(lost.status, ::testing::AnyOf(4, 8, 9)) << lost.err;
  EXPECT_THAT(lost.err, ::testing::AnyOf(HasSubstr("--libjvm"), HasSubstr("leave --sysroot out"))) << lost.err;
  EXPECT_THAT(lost.err, HasSubstr("build id")) << lost.err;

  // libjvm.so of another build is not used: both build ids are named.
  for (const Jdk& other : jdks()) {
    if (other.version == any_jdk(11)->version) continue;
    const CommandOutput foreign = look({core, "threads", "--libjvm", other.libjvm()});
    EXPECT_NE(foreign.status, 0);
    EXPECT_THAT(foreign.err, HasSubstr("build id")) << foreign.err;
    if (!any_jdk(11)->root) {
      EXPECT_THAT(foreign.err, HasSubstr("of this machine has that build id"));
    }
    break;
  }
}

TEST_F(DamagedCore, CutOffIsReadAsFarAsItGoes) {
  if (!any_jdk(11)) JTRACE_SKIP("live", "no JDK of 11 or later found");
  if (const std::string why = why_no_kernel_core(); !why.empty()) JTRACE_SKIP("live", why);
  const std::string core = core_with_filter("0x33");
  ASSERT_NE(core, "");
  const auto mutations =
      must(run_command({tools_folder() + "/core_mutations", core, "40", "7"}, {.timeout = std::chrono::minutes(5)}));
  EXPECT_EQ(mutations.status, 0) << mutations.out;
  EXPECT_THAT(mutations.out, HasSubstr("undamaged: whole"));

  const auto size = fs::file_size(core);
  fs::resize_file(core, size / 2);
  const CommandOutput half = look({core, "info"});
  EXPECT_THAT(half.status, ::testing::AnyOf(8, 9)) << half.err;
  EXPECT_THAT(half.err, HasSubstr("cut off: expected " + std::to_string(size))) << half.err;
  fs::resize_file(core, 1000);
  const CommandOutput stump = look({core, "info"});
  EXPECT_EQ(stump.status, 8) << stump.err;
  EXPECT_THAT(stump.err, HasSubstr("cut off")) << stump.err;
}

// gdb's cores have segments at any offset, and the JVM continues. Compressed as by systemd, they give the same result.
TEST_F(DamagedCore, OfGdbAndPackedIsAsTheLiveJvm) {
  const auto jdk = any_jdk(8);
  if (!jdk) JTRACE_SKIP("live", "no JDK found");
  JvmOptions options = attachable(*jdk, small_flags());
  options.environment = {"MALLOC_ARENA_MAX=1"};  // gdb also writes reserved memory
  const auto jvm = must(JvmProcess::start(*jdk, "Standing", options));
  const ScratchDir folder;
  const auto gcore = run_command({"gcore", "-o", folder.file("core"), jvm->pid_text()});
  const std::string core = folder.file("core." + jvm->pid_text());
  if (!gcore || !fs::exists(core)) GTEST_SKIP() << "gdb's gcore is not here, or may not";
  const std::string live = inspected(jvm->pid_text(), {"threads"});
  expect_same(dump_of_json(inspected(core, {"threads"})), dump_of_json(live));
  EXPECT_TRUE(jvm->alive());
  for (const char* tool : {"zstd", "lz4"}) {
    const std::string packed = folder.file(std::string("packed.") + tool);
    const auto made = run_command({"sh", "-c", std::string(tool) + " -1 -q -c '" + core + "' > '" + packed + "'"});
    if (!made || made->status != 0) continue;  // the tool is not installed; unit tests compress with the libraries
    EXPECT_EQ(inspected(packed, {"flags"}).substr(0, 20), inspected(core, {"flags"}).substr(0, 20));
    expect_same(dump_of_json(inspected(packed, {"threads"})), dump_of_json(live));
    fs::remove(packed);
  }
}

TEST_F(DamagedCore, OfACrashShowsWhatCrashed) {
  const auto jdk = any_jdk(8);
  if (!jdk) JTRACE_SKIP("live", "no JDK found");
  if (const std::string why = why_no_kernel_core(); !why.empty()) JTRACE_SKIP("live", why);
  auto flags = small_flags();
  flags.push_back("-XX:+SuppressFatalErrorMessage");  // it dies as usual, but writes no report
  const auto jvm = must(JvmProcess::start(*jdk, "Standing", attachable(*jdk, flags)));
  const CoreFolder folder(*jvm);
  must(jvm->send("crash"));
  must(jvm->wait_exit());
  const std::string core = folder.core();
  ASSERT_NE(core, "");
  const json info = json::parse(inspected(core, {"info"}))["data"][0];
  EXPECT_EQ(info["crashSignal"], "SIGSEGV");
  EXPECT_EQ(info["crashFaultAddress"], "0x1230");
  EXPECT_EQ(info["crashedThreadName"], "main");
  EXPECT_THAT(inspected(core, {"threads"}), HasSubstr("\"method\":\"crash\""));
}

TEST(Inspect, RefusesWhatIsNoCoreOfAJvm) {
  const auto status_of = [](std::vector<std::string> words) {
    const auto done = run_jtrace(words);
    return done ? done->status : -1;
  };
  EXPECT_EQ(status_of({"inspect", "/bin/ls", "info"}), 4);
  EXPECT_EQ(status_of({"inspect", "/nonexistent/core", "info"}), 3);
  EXPECT_EQ(status_of({"inspect", std::to_string(::getpid()), "info"}), 4);
  EXPECT_EQ(status_of({"inspect", "4194303", "info"}), 3);
  EXPECT_EQ(status_of({"inspect", std::to_string(::getpid()), "no-such-view"}), 2);
}

}  // namespace
}  // namespace jtrace::test
