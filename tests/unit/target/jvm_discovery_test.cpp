#include "target/jvm_discovery.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace jtrace::target {
namespace {

TEST(JvmDiscovery, LibjvmMustBeExecuted) {
  const auto read_only = parse_memory_map("1000-2000 r--p 00000000 08:01 7 /jdk/lib/server/libjvm.so\n");
  EXPECT_EQ(find_libjvm(read_only), nullptr);
  const auto mapped = parse_memory_map(
      "1000-2000 r--p 00000000 08:01 7 /jdk/lib/server/libjvm.so\n2000-3000 r-xp 00001000 08:01 7 "
      "/jdk/lib/server/libjvm.so\n");
  ASSERT_NE(find_libjvm(mapped), nullptr);
  EXPECT_EQ(find_libjvm(mapped)->start, 0x1000u);
  EXPECT_EQ(find_libjvm(parse_memory_map("1000-2000 r-xp 0 08:01 7 /lib/libjvm.so.bak\n")), nullptr);
}

TEST(JvmDiscovery, ThisProgramIsNoJvm) {
  const auto self = Process::open(::getpid());
  ASSERT_TRUE(self);
  const auto jvm = examine_jvm(*self);
  ASSERT_FALSE(jvm);
  EXPECT_EQ(jvm.error().category, ErrorCategory::kNotAttachable);
  EXPECT_NE(jvm.error().message().find("no libjvm.so mapped"), std::string::npos);
  EXPECT_NE(jvm.error().message().find(self->comm()), std::string::npos);
  for (const Jvm& found : discover_jvms().jvms) EXPECT_NE(found.pid, ::getpid());
}

TEST(JvmDiscovery, WhetherItAttaches) {
  Jvm jvm;
  EXPECT_EQ(jvm.attach_enabled(), std::nullopt);
  jvm.perf_strings["sun.rt.jvmCapabilities"] = "1000";
  EXPECT_EQ(jvm.attach_enabled(), true);
  jvm.perf_strings["sun.rt.jvmCapabilities"] = "0000";
  EXPECT_EQ(jvm.attach_enabled(), false);
}

TEST(JvmDiscovery, UsersByName) {
  EXPECT_EQ(user_name(0), "root");
  EXPECT_EQ(user_name(3999999999u), "3999999999");
}

}  // namespace
}  // namespace jtrace::target
