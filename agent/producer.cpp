#include "agent/producer.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "agent/callback_guard.h"
#include "agent/libc_floor.h"
#include "base/clock.h"
#include "base/raise.h"
#include "trace/record/record_kinds.h"

namespace jtrace::agent {
namespace {

// A pthread key and not thread_local: a thread-local of a loaded library either needs __tls_get_addr of the dynamic
// linker (which musl's has not under that name) or static room that may be used up.
pthread_key_t g_key;
std::atomic<int> g_key_state{0};  // 0 none, 1 being made, 2 there

bool key_is_there(void (*destructor)(void*)) {
  for (;;) {
    int state = g_key_state.load(std::memory_order_acquire);
    if (state == 2) return true;
    if (state == 1) {  // another thread's first event is making it just now
      sched_yield();
      continue;
    }
    if (!g_key_state.compare_exchange_strong(state, 1)) continue;
    const bool made = pthread_key_create(&g_key, destructor) == 0;
    g_key_state.store(made ? 2 : 0, std::memory_order_release);
    return made;
  }
}

constinit std::atomic<Producer*> g_producers{nullptr};
constinit std::atomic<void (*)(std::uint64_t)> g_release_called_out{nullptr};

// When a virtual thread may have lost events last, by its id; several share a place.
constexpr std::uint64_t kLostPlaces = 1024;
constinit std::atomic<std::uint64_t> g_lost_virtual[kLostPlaces] = {};
std::atomic<std::uint64_t>& lost_virtual_at(std::uint64_t thread) { return g_lost_virtual[thread % kLostPlaces]; }

template <class Record>
concept NamesThread = requires(const Record& record) {
  record.thread;
};
// Losses are counted for the thread in this field. MethodCount is about no thread.
#define RECORD(number, Name, Struct, CpuStruct, role, loss, writer, ...)                                              \
  static_assert(record::RecordRole::k##role != record::RecordRole::kEvent ||                                          \
                    record::RecordWriter::k##writer != record::RecordWriter::kAgent || NamesThread<record::Struct> || \
                    std::is_same_v<record::Struct, record::CountRecord>,                                              \
                #Name ": its struct has no field `thread`: its losses would be nobody's");
#include "trace/record/records.def"
#undef RECORD
// The thread that a record names; 0: none.
template <class Record>
std::uint64_t thread_in(const record::RecordHeader& header) {
  if constexpr (NamesThread<Record>) return reinterpret_cast<const Record&>(header).thread;
  else return 0;
}
std::uint64_t thread_of(const record::RecordHeader& header) {
  switch (header.kind) {
#define RECORD(number, Name, Struct, ...) \
  case record::RecordKind::k##Name:       \
    return thread_in<record::Struct>(header);
#include "trace/record/records.def"
#undef RECORD
  }
  return 0;
}

}  // namespace

std::atomic<Producer*>& Producer::list() { return g_producers; }
std::atomic<void (*)(std::uint64_t)>& Producer::release_called_out() { return g_release_called_out; }

void Producer::thread_ended(void* pointer) {
  auto* producer = static_cast<Producer*>(pointer);
  CallbackGuard::leave_pool(*producer);
  if (const auto release = release_called_out().load(std::memory_order_acquire);
      release != nullptr && producer->called_out_as != 0)
    release(producer->called_out_as);
  producer->called_out_as = 0;
  producer->used_.store(0, std::memory_order_release);
}

Producer* Producer::current() {
  if (!key_is_there(&Producer::thread_ended)) return nullptr;
  if (void* mine = pthread_getspecific(g_key)) return static_cast<Producer*>(mine);
  Producer* found = nullptr;
  for (Producer* p = list().load(std::memory_order_acquire); p != nullptr && found == nullptr; p = p->next_) {
    std::uint32_t unused = 0;
    if (p->used_.compare_exchange_strong(unused, 1)) found = p;
  }
  if (found == nullptr) {
    found = new Producer;
    found->next_ = list().load(std::memory_order_relaxed);
    while (!list().compare_exchange_weak(found->next_, found)) {
    }
  }
  found->tid_ = static_cast<std::uint32_t>(syscall(SYS_gettid));
  found->keep_former_loss();
  found->generation_.store(0, std::memory_order_relaxed);
  found->last_thread = 0;
  found->thread_is_over = false;
  if (pthread_setspecific(g_key, found) != 0) {
    found->used_.store(0, std::memory_order_release);
    return nullptr;
  }
  return found;
}

namespace {

// An event moves the coarse clock to a time after its own. So a thread that waits for this one, and then takes the time
// of a callout from that clock, gets a later time. A record that is not counted as an event comes with one: the coarse
// time is enough.
std::uint64_t time_of(record::PoolHeader& header, record::RecordKind kind) {
  const std::uint64_t coarse = header.coarse_clock.load(std::memory_order_relaxed);
  if (coarse != 0 && !record::is_in(record::kCountedKinds, kind)) return coarse;
  const std::uint64_t now = monotonic_ns();
  if (coarse != 0) record::advance_clock(header, now + 1);
  return now;
}

}  // namespace

void Producer::take_number(const PoolWriter& writer) {
  number_ = writer.pool.header().next_producer.fetch_add(1, std::memory_order_relaxed);
  sequence_ = 0;
  chunk_ = -1;
  loses_ = false;
  loss_ = {};
  if (former_generation_ != writer.generation) former_ = {};
}

void Producer::join(const PoolWriter& writer) {
  set_direct(nullptr);
  generation_.store(writer.generation, std::memory_order_release);
  take_number(writer);
}

bool Producer::take_chunk(const PoolWriter& writer, bool may_block) {
  if (generation() != writer.generation) join(writer);
  record::PoolHeader& header = writer.pool.header();
  // One wait for each stretch of losses: a thread must not wait at every event that it loses.
  const std::uint64_t start = may_block && writer.policy.block && !loses_ ? monotonic_ns() : 0;
  for (;;) {
    chunk_ = writer.take_chunk(number_, sequence_, tid_);
    if (chunk_ >= 0) break;
    const std::uint64_t waited = start == 0 ? 0 : monotonic_ns() - start;
    const std::uint64_t limit = writer.policy.block_limit_ns.load(std::memory_order_relaxed);
    if (start == 0 || waited >= limit) {
      loses_ = true;
      header.blocked_ns.fetch_add(waited, std::memory_order_relaxed);
      return false;
    }
    writer.wait_for_pass(limit - waited);
  }
  loses_ = false;
  if (start != 0) {
    // Only a wait counts: taking a chunk at once takes less than a microsecond.
    const std::uint64_t waited = monotonic_ns() - start;
    if (waited > 10'000) header.blocked_ns.fetch_add(waited, std::memory_order_relaxed);
  }
  token_ = record::owner_token(number_, sequence_);
  ++sequence_;
  position_ = 0;
  return true;
}

void Producer::Loss::add(const Loss& other) {
  if (from == 0) *this = {0, other.thread, other.from};
  if (thread != other.thread) thread = 0;  // several
  from = std::min(from, other.from);
  events += other.events;
}

// Losses that a thread found no room to write before its end are written by the next thread of this producer.
void Producer::keep_former_loss() {
  if (loss_.events != 0) former_.add(loss_);
  if (loss_.events != 0) former_generation_ = generation();
  loss_ = {};
}

void Producer::lose(const PoolWriter& writer, std::uint64_t events, std::uint64_t thread) {
  if (generation() != writer.generation) join(writer);
  loss_.add({events, thread, loss_.from != 0 ? loss_.from : monotonic_ns()});
  writer.pool.header().dropped_events.fetch_add(events, std::memory_order_relaxed);
}

// A virtual thread continues here, and elsewhere later, perhaps on a carrier that ran it before and would take it for
// the thread that still runs. That carrier must ask again.
void Producer::ask_again_elsewhere(const PoolWriter& writer, std::uint64_t thread) {
  for_each([&](Producer& other) {
    if (&other == this || other.generation_.load(std::memory_order_acquire) != writer.generation) return;
    record::ChunkHeader* chunk = other.direct_.load(std::memory_order_acquire);
    if (chunk == nullptr) return;
    // If the chunk has another owner by now, the only effect is that this owner asks once more.
    std::atomic_ref<std::uint64_t> current(chunk->current);
    if (current.load(std::memory_order_relaxed) == thread) current.store(0, std::memory_order_relaxed);
  });
}

// A virtual thread loses events on this carrier. Where it continues without losses, the record of the switch says until
// when it may have lost events.
void Producer::lose_virtual(const PoolWriter& writer, std::uint64_t thread) {
  const std::uint64_t now = monotonic_ns();
  advance_clock(writer.pool.header(), now + 1);
  raise_to(lost_virtual_at(thread), now);
  ask_again_elsewhere(writer, thread);
}

bool Producer::has_room(std::uint32_t size) const {
  return direct()->committed.load(std::memory_order_relaxed) + size <= record::kChunkSize - record::kGapRoom;
}

// Writes into the chunk of the callouts. False if that is the sink: the record is lost, and counted.
bool Producer::append_direct(const PoolWriter& writer, record::RecordHeader* bytes, std::uint32_t size) {
  if (direct() == sink_.get()) {
    if (record::is_in(record::kCountedKinds, bytes->kind)) lose(writer, 1, direct()->carrier);
    return false;
  }
  const std::uint64_t at = direct()->committed.load(std::memory_order_relaxed);
  bytes->time = time_of(writer.pool.header(), bytes->kind);
  std::memcpy(reinterpret_cast<void*>(direct()->address + at), bytes, size);
  direct()->committed.store(at + size, std::memory_order_release);
  return true;
}

// Events among the records that callouts have left in the sink.
std::uint64_t Producer::events_in_sink() const {
  const auto* records = reinterpret_cast<const std::byte*>(sink_->address);
  const std::uint64_t size = sink_->committed.load(std::memory_order_relaxed);
  std::uint64_t events = 0;
  bool has_frames = false;
  for (std::uint64_t at = 0; at < size;) {
    const auto kind = static_cast<record::RecordKind>(records[at]);
    const auto slots = static_cast<std::uint8_t>(records[at + offsetof(record::RecordHeader, slots)]);
    events += record::is_in(record::kCountedKinds, kind);
    has_frames = has_frames || record::is_in(record::kFrameKinds, kind);
    at += record::kSlotSize;
    // Most have one: by a jump, not by a product that the next load would have to wait for.
    if (slots > 1) [[unlikely]]
      at += (slots - 1ull) * record::kSlotSize;
  }
  // Without its frames, calls that an exception leaves have no methodReturn.
  return events == 0 && has_frames ? 1 : events;
}

void Producer::close_direct(const PoolWriter& writer, record::ChunkHeader* chunk) {
  if (chunk == nullptr) return;
  const std::uint64_t carrier = std::exchange(chunk->carrier, ~0ull);
  if (chunk == sink_.get()) {
    const std::uint64_t lost = writer.one_slot_callouts
                                   ? sink_->committed.load(std::memory_order_relaxed) / record::kSlotSize
                                   : events_in_sink();
    sink_->committed.store(0, std::memory_order_relaxed);
    if (lost != 0) lose(writer, lost, carrier);
  } else {
    chunk->owner.store(0, std::memory_order_release);
    chunk->state.store(static_cast<std::uint32_t>(record::ChunkState::kFinished), std::memory_order_release);
  }
  if (direct() == chunk) set_direct(nullptr);
}

void Producer::use_sink() {
  if (sink_ == nullptr) {
    void* memory = aligned_alloc(alignof(record::ChunkHeader), sizeof(record::ChunkHeader) + record::kChunkSize);
    if (memory == nullptr) return;
    sink_.reset(new (memory) record::ChunkHeader{});
    sink_->address = reinterpret_cast<std::uint64_t>(sink_.get() + 1);
  }
  sink_->committed.store(0, std::memory_order_relaxed);
  set_direct(sink_.get());
}

// A chunk of the pool as the next one of the callouts.
bool Producer::take_direct(const PoolWriter& writer, bool may_block) {
  if (loses_ && !writer.has_room_again()) return false;
  for (;;) {
    if (!take_chunk(writer, may_block)) {
      chunk_ = -1;
      return false;
    }
    record::ChunkHeader& header = writer.pool.chunk(static_cast<std::uint32_t>(chunk_));
    header.address = reinterpret_cast<std::uint64_t>(writer.pool.data(static_cast<std::uint32_t>(chunk_)));
    chunk_ = -1;
    // As for a record: until the state is changed, the drainer may take the chunk back.
    std::uint64_t expected = token_;
    if (!header.owner.compare_exchange_strong(expected, token_ | record::kOwnerPending, std::memory_order_seq_cst))
      continue;
    header.current = 0;
    header.state.store(static_cast<std::uint32_t>(record::ChunkState::kDirect), std::memory_order_release);
    header.owner.store(token_, std::memory_order_release);
    direct_.store(&header, std::memory_order_release);
    return true;
  }
}

// Written into the room that every chunk of callouts keeps for it. So readers know, even if this thread or jtrace ends,
// that the calls which are open here are known to be open only until this time.
void Producer::mark_gap_begin(const PoolWriter& writer, record::ChunkHeader* chunk) {
  if (chunk == nullptr) return;
  if (chunk->committed.load(std::memory_order_relaxed) + sizeof(record::GapRecord) > record::kChunkSize) return;
  record::GapRecord gap{};
  gap.header.kind = record::RecordKind::kGap;
  gap.header.slots = record::slots_of<record::GapRecord>();
  gap.header.flags = record::kGapBegins;
  gap.thread = chunk->carrier;
  gap.from = monotonic_ns();
  append_direct(writer, &gap.header, sizeof gap);
}

bool Producer::write_losses(const PoolWriter& writer, Producer& reporter) {
  for (Loss* loss : {&former_, &loss_}) {
    if (loss->events == 0) continue;
    const Loss taken = std::exchange(*loss, {});
    if (reporter.write_gap(writer, taken)) continue;
    loss->add(taken);
    return false;
  }
  return true;
}

// False if there was no room: the loss has yet to be reported.
bool Producer::write_gap(const PoolWriter& writer, const Loss& loss) {
  record::GapRecord gap{};
  gap.header.kind = record::RecordKind::kGap;
  gap.header.slots = record::slots_of<record::GapRecord>();
  gap.header.number = static_cast<std::uint32_t>(loss.events > 0xffffffffu ? 0xffffffffu : loss.events);
  gap.thread = loss.thread;
  gap.from = loss.from;
  return write_slots(writer, &gap.header, sizeof gap, false);
}

// Takes the next chunk for the callouts, or the sink if none is free. False if there is no memory.
bool Producer::next_direct(const PoolWriter& writer, std::uint64_t carrier, bool may_block) {
  const std::uint64_t now = monotonic_ns();
  advance_clock(writer.pool.header(), now);
  finish_chunk(writer);
  record::ChunkHeader* before = direct();
  const bool lost_before = loses_;
  bool taken = take_direct(writer, false);
  if (!taken && before != sink_.get()) mark_gap_begin(writer, before);
  close_direct(writer, before);
  if (!taken && !lost_before && writer.policy.block) {
    loses_ = false;
    taken = take_direct(writer, may_block);
  }
  if (!taken) use_sink();
  record::ChunkHeader* chunk = direct();
  if (chunk == nullptr) return false;
  chunk->carrier = carrier;
  chunk->current = 0;
  if (!taken && loss_.from == 0) loss_ = {0, carrier, now};
  if (!taken) return true;
  if (loss_.events == 0) loss_ = {};  // a sink that was left empty
  write_losses(writer, *this);
  return true;
}

record::ChunkHeader* Producer::direct_chunk(const PoolWriter& writer, std::uint64_t carrier, std::uint64_t current) {
  if (generation() != writer.generation) join(writer);
  constexpr std::uint32_t kRecord = record::kLargestOfBytecode;
  constexpr std::uint32_t kNeed = sizeof(record::ThreadRecord) + kRecord;  // with a switch before it
  do {
    const bool open = direct() != nullptr && has_room(direct()->current == current ? kRecord : kNeed);
    if (!open && !next_direct(writer, carrier, true)) return nullptr;
  } while (has_losses() && direct() != sink_.get() && write_losses(writer, *this));  // which takes room
  record::ChunkHeader* chunk = direct();
  chunk->carrier = carrier;
  if (chunk->current == current) return chunk;
  chunk->current = current;
  if (chunk != sink_.get()) write_switch(writer, current, current != carrier);
  else if (current != carrier) lose_virtual(writer, current);
  return chunk;
}

void Producer::write_switch(const PoolWriter& writer, std::uint64_t thread, bool is_virtual) {
  record::ThreadRecord made{};
  made.header.kind = record::RecordKind::kThreadSwitch;
  made.header.slots = record::slots_of<record::ThreadRecord>();
  made.header.flags = is_virtual ? record::kIsVirtual : 0;
  made.thread = thread;
  if (is_virtual) made.lost_until = lost_virtual_at(thread).load(std::memory_order_relaxed);
  // Back on a carrier that loses events, it loses them from then on, not since it was there before.
  if (made.lost_until != 0) ask_again_elsewhere(writer, thread);
  append_direct(writer, &made.header, sizeof made);
}

bool Producer::write_slots(const PoolWriter& writer, record::RecordHeader* bytes, std::uint32_t size, bool may_block) {
  if (generation() == writer.generation && direct() != nullptr) {
    if (!has_room(size) || direct() == sink_.get()) {
      const std::uint64_t current = direct()->current;
      const std::uint64_t carrier = direct()->carrier;
      if (next_direct(writer, carrier, may_block)) direct_chunk(writer, carrier, current);
    }
    if (direct() != nullptr) return append_direct(writer, bytes, size);
  }
  const bool is_gap = bytes->kind == record::RecordKind::kGap;
  // The end of the callouts is no event of the program: where it is lost, others are too, and those are counted.
  const bool is_event = !is_gap && bytes->kind != record::RecordKind::kCalloutsEnd;
  for (;;) {
    if ((generation() != writer.generation || chunk_ < 0) && !take_chunk(writer, may_block)) {
      if (is_event) lose(writer, 1, thread_of(*bytes));
      return false;
    }
    if (has_losses() && !is_gap) {
      write_losses(writer, *this);
      if (chunk_ < 0) continue;
    }
    record::ChunkHeader& chunk = writer.pool.chunk(static_cast<std::uint32_t>(chunk_));
    std::uint64_t expected = token_;
    if (!chunk.owner.compare_exchange_strong(expected, token_ | record::kOwnerPending, std::memory_order_seq_cst)) {
      chunk_ = -1;  // the drainer took it back
      continue;
    }
    if (position_ + size > writer.pool.header().chunk_size) {
      chunk.owner.store(token_, std::memory_order_release);
      finish_chunk(writer);
      continue;
    }
    bytes->time = time_of(writer.pool.header(), bytes->kind);
    std::memcpy(writer.pool.data(static_cast<std::uint32_t>(chunk_)) + position_, bytes, size);
    position_ += size;
    chunk.committed.store(position_, std::memory_order_release);
    chunk.owner.store(token_, std::memory_order_release);
    return true;
  }
}

bool Producer::leave(const PoolWriter& writer, Producer& reporter) {
  const bool joined = generation() == writer.generation;
  if (joined) close_direct(writer, direct());
  // In a record of another producer's, or of this one after all it has written.
  const bool is_ours = joined || (has_losses() && former_generation_ == writer.generation);
  const bool complete = !is_ours || write_losses(writer, reporter);
  finish_chunk(writer);
  return complete;
}

void Producer::finish_chunk(const PoolWriter& writer) {
  if (generation() != writer.generation || chunk_ < 0) return;
  record::ChunkHeader& chunk = writer.pool.chunk(static_cast<std::uint32_t>(chunk_));
  chunk_ = -1;
  std::uint64_t expected = token_;
  if (!chunk.owner.compare_exchange_strong(expected, 0)) return;  // the drainer took it back
  chunk.state.store(static_cast<std::uint32_t>(record::ChunkState::kFinished), std::memory_order_release);
}

}  // namespace jtrace::agent
