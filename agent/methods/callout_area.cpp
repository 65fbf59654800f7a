#include "agent/methods/callout_area.h"

#include <pthread.h>

#include <new>

#include "agent/anonymous_memory.h"

namespace jtrace::agent {
namespace {

constexpr std::size_t kPage = record::kPoolHeaderSize;
std::atomic<CalloutArea*> g_area{nullptr};
pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;

}  // namespace

CalloutArea* CalloutArea::get() {
  if (CalloutArea* area = g_area.load(std::memory_order_acquire)) return area;
  pthread_mutex_lock(&g_lock);
  CalloutArea* area = g_area.load(std::memory_order_relaxed);
  if (area == nullptr) {
    void* memory = anonymous_memory(sizeof(CalloutArea));
    if (memory != nullptr) area = new (memory) CalloutArea;
    if (area != nullptr && !area->make()) area = nullptr;
    g_area.store(area, std::memory_order_release);
  }
  pthread_mutex_unlock(&g_lock);
  return area;
}

CalloutArea* CalloutArea::adopt(std::uint64_t address) {
  auto* area = reinterpret_cast<CalloutArea*>(address);
  if (area == nullptr || area->magic_ != kMagic) return nullptr;
  g_area.store(area, std::memory_order_release);
  return area;
}

bool CalloutArea::make() {
  nobody_.carrier = ~0ull;
  void* table = anonymous_memory(kEntries * sizeof(std::uint64_t));
  page_ = anonymous_memory(kPage);
  if (table == nullptr || page_ == nullptr) return false;
  table_ = static_cast<std::atomic<std::uint64_t>*>(table);
  return counts_.make() && open_calls_.make();
}

bool CalloutArea::show_clock(int pool_descriptor) {
  if (mmap(page_, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, pool_descriptor, 0) == MAP_FAILED)
    return false;
  madvise(page_, kPage, MADV_DONTFORK);
  return true;
}

void CalloutArea::hide_clock() { anonymous_memory(kPage, page_, MAP_FIXED); }

void CalloutArea::clear() {
  for (std::uint64_t i = 0; i < kEntries; ++i) {
    if (table_[i].load(std::memory_order_relaxed) != 0) table_[i].store(0, std::memory_order_seq_cst);
  }
}

}  // namespace jtrace::agent
