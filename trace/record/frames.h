// The fields of control frames (frames.def): HelloFields to AnswerFields, each with its kType; SpaceItem and the other
// items; write_fields() and read_fields() of each. Texts are views that the caller keeps alive: after reading, into the
// frame's bytes. Header only (agent). Pure.
#pragma once

#include <vector>

#include "base/bytes.h"
#include "trace/record/control.h"
#include "trace/record/definition_fields.h"

namespace jtrace::trace::record {

// kAlreadyTraced: by another jtrace, which is a refusal and no failure of the agent.
enum class StartStatus : std::uint32_t { kTraces = 0, kFailed = 1, kAlreadyTraced = 2 };
enum class AnswerStatus : std::uint32_t { kOk = 0, kMalformed = 1, kUnknownFrame = 2, kNothingCounted = 3 };

#define ITEM(Name, text) struct Name##Item;
#include "trace/record/frames.def"
struct CountersFields;

namespace frame_types {
using U8 = std::uint8_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using Utf8 = std::string_view;
using Addresses = std::vector<std::uint64_t>;
using Spaces = std::vector<SpaceItem>;
using Collectors = std::vector<CollectorItem>;
using Rules = std::vector<RuleItem>;
using Counts = std::vector<CountItem>;
using Counters = CountersFields;
}  // namespace frame_types

#define ITEM(Name, text) \
  struct Name##Item {    \
    using IsOfFrames = void;
#define FRAME(Name, text)    \
  struct Name##Fields {      \
    using IsOfFrames = void; \
    static constexpr FrameType kType = FrameType::k##Name;
#define FIELD(type, member, text) frame_types::type member{};
#define ITEM_END(Name)                                                    \
  friend bool operator==(const Name##Item&, const Name##Item&) = default; \
  }                                                                       \
  ;
#define FRAME_END(Name)                                                       \
  friend bool operator==(const Name##Fields&, const Name##Fields&) = default; \
  }                                                                           \
  ;
#include "trace/record/frames.def"

template <class T>
concept OfFrames = requires {
  typename T::IsOfFrames;
};

// `Out` has put(number), put_text(text) and put_bytes(data, size).
template <class Out, OfFrames Fields>
void write_field(Out& out, const Fields& fields) {
  write_fields(out, fields);
}
template <class Out, class Item>
void write_field(Out& out, const std::vector<Item>& items) {
  out.put(static_cast<std::uint32_t>(items.size()));
  for (const Item& item : items) write_field(out, item);
}

template <std::integral Number>
void read_field(ByteReader& reader, Number& value) {
  value = reader.read<Number>();
}
inline void read_field(ByteReader& reader, std::string_view& text) {
  text = reader.read_text(reader.read<std::uint32_t>());
}
template <OfFrames Fields>
void read_field(ByteReader& reader, Fields& fields) {
  read_fields(reader, fields);
}
// An impossible number of items fails before memory is allocated for it.
template <class Item>
void read_field(ByteReader& reader, std::vector<Item>& items) {
  const auto count = reader.read<std::uint32_t>();
  if (count > reader.remaining()) return reader.skip(reader.remaining() + 1);
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) read_field(reader, items.emplace_back());
}

#define ITEM(Name, text) \
  template <class Out>   \
  void write_fields(Out& out, const Name##Item& fields) {
#define FRAME(Name, text) \
  template <class Out>    \
  void write_fields(Out& out, const Name##Fields& fields) {
#define FIELD(type, member, text) write_field(out, fields.member);
#define ITEM_END(Name) }
#define FRAME_END(Name) }
#include "trace/record/frames.def"

#define ITEM(Name, text) inline void read_fields(ByteReader& reader, Name##Item& fields) {
#define FRAME(Name, text) inline void read_fields(ByteReader& reader, Name##Fields& fields) {
#define FIELD(type, member, text) read_field(reader, fields.member);
#define ITEM_END(Name) }
#define FRAME_END(Name) }
#include "trace/record/frames.def"

}  // namespace jtrace::trace::record
