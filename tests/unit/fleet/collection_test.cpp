#include "fleet/collection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/file.h"
#include "fleet/subject.h"
#include "tests/testlib/must.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/unit/fleet/sample_trace.h"

namespace jtrace::fleet {
namespace {

using jtrace::test::must;
using jtrace::test::ScratchDir;
using test::SampleBatch;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

constexpr std::uint64_t kRounds = 600;
constexpr std::uint64_t kSecond = 1'000'000'000;

// The batches of the sample, numbered from 1.
class CollectionTest : public ::testing::Test {
 protected:
  Collection open() { return must(Collection::open(folder(), options_)); }
  std::string folder() const { return scratch_.file("out"); }
  void give(Collection& to, std::uint64_t number, std::uint64_t now = 0) { give(to, batches_.at(number - 1), now); }
  void give(Collection& to, const SampleBatch& batch, std::uint64_t now = 0) {
    must(to.take("reply." + std::to_string(batch.header.batch), subject_of(batch.header), batch.bytes, now));
  }
  void give_range(Collection& to, std::uint64_t first, std::uint64_t last) {
    for (; first <= last; ++first) give(to, first);
  }
  std::uint64_t count() const { return batches_.size(); }
  std::vector<std::string> documents() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder()))
      if (entry.path().extension() == ".trcxml") found.push_back(must(read_file(entry.path().string())));
    return found;
  }
  std::string document() const { return documents().at(0); }
  std::size_t parked() const {
    if (!fs::exists(folder() + "/parked")) return 0;
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(folder() + "/parked"))
      files += entry.path().extension() == ".batch";
    return files;
  }
  std::uint64_t elements_of(std::uint64_t first, std::uint64_t last) const {
    std::uint64_t sum = 0;
    for (; first <= last; ++first) sum += batches_.at(first - 1).header.elements;
    return sum;
  }

  ScratchDir scratch_;
  CollectionOptions options_;
  std::vector<SampleBatch> batches_ = test::sample_batches(kRounds);
  const std::string whole_ = test::sample_document(kRounds);
};

TEST_F(CollectionTest, TheDocumentIsTheOneThatWasSent) {
  Collection collection = open();
  give_range(collection, 1, count());
  EXPECT_EQ(must(collection.commit()).size(), count());
  EXPECT_EQ(document(), whole_);
  EXPECT_THAT(collection.take_notes(), ElementsAre(HasSubstr("the trace is complete")));
}

TEST_F(CollectionTest, ADocumentThatGrowsIsWellFormed) {
  Collection collection = open();
  give_range(collection, 1, 3);
  must(collection.commit());
  EXPECT_THAT(document(), ::testing::EndsWith("</TRACE>\n"));
  EXPECT_THAT(test::faults_of(document()), Contains("elements " + std::to_string(elements_of(1, 3))));
}

TEST_F(CollectionTest, AnyOrderGivesTheSame) {
  std::vector<std::uint64_t> order(count());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i + 1;
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  Collection collection = open();
  for (const std::uint64_t number : order) give(collection, number);
  must(collection.commit());
  EXPECT_EQ(document(), whole_);
  EXPECT_EQ(collection.held(), 0u);
}

TEST_F(CollectionTest, RepeatsAreDroppedAndAcknowledged) {
  Collection collection = open();
  for (std::uint64_t number = 1; number <= count(); ++number) {
    give(collection, number);
    give(collection, std::max<std::uint64_t>(number, 3) - 2);
  }
  EXPECT_EQ(must(collection.commit()).size(), 2 * count());
  EXPECT_EQ(document(), whole_);
  EXPECT_EQ(collection.totals().duplicates, count());
}

TEST_F(CollectionTest, GoesOnAfterARestart) {
  for (std::uint64_t number = 1; number <= count(); ++number) {
    Collection collection = open();
    give(collection, number);
    if (number % 3 == 0) give(collection, number);
    must(collection.commit());
  }
  EXPECT_EQ(document(), whole_);
}

TEST_F(CollectionTest, WhatWasNotCommittedIsNotAcknowledgedAndComesAgain) {
  {
    Collection collection = open();
    give_range(collection, 1, 5);
    must(collection.commit());
    give_range(collection, 6, 9);
  }
  Collection collection = open();
  give_range(collection, 6, count());
  must(collection.commit());
  EXPECT_EQ(document(), whole_);
}

TEST_F(CollectionTest, BytesAfterTheStateAreCutOff) {
  {
    Collection collection = open();
    give_range(collection, 1, 5);
    must(collection.commit());
  }
  for (const auto& entry : fs::directory_iterator(folder()))
    if (entry.path().extension() == ".trcxml") std::ofstream(entry.path(), std::ios::app) << std::string(10'000, 'x');
  Collection collection = open();
  EXPECT_THAT(document(), ::testing::EndsWith("</TRACE>\n"));
  give_range(collection, 6, count());
  must(collection.commit());
  EXPECT_EQ(document(), whole_);
}

TEST_F(CollectionTest, AGapWaitsForTheMissingBatch) {
  Collection collection = open();
  give_range(collection, 1, 5);
  give(collection, 7, kSecond);
  must(collection.tick(60 * kSecond));
  EXPECT_EQ(collection.held(), 1u);
  EXPECT_EQ(must(collection.commit()).size(), 5u);
  give(collection, 6, 61 * kSecond);
  give_range(collection, 8, count());
  must(collection.commit());
  EXPECT_EQ(document(), whole_);
}

TEST_F(CollectionTest, AGapIsNamedWithItsElements) {
  Collection collection = open();
  give_range(collection, 1, 6);
  // Segments of four: 7 is missing, 8 may need what it defined, 9 begins a segment.
  for (std::uint64_t number = 8; number <= count(); ++number) give(collection, number, kSecond);
  must(collection.tick(122 * kSecond));
  must(collection.commit());
  const std::string missing = std::to_string(elements_of(7, 8));
  EXPECT_THAT(collection.take_notes(), Contains(HasSubstr("batches 7-8 are missing: " + missing + " elements")));
  EXPECT_EQ(parked(), 1u);
  EXPECT_THAT(document(), HasSubstr("<option key=\"jtrace.dropped\" value=\"" + missing + "\""));
  const auto faults = test::faults_of(document());
  EXPECT_THAT(faults, Each(Not(HasSubstr("undefined"))));
  EXPECT_THAT(faults, Each(Not(HasSubstr("duplicate"))));
  EXPECT_THAT(faults, Each(Not(HasSubstr("unbalanced"))));
}

TEST_F(CollectionTest, AGapThatTheSenderNamesDoesNotWait) {
  std::vector<SampleBatch> kept;
  std::uint64_t offered = 0;
  Batcher batcher({.stream = "s", .producer = "test", .unpacked_size = 4096, .segment_batches = 1000},
                  [&](const BatchHeader& header, const std::string& bytes) -> Result<bool> {
                    if (++offered == 4 || offered == 5) return false;
                    kept.push_back({header, bytes});
                    return true;
                  });
  test::write_sample(batcher, kRounds);
  must(batcher.finish());
  Collection collection = open();
  for (const SampleBatch& batch : kept) give(collection, batch);
  must(collection.commit());
  EXPECT_THAT(collection.take_notes(),
              Contains(HasSubstr("batches 4-5 are missing: " + std::to_string(batcher.lost_elements()) + " elements")));
  EXPECT_EQ(parked(), 0u);
  EXPECT_EQ(collection.states().at(0).written + batcher.lost_elements(), batcher.elements());
  EXPECT_THAT(test::faults_of(document()), Each(Not(HasSubstr("undefined"))));
}

TEST_F(CollectionTest, ATraceThatWasCutOffIsNotComplete) {
  std::vector<SampleBatch> sent;
  Batcher batcher({.stream = "s", .producer = "test", .unpacked_size = 4096, .segment_batches = 1000},
                  [&](const BatchHeader& header, const std::string& bytes) {
                    sent.push_back({header, bytes});
                    return Result<bool>(true);
                  });
  test::write_sample(batcher, kRounds);
  batcher.note_cut();
  must(batcher.finish());
  Collection collection = open();
  for (const SampleBatch& batch : sent) give(collection, batch);
  must(collection.commit());
  EXPECT_THAT(collection.take_notes(), Contains(HasSubstr("the trace was cut off before it was sent")));
  EXPECT_EQ(collection.totals().cut, 1u);
  EXPECT_EQ(collection.totals().finished, 0u);
}

TEST_F(CollectionTest, ALateCollectorBeginsAtASegment) {
  Collection collection = open();
  for (std::uint64_t number = 10; number <= count(); ++number) give(collection, number, kSecond);
  must(collection.tick(200 * kSecond));
  must(collection.commit());
  EXPECT_THAT(collection.take_notes(), Contains(HasSubstr("batches 1-12 are missing")));
  EXPECT_EQ(parked(), 3u);
  const auto faults = test::faults_of(document());
  EXPECT_THAT(faults, Each(Not(HasSubstr("undefined"))));
  EXPECT_THAT(faults, Each(Not(HasSubstr("duplicate d"))));
  EXPECT_THAT(document(), HasSubstr("<traceStart "));
}

TEST_F(CollectionTest, DefinitionsAreKnownAgainAfterARestart) {
  {
    Collection collection = open();
    give_range(collection, 1, 6);
    for (std::uint64_t number = 9; number <= 14; ++number) give(collection, number, kSecond);
    must(collection.tick(122 * kSecond));
    must(collection.commit());
  }
  Collection collection = open();
  give_range(collection, 15, count());
  must(collection.commit());
  const auto faults = test::faults_of(document());
  EXPECT_THAT(faults, Each(Not(HasSubstr("undefined"))));
  EXPECT_THAT(faults, Each(Not(HasSubstr("duplicate"))));
}

TEST_F(CollectionTest, AGapAtTheEndIsNamed) {
  Collection collection = open();
  give_range(collection, 1, count() - 2);
  give(collection, count(), kSecond);
  must(collection.tick(200 * kSecond));
  must(collection.commit());
  const StreamState state = collection.states().at(0);
  EXPECT_TRUE(state.is_finished);
  EXPECT_EQ(state.gaps, 1u);
  EXPECT_EQ(state.written + state.missing, elements_of(1, count()));
}

TEST_F(CollectionTest, HoldsABoundedNumber) {
  const auto many = test::sample_batches(20'000, "many", 4096);
  ASSERT_GT(many.size(), 2 * Collection::kMaxHeldOfStream);
  Collection collection = open();
  for (std::size_t i = 1; i < many.size(); ++i) give(collection, many[i]);
  EXPECT_LE(collection.held(), Collection::kMaxHeldOfStream);
  EXPECT_GT(collection.totals().gaps, 0u);
}

TEST_F(CollectionTest, WhatIsNoBatchIsParkedWithItsReason) {
  Collection collection = open();
  must(collection.take("r1", "jtrace.v1.0.a.b.c.e", "rubbish", 0));
  std::string damaged = batches_[0].bytes;
  damaged[200] = static_cast<char>(damaged[200] ^ 1);
  must(collection.take("r2", subject_of(batches_[0].header), damaged, 0));
  must(collection.take("r3", "jtrace.v1.0.other.p.s.e", batches_[0].bytes, 0));
  EXPECT_THAT(must(collection.commit()), ElementsAre("r1", "r2", "r3"));
  EXPECT_EQ(parked(), 3u);
  EXPECT_THAT(collection.take_notes(), ElementsAre(HasSubstr("does not begin like one"), HasSubstr("it is damaged"),
                                                   HasSubstr("its subject is not the one")));
  give_range(collection, 1, count());
  must(collection.commit());
  EXPECT_EQ(document(), whole_);
}

TEST_F(CollectionTest, ElementsThatAreNotWhatTheHeaderSaysAreParked) {
  const auto changed = [&](std::size_t at, auto change) {
    Batch batch = must(decode_batch(batches_[at].bytes));
    change(batch);
    return SampleBatch{batch.header, must(encode_batch(batch))};
  };
  const std::vector<SampleBatch> liars = {
      changed(0, [](Batch& batch) { ++batch.header.elements; }),
      changed(0, [](Batch& batch) { batch.elements += "</TRACE><TRACE>\n"; }),
      changed(0, [](Batch& batch) { batch.elements = "<TRACE>" + batch.elements + "</TRACE>\n"; }),
      changed(0, [](Batch& batch) { batch.elements += "<unknown/>\n"; }),
      changed(0, [](Batch& batch) { batch.elements += "<!DOCTYPE TRACE [<!ENTITY a \"b\">]>\n"; }),
      changed(0, [](Batch& batch) { batch.elements.resize(batch.elements.size() - 20); }),
      changed(0, [](Batch& batch) { batch.elements = "text\n"; }),
  };
  for (std::size_t i = 0; i < liars.size(); ++i) {
    SCOPED_TRACE(i);
    ScratchDir scratch;
    Collection collection = must(Collection::open(scratch.file("out"), options_));
    give(collection, liars[i]);
    must(collection.commit());
    EXPECT_EQ(collection.totals().parked, 1u);
    EXPECT_EQ(collection.totals().elements, 0u);
  }
}

TEST_F(CollectionTest, AnotherNodeCannotWriteIntoAStream) {
  Collection collection = open();
  give_range(collection, 1, 3);
  Batch foreign = must(decode_batch(batches_[3].bytes));
  foreign.header.node = "other";
  give(collection, {foreign.header, must(encode_batch(foreign))});
  give_range(collection, 4, count());
  must(collection.commit());
  EXPECT_THAT(documents(), Contains(whole_));
}

TEST_F(CollectionTest, AClockThatIsAheadIsSaid) {
  Collection collection = open();
  Batch batch = must(decode_batch(batches_[0].bytes));
  batch.header.realtime += 5 * kSecond;
  give(collection, {batch.header, must(encode_batch(batch))});
  EXPECT_THAT(collection.take_notes(), Contains(HasSubstr("the clock of node node-1 is at least")));
}

TEST_F(CollectionTest, HasOneCollectorAFolder) {
  Collection collection = open();
  const auto second = Collection::open(folder(), options_);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message(), HasSubstr("another collector works there already"));
}

TEST_F(CollectionTest, ADocumentThatSomebodyTookAwayIsSaid) {
  {
    Collection collection = open();
    give_range(collection, 1, 3);
    must(collection.commit());
  }
  for (const auto& entry : fs::directory_iterator(folder()))
    if (entry.path().extension() == ".trcxml") fs::remove(entry.path());
  const auto again = Collection::open(folder(), options_);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message(), HasSubstr("is not whole any more"));
}

TEST_F(CollectionTest, ADamagedStateIsSaid) {
  EXPECT_FALSE(read_state("jtrace-stream 1\nnode n\n", "x"));
  EXPECT_FALSE(read_state("", "x"));
  StreamState state{.node = "n", .stream = "s", .file = "f"};
  state.next = 7;
  EXPECT_EQ(must(read_state(state_text(state), "x")).next, 7u);
}

// Killed at any moment, the collector and its successors write what one that lives writes.
TEST_F(CollectionTest, SurvivesKills) {
  std::mt19937 random(11);
  for (int round = 0; round < 40; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto collection = Collection::open(folder(), options_);
      if (!collection) ::_exit(1);
      const auto states = collection->states();
      // What was not acknowledged is delivered again: from a little before what the state has.
      std::uint64_t number = states.empty() ? 1 : states[0].next;
      number -= std::min<std::uint64_t>(number - 1, 3);
      const std::uint64_t last = std::min<std::uint64_t>(count(), number + 5);
      for (; number <= last; ++number) {
        const SampleBatch& batch = batches_[number - 1];
        if (!collection->take("r", subject_of(batch.header), batch.bytes, 0)) ::_exit(2);
        if (!collection->commit()) ::_exit(3);
      }
      ::_exit(0);
    }
    ::usleep(static_cast<useconds_t>(random() % 4000));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << WEXITSTATUS(status);
  }
  Collection collection = open();
  const auto states = collection.states();
  give_range(collection, states.empty() ? 1 : states[0].next, count());
  must(collection.commit());
  EXPECT_EQ(document(), whole_);
}

}  // namespace
}  // namespace jtrace::fleet
