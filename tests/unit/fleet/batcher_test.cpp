#include "fleet/batcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testlib/must.h"
#include "tests/unit/fleet/sample_trace.h"

namespace jtrace::fleet {
namespace {

using jtrace::test::must;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kRounds = 600;
constexpr const char* kHead = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n";

TEST(Batcher, TheElementsOfItsBatchesAreTheDocument) {
  std::string joined = kHead;
  std::uint64_t elements = 0, number = 0;
  for (const auto& [header, bytes] : test::sample_batches(kRounds)) {
    const Batch batch = must(decode_batch(bytes));
    EXPECT_EQ(header.batch, ++number);
    EXPECT_EQ(header.previous, number - 1);
    EXPECT_EQ(header.elements_before, elements);
    EXPECT_EQ(header.begins_segment, (number - 1) % 4 == 0);
    elements += header.elements;
    joined += batch.elements;
  }
  EXPECT_GT(number, 20u);
  EXPECT_EQ(joined + "</TRACE>\n", test::sample_document(kRounds));
}

TEST(Batcher, EachSegmentStandsAlone) {
  const auto batches = test::sample_batches(kRounds);
  for (std::size_t begin = 0; begin < batches.size(); ++begin) {
    if (!batches[begin].header.begins_segment) continue;
    std::string alone = kHead;
    for (std::size_t i = begin; i < batches.size() && batches[i].header.segment == batches[begin].header.segment; ++i) {
      const Batch batch = must(decode_batch(batches[i].bytes));
      alone += batch.restated + batch.elements;
    }
    const auto faults = test::faults_of(alone + "</TRACE>\n");
    EXPECT_THAT(faults, Each(Not(HasSubstr("undefined")))) << begin;
    EXPECT_THAT(faults, Each(Not(HasSubstr("duplicate")))) << begin;
    EXPECT_THAT(faults, Each(Not(HasSubstr("time goes back")))) << begin;
  }
}

TEST(Batcher, RestatesOnlyWhatIsReferredTo) {
  std::vector<Batch> batches;
  Batcher batcher({.stream = "s", .producer = "test", .unpacked_size = 8192, .segment_batches = 2},
                  [&](const BatchHeader&, const std::string& bytes) -> Result<bool> {
                    batches.push_back(must(decode_batch(bytes)));
                    return true;
                  });
  must(batcher.write(trace::TraceStart{.traceId = "t", .agentIdRef = "a", .time = trace::Time(1)}));
  for (std::uint64_t id = 1; id <= 1000; ++id) {
    must(batcher.write(trace::ClassDef{.classId = trace::ClassId(id), .name = "C"}));
    must(batcher.write(
        trace::MethodDef{.name = "m", .classIdRef = trace::ClassId(id), .methodId = trace::MethodId(id)}));
  }
  for (int i = 0; i < 4000; ++i) must(batcher.write(trace::MethodEntry{.methodIdRef = trace::MethodId(17)}));
  must(batcher.finish());
  ASSERT_TRUE(batches.back().header.segment > 10);
  std::uint32_t most = 0;
  for (const Batch& batch : batches)
    if (batch.header.segment + 2 > batches.back().header.segment) most = std::max(most, batch.header.restated);
  EXPECT_EQ(most, 3u);  // traceStart, the class, the method
}

TEST(Batcher, GivesTheSameBatchesAgain) {
  const auto once = test::sample_batches(kRounds), again = test::sample_batches(kRounds);
  ASSERT_EQ(once.size(), again.size());
  for (std::size_t i = 0; i < once.size(); ++i)
    EXPECT_EQ(must(decode_batch(once[i].bytes)).elements, must(decode_batch(again[i].bytes)).elements);
}

TEST(Batcher, WhatHadNoRoomIsSaidAndBeginsASegment) {
  std::vector<BatchHeader> kept;
  std::uint64_t offered = 0;
  Batcher batcher({.stream = "s", .producer = "test", .unpacked_size = 4096, .segment_batches = 1000},
                  [&](const BatchHeader& header, const std::string&) -> Result<bool> {
                    if (++offered == 4 || offered == 5) return false;
                    kept.push_back(header);
                    return true;
                  });
  test::write_sample(batcher, kRounds);
  must(batcher.finish());
  ASSERT_GT(kept.size(), 4u);
  EXPECT_EQ(kept[3].batch, 6u);
  EXPECT_EQ(kept[3].previous, 3u);
  EXPECT_TRUE(kept[3].begins_segment);
  EXPECT_GT(kept[3].restated, 0u);
  EXPECT_EQ(batcher.lost_batches(), 2u);
  EXPECT_EQ(batcher.lost_elements(), kept[3].elements_before - kept[2].elements_before - kept[2].elements);
  EXPECT_TRUE(kept.back().ends_stream);
}

TEST(Batcher, AnElementThatNoMessageHoldsIsLostAlone) {
  std::vector<BatchHeader> kept;
  Batcher batcher({.stream = "s", .producer = "test", .unpacked_size = 4096},
                  [&](const BatchHeader& header, const std::string&) -> Result<bool> {
                    kept.push_back(header);
                    return true;
                  });
  std::string huge(3'000'000, 'x');
  std::uint32_t random = 1;
  for (char& c : huge) c = static_cast<char>('!' + ((random = random * 1664525u + 1013904223u) >> 24) % 90);
  must(batcher.write(trace::Value{.name = "a", .type = "t"}));
  must(batcher.write(trace::Value{.name = "huge", .value = std::string_view(huge)}));
  must(batcher.write(trace::Value{.name = "b", .type = "t"}));
  must(batcher.finish());
  EXPECT_EQ(batcher.lost_elements(), 1u);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].elements, 1u);
  EXPECT_EQ(kept[1].elements, 1u);
  EXPECT_EQ(kept[1].elements_before, 2u);
}

}  // namespace
}  // namespace jtrace::fleet
