// The memory that the agent (in the JVM) and jtrace (outside) share: one pool of chunks, created and touched by jtrace,
// mapped by both. Header only: it is also compiled into the agent, which has no libstdc++ at run time.
//
// clang-format off
//   offset 0              PoolHeader, one page
//   header_size           ChunkHeader[chunk_count], 64 bytes each, dense: the drainer scans them
//   data_offset           chunk_count chunks of chunk_size bytes
// clang-format on
//
// A producer is a carrier (kernel) thread of the JVM. It owns one chunk at a time, writes whole records one after
// another and commits them by storing `committed` (release). It marks a full chunk kFinished and takes another free
// one; (producer, sequence) orders the chunks of one producer. Producer 0 is the stream of definitions: one byte stream
// over its chunks in the order of `sequence`, written under a lock of the agent (definition.h).
//
// `owner` of a chunk is one word: the owner's token (producer, sequence). Its bit 0 is set between the reading of the
// time and the commit. Both sides change it by compare and swap, so a chunk has one owner at any moment:
//
// clang-format off
//   The writer, for each record                        The drainer, in each pass
//   1 CAS owner: token -> token | 1 (seq_cst)          1 now = monotonic clock
//     where that fails, the chunk was taken back:      2 scan all headers: owner, committed (acquire)
//     forget it, take another one, begin again         3 watermark = now; where a producer has bit 0 set, at most
//   2 time = monotonic clock                             the `now` of the last scan that saw its bit clear
//   3 write the bytes                                  4 read the stream of definitions: what an event refers to
//   4 committed.store(release)                           was committed before it
//   5 owner.store(token, release)                      5 merge the events with times <= watermark
// clang-format on
//
// Therefore no event can appear later with an earlier time than one that was already written out.
//
// If the pool runs low, the chunk of an idle thread is taken back: the drainer swaps `owner` from token to 0, owns the
// chunk then, and marks it kFinished in place of the writer. It never does so with a chunk of producer 0. Only the
// drainer frees a chunk (state kFinished -> kFree, as the last step, after owner = 0 and committed = 0); only a
// producer takes one (kFree -> kOwned).
//
// Callouts in Java code write faster: into a chunk of state kDirect, which only its producer writes and which the
// drainer never takes back. No token is swapped: the record's 16 bytes are stored, then `committed` (release). Its time
// is the coarse clock of PoolHeader (or CLOCK_MONOTONIC), which the drainer reads before it scans. A record with an
// earlier time was written by a thread that was preempted between reading the clock and committing. Such a record is
// late; it gets the time that was reached.
//
// A producer that finds no free chunk loses its events. Callouts lose whole stretches: they take a chunk again only
// when more than `resume_above` are free, and not as soon as one is free. The last kGapRoom bytes of a chunk are
// reserved for the record that begins a loss (kGap); after the stretch another one has its times and the number of lost
// events.
//
// Byte order and alignment are the machine's: the pool never leaves it. `jtrace recover` reads the same layout from the
// file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/raise.h"

namespace jtrace::trace::record {

inline constexpr char kPoolMagic[8] = {'J', 'T', 'R', 'P', 'O', 'O', 'L', '1'};
inline constexpr std::uint32_t kLayoutVersion = 4;
inline constexpr std::uint32_t kPoolHeaderSize = 4096;
inline constexpr std::uint32_t kSlotSize = 16;           // records are whole slots
inline constexpr std::uint32_t kChunkSize = 16384;       // bytes; chunks of a 64 MiB pool: about 4080
inline constexpr std::uint32_t kGapRoom = 32;            // at the end of a chunk of callouts
inline constexpr std::uint32_t kDefinitionProducer = 0;  // `producer` of the stream of definitions
inline constexpr std::uint64_t kMinimumPoolSize = 1u << 20;
// Events never take the last eighth of the free chunks: it is reserved for definitions, without which events cannot be
// understood.
inline constexpr std::uint32_t kDefinitionReserveShare = 8;

enum class ChunkState : std::uint32_t {
  kFree = 0,
  kOwned = 1,     // a producer writes into it
  kFinished = 2,  // full, or its thread has ended: it is drained, then freed by the drainer
  kDirect = 3,    // like kOwned, written by callouts
};

struct alignas(64) ChunkHeader {
  std::atomic<std::uint32_t> state;  // ChunkState; kFree -> kOwned by the producer (compare and swap)
  std::uint32_t tid;                 // kernel thread id of the producer in the JVM's pid namespace
  std::atomic<std::uint64_t> owner;  // owner_token(), bit 0 set while a record is being written; 0: free
  // The producer writes these between taking the chunk and storing `owner` for the first time (release): they are valid
  // once the owner was seen, until the chunk is freed.
  std::uint32_t producer;
  std::uint32_t sequence;                // 0, 1, 2... within the producer
  std::atomic<std::uint64_t> committed;  // bytes of whole records (events) or of the stream (definitions) in the chunk
  std::uint64_t first_record;            // producer 0, written by the drainer: offset of the first whole record, plus 1
  // kDirect, only for the callouts: threadIds of the carrier that owns the chunk and of the thread that runs on it; the
  // address of the data in the JVM.
  std::uint64_t carrier;
  std::uint64_t current;
  std::uint64_t address;
};

// Never 0 for producers below 2^31; unique within a pool until a producer has had 2^32 chunks (64 TiB).
constexpr std::uint64_t owner_token(std::uint32_t producer, std::uint32_t sequence) {
  return (static_cast<std::uint64_t>(producer + 1) << 33) | (static_cast<std::uint64_t>(sequence) << 1);
}
inline constexpr std::uint64_t kOwnerPending = 1;
static_assert(sizeof(ChunkHeader) == 64);

// CLOCK_MONOTONIC in ns: between the two the coarse clock may have stood still.
struct ClockGap {
  std::atomic<std::uint64_t> from;
  std::atomic<std::uint64_t> until;
};
inline constexpr std::uint32_t kClockGaps = 32;

struct PoolHeader {
  char magic[8];
  std::uint32_t layout_version;
  std::uint32_t header_size;  // kPoolHeaderSize
  std::uint64_t pool_size;    // bytes, all of it
  std::uint64_t data_offset;  // of chunk 0
  std::uint32_t chunk_size;
  std::uint32_t chunk_count;

  // Written by the agent, read by the drainer; for statistics, not for ordering.
  std::atomic<std::uint64_t> dropped_events;       // total number of records that found no room
  std::atomic<std::uint64_t> dropped_definitions;  // definitions that found no room (tried again at the next reference)
  std::atomic<std::uint64_t> blocked_ns;           // total time that producers waited (--when-full block)
  std::atomic<std::uint64_t> filtered_events;
  std::atomic<std::uint32_t> agent_state;    // AgentState
  std::atomic<std::uint32_t> next_producer;  // the next producer number, from 1
  std::atomic<std::uint32_t> free_hint;      // where the search for a free chunk starts
  // Approximate number of free chunks: decremented by takers, incremented by the drainer.
  std::atomic<std::uint32_t> free_chunks;
  std::atomic<std::uint32_t> drained_pass;  // counts the drainer's passes; a blocked writer waits on it (futex)
  std::atomic<std::uint32_t> agent_work;    // AgentWork of the agent's own thread; read if the JVM has died
  std::atomic<std::uint32_t> resume_above;  // set by the drainer at each pass; 0: only the reserve is kept free
  // CLOCK_MONOTONIC in ns, advanced by both sides and never set back; callouts use it as the time.
  std::atomic<std::uint64_t> coarse_clock;

  // Written by jtrace before the agent sees the pool, for `jtrace recover`: key=value lines, terminated by NUL.
  char session[2048];

  // Written by the thread of the coarse clock (clock_gap.h): when it ran last, and the last times at which it was late.
  std::atomic<std::uint64_t> last_tick;
  ClockGap clock_gaps[kClockGaps];
};
static_assert(sizeof(PoolHeader) <= kPoolHeaderSize);

inline void advance_clock(PoolHeader& header, std::uint64_t now) {
  raise_to(header.coarse_clock, now, std::memory_order_release);
}

enum class AgentState : std::uint32_t {
  kStarting = 0,
  kTracing = 1,
  kPaused = 2,
  kDetached = 3,  // nothing will be written any more; the end was orderly
  kVmDead = 4,    // VMDeath: nothing will be written any more
};

enum class AgentWork : std::uint32_t {
  kNone = 0,       // only the program's threads write
  kRewriting = 1,  // inserts callouts into classes
  kRestoring = 2,  // removes callouts
  kLeaving = 3,    // events are off, the environment is being disposed of
};

// Chunk headers and chunk data of a mapped pool. Borrows the mapping.
class Pool {
 public:
  Pool() = default;
  explicit Pool(void* base) : base_(static_cast<std::byte*>(base)) {}

  PoolHeader& header() const { return *reinterpret_cast<PoolHeader*>(base_); }
  ChunkHeader& chunk(std::uint32_t index) const {
    return reinterpret_cast<ChunkHeader*>(base_ + kPoolHeaderSize)[index];
  }
  std::byte* data(std::uint32_t index) const {
    return base_ + header().data_offset + static_cast<std::uint64_t>(index) * header().chunk_size;
  }
  explicit operator bool() const { return base_ != nullptr; }
  void* base() const { return base_; }

 private:
  std::byte* base_ = nullptr;
};

// The number of chunks of `chunk_size` in a pool of `pool_size` bytes, and the offset of the first one (page aligned).
struct PoolShape {
  std::uint32_t chunk_count;
  std::uint64_t data_offset;
};
constexpr PoolShape pool_shape(std::uint64_t pool_size, std::uint32_t chunk_size) {
  const std::uint64_t room = pool_size - kPoolHeaderSize;
  std::uint64_t count = room / (chunk_size + sizeof(ChunkHeader));
  std::uint64_t offset = 0;
  for (;; --count) {
    offset = (kPoolHeaderSize + count * sizeof(ChunkHeader) + 4095) / 4096 * 4096;
    if (offset + count * chunk_size <= pool_size) break;
  }
  return {static_cast<std::uint32_t>(count), offset};
}

}  // namespace jtrace::trace::record
