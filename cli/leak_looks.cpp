#include "cli/leak_looks.h"

#include <thread>
#include <vector>

#include "base/log.h"
#include "base/time_text.h"
#include "cli/answer_format.h"
#include "cli/loaded_heap.h"
#include "cli/selector.h"
#include "cli/view_run.h"
#include "coreinspect/graph/leak_growth.h"

namespace jtrace::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kLooks = 3;

// What would be refused at the end is refused before the wait.
Result<> check(InspectArguments& arguments, const coreinspect::View& view) {
  if (is_file_name(arguments.target))
    return fail(ErrorCategory::kUsage, "--duration: " + arguments.target + " does not change",
                "jtrace heap diff OLD NEW compares two heaps");
  JTRACE_ASSIGN_OR_RETURN(const pid_t pid, select_jvm(arguments.target, Takes::kJvmOrFile));
  arguments.target = std::to_string(pid);
  InspectArguments settled = arguments;
  JTRACE_RETURN_IF_ERROR(settle_output(settled, view));
  if (settled.format == "xml") return fail(ErrorCategory::kUsage, "leaks has no --format xml with --duration");
  // That the file can be made; it is not, yet.
  const auto output = open_whole_output(arguments.output);
  return output ? Result<>() : fail(output.error());
}

}  // namespace

ExitStatus run_leak_looks(InspectArguments arguments, const coreinspect::View& view) {
  if (const auto good = check(arguments, view); !good) return report(good.error());
  const auto duration = arguments.options.heap.duration;
  const auto start = Clock::now();
  coreinspect::LeakGrowth growth;
  std::string process_id;
  std::vector<std::string> missing;  // of the looks before the last
  log_info("three looks within " + duration_text(static_cast<std::uint64_t>(duration.count())));
  for (int i = 0;; ++i) {
    std::this_thread::sleep_until(start + duration * i / (kLooks - 1));
    const std::chrono::duration<double> since = Clock::now() - start;
    auto heap = load_heap(arguments);
    if (!heap) return report(heap.error());
    if (i == 0) process_id = heap->identity.process_id;
    // The process may have ended, and another have its id.
    if (heap->identity.process_id != process_id)
      return report(
          Error{ErrorCategory::kNotFound, "JVM " + arguments.target + " has ended, another process has its id"});
    growth.look(coreinspect::HeapTree(*heap->graph), since.count());
    if (i + 1 < kLooks) {
      for (const auto& lines : {heap->missing, heap->graph->missing()})
        for (const std::string& line : lines) missing.push_back("at look " + std::to_string(i + 1) + ": " + line);
      continue;
    }
    heap->missing.insert(heap->missing.end(), missing.begin(), missing.end());
    arguments.options.heap.growth = &growth;
    return run_view_of(*heap, arguments, view);
  }
}

}  // namespace jtrace::cli
