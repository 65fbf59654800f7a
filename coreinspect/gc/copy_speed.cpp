#include "coreinspect/gc/copy_speed.h"

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/strings.h"

namespace jtrace::coreinspect {
namespace {

// Larger than the gaps that are read, and with that become resident.
constexpr std::uint64_t kPiece = 1u << 20;
static_assert(kPiece > target::ResidentPages::kSmallGap);
constexpr std::uint64_t kPieces = 32;  // each once: a second read would find it in the processor's caches
constexpr std::uint64_t kRoom = 8u << 20;
constexpr int kMaxLooks = 4096;  // attempts to find a piece that is resident

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

// Whether as many processors have nothing to do.
bool is_idle(unsigned threads) {
  constexpr std::string_view kRunning = "procs_running ";  // with the calling thread
  const std::string stat = read_file("/proc/stat").value_or("");
  const std::size_t at = stat.find(kRunning);
  if (at == std::string::npos) return false;
  const std::size_t end = stat.find('\n', at), start = at + kRunning.size();
  const auto running = parse_decimal<unsigned>(std::string_view(stat).substr(start, end - start));
  return running && *running - std::min(*running, 1u) + threads <= std::thread::hardware_concurrency();
}

}  // namespace

double copy_cost(const target::ProcessMemory& memory, const HeapLayout& layout, unsigned threads) {
  std::vector<std::byte> room(kRoom);
  std::vector<double> costs;
  const std::uint64_t used = layout.used(), step = std::max(used / kPieces, kPiece);
  int looks = kMaxLooks;
  for (std::uint64_t at = 0; at < used && looks-- > 0;) {
    const AddressRange piece = piece_at(layout, at);
    const std::uint64_t size = piece.end - piece.start, resident = memory.resident(piece.start, piece.end);
    const bool is_there = resident >= kPiece / 4;
    at += is_there ? step : kPiece;
    if (!is_there) continue;
    const auto to = std::span(room).subspan(costs.size() % (kRoom / kPiece) * kPiece, static_cast<std::size_t>(size));
    // Time of the processor, not of the clock: on a busy machine the reads wait for a processor for many times as long
    // as they take, and the copy, which has a higher priority, does not.
    const std::uint64_t begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (!memory.read_exactly(piece.start, to)) break;
    costs.push_back(static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun) / static_cast<double>(resident));
  }
  if (costs.empty()) return 0;
  std::sort(costs.begin(), costs.end());
  constexpr double kGain = 1.6;  // of several threads, which share the memory's bandwidth, on idle processors
  return costs[costs.size() / 2] / (threads > 1 && is_idle(threads) ? kGain : 1);
}

}  // namespace jtrace::coreinspect
