#include "base/free_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "tests/testlib/scratch_dir.h"

namespace jtrace::test {
namespace {

class FreeMemory : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_.file(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::uint64_t room() { return free_memory({.proc = folder_.file("proc"), .cgroup = folder_.file("cgroup")}); }

  ScratchDir folder_;
};

TEST_F(FreeMemory, IsUnboundedWithoutALimit) { EXPECT_EQ(room(), UINT64_MAX); }

TEST_F(FreeMemory, IsWhatTheMachineHas) {
  write("proc/meminfo", "MemTotal:       1000 kB\nMemFree:        10 kB\nMemAvailable:    400 kB\n");
  EXPECT_EQ(room(), 400u * 1024);
}

TEST_F(FreeMemory, IsBoundedByTheCgroupOfVersion2) {
  write("proc/meminfo", "MemAvailable:    400 kB\n");
  write("proc/self/cgroup", "0::/a:b/c\n");
  write("cgroup/a:b/c/memory.max", "100000\n");
  write("cgroup/a:b/c/memory.current", "70000\n");
  EXPECT_EQ(room(), 30'000u);
  write("cgroup/a:b/c/memory.stat", "anon 5\ninactive_file 20000\n");
  EXPECT_EQ(room(), 50'000u);
  write("cgroup/a:b/c/memory.max", "max\n");
  EXPECT_EQ(room(), 400u * 1024);
  write("cgroup/a:b/c/memory.max", "60000\n");  // lowered below what is in use
  EXPECT_EQ(room(), 10'000u);
}

TEST_F(FreeMemory, IsBoundedByTheCgroupOfVersion1SeenFromOutsideOrInside) {
  write("proc/self/cgroup", "4:cpu,memory:/box/1\n1:name=systemd:/\n0::/\n");
  write("cgroup/memory/memory.limit_in_bytes", "9000\n");
  write("cgroup/memory/memory.usage_in_bytes", "1000\n");
  EXPECT_EQ(room(), 8'000u);
  write("cgroup/memory/box/1/memory.limit_in_bytes", "5000\n");
  write("cgroup/memory/box/1/memory.usage_in_bytes", "2000\n");
  EXPECT_EQ(room(), 3'000u);
}

TEST(FreeMemoryOfThisMachine, IsBoundedByTheLimitOfTheAddressSpace) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const std::uint64_t unlimited = free_memory();
  EXPECT_GT(unlimited, 1u << 20);
  constexpr rlim_t kLimit = rlim_t{1} << 50;  // more than any machine has: it does not affect this process
  const rlimit limit{.rlim_cur = std::min<rlim_t>(kLimit, before.rlim_max), .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  const MemoryFiles nowhere{.proc = "/proc", .cgroup = "/nowhere"};
  EXPECT_LT(free_memory({.proc = "/nowhere", .cgroup = "/nowhere"}), kLimit + 1);
  EXPECT_LE(free_memory(nowhere), limit.rlim_cur);
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
}

}  // namespace
}  // namespace jtrace::test
