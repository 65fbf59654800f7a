#include "fleet/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>
#include <zstd.h>

#include <cstring>

#include "fleet/subject.h"
#include "tests/testlib/must.h"

namespace jtrace::fleet {
namespace {

using jtrace::test::must;
using ::testing::HasSubstr;

Batch sample() {
  Batch batch{{.stream = "s", .node = "n", .process = "p", .agent = "a", .trace = "t", .producer = "jtrace 0.1.0"},
              "<restated/>\n",
              "<one/>\n<two/>\n"};
  batch.header.batch = 7;
  batch.header.previous = 5;
  batch.header.segment = 3;
  batch.header.begins_segment = true;
  batch.header.elements = 2;
  batch.header.restated = 1;
  batch.header.elements_before = 100;
  batch.header.last_collation = UINT64_MAX - 1;
  return batch;
}

// Makes the checksum right again after a change: a liar, not damage.
std::string sealed(std::string bytes) {
  const std::uint64_t hash = XXH64(bytes.data() + 16, bytes.size() - 16, 0);
  std::memcpy(bytes.data() + 8, &hash, sizeof hash);
  return bytes;
}
std::string refusal(const std::string& bytes) {
  const auto batch = decode_batch(bytes);
  return batch ? "taken" : batch.error().message();
}
// Offsets of header fields (batch.cpp): flags at 16, numbers from 17 on.
constexpr std::size_t kNumber = 17, kPrevious = 25, kUnpackedElements = 17 + 20 + 8 + 8 * 7 + 4;

TEST(Batch, ComesBackAsItWas) {
  const Batch batch = sample();
  const Batch read = must(decode_batch(must(encode_batch(batch))));
  EXPECT_EQ(read.restated, batch.restated);
  EXPECT_EQ(read.elements, batch.elements);
  EXPECT_EQ(read.header.stream, "s");
  EXPECT_EQ(read.header.producer, "jtrace 0.1.0");
  EXPECT_EQ(read.header.batch, 7u);
  EXPECT_EQ(read.header.previous, 5u);
  EXPECT_TRUE(read.header.begins_segment);
  EXPECT_FALSE(read.header.ends_stream);
  EXPECT_EQ(read.header.elements_before, 100u);
  EXPECT_EQ(read.header.last_collation, UINT64_MAX - 1);
}

TEST(Batch, MayBeEmpty) {
  Batch batch = sample();
  batch.restated.clear();
  batch.elements.clear();
  EXPECT_EQ(must(decode_batch(must(encode_batch(batch)))).elements, "");
}

TEST(Batch, EachDamagedByteIsRefused) {
  const std::string whole = must(encode_batch(sample()));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    EXPECT_THAT(refusal(damaged), HasSubstr("no batch of jtrace")) << i;
  }
}

TEST(Batch, EachCutIsRefused) {
  const std::string whole = must(encode_batch(sample()));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THAT(refusal(whole.substr(0, size)), HasSubstr("no batch of jtrace")) << size;
}

TEST(Batch, AnotherVersionIsNamed) {
  std::string other = must(encode_batch(sample()));
  other[4] = 9;
  EXPECT_THAT(refusal(other), HasSubstr("version 9, and this jtrace reads 1"));
}

TEST(Batch, ABombIsRefusedBeforeItIsUnpacked) {
  std::string bomb = must(encode_batch(sample()));
  const std::uint32_t size = 4'000'000'000;
  std::memcpy(bomb.data() + kUnpackedElements, &size, sizeof size);
  EXPECT_THAT(refusal(sealed(bomb)), HasSubstr("more than 67108864"));
}

TEST(Batch, AFrameThatUnpacksToMoreIsRefused) {
  std::string bomb = must(encode_batch(sample()));
  const std::uint32_t size = 5;
  std::memcpy(bomb.data() + kUnpackedElements, &size, sizeof size);
  EXPECT_THAT(refusal(sealed(bomb)), HasSubstr("does not unpack to the size"));
}

TEST(Batch, AHeaderThatLiesIsRefused) {
  std::string bytes = must(encode_batch(sample()));
  const std::uint64_t zero = 0, nine = 9, first = 1;
  std::string liar = bytes;
  std::memcpy(liar.data() + kNumber, &zero, 8);
  EXPECT_THAT(refusal(sealed(liar)), HasSubstr("number is wrong"));
  liar = bytes;
  std::memcpy(liar.data() + kPrevious, &nine, 8);
  EXPECT_THAT(refusal(sealed(liar)), HasSubstr("number is wrong"));
  liar = bytes;
  std::memcpy(liar.data() + kNumber, &first, 8);
  std::memcpy(liar.data() + kPrevious, &zero, 8);
  EXPECT_THAT(refusal(sealed(liar)), HasSubstr("something comes before it"));
  EXPECT_THAT(refusal(sealed(bytes + "x")), HasSubstr("its size is not the one"));
  bytes[6] = 127, bytes[7] = 0;
  EXPECT_THAT(refusal(sealed(bytes)), HasSubstr("no batch of jtrace"));
}

TEST(Batch, IdsThatAreNoTokensAreRefused) {
  for (const char* id : {"", "a.b", "../x", "a b", "*", ">"}) {
    Batch batch = sample();
    batch.header.stream = id;
    EXPECT_THAT(refusal(must(encode_batch(batch))), HasSubstr("not a word of a subject")) << id;
  }
}

TEST(Batch, WhatNoMessageMayHoldIsRefused) {
  Batch batch = sample();
  std::uint32_t random = 1;
  for (std::size_t i = 0; i < 2'000'000; ++i)
    batch.elements.push_back(static_cast<char>((random = random * 1664525u + 1013904223u) >> 24));
  const auto encoded = encode_batch(batch);
  ASSERT_FALSE(encoded);
  EXPECT_THAT(encoded.error().message(), HasSubstr("larger than 1000000"));
}

TEST(Subject, HasThePartitionOfTheStream) {
  EXPECT_EQ(subject_of(sample().header), "jtrace.v1." + std::to_string(partition_of("s")) + ".n.p.s.e");
  EXPECT_EQ(partition_of("a"), 0xe40c292cu % kPartitions);  // FNV-1a of "a"
  EXPECT_EQ(message_id_of(sample().header), "s-7");
  EXPECT_EQ(token_of("0b2f-A_z"), "0b2f-A_z");
  EXPECT_EQ(token_of("a.b"), token_of("a.b"));
  EXPECT_TRUE(is_token(token_of("a.b")));
}

}  // namespace
}  // namespace jtrace::fleet
