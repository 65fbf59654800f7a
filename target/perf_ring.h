// PerfRing: the ring of perf events of one processor, written by the kernel (linux/perf_event.h, perf_event_mmap_page).
// Owns the mapping; one thread.
#pragma once

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace jtrace::target {

class PerfRing {
 public:
  // `size`: bytes of data, a power of two and at least a page. mapped() is false if the kernel refused; errno has the
  // reason.
  PerfRing(int fd, std::size_t size) : size_(size), page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
    base_ = ::mmap(nullptr, page_ + size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  PerfRing(PerfRing&& other) noexcept
      : base_(std::exchange(other.base_, MAP_FAILED)), size_(other.size_), page_(other.page_) {}
  PerfRing& operator=(PerfRing&&) = delete;
  ~PerfRing() {
    if (base_ != MAP_FAILED) ::munmap(base_, page_ + size_);
  }
  bool mapped() const { return base_ != MAP_FAILED; }
  std::size_t size() const { return size_; }

  // Calls `function(type, body)`, or `function(header, body)`, for each record in the ring; `body` is valid until the
  // function returns. How many bytes they had.
  template <class Function>
  std::size_t consume(Function&& function) {
    auto* control = static_cast<perf_event_mmap_page*>(base_);
    const std::atomic_ref<__u64> head(control->data_head);
    const std::uint64_t end = head.load(std::memory_order_acquire);
    const std::uint64_t start = control->data_tail;
    std::uint64_t at = start;
    while (end - at >= sizeof(perf_event_header)) {
      perf_event_header header{};
      copy(at, &header, sizeof header);
      if (header.size < sizeof header || header.size > end - at) break;
      record_.resize(header.size);
      copy(at, record_.data(), header.size);
      const auto body = std::span<const std::byte>(record_).subspan(sizeof header);
      if constexpr (std::is_invocable_v<Function&, const perf_event_header&, std::span<const std::byte>>)
        function(header, body);
      else function(header.type, body);
      at += header.size;
    }
    std::atomic_ref<__u64>(control->data_tail).store(at, std::memory_order_release);
    return at - start;
  }

 private:
  void copy(std::uint64_t at, void* to, std::size_t size) const {
    const auto* data = static_cast<const std::byte*>(base_) + page_;
    const std::size_t start = at & (size_ - 1), first = std::min(size, size_ - start);
    std::memcpy(to, data + start, first);
    std::memcpy(static_cast<std::byte*>(to) + first, data, size - first);
  }

  void* base_ = MAP_FAILED;
  std::size_t size_, page_;
  std::vector<std::byte> record_;
};

}  // namespace jtrace::target
