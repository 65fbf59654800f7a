#include "base/mapping_guard.h"

#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace jtrace {

// Slots are reused and never freed, because the handler may walk the list at any time.
struct GuardedRange {
  std::atomic<std::uintptr_t> begin{0};  // 0: free
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> cut{false};
  GuardedRange* next = nullptr;
};

namespace {

constexpr std::uintptr_t kPage = 4096;
std::atomic<GuardedRange*> g_ranges{nullptr};
struct sigaction g_before;

bool put_zeros(std::uintptr_t address) {
  void* const page = reinterpret_cast<void*>(address & ~(kPage - 1));
  return ::mmap(page, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

void on_bus_error(int number, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (GuardedRange* range = g_ranges.load(); range != nullptr && info->si_code > 0; range = range->next) {
    if (address < range->begin.load() || address >= range->end.load()) continue;
    range->cut.store(true);
    if (put_zeros(address)) return;
  }
  if ((g_before.sa_flags & SA_SIGINFO) != 0) return g_before.sa_sigaction(number, info, context);
  ::sigaction(SIGBUS, &g_before,
              nullptr);  // not in a guarded range: restores the previous action, with which the signal is raised again
  if (info->si_code <= 0) ::raise(number);  // sent by a process: the instruction would not raise it again
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, &g_before);
  });
}

GuardedRange* take_range(std::uintptr_t begin) {
  for (GuardedRange* range = g_ranges.load(); range != nullptr; range = range->next) {
    std::uintptr_t free = 0;
    if (range->begin.compare_exchange_strong(free, begin)) return range;
  }
  auto* const range = new GuardedRange;
  range->begin = begin;
  range->next = g_ranges.load();
  while (!g_ranges.compare_exchange_weak(range->next, range)) {
  }
  return range;
}

}  // namespace

MappingGuard::MappingGuard(std::span<const std::byte> mapping) {
  install_handler();
  const auto begin = reinterpret_cast<std::uintptr_t>(mapping.data());
  range_ = take_range(begin);
  range_->cut = false;
  range_->end = begin + mapping.size();
}

MappingGuard::~MappingGuard() {
  if (range_ == nullptr) return;
  range_->end = 0;
  range_->begin = 0;
}

bool MappingGuard::was_cut() const { return range_ != nullptr && range_->cut.load(); }

}  // namespace jtrace
