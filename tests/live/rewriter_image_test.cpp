// The rewriter over the classes of the JDKs themselves: every probe in every method, verified by the JVM. A spread of
// the classes in the time that a test has (JTRACE_IMAGE_SECONDS, 4); all of them by hand with a large value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mount.h>

#include "tests/testlib/require.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

class EachJdk : public ::testing::TestWithParam<Jdk> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachJdk);
INSTANTIATE_TEST_SUITE_P(Jdks, EachJdk, ::testing::ValuesIn(jdks()), NameOf());

TEST_P(EachJdk, verifies_rewritten_classes_of_its_own_image) {
  const Jdk& jdk = GetParam();
  JvmOptions options;
  options.flags = {"-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal",
                   "-XX:+BytecodeVerificationRemote"};
  if (jdk.version >= 9) options.flags.push_back("--add-modules=ALL-SYSTEM");
  if (jdk.version >= 17) options.flags.push_back("--enable-native-access=ALL-UNNAMED");
  if (jdk.root)
    options.in_child = [](const std::string& root) {
      return ::mount(JTRACE_BUILD_DIR, (root + "/srv").c_str(), nullptr, MS_BIND, nullptr) == 0;
    };
  options.arguments = {(jdk.root ? "/srv" : JTRACE_BUILD_DIR) + std::string("/lib/librewriter_test.so")};
  auto jvm = JvmProcess::start(jdk, "RewriteAll", options);
  ASSERT_TRUE(succeeded(jvm));
  const char* seconds = ::getenv("JTRACE_IMAGE_SECONDS");
  auto answer = (*jvm)->ask("image 8191 " + std::string(seconds != nullptr ? seconds : "4"), std::chrono::minutes(9));
  ASSERT_TRUE(succeeded(answer)) << (*jvm)->err() << (*jvm)->crash_report();
  SCOPED_TRACE(*answer + "\n" + (*jvm)->err());
  ::testing::Test::RecordProperty("rewriter", *answer);
  EXPECT_GE(value_in(*answer, "classes"), 100);
  EXPECT_GE(value_in(*answer, "rewritten"), 500);
  EXPECT_THAT(*answer, ::testing::HasSubstr("failed=0 "));
  EXPECT_THAT(*answer, ::testing::HasSubstr("malformed=0 "));
  EXPECT_THAT(*answer, ::testing::HasSubstr("unread=0 "));
  record_support(jdk, "G1", "live", "rewritten classes of the image verify");
  if (seconds != nullptr) std::printf("%s: %s\n%s", jdk.name.c_str(), answer->c_str(), (*jvm)->err().c_str());
}

}  // namespace
}  // namespace jtrace::test
