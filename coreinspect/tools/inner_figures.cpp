#include "coreinspect/tools/inner_figures.h"

#include <algorithm>
#include <set>

#include "base/clock.h"
#include "coreinspect/model/thread_reader.h"
#include "coreinspect/tools/code_pools.h"
#include "coreinspect/tools/direct_memory.h"

namespace jtrace::coreinspect {
namespace {

using perfdata::InnerFigures;
using perfdata::kThreadStates;
using perfdata::ThreadStates;

constexpr std::uint64_t kBetweenTries = 5 * kNanosPerSecond;  // to open a JVM

// Nothing if one of them could not be read whole.
std::optional<ThreadStates> count_threads(const Inspection& inspection) {
  const auto addresses = java_thread_addresses(inspection.vm());
  if (!addresses || !inspection.healthy()) return std::nullopt;
  ThreadReader reader(inspection);
  ThreadStates threads;
  for (const Address each : *addresses) {
    const JavaThread thread = reader.read(each);
    if (!thread.problem.empty() || reader.read_in_collection()) return std::nullopt;
    if (thread.object == 0 || thread.is_hidden()) continue;
    const auto state = std::find(kThreadStates.begin(), kThreadStates.end(), thread.state());
    if (state == kThreadStates.end()) return std::nullopt;
    auto& states = thread.daemon ? threads.daemon : threads.user;
    ++states[static_cast<std::size_t>(state - kThreadStates.begin())];
  }
  return threads;
}

Result<std::unique_ptr<Inspection>> open_inspection(pid_t pid) {
  JTRACE_ASSIGN_OR_RETURN(auto process, target::Process::open(pid));
  JTRACE_ASSIGN_OR_RETURN(auto target, target::Target::open_process(std::move(process)));
  JTRACE_ASSIGN_OR_RETURN(auto inspection, Inspection::open(std::move(target)));
  JTRACE_RETURN_IF_ERROR(inspection->healthy());
  return inspection;
}

}  // namespace

InnerFigures read_inner_figures(const Inspection& inspection) {
  if (CachedMemory* cached = inspection.vm().cached_memory()) cached->reset();
  InnerFigures figures{.code_heaps = code_pools(inspection), .threads = count_threads(inspection)};
  if (const auto direct = read_direct_memory(inspection))
    figures.direct_buffers =
        perfdata::BufferFigures{.count = direct->count, .capacity = direct->capacity, .used = direct->reserved};
  return figures;
}

InnerFiguresReader::Opened& InnerFiguresReader::open(const perfdata::NumberedJvm& jvm) {
  Opened& opened = open_[jvm.number];
  const std::uint64_t now = monotonic_ns();
  if ((opened.inspection && *opened.inspection) || now < opened.next_try) return opened;
  opened.inspection = open_inspection(jvm.pid);
  opened.next_try = now + kBetweenTries;
  return opened;
}

std::vector<InnerFigures> InnerFiguresReader::read(const std::vector<perfdata::NumberedJvm>& jvms) {
  std::vector<InnerFigures> all;
  std::set<std::uint64_t> there;
  for (const perfdata::NumberedJvm& jvm : jvms) {
    there.insert(jvm.number);
    const Opened& opened = open(jvm);
    if (!opened.inspection) {
      all.emplace_back().problem = opened.inspection.error();
      continue;
    }
    const Inspection& inspection = **opened.inspection;
    all.push_back(read_inner_figures(inspection));
    // A JVM with many threads has many pages.
    if (inspection.vm().cached_memory()) inspection.vm().cached_memory()->reset();
  }
  std::erase_if(open_, [&](const auto& each) { return !there.contains(each.first); });
  return all;
}

}  // namespace jtrace::coreinspect
