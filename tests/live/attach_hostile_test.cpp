// Targets and disks that do not cooperate: full disks, noexec mounts, and links that lead a root tool to other files.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "tests/testlib/require.h"
#include "tests/testlib/small_disk.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;

#define NEED_NAMESPACES() \
  if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("live", why)

// Copies a file out of the namespace before the namespace ends.
std::string copy_of(const std::string& path, const ScratchDir& folder) {
  const std::string copy = folder.file("copy.xml");
  fs::copy_file(path, copy, fs::copy_options::overwrite_existing);
  return copy;
}

// Traces to a disk of that size while the program makes more events than fit; the document must be closed properly.
void fill_disk(const Jdk& jdk, const std::vector<std::string>& options) {
  auto disk = must(SmallDisk::make(512));
  auto jvm = must(JvmProcess::start(jdk, "Workload", attachable(jdk)));
  std::vector<std::string> argv{jtrace_binary(), "attach", jvm->pid_text(), "-o", disk->path() + "/x.xml"};
  argv.insert(argv.end(), options.begin(), options.end());
  CommandOptions command;
  command.in_child = disk->enter();
  auto tracing = must(BackgroundCommand::start(argv, command));
  for (int i = 0; i < 40 && tracing->alive(); ++i) must(jvm->ask("threads 100"));
  auto status = must(tracing->wait_exit());
  EXPECT_EQ(status, 9) << tracing->err();
  EXPECT_THAT(tracing->err(), AnyOf(HasSubstr("space"), HasSubstr("free"), HasSubstr("full")));
  const ScratchDir folder;
  const std::string copy = copy_of(disk->outside_path() + "/x.xml", folder);
  EXPECT_TRUE(valid(copy));
  auto trace = must(TraceDocument::read(copy));
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_GT(trace.count("threadStart"), 20u);
  EXPECT_TRUE(succeeded(jvm->ask("threads 2")));
}

TEST(FullDisk, EndsATraceProperly) {
  NEED_NAMESPACES();
  JTRACE_NEED_JDK(jdk);
  fill_disk(*jdk, {"--min-free", "0"});
}

TEST(FullDisk, IsNotReachedWhereSomeMustStayFree) {
  NEED_NAMESPACES();
  JTRACE_NEED_JDK(jdk);
  fill_disk(*jdk, {"--min-free", "100K"});
}

TEST(MaxSize, EndsATraceProperly) {
  JTRACE_NEED_JDK(jdk);
  TracedJvm jvm(*jdk, "Workload", {"--max-size", "100K"});
  for (int i = 0; i < 40 && jvm.command().alive(); ++i) jvm.ask("threads 100");
  jvm.wait_exit();
  EXPECT_LE(fs::file_size(jvm.path()), 100u * 1024);
  EXPECT_TRUE(valid(jvm.path()));
}

// A root in which /tmp is a symbolic link to an absolute path. Inside the root it leads to a folder; resolved on the
// host, it leads to the host's files. (Here the host has no such folder, so a tool that resolves it there fails or
// creates it.)
TEST(HostileContainer, TmpThatIsALinkDoesNotLeadToTheHost) {
  NEED_NAMESPACES();
  for (const Jdk& jdk : jdks()) {
    SCOPED_TRACE(jdk.name);
    const std::string trap = "/opt/jtrace-trap";
    ASSERT_FALSE(fs::exists(trap));
    JvmOptions options = attachable(jdk);
    options.isolation = Isolation::kContainer;
    options.own_root = true;
    options.tmp_link = trap;
    TracedJvm jvm(jdk, "Workload", {}, options);
    jvm.ask("threads 3");
    const TraceDocument trace = jvm.finish();
    EXPECT_TRUE(none(trace.faults()));
    EXPECT_FALSE(fs::exists(trap)) << "a file was made outside of the target's root";
  }
}

// After its start the target replaces its libjvm.so by a link to a file outside of its root.
TEST(HostileContainer, ALibjvmThatIsALinkHarmsNobody) {
  NEED_NAMESPACES();
  for (const Jdk& jdk : jdks()) {
    SCOPED_TRACE(jdk.name);
    const ScratchDir host("jtrace-bait");
    const std::string bait = host.file("libjvm.so");
    must(open_file(bait, O_WRONLY | O_CREAT, 0644));
    JvmOptions options = attachable(jdk);
    options.isolation = Isolation::kContainer;
    options.own_root = true;
    auto jvm = must(JvmProcess::start(jdk, "Workload", options));
    const std::string libjvm = jvm->inside(jdk.libjvm().substr(jdk.root.value_or("").size()));
    ASSERT_EQ(::rename(libjvm.c_str(), (libjvm + ".away").c_str()), 0);
    ASSERT_EQ(::symlink(bait.c_str(), libjvm.c_str()), 0);
    const ScratchDir folder;
    auto done = must(run_jtrace({"attach", jvm->pid_text(), "-o", folder.file("x.xml"), "--duration", "0.2"}));
    // Either is right: a trace by means of the mapped library, or a refusal with a reason; not a crash or a hang.
    EXPECT_THAT(done.status, AnyOf(0, 4, 5, 7)) << done.err;
    EXPECT_TRUE(succeeded(jvm->ask("threads 2")));
    EXPECT_EQ(fs::file_size(bait), 0u);
  }
}

// If the target has no writable place from which a library can be loaded, the agent cannot be delivered.
TEST(Delivery, ReportsThatThereIsNoPlaceToRunFrom) {
  NEED_NAMESPACES();
  JTRACE_NEED_JDK(jdk);
  JvmOptions options = attachable(*jdk);
  options.isolation = Isolation::kContainer;
  options.own_root = true;
  options.in_child = [](const std::string& root) {
    mount_attr read_only{};
    read_only.attr_set = MOUNT_ATTR_RDONLY;
    return ::mount_setattr(AT_FDCWD, root.c_str(), AT_RECURSIVE, &read_only, sizeof read_only) == 0 &&
           ::mount("tmpfs", (root + "/tmp").c_str(), "tmpfs", MS_NOEXEC, "mode=1777,size=64m") == 0;
  };
  auto jvm = must(JvmProcess::start(*jdk, "Workload", options));
  const ScratchDir folder;
  auto done = must(run_jtrace({"attach", jvm->pid_text(), "-o", folder.file("x.xml"), "--duration", "0.2"}));
  EXPECT_EQ(done.status, 7) << done.err;
  EXPECT_THAT(done.err, HasSubstr("noexec"));
  EXPECT_EQ(jvm->err(), "");
  EXPECT_TRUE(succeeded(jvm->ask("threads 2")));
}

}  // namespace
}  // namespace jtrace::test
