#include "target/proc_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace jtrace::target {
namespace {

using testing::ElementsAre;

TEST(ProcText, Status) {
  const auto status = parse_status(
      "Name:\tmy app\nState:\tS "
      "(sleeping)\nTgid:\t4711\nPid:\t4712\nPPid:\t1\nTracerPid:\t99\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n"
      "NSpid:\t4712\t40\t1\nSigPnd:\t0000000000000004\nShdPnd:\t0000000000000000\nSigCgt:\t2000000181005ccf\n");
  EXPECT_EQ(status.name, "my app");
  EXPECT_EQ(status.state, 'S');
  EXPECT_EQ(status.tgid, 4711);
  EXPECT_EQ(status.pid, 4712);
  EXPECT_EQ(status.tracer, 99);
  EXPECT_EQ(status.uid, 2u);
  EXPECT_EQ(status.gid, 6u);
  EXPECT_THAT(status.nspid, ElementsAre(4712, 40, 1));
  EXPECT_TRUE(status.catches(SIGQUIT));
  EXPECT_FALSE(status.catches(SIGKILL));
  EXPECT_TRUE(status.has_pending(SIGQUIT));
  EXPECT_FALSE(status.is_stopped() || status.has_exited());
}

TEST(ProcText, StatesThatCannotAnswer) {
  EXPECT_TRUE(parse_status("State:\tT (stopped)\n").is_stopped());
  EXPECT_TRUE(parse_status("State:\tt (tracing stop)\n").is_stopped());
  EXPECT_TRUE(parse_status("State:\tZ (zombie)\n").has_exited());
  EXPECT_TRUE(parse_status("State:\tX (dead)\n").has_exited());
}

TEST(ProcText, StartTicksAfterAHostileName) {
  EXPECT_EQ(parse_start_ticks("7 (a) b (c) S 1 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 999 88"), 12345u);
  EXPECT_EQ(parse_start_ticks("7 (x) S 1"), 0u);
  EXPECT_EQ(parse_start_ticks(""), 0u);
  EXPECT_EQ(parse_cpu_ticks("7 (a) b (c) S 1 7 7 0 -1 4194304 1 2 3 4 500 60 7 8 20 0 1 0 12345 999 88"), 560u);
  EXPECT_EQ(parse_cpu_ticks("7 (x) S 1"), 0u);
}

TEST(ProcText, SoftLimitIsTheFirstNumberOfItsLine) {
  const std::string text =
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max processes             unlimited            unlimited            processes \n"
      "Max open files            1024                 524288               files     \n";
  EXPECT_EQ(soft_limit(text, "Max open files"), 1024u);
  EXPECT_EQ(soft_limit(text, "Max processes"), std::nullopt);
  EXPECT_EQ(soft_limit(text, "Max pending signals"), std::nullopt);
}

TEST(ProcText, BytesOfStatus) {
  EXPECT_EQ(bytes_of_status("VmRSS:\t  100 kB\nVmSwap:\t   16 kB\n", "VmSwap"), 16u << 10);
  EXPECT_EQ(bytes_of_status("VmRSS:\t  100 kB\n", "VmSwap"), std::nullopt);
}

TEST(ProcText, CommandLineKeepsEmptyArguments) {
  EXPECT_THAT(parse_cmdline(std::string_view("java\0-Da=\0\0Main\0", 16)), ElementsAre("java", "-Da=", "", "Main"));
  EXPECT_TRUE(parse_cmdline("").empty());
}

TEST(ProcText, MountinfoWithEscapesAndOptionalFields) {
  const auto mounts = parse_mountinfo(
      "36 35 98:0 /mnt1 /with\\040blank rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue\n"
      "37 36 0:31 / /tmp rw,nosuid,noexec - tmpfs tmpfs rw\n38 36 0:32 / /ro rw - ext4 /dev/x ro\n39 36 0:32 / /ro2 ro "
      "- ext4 /dev/x rw\n"
      "cut line\n");
  ASSERT_EQ(mounts.size(), 4u);
  EXPECT_EQ(mounts[0].point, "/with blank");
  EXPECT_EQ(mounts[0].root, "/mnt1");
  EXPECT_EQ(mounts[0].type, "ext3");
  EXPECT_TRUE(mounts[0].writable && !mounts[0].noexec);
  EXPECT_TRUE(mounts[1].writable && mounts[1].noexec);
  EXPECT_FALSE(mounts[2].writable);
  EXPECT_FALSE(mounts[3].writable);
}

TEST(ProcText, TheMountOfAPathIsTheLastOfTheLongest) {
  const auto mounts = parse_mountinfo(
      "1 0 1:1 / / rw - ext4 a rw\n2 1 1:2 / /tmp rw - tmpfs b rw\n3 1 1:3 / /tmp rw,noexec - tmpfs c rw\n");
  EXPECT_EQ(mount_of(mounts, "/tmp/x"), &mounts[2]);
  EXPECT_EQ(mount_of(mounts, "/tmp"), &mounts[2]);
  EXPECT_EQ(mount_of(mounts, "/tmpx/y"), &mounts[0]);
  EXPECT_EQ(mount_of({}, "/tmp"), nullptr);
}

const std::string kId(64, 'a');

TEST(ProcText, ContainersByTheirCgroup) {
  EXPECT_EQ(container_of_cgroup("0::/user.slice/user-0.slice/session-1.scope\n"), "");
  EXPECT_EQ(container_of_cgroup("0::/\n"), "");
  EXPECT_EQ(container_of_cgroup("0::/system.slice/docker-" + kId + ".scope\n"), kId);
  EXPECT_EQ(container_of_cgroup("12:cpu:/docker/" + kId + "\n11:memory:/docker/" + kId + "\n"), kId);
  EXPECT_EQ(container_of_cgroup("0::/machine.slice/libpod-" + kId + ".scope/container\n"), kId);
  EXPECT_EQ(container_of_cgroup("0::/lxc.payload.web1/init.scope\n"), "web1");
  EXPECT_EQ(container_of_cgroup("0::/machine.slice/machine-deb.scope\n"), "deb");
  EXPECT_EQ(container_of_cgroup("0::/x/" + std::string(64, 'g') + "\n"), "");
}

TEST(ProcText, PodsBeforeTheirContainer) {
  const std::string uid = "0a1b2c3d-1111-2222-3333-444455556666";
  EXPECT_EQ(
      container_of_cgroup("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a1b2c3d_1111_2222_3333_"
                          "444455556666.slice/cri-containerd-" +
                          kId + ".scope\n"),
      "pod" + uid + "/" + kId);
  EXPECT_EQ(container_of_cgroup("4:cpu:/kubepods/besteffort/pod" + uid + "/" + kId + "\n"), "pod" + uid + "/" + kId);
}

}  // namespace
}  // namespace jtrace::target
