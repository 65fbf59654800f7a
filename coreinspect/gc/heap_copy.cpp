#include "coreinspect/gc/heap_copy.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/size_text.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kPiece = 2u << 20;

// If the kernel had to allocate the pages during the stop, it would take twice as long.
void touch(std::byte* room, std::uint64_t size) {
#ifdef MADV_POPULATE_WRITE
  if (::madvise(room, size, MADV_POPULATE_WRITE) == 0) return;
#endif
  for (std::uint64_t at = 0; at < size; at += 4096) const_cast<volatile std::byte&>(room[at]) = std::byte{0};
}

}  // namespace

Result<std::unique_ptr<HeapCopy>> HeapCopy::make(const target::MemoryReader& below, std::uint64_t size,
                                                 std::uint64_t most) {
  size = std::max<std::uint64_t>((size + kPiece - 1) / kPiece * kPiece, kPiece);
  void* room = MAP_FAILED;
  for (const std::uint64_t wanted : {std::max(size, (most + kPiece - 1) / kPiece * kPiece), size}) {
    // MAP_NORESERVE: the maximum size of a heap may exceed this machine's memory.
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    room = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, kFlags, -1, 0);
    if (room == MAP_FAILED) continue;
    ::madvise(room, wanted, MADV_HUGEPAGE);  // only makes it faster
    std::unique_ptr<HeapCopy> copy(new HeapCopy(below, static_cast<std::byte*>(room), wanted));
    copy->make_ready(size);
    return copy;
  }
  return fail(system_error("no memory for a copy of the heap, " + size_text(size)));
}

void HeapCopy::make_ready(std::uint64_t size) {
  size = std::min((size + kPiece - 1) / kPiece * kPiece, size_);
  if (size <= touched_) return;
  touch(room_ + touched_, size - touched_);
  touched_ = size;
}

void HeapCopy::clear() {
  std::memset(room_, 0, used_);
  ranges_.clear();
  used_ = unreadable_ = 0;
}

HeapCopy::~HeapCopy() { ::munmap(room_, size_); }

Result<> HeapCopy::copy(std::span<const AddressRange> ranges, unsigned threads, const GoOn& go_on) {
  struct Piece {
    target::Address start;
    std::uint64_t size;
    std::byte* to;
  };
  std::vector<Piece> pieces;
  for (const AddressRange& range : ranges) {
    const std::uint64_t length = range.end - range.start;
    if (length > size_ - used_)
      return fail(ErrorCategory::kPartial, "the heap is larger than there is room for a copy, " + size_text(size_));
    ranges_.push_back({range.start, range.end, room_ + used_});
    for (std::uint64_t done = 0; done < length; done += kPiece)
      pieces.push_back({range.start + done, std::min(kPiece, length - done), room_ + used_ + done});
    used_ += length;
  }
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return a.start < b.start; });
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> unreadable{0}, done{0};
  std::atomic<bool> stopped{false};
  const auto work = [&](bool asks) {
    for (std::size_t i; (i = next.fetch_add(1)) < pieces.size() && !stopped;) {
      if (asks && !go_on(done, pieces.size())) stopped = true;
      if (stopped) break;
      const Piece& piece = pieces[i];
      const bool whole = copy_piece(piece.start, piece.size, piece.to);
      ++done;
      if (whole) continue;
      std::memset(piece.to, 0, piece.size);
      unreadable += piece.size;
    }
  };
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < threads && pieces.size() > 4; ++i) helpers.emplace_back(work, false);
  work(true);
  for (std::thread& helper : helpers) helper.join();
  unreadable_ += unreadable;
  if (stopped) return fail(ErrorCategory::kTimeout, "the copy of the heap was not done in time");
  return {};
}

bool HeapCopy::copy_piece(target::Address start, std::uint64_t size, std::byte* to) const {
  if (!pages_) return below_.read_exactly(start, {to, static_cast<std::size_t>(size)}).has_value();
  for (const target::PageRun& run : pages_->to_read(start, start + size))
    if (!below_.read_exactly(run.start, {to + (run.start - start), static_cast<std::size_t>(run.end - run.start)}))
      return false;
  return true;
}

const HeapCopy::Range* HeapCopy::find(target::Address address) const {
  const auto next = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                     [](target::Address at, const Range& range) { return at < range.end; });
  return next != ranges_.end() && next->start <= address ? &*next : nullptr;
}

std::span<const std::byte> HeapCopy::view(target::Address address) const {
  const Range* range = find(address);
  if (!range) return {};
  return {range->bytes + (address - range->start), static_cast<std::size_t>(range->end - address)};
}

Result<std::size_t> HeapCopy::read_some(target::Address address, std::span<std::byte> out) const {
  const auto bytes = view(address);
  if (bytes.empty()) return below_.read_some(address, out);
  const std::size_t count = std::min(out.size(), bytes.size());
  std::memcpy(out.data(), bytes.data(), count);
  return count;
}

}  // namespace jtrace::coreinspect
