#include "trace/record/pool_reader.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <tuple>

#include "base/clock.h"
#include "trace/record/clock_gap.h"

namespace jtrace::trace::record {
namespace {

// The processor may reorder the reading of the clock and the load of a header, and a writer's mark may become visible
// to others a cache miss after its reading of the clock (docs/architecture.md, "Memory order"): this is far more than
// both.
constexpr std::uint64_t kMargin = 20'000;
constexpr std::uint64_t kIdleTime = 100'000'000;  // ns: a chunk without changes for so long is idle
constexpr std::uint32_t kNone = 0xffffffff;

}  // namespace

Result<PoolReader> PoolReader::open(std::span<std::byte> memory) {
  if (memory.size() < kPoolHeaderSize) return fail(ErrorCategory::kMalformed, "not a pool: shorter than its header");
  Pool pool(memory.data());
  const PoolHeader& header = pool.header();
  if (std::memcmp(header.magic, kPoolMagic, sizeof header.magic) != 0)
    return fail(ErrorCategory::kMalformed, "not a pool: it does not start with " + std::string(kPoolMagic, 8));
  if (header.layout_version != kLayoutVersion)
    return fail(ErrorCategory::kMalformed, "the pool has layout version " + std::to_string(header.layout_version) +
                                               ", this jtrace reads " + std::to_string(kLayoutVersion));
  PoolReader reader(pool, header);
  const std::uint64_t headers_end = kPoolHeaderSize + std::uint64_t{reader.chunk_count_} * sizeof(ChunkHeader);
  const std::uint64_t data_size = std::uint64_t{reader.chunk_count_} * reader.chunk_size_;
  const bool sound = reader.chunk_count_ > 0 && reader.chunk_size_ >= 1024 && reader.chunk_size_ <= (1u << 24) &&
                     reader.chunk_size_ % kSlotSize == 0 && reader.data_offset_ % kSlotSize == 0 &&
                     reader.data_offset_ >= headers_end && reader.data_offset_ <= memory.size() &&
                     data_size <= memory.size() - reader.data_offset_;
  if (!sound) return fail(ErrorCategory::kMalformed, "the pool's header does not fit its size");
  reader.chunks_.resize(reader.chunk_count_);
  return reader;
}

PoolReader::PoolReader(Pool pool, const PoolHeader& header)
    : pool_(pool),
      data_offset_(header.data_offset),
      chunk_size_(header.chunk_size),
      chunk_count_(header.chunk_count),
      definition_chunk_(kNone) {}

std::byte* PoolReader::data(std::uint32_t index) const {
  return static_cast<std::byte*>(pool_.base()) + data_offset_ + std::uint64_t{index} * chunk_size_;
}

Result<PoolReader::Pass> PoolReader::drain(RecordSink& sink, Mode mode, std::uint64_t limit) {
  const std::uint64_t watermark = scan(mode);
  JTRACE_ASSIGN_OR_RETURN(const std::uint64_t definition_bytes, read_definitions(sink, nullptr, mode));
  Result<Pass> pass = merger_.merge(ready_, sink, watermark, limit);
  for (const EventPart& part : ready_) mark_drained(part.tag, part.taken);
  if (!pass) return pass;
  pass->definition_bytes = definition_bytes;
  return pass;
}

Result<PoolReader::Pass> PoolReader::take(PartSink& sink, Mode mode) {
  // Definitions are scanned as well, for note_first_record().
  struct Nobody final : RecordSink {
    Result<> on_definition(std::span<const std::byte>) override { return {}; }
    Result<> on_event(const RecordHeader&) override { return {}; }
  } nobody;
  Pass pass;
  pass.time = scan(mode);
  JTRACE_ASSIGN_OR_RETURN(pass.definition_bytes, read_definitions(nobody, &sink, mode));
  // Chunks are used again in any order.
  std::sort(ready_.begin(), ready_.end(), [](const EventPart& one, const EventPart& other) {
    return std::tie(one.producer, one.sequence) < std::tie(other.producer, other.sequence);
  });
  for (const EventPart& part : ready_) {
    JTRACE_RETURN_IF_ERROR(sink.on_events(part));
    mark_drained(part.tag, part.size);
    pass.events += part.size / kSlotSize;
  }
  return pass;
}

void PoolReader::mark_drained(std::uint32_t index, std::uint64_t bytes) {
  Chunk& chunk = chunks_[index];
  chunk.drained += bytes;
  if (chunk.finished && chunk.drained == chunk.committed) finished_.push_back(index);
}

// Fills ready_ and finished_; returns the watermark: no record with an earlier time can appear any more.
std::uint64_t PoolReader::scan(Mode mode) {
  if (mode == Mode::kLive && pool_.header().coarse_clock.load(std::memory_order_relaxed) != 0) tick();
  std::uint64_t now = monotonic_ns() - kMargin;
  // Records with an earlier reading of the coarse clock were stamped before this scan began.
  if (const std::uint64_t clock = pool_.header().coarse_clock.load(std::memory_order_acquire); clock != 0)
    now = std::min(now, clock);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::uint64_t watermark = mode == Mode::kLive ? now : UINT64_MAX;
  ready_.clear();
  finished_.clear();
  counts_.free_chunks = 0;
  full_chunks_ = 0;
  for (std::uint32_t index = 0; index < chunk_count_; ++index) consider(index, mode, now, watermark);
  last_now_ = now;
  return watermark;
}

void PoolReader::consider(std::uint32_t index, Mode mode, std::uint64_t now, std::uint64_t& watermark) {
  const ChunkHeader& header = pool_.chunk(index);
  Chunk& chunk = chunks_[index];
  const auto state = static_cast<ChunkState>(header.state.load(std::memory_order_acquire));
  const bool owned = state == ChunkState::kOwned || state == ChunkState::kDirect;
  if (!owned && state != ChunkState::kFinished) {
    counts_.free_chunks += state == ChunkState::kFree;
    chunk.quiet_at = now;
    return;
  }
  const std::uint64_t owner = header.owner.load(std::memory_order_acquire);
  if (state == ChunkState::kOwned && (owner & kOwnerPending) != 0) watermark = std::min(watermark, chunk.quiet_at);
  else chunk.quiet_at = now;
  if (mode != Mode::kLive) watermark = UINT64_MAX;
  const std::uint64_t committed = header.committed.load(std::memory_order_acquire);
  if (owner == 0 && committed == 0 && owned) return;  // just taken: the other fields may be old
  if (header.producer == kDefinitionProducer) return;
  full_chunks_ += state == ChunkState::kFinished;
  if (committed > chunk_size_ || committed % kSlotSize != 0 || committed < chunk.drained) {
    if (chunk.drained != chunk_size_) ++counts_.malformed;
    chunk.drained = chunk_size_;  // nothing more is taken from it
    if (state == ChunkState::kFinished) finished_.push_back(index);
    return;
  }
  if (committed > chunk.drained) {
    chunk.moved_at = now;
    chunk.committed = committed;
    chunk.finished = state == ChunkState::kFinished;
    ready_.push_back({.producer = header.producer,
                      .sequence = header.sequence,
                      .offset = chunk.drained,
                      .data = data(index) + chunk.drained,
                      .size = committed - chunk.drained,
                      .tag = index});
  } else if (state == ChunkState::kFinished) {
    finished_.push_back(index);
  }
}

// Reads the stream up to its end. The events of this pass were committed before the scan found them, and their
// definitions before them: so the definitions are in the part read here.
Result<std::uint64_t> PoolReader::read_definitions(RecordSink& sink, PartSink* parts, Mode mode) {
  std::uint64_t bytes = 0;
  while (definition_chunk_ != kNone || find_definition_chunk(mode)) {
    const ChunkHeader& header = pool_.chunk(definition_chunk_);
    Chunk& chunk = chunks_[definition_chunk_];
    const auto state = static_cast<ChunkState>(header.state.load(std::memory_order_acquire));
    const std::uint64_t committed =
        std::min<std::uint64_t>(header.committed.load(std::memory_order_acquire), chunk_size_);
    if (committed > chunk.drained) {
      const std::span<const std::byte> fresh(data(definition_chunk_) + chunk.drained, committed - chunk.drained);
      const std::size_t first = merger_.take_in(fresh);
      if (chunk.drained == 0 && mode != Mode::kReadOnly) note_first_record(first);
      if (parts != nullptr)
        JTRACE_RETURN_IF_ERROR(parts->on_definitions(
            {.sequence = definition_sequence_, .offset = chunk.drained, .data = fresh.data(), .size = fresh.size()}));
      bytes += fresh.size();
      chunk.drained = committed;
      JTRACE_RETURN_IF_ERROR(merger_.hand_out_definitions(sink));
    }
    if (state == ChunkState::kOwned && committed < chunk_size_) break;  // its writer continues here
    definitions_.push_back(definition_chunk_);
    chunk.retained = true;
    definition_chunk_ = kNone;
    ++definition_sequence_;
  }
  return bytes;
}

// The chunk with the next sequence number. If an earlier reader has freed the first chunks (read only), the lowest that
// is left.
bool PoolReader::find_definition_chunk(Mode mode) {
  std::uint32_t lowest = kNone;
  for (std::uint32_t index = 0; index < chunk_count_; ++index) {
    const ChunkHeader& header = pool_.chunk(index);
    const auto state = static_cast<ChunkState>(header.state.load(std::memory_order_acquire));
    // Only chunks with content: then the other fields are valid.
    const bool holds = (state == ChunkState::kOwned || state == ChunkState::kFinished) &&
                       header.committed.load(std::memory_order_acquire) != 0;
    if (!holds || chunks_[index].retained || header.producer != kDefinitionProducer) continue;
    if (header.sequence < definition_sequence_ || header.sequence >= lowest) continue;
    lowest = header.sequence;
    definition_chunk_ = index;
  }
  if (lowest == kNone) return false;
  if (lowest != definition_sequence_) {
    if (mode == Mode::kLive) {  // its predecessor was taken later in the scan: next time
      definition_chunk_ = kNone;
      return false;
    }
    if (definition_sequence_ != 0) ++counts_.malformed;
    merger_.restart_definitions();
    const std::uint64_t first = pool_.chunk(definition_chunk_).first_record;
    chunks_[definition_chunk_].drained = first == 0 || first > chunk_size_ ? chunk_size_ : first - 1;
    definition_sequence_ = lowest;
  }
  return true;
}

// Stores in the chunk's header where its first record starts, plus 1. A later reader of the pool (`jtrace recover`)
// begins there if the chunks before it are gone.
void PoolReader::note_first_record(std::size_t start) {
  pool_.chunk(definition_chunk_).first_record = start < chunk_size_ ? start + 1 : 0;
}

void PoolReader::release(bool wake_writers) {
  for (const std::uint32_t index : finished_) free_chunk(index);
  full_chunks_ -= std::min(full_chunks_, static_cast<std::uint32_t>(finished_.size()));
  bool freed = !finished_.empty();
  finished_.clear();
  if (counts_.free_chunks < chunk_count_ / 4) {
    take_back_idle();
    recycle_definitions();
    freed = true;
  }
  publish_resume_level();
  if (!wake_writers || !freed) return;
  std::atomic<std::uint32_t>& pass = pool_.header().drained_pass;
  pass.fetch_add(1, std::memory_order_release);
  ::syscall(SYS_futex, &pass, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// Half of the chunks that threads do not hold. A thread that has lost events then writes a longer run of events, and
// not a single chunk from time to time.
void PoolReader::publish_resume_level() {
  const std::uint32_t reserve = chunk_count_ / kDefinitionReserveShare;
  const std::uint32_t room = counts_.free_chunks + full_chunks_;
  pool_.header().resume_above.store(room > reserve ? reserve + (room - reserve) / 2 : 0, std::memory_order_relaxed);
}

void PoolReader::free_chunk(std::uint32_t index) {
  ChunkHeader& header = pool_.chunk(index);
  chunks_[index] = {.quiet_at = last_now_};
  header.first_record = 0;
  header.owner.store(0, std::memory_order_relaxed);
  header.committed.store(0, std::memory_order_relaxed);
  header.state.store(static_cast<std::uint32_t>(ChunkState::kFree), std::memory_order_release);
  pool_.header().free_chunks.fetch_add(1, std::memory_order_relaxed);
  ++counts_.free_chunks;
}

// Definitions that were read stay in the pool for `jtrace recover` as long as there is room.
void PoolReader::recycle_definitions() {
  if (definitions_.empty()) return;
  const std::size_t count = std::max<std::size_t>(definitions_.size() / 2, 1);
  for (std::size_t i = 0; i < count; ++i) free_chunk(definitions_[i]);
  definitions_.erase(definitions_.begin(), definitions_.begin() + static_cast<std::ptrdiff_t>(count));
}

void PoolReader::take_back_idle() {
  for (std::uint32_t index = 0; index < chunk_count_; ++index) {
    ChunkHeader& header = pool_.chunk(index);
    if (static_cast<ChunkState>(header.state.load(std::memory_order_acquire)) != ChunkState::kOwned) continue;
    std::uint64_t owner = header.owner.load(std::memory_order_acquire);
    if (owner == 0 || (owner & kOwnerPending) != 0 || header.producer == kDefinitionProducer) continue;
    if (last_now_ - chunks_[index].moved_at < kIdleTime) continue;
    if (!header.owner.compare_exchange_strong(owner, 0)) continue;
    // The chunk belongs to the reader now. What was committed since the scan is drained as from any finished chunk.
    header.state.store(static_cast<std::uint32_t>(ChunkState::kFinished), std::memory_order_relaxed);
    if (header.committed.load(std::memory_order_acquire) == chunks_[index].drained) free_chunk(index);
  }
}

PoolReader::Counts PoolReader::counts() const {
  Counts counts = counts_;
  counts.events = merger_.counts().events;
  counts.definitions = merger_.counts().definitions;
  counts.malformed += merger_.counts().malformed;
  const PoolHeader& header = pool_.header();
  counts.dropped_events = header.dropped_events.load(std::memory_order_relaxed);
  counts.dropped_definitions = header.dropped_definitions.load(std::memory_order_relaxed);
  counts.blocked_ns = header.blocked_ns.load(std::memory_order_relaxed);
  counts.filtered_events = header.filtered_events.load(std::memory_order_relaxed);
  return counts;
}

AgentWork PoolReader::agent_work() const {
  return static_cast<AgentWork>(pool_.header().agent_work.load(std::memory_order_acquire));
}

AgentState PoolReader::agent_state() const {
  return static_cast<AgentState>(pool_.header().agent_state.load(std::memory_order_acquire));
}

void PoolReader::tick() const { advance_clock(pool_.header(), monotonic_ns()); }

void PoolReader::tick(std::uint32_t& gaps) const {
  const std::uint64_t now = monotonic_ns();
  note_tick(pool_.header(), gaps, now);
  advance_clock(pool_.header(), now);
}

std::string PoolReader::session_text() const {
  const char* text = pool_.header().session;
  return {text, ::strnlen(text, sizeof(PoolHeader::session))};
}

}  // namespace jtrace::trace::record
