#include "agent/config.h"

#include <gtest/gtest.h>

#include <utility>

#include "agent/byte_buffer.h"

namespace jtrace::agent {
namespace {

std::vector<std::byte> bytes_of(const ByteBuffer& buffer) {
  const auto* data = reinterpret_cast<const std::byte*>(buffer.data());
  return {data, data + buffer.size()};
}

template <class Fields>
std::vector<std::byte> payload_of(const Fields& fields) {
  ByteBuffer payload;
  write_fields(payload, fields);
  return bytes_of(payload);
}

FilterBlock block_of(FilterBlock::Rules rules) {
  FilterBlock block;
  EXPECT_TRUE(decode_filters(payload_of(record::FiltersFields{.rules = std::move(rules)}), block));
  return block;
}

TEST(FilterBlock, FirstMatchWinsAndNoMatchIncludes) {
  const FilterBlock block = block_of({{1, "java/util/List", "*"}, {0, "java/*", "*"}});
  EXPECT_TRUE(block.includes_class("java/util/List"));
  EXPECT_FALSE(block.includes_class("java/util/Map"));
  EXPECT_TRUE(block.includes_class("app/Main"));
}

record::StartFields start() {
  record::StartFields made;
  made.events = record::kGcEvent;
  made.flags = record::kBlockWhenFull;
  made.counters.used = {0x1000};
  made.counters.used_before = 1;
  made.counters.collectors = {{static_cast<std::uint32_t>(record::CollectionKind::kFull), 0x4000, 0x5000, 0x6000}};
  made.rules = {{0, "java/*", "*"}};
  return made;
}

TEST(DecodeConfig, KeepsWhatTheRulesPointInto) {
  Config config;
  ASSERT_TRUE(decode_config(payload_of(start()), config));
  EXPECT_TRUE(config.wants(record::kGcEvent));
  EXPECT_TRUE(config.has_flag(record::kBlockWhenFull));
  const Config moved = std::move(config);
  EXPECT_FALSE(moved.filters.includes_class("java/util/List"));
  EXPECT_TRUE(moved.filters.includes_class("app/Main"));
}

TEST(DecodeConfig, EveryTruncationIsRefused) {
  const std::vector<std::byte> whole = payload_of(start());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Config cut;
    EXPECT_FALSE(decode_config({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, cut)) << size;
  }
}

TEST(DecodeCounters, CollectorsThatThereCannotBeAreRefused) {
  record::CountersFields counters;
  counters.collectors.resize(kMaxCollectors);
  record::CountersFields read;
  EXPECT_TRUE(decode_counters(payload_of(counters), read));
  counters.collectors.back().kind = record::kCollectionKinds;
  EXPECT_FALSE(decode_counters(payload_of(counters), read = {}));
  counters.collectors.back().kind = 0;
  counters.collectors.emplace_back();
  EXPECT_FALSE(decode_counters(payload_of(counters), read = {}));
}

}  // namespace
}  // namespace jtrace::agent
