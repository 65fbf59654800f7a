#include "coreinspect/gc/copy_speed.h"

#include <algorithm>
#include <atomic>
#include <span>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "target/first_in_line.h"

namespace jtrace::coreinspect {
namespace {

// Larger than the gaps that are read, and with that become resident.
constexpr std::uint64_t kPiece = 1u << 20;
static_assert(kPiece > target::ResidentPages::kSmallGap);
constexpr std::uint64_t kPieces = 96;  // each once: a second read would find it in the processor's caches
constexpr int kMaxLooks = 4096;        // attempts to find a piece that is resident

// A piece of one region, near this offset among the used bytes.
AddressRange piece_at(const HeapLayout& layout, std::uint64_t offset) {
  for (const HeapRegion& region : layout.regions) {
    if (offset < region.used()) {
      const std::uint64_t size = std::min(region.used(), kPiece), start = std::min(offset, region.used() - size);
      return {region.start + start, region.start + start + size};
    }
    offset -= region.used();
  }
  return {0, 0};
}

struct Sample {
  AddressRange piece;
  std::uint64_t resident;  // bytes of it
};

// Pieces all over the heap that are resident.
std::vector<Sample> samples_of(const target::ProcessMemory& memory, const HeapLayout& layout) {
  std::vector<Sample> samples;
  const std::uint64_t used = layout.used(), step = std::max(used / kPieces, kPiece);
  int looks = kMaxLooks;
  for (std::uint64_t at = 0; at < used && looks-- > 0;) {
    const AddressRange piece = piece_at(layout, at);
    const std::uint64_t resident = memory.resident(piece.start, piece.end);
    const bool is_there = resident >= kPiece / 4;
    if (is_there) samples.push_back({piece, resident});
    at += is_there ? step : kPiece;
  }
  return samples;
}

}  // namespace

// As the copy is made: by so many threads, first in line for a processor, while the clock runs.
double copy_cost(const target::ProcessMemory& memory, const HeapLayout& layout, unsigned threads) {
  const std::vector<Sample> samples = samples_of(memory, layout);
  std::vector<std::byte> room(kPiece * samples.size());
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> read{0};
  const auto work = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < samples.size();) {
      const auto& [piece, resident] = samples[i];
      if (memory.read_exactly(piece.start, std::span(room).subspan(i * kPiece, piece.end - piece.start)))
        read += resident;
    }
  };
  std::uint64_t took = 0;
  std::thread([&] {
    const target::FirstInLine first;
    const std::uint64_t begun = monotonic_ns();
    std::vector<std::thread> helpers;
    for (unsigned i = 1; i < threads; ++i) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
    took = monotonic_ns() - begun;
  }).join();
  return read == 0 ? 0 : static_cast<double>(took) / static_cast<double>(read);
}

}  // namespace jtrace::coreinspect
