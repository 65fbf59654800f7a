#include "target/java_command.h"

#include <gtest/gtest.h>

namespace jtrace::target {
namespace {

TEST(JavaCommand, MainOfACommandLine) {
  EXPECT_EQ(main_of_command_line({"java", "-Xmx1g", "-cp", "a:b", "com.x.Main", "arg"}), "com.x.Main");
  EXPECT_EQ(main_of_command_line({"java", "-Dx=y", "-jar", "/opt/my app.jar", "Main"}), "/opt/my app.jar");
  EXPECT_EQ(main_of_command_line({"java", "--module-path", "mods", "-m", "mod/com.x.Main"}), "mod/com.x.Main");
  EXPECT_EQ(main_of_command_line({"java", "--module=mod/com.x.Main"}), "mod/com.x.Main");
  EXPECT_EQ(main_of_command_line({"java", "@args", "Main.java"}), "Main.java");
  EXPECT_EQ(main_of_command_line({"java", "-version"}), "");
  EXPECT_EQ(main_of_command_line({"java", "-jar"}), "");
  EXPECT_EQ(main_of_command_line({}), "");
}

TEST(JavaCommand, Versions) {
  EXPECT_EQ(version_of_release_file("IMPLEMENTOR=\"X\"\nJAVA_VERSION=\"17.0.15\"\nJAVA_VERSION_DATE=\"2025\"\n"),
            "17.0.15");
  EXPECT_EQ(version_of_release_file("JAVA_RUNTIME_VERSION=\"1\"\n"), "");
  EXPECT_EQ(feature_of_version("1.8.0_504"), 8);
  EXPECT_EQ(feature_of_version("27-ea"), 27);
  EXPECT_EQ(feature_of_version("25"), 25);
  EXPECT_EQ(feature_of_version(""), 0);
}

TEST(JavaCommand, HomeOfALibjvm) {
  EXPECT_EQ(home_of_libjvm("/jdk/lib/server/libjvm.so"), "/jdk");
  EXPECT_EQ(home_of_libjvm("/usr/lib/jvm/jdk8/jre/lib/amd64/server/libjvm.so"), "/usr/lib/jvm/jdk8/jre");
  EXPECT_EQ(home_of_libjvm("/elsewhere/libjvm.so"), "");
}

}  // namespace
}  // namespace jtrace::target
