// Messages of the agent and of `jtrace attach` for wrong inputs, with an attach and with -agentpath; the JVM continues
// unharmed.
//
// Wrong words are rows of one table. `jtrace attach` is run with each of them, beside one JVM. With -agentpath all of
// them are in one start of each JDK: the JVM loads the agent once for each row.
#include <elf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/file.h"
#include "base/strings.h"
#include "tests/testlib/places.h"
#include "tests/testlib/require.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kAgent = build_folder() + "/lib/libjtrace_agent.so";
const std::string kOtherAgent = build_folder() + "/lib/libother_agent.so";

struct Row {
  std::string options;  // as the agent's option string; DIR: the folder of the test
  int status;           // of jtrace attach
  std::string says;     // the whole message
};

const std::string kRule = "a rule is CLASS-PATTERN [METHOD-PATTERN] [include|exclude], as in 'java.util.* exclude'";
const std::string kAllEvents =
    "threads, classes, gc, monitors, sleeps, parks, objects, allocations, runtime, methods, calls, counts, lines, "
    "exceptions, all, threadStart, threadEnd, classDef, classUnload, gcStart, gcFinish, monWait, monWaited, "
    "monContendedEnter, monContendedEntered, objAlloc, objFree, runtimeInitDone, runtimeShutdown, processSuspend, "
    "processResume, methodEntry, methodExit, methodCall, methodReturn, methodCount, line, throw, catch";
const std::string kLongName(300, 'x');

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {"evnts=gc", 2, "unknown option 'evnts'; did you mean 'events'?"},
      {"port=7000", 2, "unknown option 'port'; `jtrace attach --help` lists them"},
      {"format=sddf", 2, "unknown option 'format'; `jtrace attach --help` lists them"},
      {"names=nice", 2, "option names: 'nice' is not 'exact' or 'classic'"},
      {"strict=maybe", 2, "option strict: 'maybe' is not 'true' or 'false'"},
      {"duration=1,duration=2", 2, "option duration is given twice; give it once"},
      {"duration", 2, "option duration has no value; it takes TIME"},
      {"events=", 2, "option events has no value; it takes LIST"},
      {"events=gc,,duration=1", 2, "an option is missing between two commas of 'events=gc,,duration=1'"},
      {"duration=soon", 2, "option duration: 'soon' is not a time above 0 (5, 0.5, 200ms, 5m, 1h)"},
      {"duration=-1", 2, "option duration: '-1' is not a time above 0 (5, 0.5, 200ms, 5m, 1h)"},
      {"duration=0", 2, "option duration: '0' is not a time above 0 (5, 0.5, 200ms, 5m, 1h)"},
      {"ring-memory=1K", 2, "option ring-memory: '1K' is not a size from 1M to 4G"},
      {"stack-depth=1025", 2, "option stack-depth: '1025' is not a number from 0 to 1024"},
      {"block-limit=10001", 2, "option block-limit: '10001' is not a time from 0 to 10s (20ms, 1s)"},
      {"sample-interval=2147483648", 2, "option sample-interval: '2147483648' is not a size from 0 to just below 2G"},
      {"rotate=2", 2, "option rotate needs max-size; say at which size the next file begins"},
      {"events=gcstart", 2, "unknown event 'gcstart'; did you mean 'gcStart'?"},
      {"events=everything", 2, "unknown event 'everything'; there are " + kAllEvents},
      {"filter=a.b m maybe", 2, "filter 'a.b m maybe': the mode 'maybe' is neither include nor exclude; " + kRule},
      {"filter= include", 2, "filter 'include': the pattern is empty; " + kRule},
      {"filter=a.*.b include", 2,
       "filter 'a.*.b include': 'a.*.b' has its '*' neither at the start nor at the end; " + kRule},
      {"filter=*a* include", 2, "filter '*a* include': '*a*' has more than one '*'; " + kRule},
      {"filter=a.? include", 2,
       "filter 'a.? include': 'a.?' has a '?': only '*' stands for other characters; " + kRule},
      {"filter=a b c include", 2, "filter 'a b c include': it has more than three words; " + kRule},
      {"filters=DIR/none", 3, "reading filters: cannot open: DIR/none: No such file or directory"},
      {"file=DIR/\xff.xml", 2, "option output: its value is not UTF-8: byte 0xff at offset LENGTH"},
      {"f\xc3le=x", 2, "an option's name is not UTF-8: byte 0xc3 at offset 1"},
      {"filter=a\xf0 include", 2, "option filter: its value is not UTF-8: byte 0xf0 at offset 1"},
      {"file=DIR/none/x.xml", 3, "cannot open: DIR/none/x.xml: No such file or directory"},
      {"file=DIR/folder", 1, "cannot write: DIR/folder: Is a directory; name a file in it"},
      {"file=DIR/fifo", 1,
       "cannot open: DIR/fifo: No such device or address; it has no reader: start its reader first"},
      {"file=DIR/read-only/x.xml", 5, "cannot open: DIR/read-only/x.xml: Read-only file system"},
      {"file=DIR/full/x.xml,min-free=0", 1, "no room for the output: DIR/full/x.xml: No space left on device"},
      {"file=DIR/" + kLongName, 2,
       "cannot open: DIR/" + kLongName + ": File name too long; a name has at most 255 bytes, a path 4095"},
  };
  return table;
}

std::string replaced(std::string text, std::string_view what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

std::string in_folder(const std::string& text, const std::string& folder) {
  return replaced(replaced(text, "DIR", folder), "LENGTH", std::to_string(folder.size() + 1));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n'))
    if (!line.empty()) lines.emplace_back(line);
  return lines;
}

// The places that the rows name; two of them are file systems that are visible only in the mount namespace of those who
// mount them.
class Places {
 public:
  Places() {
    for (const char* name : {"folder", "read-only", "full"}) fs::create_directory(folder_.file(name));
    EXPECT_EQ(::mkfifo(folder_.file("fifo").c_str(), 0600), 0);
  }
  const std::string& path() const { return folder_.path(); }
  // Called in a child, so system calls only: `root` will be its root, `folder` this folder below it.
  static bool mount_disks(const std::string& folder) {
    return ::mount("tmpfs", (folder + "/read-only").c_str(), "tmpfs", MS_RDONLY, "size=64k") == 0 &&
           ::mount("tmpfs", (folder + "/full").c_str(), "tmpfs", 0, "size=8k") == 0;
  }
  static bool own_mounts() {
    return ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  }

 private:
  ScratchDir folder_{"jtrace-bad-input"};
};

#define NEED_NAMESPACES() \
  if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("live", why)

// It answers, ends, and has printed what it would have without a trace.
void expect_unharmed(JvmProcess& jvm) {
  must(jvm.ask("threads 3"));
  jvm.close_input();
  auto status = must(jvm.wait_exit());
  EXPECT_EQ(status, 0);
  for (const std::string& line : lines_of(jvm.out())) EXPECT_TRUE(line == "READY" || line.starts_with("OK")) << line;
  EXPECT_EQ(jvm.crash_report(), "");
}

Result<CommandOutput> attach(const JvmProcess& jvm, std::vector<std::string> words,
                             const CommandOptions& options = {}) {
  words.insert(words.begin(), {"attach", jvm.pid_text()});
  return run_jtrace(words, options);
}

TEST(BadInput, ByAttach) {
  NEED_NAMESPACES();
  JTRACE_NEED_JDK(jdk);
  auto jvm = must(JvmProcess::start(*jdk, "Workload"));
  const Places places;
  CommandOptions options;
  options.in_child = [&places] {
    if (!Places::own_mounts() || !Places::mount_disks(places.path())) ::_exit(125);
  };
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.options);
    const auto done = must(attach(*jvm, {"--agent-options", in_folder(row.options, places.path())}, options));
    EXPECT_EQ(done.status, row.status) << row.options;
    EXPECT_THAT(lines_of(done.err), ElementsAre("jtrace: " + in_folder(row.says, places.path()))) << row.options;
    EXPECT_EQ(done.out, "");
  }
  // As options of the command line.
  const auto said = [&](const std::vector<std::string>& words) {
    const auto done = attach(*jvm, words);
    EXPECT_EQ(done->status, 2);
    return done->err;
  };
  EXPECT_EQ(said({"--evnts", "gc"}),
            "jtrace: unknown option '--evnts'; did you mean '--events'?; see jtrace attach --help\n");
  EXPECT_EQ(said({"--format", "sddf"}), "jtrace: unknown option '--format'; see jtrace attach --help\n");
  EXPECT_EQ(said({"--filter"}), "jtrace: --filter: 1 required RULE missing; see jtrace attach --help\n");
  EXPECT_EQ(said({"--events", "gc", "--events", "gc"}), "jtrace: option events is given twice; give it once\n");
  // The JVM was never asked.
  EXPECT_FALSE(fs::exists(jvm->inside("/tmp/.java_pid" + jvm->pid_text())));
  EXPECT_EQ(jvm->err(), "");
  expect_unharmed(*jvm);
}

// More than the 1024 bytes that an argument of the attach protocol has before JDK 24, and more than a message can hold.
TEST(BadInput, ByAttachManyFilters) {
  JTRACE_NEED_JDK(jdk);
  auto jvm = must(JvmProcess::start(*jdk, "Workload"));
  const ScratchDir folder;
  std::string filters;  // within the limit of a file of filters, 1 MiB
  for (int i = 0; i < 104'000; ++i) filters += "a include\n";
  std::ofstream(folder.file("filters")) << filters;
  const auto done = must(attach(*jvm, {"--filters", folder.file("filters"), "-o", folder.file("x.xml")}));
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, HasSubstr("bytes, the agent takes "));
  EXPECT_THAT(done.err, HasSubstr("one pattern with a '*' matches many classes"));
  EXPECT_FALSE(fs::exists(folder.file("x.xml")));
  expect_unharmed(*jvm);
}

TEST(BadInput, CtlVerbsOutOfOrder) {
  JTRACE_NEED_JDK(jdk);
  auto jvm = must(JvmProcess::start(*jdk, "Workload", attachable(*jdk)));
  const auto ctl = [&](const std::vector<std::string>& words, int status, const std::string& says) {
    std::vector<std::string> argv{"ctl", jvm->pid_text()};
    argv.insert(argv.end(), words.begin(), words.end());
    const auto done = run_jtrace(argv);
    EXPECT_EQ(done->status, status) << words[0] << done->err;
    EXPECT_THAT(done->err, HasSubstr(says)) << words[0];
  };
  ctl({"stop"}, 1, "JVM " + jvm->pid_text() + " is not being traced");
  auto run = must(TraceRun::start(jvm->pid()));
  ctl({"start"}, 1, "a trace runs already");
  ctl({"stop"}, 0, "");
  ctl({"stop"}, 1, "the trace is stopped already");
  ctl({"resume"}, 1, "the trace is stopped: start begins the next one");
  ctl({"filters", "a.b m maybe"}, 2, "filter 'a.b m maybe': the mode 'maybe' is neither include nor exclude; " + kRule);
  ctl({"count"}, 1, "this trace does not count calls: --events counts does");
  EXPECT_TRUE(succeeded(run->stop()));
  expect_unharmed(*jvm);
}

// A library that equals the agent except for these bytes of its ELF header.
std::string agent_with(const ScratchDir& folder, std::size_t offset, unsigned char value) {
  const std::string path = folder.file("agent.so");
  fs::copy_file(kAgent, path, fs::copy_options::overwrite_existing);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(static_cast<char>(value));
  return path;
}

TEST(BadInput, AgentsThatThisJvmCannotLoad) {
  JTRACE_NEED_JDK(jdk);
  auto jvm = must(JvmProcess::start(*jdk, "Workload"));
  const ScratchDir folder;
  const auto said = [&](const std::string& agent, int status) {
    const auto done = attach(*jvm, {"-o", folder.file("x.xml")}, {.environment = {"JTRACE_AGENT=" + agent}});
    EXPECT_EQ(done->status, status);
    EXPECT_FALSE(fs::exists(folder.file("x.xml")));
    return done->err;
  };
  EXPECT_EQ(said(agent_with(folder, offsetof(Elf64_Ehdr, e_machine), EM_AARCH64), 7),
            "jtrace: the library cannot be loaded: it is for AArch64, the JVM for x86-64: the agent\n");
  EXPECT_EQ(said(agent_with(folder, EI_CLASS, ELFCLASS32), 7),
            "jtrace: the library cannot be loaded: it is 32-bit, the JVM is 64-bit: the agent\n");
  EXPECT_EQ(said(agent_with(folder, 0, 'x'), 7), "jtrace: the library cannot be loaded: not an ELF file: the agent\n");
  EXPECT_THAT(said(folder.file("none.so"), 3), HasSubstr("none.so: No such file or directory"));
  EXPECT_FALSE(fs::exists(jvm->inside("/tmp/.java_pid" + jvm->pid_text())));
  expect_unharmed(*jvm);
}

// Whether the process has a file of this name mapped, within 30 s.
bool comes_to_map(pid_t pid, const std::string& name) {
  for (int round = 0; round < 3000; ++round) {
    const auto maps = read_file("/proc/" + std::to_string(pid) + "/maps");
    if (maps && maps->find(name) != maps->npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(BadInput, AnotherVm) {
  const ScratchDir folder;
  const std::string library = folder.file("libj9vm29.so");
  fs::copy_file(kOtherAgent, library);
  auto process = must(BackgroundCommand::start({"sleep", "600"}, {.environment = {"LD_PRELOAD=" + library}}));
  ASSERT_TRUE(comes_to_map(process->pid(), library));
  const auto done = run_jtrace({"attach", std::to_string(process->pid()), "-o", folder.file("x.xml")});
  EXPECT_EQ(done->status, 4);
  EXPECT_THAT(done->err, HasSubstr("OpenJ9"));
  EXPECT_THAT(done->err, HasSubstr("no signal sent"));
  EXPECT_TRUE(process->alive());
}

// A JVM that calls itself JDK 7: its version is read from the JDK's `release` file where it has no counters.
TEST(BadInput, AJvmThatIsTooOld) {
  NEED_NAMESPACES();
  JTRACE_NEED_JDK(jdk);
  JvmOptions options;
  options.flags = {"-XX:-UsePerfData"};
  options.isolation = Isolation::kMount;
  options.own_root = true;
  auto jvm = must(JvmProcess::start(*jdk, "Workload", options));
  const std::string release = jvm->inside(jdk->home.substr(jdk->root.value_or("").size()) + "/release");
  fs::remove(release);
  std::ofstream(release) << "JAVA_VERSION=\"1.7.0_80\"\n";
  const ScratchDir folder;
  const auto done = attach(*jvm, {"-o", folder.file("x.xml")});
  EXPECT_EQ(done->status, 4);
  EXPECT_EQ(done->err, "jtrace: JVM " + jvm->pid_text() +
                           " is JDK 7 (1.7.0_80): traces are of JDK 8 and later; no signal sent; `jtrace cmd` and "
                           "`jtrace stack` may work with it\n");
  expect_unharmed(*jvm);
}

// jtrace's side of -agentpath, with an agent that greets it with another version.
TEST(BadInput, AnAgentOfAnotherVersionStartsJtrace) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  CommandOptions options;
  options.in_child = [fd = theirs.get()] { ::dup2(fd, 3); };
  must(run_jtrace({"agent-child"}, options));
  theirs.reset();
  const std::uint32_t hello[3] = {1, sizeof(std::uint32_t), 99};
  ASSERT_EQ(::write(ours.get(), hello, sizeof hello), static_cast<ssize_t>(sizeof hello));
  const auto refusal = must(read_whole(ours.get(), "jtrace's end"));
  EXPECT_THAT(refusal, HasSubstr("are of different versions"));
}

class EachJdk : public ::testing::TestWithParam<Jdk> {
 protected:
  bool chrooted() const { return GetParam().root.has_value(); }
  // Paths as the JVM sees them: of a file of the build, and of the test's folder.
  std::string library(const std::string& path) const {
    return chrooted() ? "/srv" + path.substr(build_folder().size()) : path;
  }
  std::string folder_for_jvm() const { return chrooted() ? "/media" : places_.path(); }
  std::string agent_flag(const std::string& words) const { return "-agentpath:" + library(kAgent) + "=" + words; }
  std::string other_agent_flag(const std::string& words) const {
    return "-agentpath:" + library(kOtherAgent) + "=" + words;
  }
  // A JVM with these flags that sees them.
  JvmOptions seeing_the_build(std::vector<std::string> flags) const {
    JvmOptions options = attachable(GetParam(), std::move(flags));
    options.in_child = [this, chroot = chrooted()](const std::string& root) {
      if (!chroot) return Places::own_mounts() && Places::mount_disks(places_.path());
      const std::string folder = root + "/media";
      return ::mount(build_folder().c_str(), (root + "/srv").c_str(), nullptr, MS_BIND, nullptr) == 0 &&
             ::mount(places_.path().c_str(), folder.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
             Places::mount_disks(folder);
    };
    return options;
  }

  Places places_;
};
JTRACE_ON_EACH_JDK(EachJdk);

#define NEED_TOOLS_IN_THE_ROOT()          \
  if (chrooted() && !JTRACE_STATIC_TOOLS) \
  GTEST_SKIP() << "the tools of this build are not static: they do not run in the chroot"

TEST_P(EachJdk, ByAgentpath) {
  NEED_NAMESPACES();
  NEED_TOOLS_IN_THE_ROOT();
  std::vector<Row> table = rows();
  table.push_back({"strict=false,evnts=gc", 2, "unknown option 'evnts'; did you mean 'events'?"});
  table.push_back({"file=-", 2, "output=- and spill=- would write into the program's own output"});
  table.push_back({"jtrace=DIR/none", 0,
                   "cannot start DIR/none: No such file or directory; the option jtrace=PATH says where jtrace is"});
  std::vector<std::string> flags;
  std::vector<std::string> want;
  for (const Row& row : table) {
    flags.push_back(agent_flag(in_folder(row.options, folder_for_jvm())));
    want.push_back("jtrace: not traced: " + in_folder(row.says, folder_for_jvm()));
  }
  auto jvm = must(JvmProcess::start(GetParam(), "Workload", seeing_the_build(flags)));
  EXPECT_THAT(lines_of(jvm->err()), ::testing::ElementsAreArray(want));
  expect_unharmed(*jvm);
  record_support(GetParam(), "G1", "startup", "bad input named, JVM unharmed");
}

// Each row ends the start of a JVM with `strict`.
TEST_P(EachJdk, ByAgentpathStrict) {
  NEED_NAMESPACES();
  NEED_TOOLS_IN_THE_ROOT();
  for (const Row& row : rows()) {
    if (row.options.starts_with("strict")) continue;
    SCOPED_TRACE(row.options);
    JvmOptions options = seeing_the_build({agent_flag("strict=true," + in_folder(row.options, folder_for_jvm()))});
    options.wait_ready = false;
    auto jvm = must(JvmProcess::start(GetParam(), "Workload", options));
    auto status = must(jvm->wait_exit());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;
    EXPECT_THAT(jvm->out(), Not(HasSubstr("READY")));
    const std::vector<std::string> said = lines_of(jvm->err());
    ASSERT_FALSE(said.empty());
    // One message quotes all the options.
    const std::string says = replaced(row.says, "'events=gc,,", "'strict=true,events=gc,,");
    EXPECT_EQ(said[0], "jtrace: not traced: " + in_folder(says, folder_for_jvm()));
  }
}

// Another agent that holds every capability it can, and delays the JVM's start; then copies of the agent, one after the
// other.
TEST_P(EachJdk, BesideOtherAgents) {
  NEED_NAMESPACES();
  JvmOptions options = seeing_the_build({other_agent_flag("hold wait")});
  options.wait_ready = false;
  auto jvm = must(JvmProcess::start(GetParam(), "Workload", options));
  const std::string pid = jvm->pid_text();
  const std::string file = places_.path() + "/x.xml";

  must(jvm->wait_line("LOADING"));
  auto done = attach(*jvm, {"-o", file, "--timeout", "0.3"});
  // jtrace waited, or (on a machine on which it took seconds to get here) it reported at once.
  EXPECT_THAT(done->status, AnyOf(4, 6));
  EXPECT_THAT(done->err, AnyOf(HasSubstr("ms for the SIGQUIT handler of process " + pid),
                               HasSubstr("process " + pid + " (java) is starting and runs no Java code yet")));
  EXPECT_THAT(done->err, HasSubstr("no signal sent; "));
  EXPECT_FALSE(fs::exists(file));

  must(jvm->send(""));
  must(jvm->wait_line("INITIALIZING"));
  done = attach(*jvm, {"-o", file, "--duration", "0.1", "--events", "objects,gc"});
  EXPECT_EQ(done->status, 0) << done->err;
  const std::string reason = GetParam().version < 11 ? "JDK 11 and later have it" : "another agent holds it";
  const std::string missing = "objAlloc: can_generate_sampled_object_alloc_events: " + reason;
  EXPECT_THAT(done->err, HasSubstr("JVM " + pid + " does not give all that was asked for: " + missing + "\n"));
  auto trace = must(TraceDocument::read(file));
  EXPECT_EQ(trace.option("jtrace.unavailable"), missing);
  EXPECT_EQ(trace.option("events"), "gcStart,gcFinish,objFree");

  must(jvm->send(""));
  must(jvm->wait_line("READY"));
  done = attach(*jvm, {"-o", file + ".2"}, {.environment = {std::string("JTRACE_AGENT=") + kOtherAgent}});
  EXPECT_EQ(done->status, 7);
  EXPECT_THAT(done->err, HasSubstr("an agent of another version answers (protocol 99, ours is "));
  EXPECT_THAT(done->err, HasSubstr("use the jtrace that came with it, or restart the JVM"));
  EXPECT_FALSE(fs::exists(file + ".2"));
  EXPECT_EQ(jvm->err(), "");
  jvm->close_input();
  auto status = must(jvm->wait_exit());
  EXPECT_EQ(status, 0);
}

// Two copies of the agent in one JVM, as two versions of jtrace leave them: they trace one after the other, through the
// classes that the first one left, and never at the same time.
TEST_P(EachJdk, ASecondCopyOfTheAgent) {
  NEED_NAMESPACES();
  auto jvm = must(JvmProcess::start(GetParam(), "Workload", attachable(GetParam())));
  const std::string copy = places_.path() + "/copy.so";
  fs::copy_file(kAgent, copy);
  std::ofstream(copy, std::ios::app | std::ios::binary) << "another";
  const std::string file = places_.path() + "/x.xml";
  const std::vector<std::string> words{
      "--events", "methods,sleeps,parks,threads", "--filter", "Workload* include", "--filter", "* exclude"};
  const auto trace_by = [&](const std::string& agent) {
    std::vector<std::string> argv{jtrace_binary(), "attach", jvm->pid_text(), "-o", file};
    argv.insert(argv.end(), words.begin(), words.end());
    return BackgroundCommand::start(argv, {.environment = {"JTRACE_AGENT=" + agent}});
  };
  std::string many;
  for (int i = 0; i < 300; ++i) many += "some.long.name.of.a.package" + std::to_string(i) + ".* exclude\n";
  std::ofstream(places_.path() + "/filters") << many;

  for (const std::string& agent : {std::string(kAgent), copy, std::string(kAgent)}) {
    fs::remove(file);
    auto run = must(trace_by(agent));
    const auto is_rewritten =
        wait_for_bytes(file, "jtrace.rewritten", std::chrono::seconds(60), [&] { return run->alive(); });
    ASSERT_TRUE(succeeded(is_rewritten)) << run->err();
    must(jvm->ask("threads 3"));
    // From another user's jtrace, which does not see this user's socket.
    for (const std::string& other : {std::string(kAgent), copy}) {
      const auto refused = attach(*jvm, {"-o", file + ".2", "--filters", places_.path() + "/filters"},
                                  {.environment = {"JTRACE_AGENT=" + other}, .in_child = [] {
                                     if (!Places::own_mounts() || ::mount("tmpfs", "/run", "tmpfs", 0, "") != 0)
                                       ::_exit(125);
                                   }});
      EXPECT_EQ(refused->status, 1);
      EXPECT_THAT(refused->err,
                  HasSubstr("JVM " + jvm->pid_text() + " is being traced already, by a jtrace of another user"));
    }
    run->signal(SIGINT);
    auto status = must(run->wait_exit());
    EXPECT_EQ(status, 0) << run->err();
    auto trace = must(TraceDocument::read(file));
    EXPECT_TRUE(none(trace.faults()));
    EXPECT_GT(trace.count("methodEntry"), 0u);
  }
  EXPECT_EQ(jvm->err(), "");
  expect_unharmed(*jvm);
}

}  // namespace
}  // namespace jtrace::test
