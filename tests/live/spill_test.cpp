// `jtrace attach --spill` and `jtrace convert`: the converted document agrees with the program; what a truncated or
// damaged file still gives; what remains after both processes were killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/scope_guard.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

const std::vector<std::string> kCalls{"--events", "methods,threads", "--when-full",       "block",    "--block-limit",
                                      "10000",    "--filter",        "Calls fib include", "--filter", "* exclude"};

// Starts an attach with a spill, and waits until it traces.
Result<std::unique_ptr<BackgroundCommand>> spill(pid_t pid, const std::string& path,
                                                 const std::vector<std::string>& options, std::string_view sign) {
  std::vector<std::string> argv{jtrace_binary(), "attach", std::to_string(pid), "--spill", path};
  argv.insert(argv.end(), options.begin(), options.end());
  JTRACE_ASSIGN_OR_RETURN(auto command, BackgroundCommand::start(argv));
  JTRACE_RETURN_IF_ERROR(wait_for_bytes(path, sign, std::chrono::seconds(60), [&] { return command->alive(); }));
  return command;
}

// Makes the spill of a program that called fib, and the number of calls.
void make_spill(const Jdk& jdk, const std::string& path, long& fibs) {
  auto jvm = must(JvmProcess::start(jdk, "Calls", attachable(jdk)));
  // The agent reports it in the stream of definitions, which is stored unchanged.
  auto command = must(spill(jvm->pid(), path, kCalls, "jtrace.rewritten"));
  for (const char* each : {"fib 18", "threads 4 12"}) {
    auto answer = must(jvm->ask(each));
    fibs += value_in(answer, "fib");
  }
  command->signal(SIGINT);
  const auto status = must(command->wait_exit());
  EXPECT_EQ(status, 0) << command->err();
  EXPECT_THAT(command->err(), HasSubstr("-> " + path));
}

void write(const std::string& path, std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }

// The id of the method fib in the document; "" if it was not called.
std::string fib_of(const TraceDocument& trace) {
  for (const TraceElement* each : trace.all("methodDef"))
    if (each->get("name") == "fib") return each->get("methodId");
  return "";
}

TEST_P(EachJdk, MakesTheDocumentLater) {
  const ScratchDir folder;
  const std::string kept = folder.file("a.spill");
  long fibs = 0;
  ASSERT_NO_FATAL_FAILURE(make_spill(GetParam(), kept, fibs));
  const std::string path = folder.file("a.xml");
  for (const std::string& output : {path, folder.file("again.xml")}) {
    const auto done = must(run_jtrace({"convert", kept, "-o", output}));
    ASSERT_EQ(done.status, 0) << done.err;
  }
  EXPECT_EQ(read_file(path, 1u << 30).value_or("1"), read_file(folder.file("again.xml"), 1u << 30).value_or("2"));
  const auto trace = must(TraceDocument::read(path));
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_TRUE(valid(path));
  EXPECT_EQ(trace.count("methodEntry"), static_cast<std::size_t>(fibs));
  EXPECT_EQ(trace.count("methodExit"), static_cast<std::size_t>(fibs));
  EXPECT_EQ(count_by_thread(trace, "threadEnd", "caller-"), 4);
  EXPECT_EQ(trace.option("spill"), kept);
  EXPECT_EQ(trace.option("jtrace.dropped"), "");
  // Including everything that a file has besides its events.
  EXPECT_LT(fs::file_size(kept), static_cast<std::uintmax_t>(fibs) * 2 * 32);
  record_support(GetParam(), "G1", "live", "spill");
}

// Thousands of methods have callouts and only one is called: each file of a rotation has its own events and the
// definitions that they need.
TEST_P(EachJdk, AFurtherFileRepeatsWhatItsEventsReferTo) {
  constexpr std::uint64_t kMaxSize = 256u << 10;
  const ScratchDir folder;
  const std::string kept = folder.file("a.spill");
  auto jvm = must(JvmProcess::start(GetParam(), "Calls", attachable(GetParam())));
  auto command = must(spill(
      jvm->pid(), kept,
      {"--events", "methods,threads", "--when-full", "block", "--block-limit", "10000", "--filter", "Calls fib include",
       "--filter", "java.util.* include", "--filter", "* exclude", "--max-size", "256K", "--rotate", "1000"},
      "jtrace.rewritten"));
  const auto answer = must(jvm->ask("fib 20"));
  command->signal(SIGINT);
  const auto status = must(command->wait_exit());
  EXPECT_EQ(status, 0) << command->err();
  std::uint64_t files = 1, bytes = 0, entries = 0;
  while (fs::exists(kept + "." + std::to_string(files))) ++files;
  ASSERT_GT(files, 3u);
  for (std::uint64_t i = 0; i < files; ++i) {
    const std::string part = i == 0 ? kept : kept + "." + std::to_string(i), path = folder.file("part.xml");
    bytes += fs::file_size(part);
    EXPECT_LE(fs::file_size(part), kMaxSize) << part;
    const auto done = must(run_jtrace({"convert", part, "-o", path}));
    EXPECT_EQ(done.status, 0) << done.err;
    const auto trace = must(TraceDocument::read(path));
    EXPECT_TRUE(none(trace.id_faults()));
    EXPECT_TRUE(i > 1 || valid(path));
    const std::string fib = fib_of(trace);
    for (const TraceElement* entry : trace.all("methodEntry")) entries += entry->get("methodIdRef") == fib;
  }
  EXPECT_GE(entries, static_cast<std::uint64_t>(value_in(answer, "fib")));
  EXPECT_LT(bytes, files * kMaxSize);
  record_support(GetParam(), "G1", "live", "rotated spill");
}

TEST(Spill, EndsWhereTheFileIsCutOrDamaged) {
  JTRACE_NEED_JDK(jdk);
  const ScratchDir folder;
  const std::string kept = folder.file("a.spill");
  long fibs = 0;
  ASSERT_NO_FATAL_FAILURE(make_spill(*jdk, kept, fibs));
  const std::string bytes = read_file(kept, 1u << 30).value_or("");
  const std::string other = folder.file("b.spill");
  const auto convert = [&](std::string_view changed) {
    write(other, changed);
    auto done = run_jtrace({"convert", other, "-o", folder.file("b.xml")});
    EXPECT_TRUE(succeeded(done));
    return *done;
  };
  const CommandOutput cut = convert(std::string_view(bytes).substr(0, bytes.size() / 2));
  EXPECT_EQ(cut.status, 9);
  EXPECT_THAT(cut.err, HasSubstr("cut within the block that begins at byte "));
  EXPECT_TRUE(valid(folder.file("b.xml")));
  const auto trace = must(TraceDocument::read(folder.file("b.xml")));
  EXPECT_GT(trace.count("methodEntry"), 100u);

  std::string damaged = bytes;
  damaged[damaged.size() / 2] = static_cast<char>(~damaged[damaged.size() / 2]);
  const CommandOutput half = convert(damaged);
  EXPECT_EQ(half.status, 9);
  EXPECT_THAT(half.err, HasSubstr("damaged at byte "));

  std::string version = bytes;
  version[8] = 77;
  const CommandOutput refused = convert(version);
  EXPECT_EQ(refused.status, 8);
  EXPECT_THAT(refused.err, HasSubstr("b.spill: is a spill of version 77."));
  const CommandOutput headless = convert(std::string_view(bytes).substr(0, 40));
  EXPECT_EQ(headless.status, 8);
  EXPECT_THAT(headless.err, HasSubstr("b.spill: is a spill that is cut"));
}

// jtrace was stopped while 30 threads ran, and was killed with the JVM: the file has the others, compressed.
TEST(Spill, IsCompletedOutOfTheRingMemoryThatTwoDeathsLeft) {
  JTRACE_NEED_JDK(jdk);
  const ScratchDir folder;
  const std::string kept = folder.file("a.spill.zst");
  auto jvm = must(JvmProcess::start(*jdk, "Workload", attachable(*jdk)));
  auto command = must(spill(jvm->pid(), kept, {}, "\x28\xb5\x2f\xfd"));
  must(jvm->ask("threads 40"));
  const auto flushed = must(run_jtrace({"ctl", std::to_string(jvm->pid()), "flush"}));
  ASSERT_EQ(flushed.status, 0) << flushed.err;
  const pid_t tool = command->pid();
  command->signal(SIGSTOP);
  siginfo_t info;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(tool), &info, WSTOPPED | WNOWAIT), 0);
  must(jvm->ask("threads 30"));
  const pid_t pid = jvm->pid();
  const ScopeGuard left([pid] { remove_left_pools(pid); });
  jvm->signal(SIGKILL);
  must(jvm->wait_exit());
  command->signal(SIGKILL);
  must(command->wait_exit());

  const std::string path = folder.file("a.xml");
  const auto alone = must(run_jtrace({"convert", kept, "-o", path}));
  EXPECT_EQ(alone.status, 9) << alone.err;  // its end is missing
  EXPECT_THAT(alone.err, HasSubstr("truncated after "));
  const auto first = must(TraceDocument::read(path));
  EXPECT_GE(count_by_thread(first, "threadEnd", "worker-"), 40);

  std::string pool;
  for (const auto& entry : fs::directory_iterator("/dev/shm"))
    if (entry.path().filename().string().starts_with("jtrace-" + std::to_string(pid) + "-")) pool = entry.path();
  ASSERT_NE(pool, "");

  // As if jtrace had been killed before the spill's first block was in the file.
  fs::rename(kept, kept + ".whole");
  std::ofstream(kept).flush();
  const auto unbegun = must(run_jtrace({"recover", pool, "-o", path}));
  EXPECT_EQ(unbegun.status, 9) << unbegun.err;
  EXPECT_TRUE(valid(path));
  EXPECT_GE(count_by_thread(must(TraceDocument::read(path)), "threadEnd", "worker-"), 30);
  fs::rename(kept + ".whole", kept);

  const auto done = must(run_jtrace({"recover", pool, "-o", path, "--remove"}));
  EXPECT_EQ(done.status, 0) << done.err;
  const auto trace = must(TraceDocument::read(path));
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_TRUE(valid(path));
  EXPECT_EQ(count_by_thread(trace, "threadEnd", "worker-"), 70);
}

}  // namespace
}  // namespace jtrace::test
