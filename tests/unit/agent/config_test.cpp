#include "agent/config.h"

#include <gtest/gtest.h>

#include "agent/byte_buffer.h"

namespace jtrace::agent {
namespace {

void put_rule(ByteBuffer& out, bool include, std::string_view class_pattern, std::string_view method_pattern) {
  out.put(static_cast<std::uint8_t>(include));
  out.put_text(class_pattern);
  out.put_text(method_pattern);
}

std::vector<std::byte> bytes_of(const ByteBuffer& buffer) {
  const auto* data = reinterpret_cast<const std::byte*>(buffer.data());
  return {data, data + buffer.size()};
}

FilterBlock block_of(std::initializer_list<std::tuple<bool, const char*, const char*>> rules) {
  ByteBuffer out;
  out.put(static_cast<std::uint32_t>(rules.size()));
  for (const auto& [include, klass, method] : rules) put_rule(out, include, klass, method);
  FilterBlock block;
  EXPECT_TRUE(block.decode(bytes_of(out)));
  return block;
}

TEST(FilterBlock, FirstMatchWinsAndNoMatchIncludes) {
  const FilterBlock block = block_of({{true, "java/util/List", "*"}, {false, "java/*", "*"}});
  EXPECT_TRUE(block.includes_class("java/util/List"));
  EXPECT_FALSE(block.includes_class("java/util/Map"));
  EXPECT_TRUE(block.includes_class("app/Main"));
}

void put_causes(ByteBuffer& out, record::CollectionKind kind) {
  out.put(std::uint64_t{0x2000});
  out.put(std::uint64_t{0x3000});
  out.put(std::uint32_t{0});
  out.put(std::uint8_t{1});
  out.put(std::uint32_t{1});
  for (const std::uint64_t address : {0x7000u, 0x7008u}) out.put(address);
  out.put(std::uint32_t{1});
  out.put(static_cast<std::uint32_t>(kind));
  for (const std::uint64_t address : {0x4000u, 0x5000u, 0x6000u}) out.put(address);
}

TEST(DecodeConfig, EveryTruncationIsRefused) {
  ByteBuffer out;
  out.put(std::uint64_t{record::kGcEvent});
  out.put(std::uint32_t{record::kBlockWhenFull});
  std::uint64_t value = 100;  // each its own
#define START_VALUE(type, ...) out.put(static_cast<type>(++value));
#include "trace/record/start_options.def"
  out.put(std::uint32_t{1});
  out.put(std::uint64_t{0x1000});
  out.put(std::uint32_t{0});
  put_causes(out, record::CollectionKind::kFull);
  out.put(std::uint32_t{1});
  put_rule(out, true, "java/*", "*");
  const std::vector<std::byte> whole = bytes_of(out);
  Config config;
  ASSERT_TRUE(decode_config(whole, config));
  EXPECT_TRUE(config.wants(record::kGcEvent));
  EXPECT_TRUE(config.has_flag(record::kBlockWhenFull));
  value = 100;
#define START_VALUE(type, Name, member, ...) EXPECT_EQ(config.member, ++value) << #member;
#include "trace/record/start_options.def"
  EXPECT_EQ(config.counters.used.size(), 1u);
  EXPECT_TRUE(config.counters.causes.used_before);
  ASSERT_EQ(config.counters.causes.spaces.size(), 1u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(config.counters.causes.spaces[0].bottom), 0x7000u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(config.counters.causes.spaces[0].top), 0x7008u);
  ASSERT_EQ(config.counters.causes.collectors.size(), 1u);
  EXPECT_EQ(config.counters.causes.collectors[0].kind, bit_of(record::CollectionKind::kFull));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(config.counters.causes.collectors[0].last_exit), 0x6000u);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Config cut;
    EXPECT_FALSE(decode_config(std::span(whole).first(size), cut)) << size;
  }
}

TEST(DecodeConfig, AHugeCountIsRefusedAtOnce) {
  ByteBuffer out;
  for (int i = 0; i < 9; ++i) out.put(std::uint32_t{0});
  out.put(~std::uint32_t{0});
  Config config;
  EXPECT_FALSE(decode_config(bytes_of(out), config));
}

}  // namespace
}  // namespace jtrace::agent
