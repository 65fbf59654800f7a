// The stacks of threads. glibc maps a stack with a guard page below it; Java threads have the JVM's own guard pages
// instead (os_linux.cpp), and their bounds are in the JVM's tables.
#include <algorithm>

#include "base/strings.h"
#include "coreinspect/tools/memory_owners.h"
#include "target/held_thread.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kNativeStack = 8u << 20;  // of a thread made without a size, with the usual limit (ulimit -s)

class Stacks {
 public:
  Stacks(const Vm& vm, const PagesOfMappings& mappings, PartMap& parts) : mappings_(mappings), parts_(parts) {
    for (const char* name : {"VMThreadStackSize", "CompilerThreadStackSize", "ThreadStackSize"})
      if (const VmFlag* flag = vm.flag(name))
        if (const auto kib = parse_decimal<std::uint64_t>(flag->value); kib && *kib > 0 && *kib < 1u << 20)
          sizes_.push_back(*kib << 10);
    sizes_.push_back(kNativeStack);
    std::sort(sizes_.begin(), sizes_.end());
  }

  void add_java(const Vm& vm, std::vector<std::string>& missing) {
    const auto threads = java_thread_addresses(vm);
    std::size_t unreadable = 0;
    for (const Address thread : threads ? *threads : std::vector<Address>()) {
      const auto base = java_stack_base(vm, thread);
      const auto size = java_stack_size(vm, thread);
      if (base && size && *size < 1ull << 32 && *base > *size)
        parts_.add(*base - *size, *base, MemoryPart::kJavaStacks);
      else ++unreadable;
    }
    if (!threads) missing.push_back("stacks of Java threads: " + threads.error().message());
    if (unreadable > 0) missing.push_back("the bounds of " + counted(unreadable, "stack") + " could not be read");
  }

  // Not known of a thread that runs at this moment: its guard page shows it.
  void add_at(Address sp) {
    const auto index = index_of(sp);
    if (!index || parts_.has(sp)) return;
    const target::Mapping& mapping = mappings_[*index].mapping;
    if (is_anonymous(mapping)) add_others(mapping, sp);
  }
  void add_guarded() {
    for (std::size_t i = 1; i < mappings_.size(); ++i) {
      const target::Mapping& guard = mappings_[i - 1].mapping;
      const target::Mapping& mapping = mappings_[i].mapping;
      const bool is_guard = is_anonymous(guard) && !guard.readable && guard.size() <= 4 * kPage &&
                            guard.end == mapping.start && !parts_.has(guard.start);
      const bool is_stack = is_anonymous(mapping) && mapping.writable && mapping.size() + 5 * kPage > sizes_.front();
      if (is_guard && is_stack && !parts_.has(mapping.start)) add_others(mapping, mapping.start);
    }
  }

 private:
  std::optional<std::size_t> index_of(Address at) const {
    const auto after = std::upper_bound(mappings_.begin(), mappings_.end(), at,
                                        [](Address value, const auto& pages) { return value < pages.mapping.end; });
    if (after == mappings_.end() || !after->mapping.contains(at)) return std::nullopt;
    return static_cast<std::size_t>(after - mappings_.begin());
  }

  // A neighbour above may be part of the same mapping: the stack is of the smallest size that it can have.
  void add_others(const target::Mapping& mapping, Address sp) {
    for (const std::uint64_t size : sizes_) {
      if (sp >= mapping.start + size) continue;
      const std::uint64_t whole = mapping.size();
      const bool is_whole = whole <= size + kPage;
      parts_.add(mapping.start, is_whole ? mapping.end : mapping.start + size, MemoryPart::kOtherStacks);
      return;
    }
    parts_.add(sp, std::min(mapping.end, sp + 16 * kPage), MemoryPart::kOtherStacks);
  }

  const PagesOfMappings& mappings_;
  PartMap& parts_;
  std::vector<std::uint64_t> sizes_;
};

}  // namespace

void find_stacks(Inspection& inspection, const PagesOfMappings& mappings, PartMap& parts,
                 std::vector<std::string>& missing) {
  Stacks stacks(inspection.vm(), mappings, parts);
  stacks.add_java(inspection.vm(), missing);
  if (const target::Process* process = inspection.target().process()) {
    const auto threads = process->threads();
    for (const pid_t tid : threads ? *threads : std::vector<pid_t>())
      if (const auto at = target::registers_if_blocked(*process, tid)) stacks.add_at(at->sp());
  } else {
    for (const auto& thread : inspection.target().core()->threads()) stacks.add_at(thread.registers.sp());
  }
  stacks.add_guarded();
}

}  // namespace jtrace::coreinspect
