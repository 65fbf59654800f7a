// DefinitionStream: the writer of producer 0 (trace/record/definition.h). Any thread of the JVM, one at a time by its
// lock. No JVM TI or JNI call is made under the lock, so a thread that holds it never waits for a safepoint: the VM
// thread may take it in a collection.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "agent/byte_buffer.h"
#include "agent/producer.h"
#include "trace/record/definition_fields.h"

namespace jtrace::agent {

// The bytes of one definition; its time is set when it is appended.
class Definition : public ByteBuffer {
 public:
  Definition(record::DefinitionKind kind, std::uint64_t id) {
    put(std::uint32_t{0});  // size, set by finish()
    put(static_cast<std::uint8_t>(kind));
    put(std::uint64_t{0});  // time, set by the stream
    put(id);
  }
  template <class Fields>
  Definition(std::uint64_t id, const Fields& fields) : Definition(Fields::kKind, id) {
    write_fields(*this, fields);
  }
};

// The items of a list in a definition.
class DefinedItems {
 public:
  void add_text(std::string_view text) {
    bytes_.put_text(text);
    ++count_;
  }
  void add_frame(std::uint64_t method, std::int32_t line) {
    bytes_.put(method);
    bytes_.put(line);
    ++count_;
  }
  record::LaidOut view() const { return {count_, bytes_.view()}; }

 private:
  ByteBuffer bytes_;
  std::uint32_t count_ = 0;
};

class DefinitionStream {
 public:
  explicit DefinitionStream(const PoolWriter& writer) : writer_(writer) {}
  DefinitionStream(const DefinitionStream&) = delete;
  DefinitionStream& operator=(const DefinitionStream&) = delete;

  // False if the pool does not have room for all of it (counted in the pool's header); then nothing was written. If the
  // policy is to block and `may_block` allows it, it first waits for room, without the lock.
  bool append(Definition& definition, bool may_block = true);
  // An option of the trace.
  bool append_option(std::string_view key, std::string_view value);

 private:
  bool try_append(Definition& definition);
  bool wait_for_room(std::uint64_t since);
  // Takes chunks for the part that does not fit into the current one of `size` bytes, into `taken`; false: too few are
  // free.
  bool reserve(std::size_t size);
  void copy(const unsigned char* bytes, std::size_t size);

  const PoolWriter& writer_;
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  std::int64_t chunk_ = -1;
  std::uint32_t sequence_ = 0;
  std::uint32_t position_ = 0;
  std::vector<std::int64_t> reserved_;  // taken, not yet written to, in order
  std::size_t next_reserved_ = 0;
  // The pass in which a wait reached its limit, plus one: there is no second wait before the next pass. 0: none.
  std::atomic<std::uint64_t> stalled_at_pass_{0};
};

}  // namespace jtrace::agent
