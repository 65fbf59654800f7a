// The control group of a process, of both versions, out of texts and of files that are not there.
#include "target/cgroup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

namespace jtrace::target {
namespace {

using Files = std::map<std::string, std::string>;

ReadFile reader_of(const Files& files) {
  return [&files](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return fail(ErrorCategory::kNotFound, path + ": no such file");
    return found->second;
  };
}

const std::vector<MountEntry> kBoth = {{.root = "/", .point = "/sys/fs/cgroup/memory", .type = "cgroup"},
                                       {.root = "/", .point = "/sys/fs/cgroup/unified", .type = "cgroup2"}};
const std::vector<MountEntry> kSecond = {{.root = "/", .point = "/sys/fs/cgroup", .type = "cgroup2"}};

TEST(Cgroup, VersionOneIsTakenWhereItHasTheMemory) {
  const MemoryGroup group = memory_group("4:memory:/docker/1\n2:cpu,cpuacct:/x\n0::/other\n", kBoth);
  EXPECT_EQ(group.version, 1);
  EXPECT_EQ(group.folder, "/sys/fs/cgroup/memory/docker/1");
}

TEST(Cgroup, VersionTwoIsTakenOtherwise) {
  const MemoryGroup group = memory_group("0::/user.slice/a.scope\n", kSecond);
  EXPECT_EQ(group.version, 2);
  EXPECT_EQ(group.folder, "/sys/fs/cgroup/user.slice/a.scope");
  EXPECT_EQ(memory_group("0::/\n", kSecond).folder, "/sys/fs/cgroup");
}

TEST(Cgroup, AControllerThatIsMountedWithOthersIsFound) {
  const std::vector<MountEntry> mounts = {{.root = "/", .point = "/cg/cpu,memory", .type = "cgroup"}};
  EXPECT_EQ(memory_group("3:cpu,memory:/a\n", mounts).folder, "/cg/cpu,memory/a");
}

TEST(Cgroup, AContainersMountHasTheGroupAsItsRoot) {
  const std::vector<MountEntry> mounts = {{.root = "/docker/1", .point = "/sys/fs/cgroup", .type = "cgroup2"}};
  EXPECT_EQ(memory_group("0::/docker/1\n", mounts).folder, "/sys/fs/cgroup");
  EXPECT_EQ(memory_group("0::/docker/1/sub\n", mounts).folder, "/sys/fs/cgroup/sub");
  EXPECT_EQ(memory_group("0::/docker/12\n", mounts).version, 0);
}

TEST(Cgroup, AGroupOutsideOurNamespaceCannotBeSeen) {
  EXPECT_EQ(memory_group("0::/../other\n", kSecond).version, 0);
  EXPECT_EQ(memory_group("4:memory:/..\n", kBoth).version, 0);
  EXPECT_EQ(memory_group("", kBoth).version, 0);
  EXPECT_EQ(memory_group("nonsense\n:\n::\n", kBoth).version, 0);
  const auto memory = read_group_memory(MemoryGroup(), reader_of({}));
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().category, ErrorCategory::kNotFound);
}

TEST(Cgroup, NoLimitIsWrittenInTwoWays) {
  EXPECT_EQ(parse_group_limit("max\n"), std::nullopt);
  EXPECT_EQ(parse_group_limit("9223372036854771712\n"), std::nullopt);
  EXPECT_EQ(parse_group_limit("104857600\n"), 104857600u);
  EXPECT_EQ(parse_group_limit("-1\n"), std::nullopt);
  EXPECT_EQ(parse_group_limit(""), std::nullopt);
}

TEST(Cgroup, TheLowestLimitOfAllGroupsAboveCounts) {
  const Files files = {{"/sys/fs/cgroup/a/b/c/memory.max", "max\n"},
                       {"/sys/fs/cgroup/a/b/memory.max", "2000\n"},
                       {"/sys/fs/cgroup/a/b/memory.current", "1500\n"},
                       {"/sys/fs/cgroup/a/b/memory.stat", "anon 7\ninactive_file 300\nfile 9\n"},
                       {"/sys/fs/cgroup/a/memory.max", "3000\n"},
                       {"/sys/fs/cgroup/a/b/c/memory.current", "10\n"}};
  const auto memory = read_group_memory(memory_group("0::/a/b/c\n", kSecond), reader_of(files));
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->limit, 2000u);
  EXPECT_EQ(memory->limit_folder, "/sys/fs/cgroup/a/b");
  EXPECT_EQ(memory->used, 1500u);
  EXPECT_EQ(memory->inactive_file, 300u);
}

TEST(Cgroup, WithoutALimitTheUseIsOfTheProcessesGroup) {
  const Files files = {{"/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n"},
                       {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
                       {"/sys/fs/cgroup/memory/x/memory.usage_in_bytes", "77\n"},
                       {"/sys/fs/cgroup/memory/x/memory.stat", "inactive_file 1\ntotal_inactive_file 5\n"}};
  const auto memory = read_group_memory(memory_group("4:memory:/x\n", kBoth), reader_of(files));
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->limit, std::nullopt);
  EXPECT_EQ(memory->used, 77u);
  EXPECT_EQ(memory->inactive_file, 5u);
}

TEST(Cgroup, AGroupThatCountsNothingIsSaid) {
  const auto memory = read_group_memory(memory_group("0::/\n", kSecond), reader_of({}));
  ASSERT_FALSE(memory);
  EXPECT_NE(memory.error().message().find("does not count"), std::string::npos);
}

TEST(Cgroup, HasAProcessByPartsOfItsPathAndByItsContainersId) {
  const std::string id(64, 'b');
  const std::string text = "4:memory:/system.slice/docker-" + id + ".scope\n0::/system.slice/app.service\n";
  for (const char* group : {"app.service", "system.slice", "/system.slice/app.service", "system.slice/app.service/"})
    EXPECT_TRUE(is_in_group(text, group)) << group;
  EXPECT_TRUE(is_in_group(text, id));
  for (const char* group : {"", "/", "app", "service", "memory", "app.service/system.slice", "ab", "scope"})
    EXPECT_FALSE(is_in_group(text, group)) << group;
  EXPECT_FALSE(is_in_group("", "a"));
  EXPECT_FALSE(is_in_group("nonsense\n:\n", "nonsense"));
}

TEST(Cgroup, KnowsAContainerByTheBeginningOfItsId) {
  const std::string id(64, 'b'), pod = "pod" + std::string(32, 'c');
  const std::string docker = "0::/system.slice/docker-" + id + ".scope\n";
  const std::string kubernetes = "0::/kubepods/" + pod + "/" + id + "\n";
  EXPECT_EQ(container_with_beginning(docker, "bbbbbbbbbbbb"), id);
  EXPECT_EQ(container_with_beginning(kubernetes, "bbbb"), pod + "/" + id);
  EXPECT_EQ(container_with_beginning(kubernetes, pod + "/bbbb"), pod + "/" + id);
  EXPECT_TRUE(is_in_group(kubernetes, pod + "/" + id));
  EXPECT_TRUE(is_in_group(kubernetes, pod));
  EXPECT_TRUE(is_in_group(kubernetes, id));
  for (const char* group : {"", "b", "bbb", "bbbc", "pod", "p", "podcc", "docker"}) {
    EXPECT_EQ(container_with_beginning(docker, group), "") << group;
    EXPECT_EQ(container_with_beginning(kubernetes, group), "") << group;
  }
}

TEST(Cgroup, TakesNamesOfContainersWhole) {
  const std::string nspawn = "0::/machine.slice/machine-web10.scope\n", lxc = "0::/lxc.payload.web10\n";
  for (const std::string& text : {nspawn, lxc}) {
    EXPECT_TRUE(is_in_group(text, "web10"));
    EXPECT_FALSE(is_in_group(text, "web1"));
    EXPECT_EQ(container_with_beginning(text, "web1"), "");
  }
}

}  // namespace
}  // namespace jtrace::target
