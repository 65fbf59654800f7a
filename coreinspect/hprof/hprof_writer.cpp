#include "coreinspect/hprof/hprof_writer.h"

#include <algorithm>

namespace jtrace::coreinspect {

std::uint8_t hprof_type(char signature) {
  switch (signature) {
    case 'Z': return 4;
    case 'C': return 5;
    case 'F': return 6;
    case 'D': return 7;
    case 'B': return 8;
    case 'S': return 9;
    case 'I': return 10;
    case 'J': return 11;
    default: return 2;
  }
}

std::uint32_t hprof_size(std::uint8_t type) {
  switch (type) {
    case 4:
    case 8: return 1;
    case 5:
    case 9: return 2;
    case 6:
    case 10: return 4;
    default: return 8;
  }
}

void HprofBuffer::grow(std::size_t more) {
  const std::size_t capacity = std::max(size_ + more, capacity_ * 2);
  auto data = std::make_unique_for_overwrite<char[]>(capacity);
  if (size_ > 0) std::memcpy(data.get(), data_.get(), size_);
  data_ = std::move(data);
  capacity_ = capacity;
}

namespace {

template <class T, T (*kSwap)(T)>
void swap_all(char* to, const std::byte* from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    value = kSwap(value);
    std::memcpy(to + i * sizeof(T), &value, sizeof(T));
  }
}
std::uint16_t swap2(std::uint16_t value) { return __builtin_bswap16(value); }
std::uint32_t swap4(std::uint32_t value) { return __builtin_bswap32(value); }
std::uint64_t swap8(std::uint64_t value) { return __builtin_bswap64(value); }

}  // namespace

void HprofBuffer::append_swapped(const std::byte* from, std::size_t count, std::uint32_t size) {
  char* to = reserve(count * size);
  switch (size) {
    case 1: std::memcpy(to, from, count); break;
    case 2: swap_all<std::uint16_t, swap2>(to, from, count); break;
    case 4: swap_all<std::uint32_t, swap4>(to, from, count); break;
    default: swap_all<std::uint64_t, swap8>(to, from, count); break;
  }
  commit(count * size);
}

Result<> HprofWriter::header(std::uint64_t millis) {
  HprofBuffer body;
  constexpr char kName[] = "JAVA PROFILE 1.0.2";
  body.bytes(kName, sizeof kName);  // with its NUL
  body.u4(8);
  body.u8(millis);
  return sink_.write(body.text());
}

Result<> HprofWriter::record(HprofTag tag, std::string_view body) {
  HprofBuffer head(16);
  head.u1(static_cast<std::uint8_t>(tag));
  head.u4(0);  // microseconds since the header
  head.u4(static_cast<std::uint32_t>(body.size()));
  JTRACE_RETURN_IF_ERROR(sink_.write(head.text()));
  return body.empty() ? Result<>() : sink_.write(body);
}

std::uint64_t HprofWriter::text(std::string_view text) {
  if (const auto known = texts_.find(text); known != texts_.end()) return known->second;
  const std::uint64_t id = texts_.size() + 1;
  texts_.emplace(text, id);
  HprofBuffer body(text.size() + 8);
  body.id(id);
  body.bytes(text.data(), text.size());
  (void)record(HprofTag::kUtf8, body.text());  // errors stick to the sink
  return id;
}

Result<> HprofWriter::write_segment(const HprofBuffer& segment) {
  if (segment.size() == 0) return {};
  const std::lock_guard guard(mutex_);
  return record(HprofTag::kHeapDumpSegment, segment.text());
}

Result<> HprofWriter::begin_segment(std::unique_lock<std::mutex>& lock, std::uint64_t length) {
  lock = std::unique_lock(mutex_);
  HprofBuffer head(16);
  head.u1(static_cast<std::uint8_t>(HprofTag::kHeapDumpSegment));
  head.u4(0);
  head.u4(static_cast<std::uint32_t>(length));
  return sink_.write(head.text());
}

Result<> HprofWriter::end() { return record(HprofTag::kHeapDumpEnd, {}); }

}  // namespace jtrace::coreinspect
