#include "coreinspect/tools/core_copy.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/joined.h"
#include "base/log.h"
#include "base/size_text.h"
#include "base/unique_fd.h"
#include "coreinspect/gc/heap_layout.h"
#include "coreinspect/model/inspection.h"
#include "coreinspect/runtime/vm_symbols.h"
#include "coreinspect/tools/core_redaction.h"
#include "coreinspect/tools/owned_locks.h"
#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kPiece = 64u << 10;
constexpr std::uint64_t kSpare = 64u << 20;  // bytes that stay free on this machine
constexpr int kMaxStops = 5;  // objects that a collection moves between two stops are elsewhere in the next

// What the views read of the running process, and what a core cannot be asked for later.
struct Learned {
  target::PageSet pages;
  KnownLocks locks;
  std::string symbols;
};

// The search for locks reads the whole heap. So its reads are not recorded; its result is.
Result<Learned> learn(pid_t pid, std::chrono::milliseconds budget) {
  Learned learned;
  JTRACE_ASSIGN_OR_RETURN(auto process, target::Process::open(pid));
  JTRACE_ASSIGN_OR_RETURN(auto target, target::Target::open_process(std::move(process)));
  JTRACE_ASSIGN_OR_RETURN(const auto unrecorded, Inspection::open(std::move(target)));
  learned.locks = OwnedLocks(*unrecorded, budget).known();
  learned.symbols = VmSymbols(unrecorded->target()).note();
  JTRACE_ASSIGN_OR_RETURN(auto again, target::Process::open(pid));
  JTRACE_ASSIGN_OR_RETURN(auto recorded, target::Target::open_process(std::move(again), &learned.pages));
  JTRACE_ASSIGN_OR_RETURN(const auto inspection, Inspection::open(std::move(recorded)));
  inspection->set_known_locks(learned.locks);
  run_views(*inspection, small_core_views());
  return learned;
}

struct Trial {
  target::PageSet missed;
  std::uint64_t collections = 0;  // as the core has it
  std::vector<std::string> missing;
};

// The views over the copy as a core, on a machine that has none of its files.
Result<Trial> try_core(const target::ProcessCopy& copy) {
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd file, core_in_memory(copy));
  Trial trial;
  auto target = target::Target::open_core(
      path_of_core(file),
      {.sysroot = "/proc/self/fdinfo", .libjvm = {}, .missed = &trial.missed, .tell_unnamed = false});
  if (!target) {
    trial.missing = {target.error().message()};
    return trial;
  }
  const auto inspection = Inspection::open(std::move(*target));
  if (!inspection) {
    trial.missing = {inspection.error().message()};
    return trial;
  }
  trial.collections = read_collections((*inspection)->vm()).value_or(0);
  trial.missing = run_views(**inspection, small_core_views());
  return trial;
}

// The part of `missed` that the process has and the copy has not.
target::PageSet to_add(const target::ProcessCopy& copy, const target::PageSet& missed) {
  target::PageSet pages;
  for (const target::CoreRange& range : copy.ranges()) {
    if (!range.bytes.empty() || range.zeros || range.same_as || !range.readable) continue;
    // A table is read in pieces; the read ends at the first page that is missing, so the rest of its piece comes too.
    for (const target::PageRun& run : missed.within(range.start, range.end))
      pages.add(run.start, std::min(run.end + kPiece, range.end));
  }
  return pages;
}

}  // namespace

std::vector<std::string> run_views(Inspection& inspection, const std::vector<std::string>& names) {
  std::vector<std::string> missing = inspection.missing();
  const auto run = [&](const View& view, bool all) {
    ViewOptions options;
    options.all = all;
    const auto result = view.run(inspection, options);
    if (!result) missing.push_back(std::string(view.name) + ": " + result.error().message());
    else missing.insert(missing.end(), result->missing.begin(), result->missing.end());
  };
  for (const std::string& name : names)
    if (const View* view = find_view(name)) run(*view, view->is(fact::kKeptWithAll));
  run(stack_view(), false);
  return missing;
}

const std::vector<std::string>& small_core_views() {
  static const std::vector<std::string> names = views_that(fact::kInSmallCore);
  return names;
}

// The addresses of locks are noted where the heap that they would be looked for in is not there.
Result<> check_not_small(const target::Target& target, std::string_view what) {
  const bool is_small =
      target.core() != nullptr && target.core()->own_note(kLocksNote) != nullptr && !is_redacted(target);
  if (!is_small) return {};
  return fail(ErrorCategory::kRefused, "the core is a small one (jtrace core --small): it has no " + std::string(what),
              "it has stack, " + joined(small_core_views()));
}

// The kernel would give more than there is, and then end whoever uses the most memory: that may be the target.
Result<UniqueFd> core_in_memory(const target::ProcessCopy& copy, std::uint64_t free) {
  if (copy.bytes() > free || free - copy.bytes() < kSpare)
    return fail(ErrorCategory::kRefused, "a core of " + size_text(copy.bytes()) +
                                             " is needed beside the copy, and this machine has " + size_text(free) +
                                             " free");
  UniqueFd file(::memfd_create("jtrace-core", MFD_CLOEXEC));
  if (!file) return fail(system_error("no memory for a core"));
  JTRACE_RETURN_IF_ERROR(target::write_core(copy.process(), copy.ranges(), [&](std::string_view bytes) {
    return write_whole(file.get(), bytes, "a core in memory");
  }));
  return file;
}

std::string path_of_core(const UniqueFd& file) { return "/proc/self/fd/" + std::to_string(file.get()); }

Result<CoreCopy> copy_whole(pid_t pid, const target::CopyOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(const auto process, target::Process::open(pid));
  JTRACE_ASSIGN_OR_RETURN(auto same, target::Process::open(pid));
  JTRACE_ASSIGN_OR_RETURN(const auto target, target::Target::open_process(std::move(same)));
  JTRACE_ASSIGN_OR_RETURN(auto copy, target::ProcessCopy::take(process, options));
  copy.add_note({VmSymbols::kNote, VmSymbols(*target).note()});
  const auto stopped = copy.stopped_for();
  return CoreCopy{.copy = std::move(copy), .stops = 1, .longest = stopped, .missing = {}};
}

Result<CoreCopy> copy_for_views(pid_t pid, std::chrono::milliseconds max_stop) {
  JTRACE_ASSIGN_OR_RETURN(const auto process, target::Process::open(pid));
  target::CopyOptions options{.max_stop = max_stop, .libraries = false, .pages = target::PageSet()};
  std::chrono::nanoseconds longest{};
  for (int stops = 1;; ++stops) {
    // After a stop in which something was missed: objects may have moved, and the locks among them.
    JTRACE_ASSIGN_OR_RETURN(const Learned learned, learn(pid, max_stop));
    options.pages->add(learned.pages);
    JTRACE_ASSIGN_OR_RETURN(auto copy, target::ProcessCopy::take(process, options));
    copy.add_note({VmSymbols::kNote, learned.symbols});
    copy.add_note({kLocksNote, locks_note(learned.locks)});
    longest = std::max(longest, copy.stopped_for());
    JTRACE_ASSIGN_OR_RETURN(auto trial, try_core(copy));
    // A page that was asked for before and is missing again cannot be read.
    const target::PageSet more = to_add(copy, trial.missed).without(*options.pages);
    log_debug("stop " + std::to_string(stops) + ": " + std::to_string(copy.bytes() >> 10) + " KiB, " +
              std::to_string(more.bytes() >> 10) + " KiB missed");
    const bool moved = trial.collections != learned.locks.collections;
    if ((more.empty() && !moved) || stops == kMaxStops) {
      CoreCopy core{.copy = std::move(copy), .stops = stops, .longest = longest, .missing = {}};
      if (!more.empty()) core.missing = std::move(trial.missing);
      if (moved)
        core.missing.push_back(
            "java.util.concurrent locks that threads own: collections moved objects in each attempt");
      if (!learned.locks.why.empty())
        core.missing.push_back("java.util.concurrent locks that threads own: " + learned.locks.why);
      return core;
    }
    options.pages->add(more);
  }
}

}  // namespace jtrace::coreinspect
