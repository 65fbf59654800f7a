#include "dtrace/ring_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

namespace jtrace::dtrace {

RingBuffer::~RingBuffer() {
  if (consumer_ != nullptr) ::munmap(consumer_, page_);
  if (producer_page_ != nullptr) ::munmap(const_cast<std::byte*>(producer_page_), page_ + 2 * size_);
}

Result<> RingBuffer::map(int map_fd, std::size_t size) {
  page_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  size_ = size;
  // One writable page with the reader's position, then, read-only, the writers' position and the data, mapped twice in
  // a row.
  void* consumer = ::mmap(nullptr, page_, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
  if (consumer == MAP_FAILED) return fail(system_error("cannot map the ring of events"));
  consumer_ = static_cast<std::uint64_t*>(consumer);
  void* producer = ::mmap(nullptr, page_ + 2 * size, PROT_READ, MAP_SHARED, map_fd, static_cast<off_t>(page_));
  if (producer == MAP_FAILED) return fail(system_error("cannot map the ring of events"));
  producer_page_ = static_cast<const std::byte*>(producer);
  data_ = producer_page_ + page_;
  return {};
}

std::uint64_t RingBuffer::produced() const {
  return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(producer_page_), __ATOMIC_ACQUIRE);
}
std::uint32_t RingBuffer::length_at(std::uint64_t position) const {
  const std::byte* at = data_ + (position & (size_ - 1));
  return __atomic_load_n(reinterpret_cast<const std::uint32_t*>(at), __ATOMIC_ACQUIRE);
}
void RingBuffer::release(std::uint64_t position) { __atomic_store_n(consumer_, position, __ATOMIC_RELEASE); }

}  // namespace jtrace::dtrace
