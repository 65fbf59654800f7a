// What the frames of compiled methods keep, and what they have used for the last time: what the JVM itself would keep.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include "tests/live/heap_peers.h"
#include "tests/testlib/must.h"
#include "tests/testlib/places.h"
#include "tests/testlib/require.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

// FrameRoots: five threads hold two each, five have ten arguments each, five wait for a lock with one, one runs, one is
// in a native function, a native method has eight arguments, another one two local references, a call that waits for a
// class eight arguments. Of virtual threads one holds two, one has ten arguments, one runs below six frames.
constexpr std::uint64_t kKept = 5 * 2 + 5 * 10 + 5 + 1 + 1 + 8 + 2 + 8, kKeptByVirtualThreads = 2 + 10 + 6;

class FrameRoots : public ::testing::TestWithParam<JdkAndCollector> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  }
  void start(const std::vector<std::string>& compiler) {
    auto flags = GetParam().jdk.collector_flags(GetParam().collector);
    flags.push_back("-Xmx200m");
    flags.insert(flags.end(), compiler.begin(), compiler.end());
    for (const char* method : {"note", "use", "useMany", "rest", "hold", "drop", "pass", "block", "spin", "count",
                               "leaf", "hand", "made", "initialise", "thaw"})
      flags.push_back(std::string("-XX:CompileCommand=dontinline,FrameRoots.") + method);
    flags.push_back("-XX:CompileCommand=quiet");
    JvmOptions options = attachable(GetParam().jdk, flags);
    options.arguments = {(GetParam().jdk.root ? "/srv" : "") + std::string(libraries_folder() + "/libframe_roots.so")};
    if (GetParam().jdk.root)
      options.in_child = [](const std::string& root) {
        return ::mount("/", (root + "/srv").c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0;
      };
    if (has_virtual_threads()) options.arguments.push_back("virtual");
    jvm_ = must(JvmProcess::start(GetParam().jdk, "FrameRoots", options));
  }
  bool has_virtual_threads() const { return GetParam().jdk.version >= 21; }
  std::uint64_t kept() const { return kKept + (has_virtual_threads() ? kKeptByVirtualThreads : 0); }
  Histogram reachable() const {
    const auto document = inspect_heap(jvm_->pid_text(), true, {"histogram", "--reachable"});
    return document.contains("data") ? histogram_of_json(document) : Histogram();
  }

  std::unique_ptr<JvmProcess> jvm_;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FrameRoots);
INSTANTIATE_TEST_SUITE_P(Jvms, FrameRoots, ::testing::ValuesIn(jdks_and_collectors()), NameOf());

struct Compiler {
  const char* name;
  std::vector<std::string> flags;
};
const std::vector<Compiler> kCompilers = {{"C2", {"-Xbatch"}}, {"C1", {"-Xbatch", "-XX:TieredStopAtLevel=1"}}};

TEST_P(FrameRoots, OfCompiledMethodsAreWhatTheCollectorGoesBy) {
  for (const Compiler& compiler : kCompilers) {
    SCOPED_TRACE(compiler.name);
    start(compiler.flags);
    Histogram before = reachable();
    const std::string own = must(jvm_->ask("collect"));
    Histogram after = reachable();
    EXPECT_EQ(own, std::to_string(kept()) + " 0") << "the program is not what the test takes it for";
    // Of the thread that runs, and of interpreted frames, each word counts: also one of an earlier call.
    EXPECT_THAT(before["FrameRoots$Kept"].instances,
                ::testing::AllOf(::testing::Ge(kept()), ::testing::Le(kept() + 4)));
    EXPECT_LE(before["FrameRoots$Dropped"].instances, 2u);
    EXPECT_EQ(after["FrameRoots$Kept"].instances, kept());
    EXPECT_EQ(after["FrameRoots$Dropped"].instances, 0u);
  }
  record_support(GetParam().jdk, to_string(GetParam().collector), "live", "heap: what compiled frames keep");
}

// An interpreted frame keeps all its variables, for the JVM too.
TEST_P(FrameRoots, OfInterpretedMethodsAreAllTheirVariables) {
  start({"-Xint"});
  const std::string own = must(jvm_->ask("collect"));
  Histogram found = reachable();
  EXPECT_EQ(own, std::to_string(found["FrameRoots$Kept"].instances) + " " +
                     std::to_string(found["FrameRoots$Dropped"].instances));
  EXPECT_EQ(found["FrameRoots$Kept"].instances, kept());
}

// The frames of a parked virtual thread are in the heap. A collection rewrites the references in them.
TEST_P(FrameRoots, OfParkedVirtualThreadsAreShownAfterACollection) {
  if (!has_virtual_threads()) GTEST_SKIP() << "JDK 21 has virtual threads first";
  start({"-Xint"});
  must(jvm_->ask("collect"));
  const ScratchDir folder;
  const auto written = must(run_jtrace({"core", jvm_->pid_text(), "-o", folder.file("core")}));
  ASSERT_THAT(written.status, ::testing::AnyOf(0, 9)) << written.err;
  const auto stack = must(
      run_jtrace({"stack", folder.file("core"), "--java", "--locals", "--sysroot", GetParam().jdk.root.value_or("/")}));
  const std::size_t virtual_threads = stack.out.find(" virtual ");
  ASSERT_NE(virtual_threads, std::string::npos) << stack.err;
  EXPECT_THAT(stack.out.substr(virtual_threads),
              ::testing::ContainsRegex("FrameRoots.hold[^\n]*\n *FrameRoots.Kept first = FrameRoots.Kept@0x[0-9a-f]+ "
                                       "[{]value=1[^\n]*\n *FrameRoots.Kept second = FrameRoots.Kept@0x"));
}

}  // namespace
}  // namespace jtrace::test
