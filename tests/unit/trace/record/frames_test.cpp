// Each frame of frames.def comes out as it went in, and is malformed where it is cut.
#include <gtest/gtest.h>

#include "trace/record/frame_bytes.h"

namespace jtrace::trace::record {
namespace {

#define ITEM(Name, text) void fill_fields(Name##Item& fields, std::uint64_t& place);
#define FRAME(Name, text) void fill_fields(Name##Fields& fields, std::uint64_t& place);
#include "trace/record/frames.def"

// Each field its own value.
template <std::integral Number>
void fill(Number& field, std::uint64_t& place) {
  field = static_cast<Number>(0x1000'0000'8000'0000u + ++place);
}
void fill(std::string_view& field, std::uint64_t& place) {
  field = std::string_view("abcdefghijklmnopqrstuvwxyz").substr(0, 1 + ++place % 25);
}
template <OfFrames Fields>
void fill(Fields& fields, std::uint64_t& place) {
  fill_fields(fields, place);
}
template <class Item>
void fill(std::vector<Item>& items, std::uint64_t& place) {
  for (int i = 0; i < 2; ++i) fill(items.emplace_back(), place);
}

#define ITEM(Name, text) void fill_fields(Name##Item& fields, std::uint64_t& place) {
#define FRAME(Name, text) void fill_fields(Name##Fields& fields, std::uint64_t& place) {
#define FIELD(type, member, text) fill(fields.member, place);
#define ITEM_END(Name) }
#define FRAME_END(Name) }
#include "trace/record/frames.def"

template <class Fields>
bool read(std::string_view bytes, Fields& fields) {
  ByteReader reader(std::as_bytes(std::span(bytes)));
  read_fields(reader, fields);
  return !reader.failed() && reader.remaining() == 0;
}

template <class Fields>
void expect_round_trip() {
  Fields written, got;
  std::uint64_t place = 0;
  fill_fields(written, place);
  const std::string bytes = frame_bytes(written);
  ASSERT_TRUE(read(bytes, got));
  EXPECT_TRUE(got == written);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Fields cut;
    EXPECT_FALSE(read(std::string_view(bytes).substr(0, size), cut)) << size;
  }
}

#define FRAME(Name, text) \
  TEST(Frames, Name##ComesOutAsItWentIn) { expect_round_trip<Name##Fields>(); }
#include "trace/record/frames.def"

TEST(Frames, AnImpossibleNumberOfItemsIsRefusedAtOnce) {
  const std::uint32_t count = ~std::uint32_t{0};
  FiltersFields filters;
  EXPECT_FALSE(read({reinterpret_cast<const char*>(&count), sizeof count}, filters));
  EXPECT_TRUE(filters.rules.empty());
}

}  // namespace
}  // namespace jtrace::trace::record
