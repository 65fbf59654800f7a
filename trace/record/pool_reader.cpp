#include "trace/record/pool_reader.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "base/clock.h"

namespace jtrace::trace::record {
namespace {

// Between the clock and the load of a header the processor may reorder; a microsecond is far more than that.
constexpr std::uint64_t kMargin = 1'000;
constexpr std::uint64_t kIdleTime = 100'000'000;  // ns: a chunk in which nothing happened for so long is idle
constexpr std::uint32_t kNone = 0xffffffff;
constexpr std::size_t kMinimumDefinition = 17;         // kind, time, id
constexpr std::size_t kMaximumDefinition = 16u << 20;  // no class has that many interfaces

// A record by value: the largest struct of event_record.h, with room for kinds that are still to come.
union RecordCopy {
  RecordHeader header;
  alignas(16) std::byte bytes[16 * 16];
};

// The slots a record of this kind has at least; 0: not a kind we know.
std::uint8_t least_slots(RecordKind kind) {
  switch (kind) {
    case RecordKind::kPadding: return 1;
    case RecordKind::kThreadEnd:
    case RecordKind::kGcStart:
    case RecordKind::kRuntimeInitDone:
    case RecordKind::kRuntimeShutdown:
    case RecordKind::kThreadSwitch: return slots_of<ThreadRecord>();
    case RecordKind::kGap:
    case RecordKind::kMethodEntry:
    case RecordKind::kMethodExit:
    case RecordKind::kMethodUnwind:
    case RecordKind::kLine: return slots_of<ProbeRecord>();
    case RecordKind::kThrow:
    case RecordKind::kCatch: return slots_of<ExceptionRecord>();
    case RecordKind::kMethodCount: return slots_of<CountRecord>();
    case RecordKind::kLateEntry: return slots_of<LateEntryRecord>();
    case RecordKind::kValue: return slots_of<ValueRecord>();
    case RecordKind::kEntryOf:
    case RecordKind::kReceiver: return slots_of<ReceiverRecord>();
    case RecordKind::kGcFinish:
    case RecordKind::kGcFigures: return slots_of<GcFinishRecord>();
    case RecordKind::kMonWait:
    case RecordKind::kMonWaited:
    case RecordKind::kMonContendedEnter:
    case RecordKind::kMonContendedEntered: return slots_of<MonitorRecord>();
    case RecordKind::kObjAlloc: return slots_of<ObjAllocRecord>();
    case RecordKind::kObjFree:
    case RecordKind::kClassUnload: return slots_of<ObjectRecord>();
  }
  return 0;
}

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
  JTRACE_ASSIGN_OR_RETURN(const std::uint64_t definition_bytes, read_definitions(sink, mode));
  JTRACE_ASSIGN_OR_RETURN(Pass pass, merge(sink, watermark, limit));
  for (const Ready& ready : ready_)
    if (ready.finished && chunks_[ready.index].drained == ready.committed) finished_.push_back(ready.index);
  pass.definition_bytes = definition_bytes;
  return pass;
}

// Fills ready_ and finished_; returns the time below which no record can appear any more.
std::uint64_t PoolReader::scan(Mode mode) {
  if (mode == Mode::kLive && pool_.header().coarse_clock.load(std::memory_order_relaxed) != 0) tick();
  std::uint64_t now = monotonic_ns() - kMargin;
  // What was stamped with an earlier reading of the coarse clock was stamped before this scan began.
  if (const std::uint64_t clock = pool_.header().coarse_clock.load(std::memory_order_acquire); clock != 0)
    now = std::min(now, clock);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::uint64_t watermark = mode == Mode::kLive ? now : UINT64_MAX;
  ready_.clear();
  finished_.clear();
  counts_.free_chunks = 0;
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
  if (committed > chunk_size_ || committed % kSlotSize != 0 || committed < chunk.drained) {
    if (chunk.drained != chunk_size_) ++counts_.malformed;
    chunk.drained = chunk_size_;  // nothing more is taken from it
    if (state == ChunkState::kFinished) finished_.push_back(index);
    return;
  }
  if (committed > chunk.drained) {
    chunk.moved_at = now;
    ready_.push_back({index, header.producer, header.sequence, committed, state == ChunkState::kFinished});
  } else if (state == ChunkState::kFinished) {
    finished_.push_back(index);
  }
}

// Reads the stream up to its end. The events of this pass were committed before the scan that found them, their
// definitions before them: so they are in what is read here.
Result<std::uint64_t> PoolReader::read_definitions(RecordSink& sink, Mode mode) {
  std::uint64_t bytes = 0;
  while (definition_chunk_ != kNone || find_definition_chunk(mode)) {
    const ChunkHeader& header = pool_.chunk(definition_chunk_);
    Chunk& chunk = chunks_[definition_chunk_];
    const auto state = static_cast<ChunkState>(header.state.load(std::memory_order_acquire));
    const std::uint64_t committed =
        std::min<std::uint64_t>(header.committed.load(std::memory_order_acquire), chunk_size_);
    if (committed > chunk.drained) {
      const std::size_t cut = stream_.size();
      const char* from = reinterpret_cast<const char*>(data(definition_chunk_)) + chunk.drained;
      if (!stream_broken_) stream_.append(from, committed - chunk.drained);
      if (chunk.drained == 0 && mode != Mode::kReadOnly) note_first_record(cut);
      bytes += committed - chunk.drained;
      chunk.drained = committed;
      JTRACE_RETURN_IF_ERROR(parse_definitions(sink));
    }
    if (state == ChunkState::kOwned && committed < chunk_size_) break;  // its writer goes on here
    definitions_.push_back(definition_chunk_);
    chunk.retained = true;
    definition_chunk_ = kNone;
    ++definition_sequence_;
  }
  return bytes;
}

// The chunk with the sequence that comes next; where an earlier reader has freed the first ones (read only), the lowest
// there is.
bool PoolReader::find_definition_chunk(Mode mode) {
  std::uint32_t lowest = kNone;
  for (std::uint32_t index = 0; index < chunk_count_; ++index) {
    const ChunkHeader& header = pool_.chunk(index);
    const auto state = static_cast<ChunkState>(header.state.load(std::memory_order_acquire));
    // Only what holds something: then the other fields are its owner's.
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
    stream_.clear();
    const std::uint64_t first = pool_.chunk(definition_chunk_).first_record;
    chunks_[definition_chunk_].drained = first == 0 || first > chunk_size_ ? chunk_size_ : first - 1;
    definition_sequence_ = lowest;
  }
  return true;
}

// Leaves in the header of the chunk that is being read (first_record) where its first record starts, plus 1: a later
// reader of the pool (`jtrace recover`) begins there when the chunks before it are gone. `cut`: bytes of a record that
// began there.
void PoolReader::note_first_record(std::size_t cut) {
  std::uint32_t size = 0;
  if (cut != 0 && stream_.size() < sizeof size) return;
  std::memcpy(&size, stream_.data(), cut != 0 ? sizeof size : 0);
  const std::uint64_t start = cut == 0 ? 0 : sizeof size + std::uint64_t{size} - cut;
  pool_.chunk(definition_chunk_).first_record = start < chunk_size_ ? start + 1 : 0;
}

Result<> PoolReader::parse_definitions(RecordSink& sink) {
  std::size_t position = 0;
  while (stream_.size() - position >= sizeof(std::uint32_t)) {
    std::uint32_t size = 0;
    std::memcpy(&size, stream_.data() + position, sizeof size);
    if (size < kMinimumDefinition || size > kMaximumDefinition) {
      // Not resumable: nothing says where the next one starts. What comes later is thrown away.
      ++counts_.malformed;
      stream_broken_ = true;
      position = stream_.size();
      break;
    }
    if (stream_.size() - position - sizeof size < size) break;
    position += sizeof size;
    ++counts_.definitions;
    const auto record = std::as_bytes(std::span(stream_.data() + position, size));
    position += size;
    JTRACE_RETURN_IF_ERROR(sink.on_definition(record));
  }
  stream_.erase(0, position);
  return {};
}

Result<PoolReader::Pass> PoolReader::merge(RecordSink& sink, std::uint64_t watermark, std::uint64_t limit) {
  std::sort(ready_.begin(), ready_.end(), [](const Ready& left, const Ready& right) {
    return left.producer != right.producer ? left.producer < right.producer : left.sequence < right.sequence;
  });
  heap_.clear();
  const auto after = [](const Cursor& left, const Cursor& right) {
    return left.time != right.time ? left.time > right.time : left.ready > right.ready;
  };
  for (std::uint32_t start = 0; start < ready_.size();) {
    std::uint32_t end = start + 1;
    while (end < ready_.size() && ready_[end].producer == ready_[start].producer) ++end;
    Cursor cursor{0, start, end, 0};
    if (advance(cursor) && cursor.time < watermark) heap_.push_back(cursor);
    start = end;
  }
  std::make_heap(heap_.begin(), heap_.end(), after);
  Pass pass;
  pass.time = watermark;
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), after);
    Cursor cursor = heap_.back();
    heap_.pop_back();
    // As long as it stays the earliest, without the heap.
    bool goes_on = true;
    do {
      if (pass.events >= limit) {
        pass.time = cursor.time;
        pass.more = true;
        return pass;
      }
      JTRACE_RETURN_IF_ERROR(hand_out(sink, cursor));
      ++pass.events;
      goes_on = advance(cursor) && cursor.time < watermark;
    } while (goes_on && (heap_.empty() || !after(cursor, heap_.front())));
    if (!goes_on) continue;
    heap_.push_back(cursor);
    std::push_heap(heap_.begin(), heap_.end(), after);
  }
  return pass;
}

// Moves the cursor to the producer's next record that is worth handing out; false at the end of what is committed.
bool PoolReader::advance(Cursor& cursor) {
  for (; cursor.ready < cursor.end; ++cursor.ready) {
    const Ready& ready = ready_[cursor.ready];
    Chunk& chunk = chunks_[ready.index];
    while (chunk.drained < ready.committed) {
      RecordHeader header;
      std::memcpy(&header, data(ready.index) + chunk.drained, sizeof header);
      const std::uint64_t size = std::uint64_t{header.slots} * kSlotSize;
      if (size == 0 || size > ready.committed - chunk.drained) {
        ++counts_.malformed;
        chunk.drained = ready.committed;
        break;
      }
      const std::uint8_t least = least_slots(header.kind);
      if (header.kind != RecordKind::kPadding && least != 0 && header.slots >= least && size <= sizeof(RecordCopy)) {
        cursor.time = std::max({cursor.time, header.time, reached_});
        cursor.slots = header.slots;
        return true;
      }
      if (header.kind != RecordKind::kPadding) ++counts_.malformed;
      chunk.drained += size;
    }
  }
  return false;
}

Result<> PoolReader::hand_out(RecordSink& sink, const Cursor& cursor) {
  const std::uint32_t index = ready_[cursor.ready].index;
  RecordCopy copy;
  std::memcpy(&copy, data(index) + chunks_[index].drained, std::size_t{cursor.slots} * kSlotSize);
  chunks_[index].drained += std::uint64_t{cursor.slots} * kSlotSize;
  // Kind and size are what was checked, whatever the bytes have become meanwhile.
  copy.header.slots = static_cast<std::uint8_t>(cursor.slots);
  copy.header.time = cursor.time;
  if (const std::uint8_t least = least_slots(copy.header.kind); least == 0 || least > cursor.slots) {
    ++counts_.malformed;
    return {};
  }
  ++counts_.events;
  reached_ = cursor.time;
  if (const std::uint32_t producer = ready_[cursor.ready].producer; producer != last_producer_) {
    last_producer_ = producer;
    sink.on_producer(producer);
  }
  return sink.on_event(copy.header);
}

void PoolReader::release(bool wake_writers) {
  for (const std::uint32_t index : finished_) free_chunk(index);
  bool freed = !finished_.empty();
  finished_.clear();
  if (counts_.free_chunks < chunk_count_ / 4) {
    take_back_idle();
    recycle_definitions();
    freed = true;
  }
  if (!wake_writers || !freed) return;
  std::atomic<std::uint32_t>& pass = pool_.header().drained_pass;
  pass.fetch_add(1, std::memory_order_release);
  ::syscall(SYS_futex, &pass, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
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
    // Ours now. What was committed since the scan is drained like any finished chunk.
    header.state.store(static_cast<std::uint32_t>(ChunkState::kFinished), std::memory_order_relaxed);
    if (header.committed.load(std::memory_order_acquire) == chunks_[index].drained) free_chunk(index);
  }
}

PoolReader::Counts PoolReader::counts() const {
  Counts counts = counts_;
  const PoolHeader& header = pool_.header();
  counts.dropped_events = header.dropped_events.load(std::memory_order_relaxed);
  counts.dropped_definitions = header.dropped_definitions.load(std::memory_order_relaxed);
  counts.blocked_ns = header.blocked_ns.load(std::memory_order_relaxed);
  counts.filtered_events = header.filtered_events.load(std::memory_order_relaxed);
  return counts;
}

AgentState PoolReader::agent_state() const {
  return static_cast<AgentState>(pool_.header().agent_state.load(std::memory_order_acquire));
}

void PoolReader::tick() const { advance_clock(pool_.header(), monotonic_ns()); }

std::string PoolReader::session_text() const {
  const char* text = pool_.header().session;
  return {text, ::strnlen(text, sizeof(PoolHeader::session))};
}

}  // namespace jtrace::trace::record
