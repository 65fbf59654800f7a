#include "coreinspect/tools/inner_figures.h"

#include <algorithm>
#include <set>

#include "coreinspect/model/thread_reader.h"
#include "coreinspect/tools/code_pools.h"
#include "coreinspect/tools/direct_memory.h"

namespace jtrace::coreinspect {
namespace {

using perfdata::InnerFigures;
using perfdata::kThreadStates;
using perfdata::ThreadStates;

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

}  // namespace

InnerFigures read_inner_figures(const Inspection& inspection) {
  if (CachedMemory* cached = inspection.vm().cached_memory()) cached->reset();
  InnerFigures figures{.code_heaps = code_pools(inspection), .threads = count_threads(inspection)};
  if (const auto direct = read_direct_memory(inspection))
    figures.direct_buffers =
        perfdata::BufferFigures{.count = direct->count, .capacity = direct->capacity, .used = direct->reserved};
  return figures;
}

const Inspection* InnerFiguresReader::open(const perfdata::NumberedJvm& jvm) {
  const auto [found, added] = open_.try_emplace(jvm.number);
  if (!added) return found->second.get();
  auto process = target::Process::open(jvm.pid);
  if (!process) return nullptr;
  auto target = target::Target::open_process(std::move(*process));
  if (!target) return nullptr;
  if (auto inspection = Inspection::open(std::move(*target))) found->second = std::move(*inspection);
  return found->second.get();
}

std::vector<InnerFigures> InnerFiguresReader::read(const std::vector<perfdata::NumberedJvm>& jvms) {
  std::vector<InnerFigures> all;
  std::set<std::uint64_t> there;
  for (const perfdata::NumberedJvm& jvm : jvms) {
    there.insert(jvm.number);
    const Inspection* inspection = open(jvm);
    all.push_back(inspection ? read_inner_figures(*inspection) : InnerFigures());
    // A JVM with many threads has many pages.
    if (inspection && inspection->vm().cached_memory()) inspection->vm().cached_memory()->reset();
  }
  std::erase_if(open_, [&](const auto& each) { return !there.contains(each.first); });
  return all;
}

}  // namespace jtrace::coreinspect
