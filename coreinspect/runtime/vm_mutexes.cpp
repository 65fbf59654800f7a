#include "coreinspect/runtime/vm_mutexes.h"

#include <algorithm>
#include <array>

#include "coreinspect/runtime/libjvm_words.h"

namespace jtrace::coreinspect {
namespace {

using target::Address;

constexpr std::uint64_t kMutexAt = 8, kConditionAt = 48, kSize = 104;  // JDK 13 and later
constexpr std::size_t kLongestName = 64;                               // MONITOR_NAME_LEN
constexpr std::uint64_t kMostMutexes = 4096;

// JDK 8 and 11: the lock word, whose other bits are a list; the list of waiters; the next owner (ParkEvent*).
constexpr std::array<std::uint64_t, 3> kEventsAt = {0, 16, 24};
constexpr std::uint64_t kEventSize = 256;  // ParkEvent with its mutex and condition; on cache lines of its own

}  // namespace

bool is_vm_mutex_name(std::string_view name) {
  if (name.size() < 6 || name.size() >= kLongestName) return false;
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  return plain && (name.ends_with("_lock") || name.ends_with("Lock") || name.ends_with("_mon"));
}

VmMutexes VmMutexes::find(const Vm& vm) {
  VmMutexes found(vm);
  const int feature = vm.feature();
  found.owner_at_ = feature < 13 ? 8 : 0;
  found.has_events_ = feature < 13;
  found.name_inside_ = feature < 17;
  // JDK 8 has the number of notifications before the name.
  found.name_at_ = feature < 9 ? 56 : feature < 13 ? 49 : 96;
  if (found.find_in_tables()) found.found_by_ = "vmStructs";
  else found.find_by_structure();
  if (found.found_by_.empty() && feature >= 13 && feature < 17) {
    found.name_inside_ = false;
    found.find_by_structure();
  }
  return found;
}

bool VmMutexes::has_name(Address mutex, std::string& name) const {
  const target::MemoryReader& memory = vm_->target().memory();
  Address at = mutex + name_at_;
  if (!name_inside_) at = memory.read<Address>(at).value_or(0);
  if (at == 0) return false;
  name = memory.read_cstring(at, kLongestName).value_or("");
  return is_vm_mutex_name(name);
}

bool VmMutexes::is_thread_or_null(Address word) const {
  if (word == 0) return true;
  if (word % sizeof(Address) != 0 || in_libjvm(vm_->target(), word)) return false;
  const auto vtable = vm_->target().memory().read<Address>(word);
  return vtable && in_libjvm(vm_->target(), *vtable);
}

bool VmMutexes::find_in_tables() {
  const auto array = vm_->read_static<Address>("Mutex", "_mutex_array");
  const auto count = vm_->read_static<std::int32_t>("Mutex", "_num_mutex");
  const auto owner = vm_->types().offset("Mutex", "_owner");
  if (!array || !count || !owner || *array == 0 || *count <= 0 || *count > static_cast<int>(kMostMutexes)) return false;
  owner_at_ = *owner;
  std::vector<Address> words(static_cast<std::size_t>(*count));
  if (!vm_->target().memory().read_exactly(*array, std::as_writable_bytes(std::span(words)))) return false;
  for (const Address each : words)
    if (std::string name; each != 0 && has_name(each, name)) mutexes_.emplace_back(each, std::move(name));
  std::sort(mutexes_.begin(), mutexes_.end());
  return !mutexes_.empty();
}

void VmMutexes::find_by_structure() {
  const target::MemoryReader& memory = vm_->target().memory();
  any_word(vm_->target(), [&](Address, Address word) {
    if (word % sizeof(Address) != 0 || word < 4096) return false;
    std::string name;
    if (has_name(word, name))
      if (const auto owner = memory.read<Address>(word + owner_at_); owner && is_thread_or_null(*owner))
        mutexes_.emplace_back(word, std::move(name));
    return mutexes_.size() >= kMostMutexes;
  });
  std::sort(mutexes_.begin(), mutexes_.end());
  mutexes_.erase(std::unique(mutexes_.begin(), mutexes_.end()), mutexes_.end());
  if (!mutexes_.empty()) found_by_ = "structure";
}

std::vector<VmMutex> VmMutexes::read() const {
  std::vector<VmMutex> mutexes;
  for (const auto& [address, name] : mutexes_) {
    const Address owner = vm_->target().memory().read<Address>(address + owner_at_).value_or(0);
    VmMutex& mutex = mutexes.emplace_back(VmMutex{address, name, is_thread_or_null(owner) ? owner : 0});
    for (std::size_t i = 0; has_events_ && i < kEventsAt.size(); ++i)
      mutex.events[i] = vm_->target().memory().read<Address>(address + kEventsAt[i]).value_or(0) & ~Address{1};
  }
  return mutexes;
}

VmMutexes::Sleep VmMutexes::sleep_at(const VmMutex& mutex, Address word) const {
  if (!has_events_) {
    if (word == mutex.address + kMutexAt) return Sleep::kForLock;
    const bool condition = word >= mutex.address + kConditionAt && word < mutex.address + kSize;
    return condition ? Sleep::kForNotification : Sleep::kElsewhere;
  }
  for (const Address event : mutex.events)
    if (event != 0 && word >= event && word < event + kEventSize) return Sleep::kForLock;
  return Sleep::kElsewhere;
}

}  // namespace jtrace::coreinspect
