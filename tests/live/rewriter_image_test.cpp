// The rewriter over the classes of the JDKs themselves and of real programs: every callout in every method, verified by
// the JVM. A test takes a part of the classes, spread over the image, in a limited time (JTRACE_IMAGE_SECONDS, 4); by
// hand, with a large value, all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mount.h>

#include "tests/testlib/java_programs.h"
#include "tests/testlib/places.h"
#include "tests/testlib/require.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

// A JVM that rewrites; a JDK of the tree sees the host's root at /srv.
Result<std::unique_ptr<JvmProcess>> rewriting_jvm(const Jdk& jdk) {
  JvmOptions options;
  options.flags = {"-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal",
                   "-XX:+BytecodeVerificationRemote"};
  if (jdk.version >= 9) options.flags.push_back("--add-modules=ALL-SYSTEM");
  if (jdk.version >= 17) options.flags.push_back("--enable-native-access=ALL-UNNAMED");
  if (jdk.root)
    options.in_child = [](const std::string& root) {
      return ::mount("/", (root + "/srv").c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0;
    };
  options.arguments = {(jdk.root ? "/srv" : "") + std::string(libraries_folder() + "/librewriter_test.so")};
  return JvmProcess::start(jdk, "RewriteAll", options);
}

// What the test library does to a class, and its word for methods that it changed.
struct Change {
  std::string number;
  std::string counted;
};
const Change kAllCallouts{"32767", "rewritten"};
const Change kCalls{"24576", "rewritten"};                   // with frames, which nothing else reports here
const Change kFrames{std::to_string(1 << 30), "completed"};  // no StackMapTables, so that they have to be computed

// Makes the change in every method of the classes that `command` names; expects at least so many classes and methods,
// and no fault.
void expect_sound(const Jdk& jdk, const Change& change, const std::string& command, const std::string& jars = "") {
  const auto jvm = must(rewriting_jvm(jdk));
  const char* seconds = ::getenv("JTRACE_IMAGE_SECONDS");
  const auto answer =
      must(jvm->ask(command + " " + change.number + " " + (seconds != nullptr ? seconds : "4") + " " + jars,
                    std::chrono::minutes(9)));
  SCOPED_TRACE(answer + "\n" + jvm->err());
  ::testing::Test::RecordProperty("rewriter", answer);
  EXPECT_GE(value_in(answer, "classes"), 100);
  EXPECT_GE(value_in(answer, change.counted), 200);
  EXPECT_THAT(answer, ::testing::HasSubstr("failed=0 "));
  EXPECT_THAT(answer, ::testing::HasSubstr("malformed=0 "));
  EXPECT_THAT(answer, ::testing::HasSubstr("unread=0 "));
  EXPECT_THAT(answer, ::testing::HasSubstr("left=0 "));
  if (seconds != nullptr) std::printf("%s: %s\n%s", jdk.name.c_str(), answer.c_str(), jvm->err().c_str());
}

TEST_P(EachJdk, VerifiesRewrittenClassesOfItsOwnImage) {
  expect_sound(GetParam(), kAllCallouts, "image");
  if (!HasFailure()) record_support(GetParam(), "G1", "live", "rewritten classes of the image verify");
}

// What the JVMPI bridge does after CLASS_LOAD_HOOK.
TEST_P(EachJdk, VerifiesComputedFramesOfItsOwnImage) {
  expect_sound(GetParam(), kFrames, "image");
  if (!HasFailure()) record_support(GetParam(), "yes", "JVMPI", "computed frames of the image verify");
}

// The jars of VisualVM and Eclipse's compiler as the JVM sees them; "" if they are not installed.
std::string real_programs(const Jdk& jdk) {
  std::vector<std::string> jars = visualvm_jars();
  jars.push_back(eclipse_compiler_jar());
  if (jars.size() == 1 || jars.back().empty()) return "";
  std::string words;
  for (const std::string& jar : jars) words += (words.empty() ? "" : ":") + std::string(jdk.root ? "/srv" : "") + jar;
  return words;
}

TEST_P(EachJdk, VerifiesRewrittenClassesOfRealPrograms) {
  if (GetParam().version < 11) GTEST_SKIP() << "the programs are of JDK 11 and later";
  const std::string jars = real_programs(GetParam());
  if (jars.empty()) JTRACE_SKIP("live", "VisualVM or Eclipse's compiler is not there (scripts/setup)");
  expect_sound(GetParam(), kCalls, "jars", jars);
  if (!HasFailure()) record_support(GetParam(), "G1", "live", "rewritten classes of real programs verify");
}

TEST_P(EachJdk, VerifiesComputedFramesOfRealPrograms) {
  if (GetParam().version < 11) GTEST_SKIP() << "the programs are of JDK 11 and later";
  const std::string jars = real_programs(GetParam());
  if (jars.empty()) JTRACE_SKIP("live", "VisualVM or Eclipse's compiler is not there (scripts/setup)");
  expect_sound(GetParam(), kFrames, "jars", jars);
  if (!HasFailure()) record_support(GetParam(), "yes", "JVMPI", "computed frames of real programs verify");
}

}  // namespace
}  // namespace jtrace::test
