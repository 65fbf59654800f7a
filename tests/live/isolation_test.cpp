// JVMs in namespaces and trees of their own can be made, and are really isolated.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "tests/testlib/require.h"
#include "tests/testlib/small_disk.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

TEST(SmallDisk, IsFullSoonAndSeenByThoseLetIn) {
  if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("live", why);
  auto disk = must(SmallDisk::make(64));
  CommandOptions options;
  options.in_child = disk->enter();
  auto done = must(run_command({"sh", "-c", "head -c 200000 /dev/zero > " + disk->path() + "/x"}, options));
  EXPECT_NE(done.status, 0);
  EXPECT_EQ(std::filesystem::file_size(disk->outside_path() + "/x"), 65536u);
  EXPECT_FALSE(std::filesystem::exists(disk->path() + "/x"));
}

TEST(OwnRoot, LetsATestChangeFilesThatNobodyElseSees) {
  if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("live", why);
  for (const Jdk& jdk : jdks()) {
    SCOPED_TRACE(jdk.name);
    JvmOptions options;
    options.isolation = Isolation::kContainer;
    options.own_root = true;
    auto jvm = must(JvmProcess::start(jdk, "Idle", options));
    const std::string name = "/etc/jtrace-test-marker";
    must(open_file(jvm->inside(name), O_WRONLY | O_CREAT, 0600));
    EXPECT_FALSE(std::filesystem::exists(name));
    EXPECT_FALSE(std::filesystem::exists(jdk.root.value_or("") + name));
  }
}

}  // namespace
}  // namespace jtrace::test
