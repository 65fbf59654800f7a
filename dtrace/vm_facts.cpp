#include "dtrace/vm_facts.h"

#include <map>

#include "base/clock.h"
#include "base/strings.h"
#include "coreinspect/model/thread_reader.h"
#include "coreinspect/runtime/java_threads.h"

namespace jtrace::dtrace {
namespace {

using coreinspect::ClassDefinition;
using target::Address;

// A class that was just loaded is one of the last that its loader defined.
constexpr int kLastClasses = 4096;
// All classes are listed again when a name is missing, but not more often than this.
constexpr std::uint64_t kListAgain = kNanosPerSecond;

// Maps the JVM's own thread ids to ours.
Result<std::map<std::uint64_t, std::uint32_t>> thread_ids(const target::Process& process) {
  JTRACE_ASSIGN_OR_RETURN(const auto tids, process.threads());
  const auto own = process.status();
  const bool same = own && own->nspid.size() == 1;  // one pid namespace: the JVM's ids are ours
  std::map<std::uint64_t, std::uint32_t> ids;
  for (const pid_t tid : tids) {
    pid_t inner = tid;
    if (!same) {
      const auto status = process.read_proc("task/" + std::to_string(tid) + "/status");
      if (!status) continue;  // it has ended
      const auto parsed = target::parse_status(*status);
      if (!parsed.nspid.empty()) inner = parsed.nspid.back();
    }
    ids[static_cast<std::uint64_t>(inner)] = static_cast<std::uint32_t>(tid);
  }
  return ids;
}

}  // namespace

Result<std::unique_ptr<VmFacts>> VmFacts::open(pid_t pid) {
  JTRACE_ASSIGN_OR_RETURN(target::Process process, target::Process::open(pid));
  JTRACE_ASSIGN_OR_RETURN(auto target, target::Target::open_process(std::move(process)));
  JTRACE_ASSIGN_OR_RETURN(auto inspection, coreinspect::Inspection::open(std::move(target)));
  JTRACE_RETURN_IF_ERROR(inspection->healthy());
  return std::unique_ptr<VmFacts>(new VmFacts(std::move(inspection)));
}

void VmFacts::read_again() {
  inspection_->vm().cached_memory()->reset();
  inspection_->classes().forget();
}

Result<std::vector<EarlierThread>> VmFacts::threads() {
  read_again();
  const auto& objects = inspection_->objects();
  JTRACE_ASSIGN_OR_RETURN(const auto addresses, coreinspect::java_thread_addresses(inspection_->vm()));
  std::vector<EarlierThread> threads;
  coreinspect::ThreadReader reader(*inspection_);
  for (const Address address : addresses) {
    const coreinspect::JavaThread thread = reader.read(address);
    if (thread.object == 0 || thread.id <= 0 || thread.native_id <= 0 || !thread.problem.empty()) continue;
    threads.push_back({0, static_cast<std::uint64_t>(thread.native_id), static_cast<std::uint64_t>(thread.id),
                       thread.name, coreinspect::thread_group_name(objects, thread.object)});
  }
  // After the reading: threads that have ended are left out.
  JTRACE_ASSIGN_OR_RETURN(const auto ids, thread_ids(*inspection_->target().process()));
  std::erase_if(threads, [&](EarlierThread& thread) {
    const auto id = ids.find(thread.inner);
    if (id != ids.end()) thread.tid = id->second;
    return id == ids.end();
  });
  return threads;
}

std::optional<ClassDefinition> VmFacts::define(Address klass, std::string_view name) {
  coreinspect::Loaders loaders(*inspection_);  // made anew, because addresses are reused
  ClassDefinition definition = coreinspect::read_class_definition(*inspection_, loaders, klass);
  if (definition.name != name) return std::nullopt;
  return definition;
}

std::optional<ClassDefinition> VmFacts::loaded_class(std::string_view name, std::uint64_t loader_data) {
  read_again();
  Address found = 0;
  int seen = 0;
  const auto walked = inspection_->classes().each_of_loader(loader_data, [&](Address klass) {
    const auto its = inspection_->classes().internal_name(klass);
    if (its && utf8_from_modified(*its) == name) found = klass;
    return found == 0 && ++seen < kLastClasses;
  });
  if (!walked || found == 0) return std::nullopt;
  return define(found, name);
}

void VmFacts::list_classes() {
  listed_at_ = monotonic_ns();
  by_name_.clear();
  const auto classes = inspection_->classes().all();
  if (!classes) return;
  for (const Address klass : *classes)
    if (const auto name = inspection_->classes().internal_name(klass))
      by_name_[utf8_from_modified(*name)].push_back(klass);
}

std::optional<ClassDefinition> VmFacts::class_named(std::string_view name) {
  read_again();
  auto at = by_name_.find(std::string(name));
  if (at == by_name_.end()) {
    if (listed_at_ != 0 && monotonic_ns() - listed_at_ < kListAgain) return std::nullopt;
    list_classes();
    at = by_name_.find(std::string(name));
  }
  if (at == by_name_.end() || at->second.size() != 1) return std::nullopt;
  return define(at->second.front(), name);
}

}  // namespace jtrace::dtrace
