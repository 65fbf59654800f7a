// A JVM that is traced repeatedly does not die, and a JVM that dies is reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/strings.h"
#include "target/memory_map.h"
#include "target/process.h"
#include "tests/testlib/require.h"
#include "tests/testlib/trace_calls.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

constexpr const char* kAllocator = "libc_malloc_debug.so.0";  // glibc 2.34 and later, mallopt(3)

bool has_allocator(const Jdk& jdk) {
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu/", "/lib/x86_64-linux-gnu/", "/usr/lib64/", "/lib64/"})
    if (std::filesystem::exists(jdk.root.value_or("") + folder + kAllocator)) return true;
  return false;
}

// What is freed is overwritten, and each block is looked at when it is freed.
JvmOptions checked(const Jdk& jdk) {
  JvmOptions options = attachable(jdk);
  options.environment = {std::string("LD_PRELOAD=") + kAllocator, "MALLOC_CHECK_=3", "MALLOC_PERTURB_=165"};
  return options;
}

const std::vector<std::vector<std::string>> kTraces = {
    {"--events", "threads,classes,gc,monitors,objects,methods", "--max-size", "1M", "--rotate", "3"},
    {"--events", "methods,exceptions", "--slower-than", "10ms"},
    {"--events", "methods,allocations", "--stack-depth", "8", "--objects"},
    {"--events", "threads,sleeps,calls,counts", "--max-size", "1M", "--rotate", "3"},
};

TEST_P(EachJdk, OutlivesTraceAfterTraceUnderACheckingAllocator) {
  using std::chrono::steady_clock;
  if (!has_allocator(GetParam())) GTEST_SKIP() << "no " << kAllocator << " where this JDK lives";
  auto jvm = must(JvmProcess::start(GetParam(), "Redefined", checked(GetParam())));
  const ScratchDir folder;
  const auto end = steady_clock::now() + std::chrono::seconds(20);
  for (std::size_t i = 0; i < 20 && steady_clock::now() < end; ++i) {
    std::vector<std::string> words = {"attach", jvm->pid_text(), "--duration", "0.5", "-o", folder.file("t.xml")};
    for (const char* rule : {"Wide* include", "Redefined* include", "* exclude"})
      words.insert(words.end(), {"--filter", rule});
    words.insert(words.end(), {"--ring-memory", "1M"});
    words.insert(words.end(), kTraces[i % kTraces.size()].begin(), kTraces[i % kTraces.size()].end());
    auto done = must(run_jtrace(words));
    EXPECT_THAT(done.status, ::testing::AnyOf(0, 9)) << "trace " << i << ": " << done.err;
    ASSERT_TRUE(jvm->alive()) << "trace " << i << ": " << done.err << jvm->crash_report();
  }
  EXPECT_TRUE(succeeded(jvm->ask("rounds"))) << jvm->crash_report();
}

// --- repeated attaches -----------------------------------------------------------------------------------------------

// JTRACE_LASTING_ATTACHES; few if it is not set.
int wanted_attaches() {
  const char* text = ::getenv("JTRACE_LASTING_ATTACHES");
  return text == nullptr ? 6 : std::atoi(text);
}

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (int i = 3; i > 0; --i)
    if (const std::string part = path + "." + std::to_string(i); std::filesystem::exists(part)) parts.push_back(part);
  parts.push_back(path);
  return parts;
}

std::chrono::milliseconds median(std::vector<std::chrono::milliseconds> times) {
  std::sort(times.begin(), times.end());
  return times.empty() ? std::chrono::milliseconds(0) : times[times.size() / 2];
}

std::string resident(pid_t pid) {
  const auto process = target::Process::open(pid);
  const auto status = process ? process->read_proc("status") : Result<std::string>(std::string());
  const std::size_t at = status ? status->find("VmRSS:") : std::string::npos;
  return at == std::string::npos ? "?" : std::string(trimmed(status->substr(at + 6, status->find('\n', at) - at - 6)));
}

// Repeated attaches to a busy program, with rotation; the remains of each are checked. The costs of the last attaches
// are printed, so that growth is visible.
TEST_P(EachJdk, OutlivesAsManyTracesAsAreAskedFor) {
  JvmOptions options = has_allocator(GetParam()) ? checked(GetParam()) : attachable(GetParam());
  options.flags.push_back("-Xmx200m");
  if (::getenv("JTRACE_LASTING_ATTACHES") == nullptr) options.arguments = {"2"};
  auto jvm = must(JvmProcess::start(GetParam(), "LastingWork", options));
  std::vector<std::chrono::milliseconds> times;
  const int attaches = wanted_attaches();
  for (int i = 0; i < attaches; ++i) {
    const ScratchDir folder;
    const auto began = std::chrono::steady_clock::now();
    auto done = must(run_jtrace({"attach", jvm->pid_text(), "--duration", "0.2", "-o", folder.file("t.xml"), "--events",
                                 "threads,classes,gc,monitors,objects,methods", "--filter", "LastingWork* include",
                                 "--filter", "* exclude", "--max-size", "1M", "--rotate", "3"}));
    times.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began));
    ASSERT_THAT(done.status, ::testing::AnyOf(0, 9)) << "trace " << i << ": " << done.err << jvm->crash_report();
    ASSERT_TRUE(jvm->alive()) << "trace " << i << ": " << done.err << jvm->crash_report();
    std::vector<std::string> words = parts_of(folder.file("t.xml"));
    words.insert(words.begin(), "validate");
    auto sound = must(run_jtrace(words));
    ASSERT_EQ(sound.status, 0) << "trace " << i << ": " << sound.out << sound.err;
    if (times.size() % 50 == 0)
      std::printf("%d: %lld ms, %s\n", i + 1, static_cast<long long>(times.back().count()),
                  resident(jvm->pid()).c_str());
  }
  EXPECT_TRUE(succeeded(jvm->ask("rounds"))) << jvm->crash_report();
  const auto tenth = static_cast<std::ptrdiff_t>((times.size() + 9) / 10);
  std::printf("%d attaches; the first took %lld ms, the last %lld\n", attaches,
              static_cast<long long>(median({times.begin(), times.begin() + tenth}).count()),
              static_cast<long long>(median({times.end() - tenth, times.end()}).count()));
}

std::vector<target::Mapping> mappings_of(pid_t pid) {
  const auto process = target::Process::open(pid);
  const auto text = process ? process->read_proc("maps") : Result<std::string>(std::string());
  return text ? target::parse_memory_map(*text) : std::vector<target::Mapping>();
}

// The ring memory of the current trace, without the page of it that is the callouts' clock; 0: there is none.
target::Address pool_of(pid_t pid) {
  for (const target::Mapping& each : mappings_of(pid))
    if (each.path.ends_with(".pool") && each.size() > 65536) return each.start;
  return 0;
}

bool is_writable_memory(pid_t pid, target::Address place) {
  const auto mappings = mappings_of(pid);
  const target::Mapping* found = target::find_mapping(mappings, place);
  return found != nullptr && found->writable && found->path.empty();
}

// The JVM forgets threads that ran during a trace and end after it: the next trace does not make it write to them
// (agent/lasting_environment.h).
TEST_P(EachJdk, ThreadsThatEndBetweenTracesAreNotWrittenTo) {
  auto jvm = must(JvmProcess::start(GetParam(), "Comings", attachable(GetParam())));
  const ScratchDir folder;
  const auto attach = [&] {
    auto done = must(run_jtrace({"attach", jvm->pid_text(), "--duration", "0.1", "-o", folder.file("t.xml"), "--events",
                                 "threads,classes,gc,monitors"}));
    EXPECT_THAT(done.status, ::testing::AnyOf(0, 9)) << done.err;
  };
  must(jvm->ask("come 100"));
  attach();
  must(jvm->ask("go"));
  attach();
  auto changed = must(jvm->ask("changed"));
  EXPECT_EQ(changed, "0");
}

// The addresses of a pool stay reserved: a thread that was suspended within a callout finds memory there.
TEST_P(EachJdk, KeepsThePlacesOfPools) {
  auto jvm = must(JvmProcess::start(GetParam(), "Redefined", attachable(GetParam())));
  std::vector<target::Address> places;
  for (int i = 0; i < 12; ++i) {
    auto run = must(TraceRun::start(jvm->pid(), {"--events", "methods", "--filter", "Large include", "--filter",
                                                 "* exclude", "--ring-memory", "1M"}));
    const target::Address place = pool_of(jvm->pid());
    ASSERT_NE(place, 0u);
    places.push_back(place);
    must(run->stop());
  }
  for (const target::Address place : places) EXPECT_TRUE(is_writable_memory(jvm->pid(), place)) << std::hex << place;
}

// A class that the JVM could not redefine many times gets no callouts, and is named.
TEST_P(EachJdk, LeavesAClassAloneWhoseConstantPoolHasNoRoom) {
  auto jvm = must(JvmProcess::start(GetParam(), "Redefined", attachable(GetParam())));
  auto run =
      must(TraceRun::start(jvm->pid(), {"--events", "methods", "--filter", "Large include", "--filter", "* exclude"}));
  ASSERT_TRUE(rewritten(*run));
  must(jvm->ask("rounds"));
  auto trace = must(run->finish());
  const bool checks = GetParam().version >= 23;
  EXPECT_EQ(trace.all("methodEntry").size(), checks ? 1u : 0u);
  if (checks) EXPECT_EQ(trace.option("jtrace.unrewritten"), "");
  else EXPECT_THAT(trace.option("jtrace.unrewritten"), AllOf(HasSubstr("Large"), HasSubstr("constant pool")));
}

struct End {
  int signal;
  const char* said;
};

class EachEnd : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachEnd);

TEST_P(EachEnd, IsNamedByItsSignalAndWhatItLeft) {
  // HotSpot catches SIGSEGV, writes its report and ends in its own way; it does not see the other signals.
  for (const End& end :
       {End{SIGKILL, "was killed by SIGKILL; "}, {SIGABRT, "was killed by SIGABRT; "}, {SIGSEGV, ""}}) {
    JvmOptions options = attachable(GetParam(), {"-XX:-CreateCoredumpOnCrash"});
    if (GetParam().version < 9) options.flags.clear();
    TracedJvm jvm(GetParam(), "Workload", {}, options);
    jvm.process().signal(end.signal);
    jvm.wait_exit();
    const std::string said = jvm.command().err();
    EXPECT_THAT(said, AllOf(HasSubstr("JVM " + jvm.pid_text() + " " + end.said), HasSubstr("the agent was ")));
    if (end.signal == SIGSEGV) EXPECT_THAT(said, AllOf(HasSubstr("/hs_err.log: SIGSEGV"), HasSubstr(" in ")));
    else EXPECT_EQ(said.find("hs_err"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace jtrace::test
