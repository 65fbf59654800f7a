// What a trace says at its end of threads that become more: those that began in it, and no others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kMore = "more than at the beginning";

class EachJdk : public ::testing::TestWithParam<Jdk> {
 protected:
  // Before JDK 24 a virtual thread keeps its carrier while it is blocked: each needs one.
  static JvmOptions options() {
    JvmOptions options = attachable(GetParam());
    options.flags.push_back("-Djdk.virtualThreadScheduler.parallelism=16");
    return options;
  }
  void ask(const std::string& command) { must(jvm_->ask(command)); }
  // What the trace says at its end; `in_trace`: commands.
  std::string said(std::vector<std::string> options, const std::vector<std::string>& in_trace) {
    options.insert(options.end(), {"--events", "threads,monitors"});
    auto run = must(TraceRun::start(jvm_->pid(), options));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    for (const std::string& command : in_trace) ask(command);
    std::this_thread::sleep_for(std::chrono::milliseconds(700));  // all that take turns have been blocked
    const auto trace = must(run->finish());
    EXPECT_TRUE(none(trace.faults()));
    EXPECT_TRUE(valid(run->path()));
    return run->command().err();
  }

  std::unique_ptr<JvmProcess> jvm_ = must(JvmProcess::start(GetParam(), "MoreThreads", options()));
};
JTRACE_ON_EACH_JDK(EachJdk);

TEST_P(EachJdk, ThreadsThatBeginAndStayAreCounted) {
  ask("stay old 3");
  EXPECT_THAT(said({}, {"brief 5"}), Not(HasSubstr(kMore)));
  const std::string more = said({}, {"stay late 4", "brief 5"});
  EXPECT_THAT(more, HasSubstr("4 threads more than at the beginning"));
  EXPECT_THAT(more, HasSubstr(": 4 \"late-*\"\n"));
  EXPECT_THAT(said({}, {"leave", "stay new 7"}), Not(HasSubstr(kMore))) << "as many have ended";
}

// Without the carriers, of which the JVM starts more as virtual threads block: those are more indeed.
std::string growth_in(const std::string& said) {
  const std::size_t at = said.find(kMore);
  return at == said.npos ? "" : said.substr(at, said.find('\n', at) - at);
}

TEST_P(EachJdk, VirtualThreadsThatWereThereAreNotMore) {
  if (GetParam().version < 21) GTEST_SKIP() << "no virtual threads before JDK 21";
  ask("virtual old 4");
  EXPECT_THAT(growth_in(said({}, {})), Not(HasSubstr("old")));
  EXPECT_THAT(growth_in(said({"--virtual-threads"}, {})), Not(HasSubstr("old")));
  EXPECT_THAT(growth_in(said({}, {"virtual unseen 4"})), Not(HasSubstr("unseen")));
  const std::string more = growth_in(said({"--virtual-threads"}, {"virtual late 4"}));
  EXPECT_THAT(more, HasSubstr("4 \"late-*\""));
  EXPECT_THAT(more, Not(HasSubstr("old")));
  EXPECT_THAT(more, Not(HasSubstr("unseen")));
}

}  // namespace
}  // namespace jtrace::test
