// HprofWriter: the records of a heap dump in the "JAVA PROFILE 1.0.2" format (hprof_b_spec.h, heapDumper.cpp).
//
// Whole records go to the sink; those of the heap are gathered in segments (HprofSegment), so that several threads can
// fill their own. Numbers are big endian, identifiers 8 bytes. Ownership: borrows the sink and does not finish it.
// Threads: write_segment() from any, the rest one at a time. Errors: those of the sink.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "trace/byte_sink.h"

namespace jtrace::coreinspect {

enum class HprofTag : std::uint8_t {
  kUtf8 = 0x01,
  kLoadClass = 0x02,
  kFrame = 0x04,
  kTrace = 0x05,
  kHeapDumpSegment = 0x1c,
  kHeapDumpEnd = 0x2c,
};
enum class HprofSub : std::uint8_t {
  kRootUnknown = 0xff,
  kRootJniGlobal = 0x01,
  kRootJniLocal = 0x02,
  kRootJavaFrame = 0x03,
  kRootStickyClass = 0x05,
  kRootMonitorUsed = 0x07,
  kRootThreadObject = 0x08,
  kClassDump = 0x20,
  kInstanceDump = 0x21,
  kObjectArrayDump = 0x22,
  kPrimitiveArrayDump = 0x23,
};
// Types of fields and elements are the JVM's BasicType numbers (4 boolean to 11 long), 2 for an object.
std::uint8_t hprof_type(char signature);
std::uint32_t hprof_size(std::uint8_t type);

// A buffer of sub-records, or of one record's body.
class HprofBuffer {
 public:
  explicit HprofBuffer(std::size_t capacity = 4096) { grow(capacity); }
  std::size_t size() const { return size_; }
  std::string_view text() const { return {data_.get(), size_}; }
  void clear() { size_ = 0; }
  // Reserves room for `count` more bytes and returns a pointer to it. They count after commit().
  char* reserve(std::size_t count) {
    if (capacity_ - size_ < count) [[unlikely]]
      grow(count);
    return data_.get() + size_;
  }
  void commit(std::size_t count) { size_ += count; }

  void u1(std::uint8_t value) { put(value); }
  void u2(std::uint16_t value) { put(__builtin_bswap16(value)); }
  void u4(std::uint32_t value) { put(__builtin_bswap32(value)); }
  void u8(std::uint64_t value) { put(__builtin_bswap64(value)); }
  void id(std::uint64_t value) { u8(value); }
  void sub(HprofSub kind) { u1(static_cast<std::uint8_t>(kind)); }
  void bytes(const void* from, std::size_t count) {
    std::memcpy(reserve(count), from, count);
    commit(count);
  }
  void zeros(std::size_t count) {
    std::memset(reserve(count), 0, count);
    commit(count);
  }
  // `size` bytes of a value, copied as they are in the target's memory.
  void value(const std::byte* from, std::uint32_t size) { append_swapped(from, 1, size); }
  // `count` elements of `size` bytes each.
  void append_swapped(const std::byte* from, std::size_t count, std::uint32_t size);

 private:
  template <class T>
  void put(T value) {
    std::memcpy(reserve(sizeof value), &value, sizeof value);
    size_ += sizeof value;
  }
  void grow(std::size_t more);
  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0, capacity_ = 0;
};

class HprofWriter {
 public:
  explicit HprofWriter(trace::ByteSink& sink) : sink_(sink) {}

  Result<> header(std::uint64_t millis);
  // The identifier of a text, whose record is written at the first call. Modified UTF-8, as in the JVM.
  std::uint64_t text(std::string_view text);
  Result<> record(HprofTag tag, std::string_view body);
  // Writes one segment of sub-records, unless it is empty. From any thread.
  Result<> write_segment(const HprofBuffer& segment);
  // Starts a segment of `length` bytes with `start`; append_segment() adds the rest, under the lock.
  Result<> begin_segment(std::unique_lock<std::mutex>& lock, std::uint64_t length);
  Result<> append_segment(std::string_view bytes) { return sink_.write(bytes); }
  Result<> end();
  Result<> status() const { return sink_.result(); }

 private:
  trace::ByteSink& sink_;
  std::mutex mutex_;
  std::map<std::string, std::uint64_t, std::less<>> texts_;
};

}  // namespace jtrace::coreinspect
