#include "trace/record/record_merger.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "trace/record/layout.h"
#include "trace/record/record_kinds.h"

namespace jtrace::trace::record {
namespace {

constexpr std::size_t kMinimumDefinition = 17;         // kind, time, id
constexpr std::size_t kMaximumDefinition = 16u << 20;  // no class has that many interfaces

// A copy of a record, with room for longer records of a later version.
union RecordCopy {
  RecordHeader header;
  alignas(16) std::byte bytes[16 * 16];
};
static_assert(sizeof(RecordCopy) >= kLargestRecord);

}  // namespace

std::size_t RecordMerger::take_in(std::span<const std::byte> bytes) {
  const std::size_t cut = stream_.size();  // bytes of a record of which only the beginning was read so far
  if (stream_broken_) return bytes.size();
  stream_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (cut == 0) return 0;
  std::uint32_t size = 0;
  if (stream_.size() < sizeof size) return bytes.size();
  std::memcpy(&size, stream_.data(), sizeof size);
  return std::min<std::size_t>(sizeof size + std::uint64_t{size} - cut, bytes.size());
}

Result<> RecordMerger::hand_out_definitions(RecordSink& sink) {
  std::size_t position = 0;
  while (stream_.size() - position >= sizeof(std::uint32_t)) {
    std::uint32_t size = 0;
    std::memcpy(&size, stream_.data() + position, sizeof size);
    if (size < kMinimumDefinition || size > kMaximumDefinition) {
      // The stream cannot be resumed, because the start of the next record is unknown. The rest is dropped.
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

// One cursor for each producer that has records.
void RecordMerger::make_heap() {
  heap_.clear();
  for (std::size_t start = 0; start < parts_.size();) {
    std::size_t end = start + 1;
    while (end < parts_.size() && parts_[end].producer == parts_[start].producer) ++end;
    Cursor cursor{0, start, end, 0};
    if (advance(cursor)) heap_.push_back(cursor);
    start = end;
  }
}

Result<RecordSource::Pass> RecordMerger::merge(std::span<EventPart> parts, RecordSink& sink, std::uint64_t watermark,
                                               std::uint64_t limit) {
  std::sort(parts.begin(), parts.end(), [](const EventPart& left, const EventPart& right) {
    return std::tie(left.producer, left.sequence, left.offset) < std::tie(right.producer, right.sequence, right.offset);
  });
  parts_ = parts;
  make_heap();
  std::erase_if(heap_, [watermark](const Cursor& cursor) { return cursor.time >= watermark; });
  const auto after = [](const Cursor& left, const Cursor& right) {
    return left.time != right.time ? left.time > right.time : left.part > right.part;
  };
  std::make_heap(heap_.begin(), heap_.end(), after);
  RecordSource::Pass pass;
  pass.time = watermark;
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), after);
    Cursor cursor = heap_.back();
    heap_.pop_back();
    // As long as this producer has the earliest record, the heap is not needed.
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

// Moves the cursor to the producer's next record to return; false at the end of its parts.
bool RecordMerger::advance(Cursor& cursor) {
  for (; cursor.part < cursor.end; ++cursor.part) {
    EventPart& part = parts_[cursor.part];
    while (part.taken < part.size) {
      RecordHeader header;
      if (part.size - part.taken < sizeof header) {
        ++counts_.malformed;
        part.taken = part.size;
        break;
      }
      std::memcpy(&header, part.data + part.taken, sizeof header);
      const std::uint64_t size = std::uint64_t{header.slots} * kSlotSize;
      if (size == 0 || size > part.size - part.taken) {
        ++counts_.malformed;
        part.taken = part.size;
        break;
      }
      const std::uint8_t least = least_slots(header.kind);
      if (header.kind != RecordKind::kPadding && least != 0 && header.slots >= least && size <= sizeof(RecordCopy)) {
        cursor.time = std::max({cursor.time, header.time, reached_});
        cursor.slots = header.slots;
        return true;
      }
      if (header.kind != RecordKind::kPadding) ++counts_.malformed;
      part.taken += size;
    }
  }
  return false;
}

Result<> RecordMerger::hand_out(RecordSink& sink, const Cursor& cursor) {
  EventPart& part = parts_[cursor.part];
  RecordCopy copy;
  std::memcpy(&copy, part.data + part.taken, std::size_t{cursor.slots} * kSlotSize);
  part.taken += std::uint64_t{cursor.slots} * kSlotSize;
  // Kind and size are the checked ones, even if the bytes have changed since.
  copy.header.slots = static_cast<std::uint8_t>(cursor.slots);
  copy.header.time = cursor.time;
  if (const std::uint8_t least = least_slots(copy.header.kind); least == 0 || least > cursor.slots) {
    ++counts_.malformed;
    return {};
  }
  ++counts_.events;
  reached_ = cursor.time;
  if (part.producer != last_producer_) {
    last_producer_ = part.producer;
    sink.on_producer(part.producer);
  }
  return sink.on_event(copy.header);
}

}  // namespace jtrace::trace::record
