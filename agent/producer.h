// Producer: a thread of the JVM as a writer of the pool (trace/record/layout.h).
//
// One per kernel thread, made at its first event, kept in a list for the life of the library and used again by a later
// thread after the first one's end. Everything but in_callback() belongs to its thread alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "agent/pool_writer.h"
#include "trace/record/layout.h"
#include "trace/record/record_kinds.h"

namespace jtrace::agent {

class Producer {
 public:
  // Frees what callouts keep for a thread (methods/), called with
  // `called_out_as` at the thread's end; nullptr: there is nothing.
  static std::atomic<void (*)(std::uint64_t)>& release_called_out();
  // The calling thread's; nullptr only if there is no memory for it.
  static Producer* current();
  // Calls `visit` for every producer there is.
  template <class Visit>
  static void for_each(Visit visit) {
    for (Producer* p = list().load(std::memory_order_acquire); p != nullptr; p = p->next_) visit(*p);
  }

  // Writes the record with the time of now. False if it found no room (counted in the pool's header).
  // `may_block`: false in callbacks that hold up a collection or the Service Thread.
  template <class Record>
  bool write(const PoolWriter& writer, Record& made, record::RecordKind kind, bool may_block) {
    made.header.kind = kind;
    made.header.slots = record::slots_of<Record>();
    return write_slots(writer, &made.header, sizeof made, may_block);
  }
  // Gives its chunks up: at the end of the thread, and at the end of the session, when no callback is running and
  // `reporter` writes the losses that are not written yet. False if it found no room for that; may be called again.
  bool leave(const PoolWriter& writer) { return leave(writer, *this); }
  bool leave(const PoolWriter& writer, Producer& reporter);
  // Events of a thread that this producer runs are lost; counted here.
  void lose(const PoolWriter& writer, std::uint64_t events, std::uint64_t thread);

  // The header of the chunk that callouts write into (layout.h, kDirect), with room for a record, owned
  // by the thread `carrier` and with `current` running on it. Where the pool has no room it is a chunk
  // of the producer's own, whose records are lost and counted. nullptr only if there is no memory.
  // From the first call on everything this producer writes goes there too, so that it stays in order.
  record::ChunkHeader* direct_chunk(const PoolWriter& writer, std::uint64_t carrier, std::uint64_t current);
  // Its carrier, 0 if there is none.
  std::uint64_t direct_carrier(const PoolWriter& writer) const {
    return generation() == writer.generation && direct() != nullptr ? direct()->carrier : 0;
  }

  std::atomic<std::uint32_t>& in_callback() { return in_callback_; }
  std::uint32_t tid() const { return tid_; }

  // Its threadEnd is written: later events of the thread (it still takes its own lock and its
  // group's) are not written, since its id is undefined by then. They are counted as filtered.
  bool thread_is_over = false;

  std::uint64_t last_thread = 0;  // threadId that this thread's last event had: defined already
  std::uint32_t last_thread_generation = 0;

  std::uint64_t park_token = 0;   // of the park that the thread is in (waits/); 0: none was reported
  std::uint64_t park_thread = 0;  // its threadId

  std::uint64_t called_out_as = 0;  // threadId that uses counters or a stack of calls (methods/); 0: none
  std::uint64_t next_look = 0;      // for constructors on its stack, not before (methods/left_constructors.h)

 private:
  static std::atomic<Producer*>& list();
  static void thread_ended(void* producer);
  // Written as a kGap as soon as there is room.
  struct Loss {
    std::uint64_t events = 0;
    std::uint64_t thread = 0;  // 0: several, or not known
    std::uint64_t from = 0;
    void add(const Loss& other);
  };
  bool has_losses() const { return loss_.events != 0 || former_.events != 0; }
  void keep_former_loss();
  // False if `reporter` found no room: the loss is still to be written.
  bool write_losses(const PoolWriter& writer, Producer& reporter);
  bool write_slots(const PoolWriter& writer, record::RecordHeader* bytes, std::uint32_t size, bool may_block);
  bool take_chunk(const PoolWriter& writer, bool may_block);
  void take_number(const PoolWriter& writer);
  void lose_virtual(const PoolWriter& writer, std::uint64_t thread);
  void ask_again_elsewhere(const PoolWriter& writer, std::uint64_t thread);
  bool write_gap(const PoolWriter& writer, const Loss& loss);
  void join(const PoolWriter& writer);
  void finish_chunk(const PoolWriter& writer);
  bool next_direct(const PoolWriter& writer, std::uint64_t carrier, bool may_block);
  bool take_direct(const PoolWriter& writer, bool may_block);
  void mark_gap_begin(const PoolWriter& writer, record::ChunkHeader* chunk);
  void close_direct(const PoolWriter& writer, record::ChunkHeader* chunk);
  void write_switch(const PoolWriter& writer, std::uint64_t thread, bool is_virtual);
  void use_sink();
  void set_direct(record::ChunkHeader* header) { direct_.store(header, std::memory_order_relaxed); }
  record::ChunkHeader* direct() const { return direct_.load(std::memory_order_relaxed); }
  bool append_direct(const PoolWriter& writer, record::RecordHeader* bytes, std::uint32_t size);
  bool has_room(std::uint32_t size) const;
  std::uint64_t events_in_sink() const;

  std::atomic<std::uint32_t> in_callback_{0};
  std::atomic<std::uint32_t> used_{1};
  Producer* next_ = nullptr;
  std::uint32_t tid_ = 0;
  std::uint32_t generation() const { return generation_.load(std::memory_order_relaxed); }
  std::atomic<std::uint32_t> generation_{0};  // acquired by others before they look at direct_
  std::uint32_t number_ = 0;                  // producer number in the pool of generation_
  std::uint32_t sequence_ = 0;
  std::int64_t chunk_ = -1;
  std::uint64_t token_ = 0;
  std::uint32_t position_ = 0;
  bool loses_ = false;                                 // found no chunk: it does not wait until it has one again
  std::atomic<record::ChunkHeader*> direct_{nullptr};  // in the pool, or sink_
  struct FreeChunk {
    void operator()(record::ChunkHeader* chunk) const { std::free(chunk); }
  };
  std::unique_ptr<record::ChunkHeader, FreeChunk> sink_;  // header and data of what is lost
  Loss loss_;                                             // since the last chunk of the pool
  Loss former_;                                           // of threads that had this producer before
  std::uint32_t former_generation_ = 0;                   // of the session in which they had it
};

}  // namespace jtrace::agent
