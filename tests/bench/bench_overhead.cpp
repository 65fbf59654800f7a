// The cost of being traced for a CPU-bound program: the same JVM, the same work, with and without `jtrace attach`
// (default events), in turns. Prints the medians and their ratio for each JDK; goal: 1.02 at most.
//
//   bench_overhead [ROUNDS [WORK]]   rounds per side (15), units of work in each (60)
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/bench/bench.h"
#include "tests/testlib/jvm_process.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

constexpr double kGoal = 1.02;

// Milliseconds for `work` units, as the program measured them.
Result<double> run_work(JvmProcess& jvm, int work) {
  JTRACE_ASSIGN_OR_RETURN(const std::string answer, jvm.ask("run " + std::to_string(work)));
  return std::strtod(answer.c_str(), nullptr) / 1e6;
}

struct Times {
  std::vector<double> plain;
  std::vector<double> traced;
};

// Both sides in pairs of alternating order, so that other load of the machine affects both alike.
Result<> run_pair(JvmProcess& jvm, int work, bool traced_first, Times& times) {
  for (const bool traced : {traced_first, !traced_first}) {
    std::unique_ptr<TraceRun> run;
    if (traced) {
      JTRACE_ASSIGN_OR_RETURN(run, TraceRun::start(jvm.pid()));
    }
    JTRACE_ASSIGN_OR_RETURN(const double took, run_work(jvm, work));
    (traced ? times.traced : times.plain).push_back(took);
    if (run) JTRACE_RETURN_IF_ERROR(run->stop());
  }
  return {};
}

Result<double> measure(const Jdk& jdk, int rounds, int work) {
  JTRACE_ASSIGN_OR_RETURN(auto jvm, JvmProcess::start(jdk, "Spin"));
  Times times;
  JTRACE_RETURN_IF_ERROR(run_pair(*jvm, work, true, times));  // warms up both sides
  times = {};
  for (int i = 0; i < rounds; ++i) JTRACE_RETURN_IF_ERROR(run_pair(*jvm, work, i % 2 == 1, times));
  const double plain = median(times.plain);
  const double traced = median(times.traced);
  std::printf("%-24s plain %8.1f ms  traced %8.1f ms  ratio %.4f  (goal <= %.2f)\n", jdk.name.c_str(), plain, traced,
              traced / plain, kGoal);
  return traced / plain;
}

int run(int rounds, int work) {
  int status = 0;
  for (const Jdk& jdk : jdks()) {
    const auto ratio = measure(jdk, rounds, work);
    if (!ratio) std::fprintf(stderr, "%s: %s\n", jdk.name.c_str(), ratio.error().message().c_str());
    if (!ratio || *ratio > kGoal) status = 1;
  }
  return status;
}

}  // namespace
}  // namespace jtrace::test

int main(int argc, char** argv) {
  return jtrace::test::run(argc > 1 ? std::atoi(argv[1]) : 15, argc > 2 ? std::atoi(argv[2]) : 60);
}
