#include "trace/record/pool_reader.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "trace/record/definition_builder.h"
#include "trace/record/pool_writer.h"

namespace jtrace::trace::record {
namespace {

using Mode = PoolReader::Mode;

struct Seen : RecordSink {
  Result<> on_definition(std::span<const std::byte> record) override {
    definitions.emplace_back(reinterpret_cast<const char*>(record.data()), record.size());
    return {};
  }
  Result<> on_event(const RecordHeader& record) override {
    times.push_back(record.time);
    if (record.kind == RecordKind::kThreadEnd || record.kind == RecordKind::kGcStart)
      threads.push_back(reinterpret_cast<const ThreadRecord&>(record).thread);
    kinds.push_back(record.kind);
    definitions_before.push_back(definitions.size());
    return {};
  }
  std::vector<std::string> definitions;
  std::vector<std::uint64_t> times, threads;
  std::vector<RecordKind> kinds;
  std::vector<std::size_t> definitions_before;
};

class PoolTest : public testing::Test {
 protected:
  explicit PoolTest(std::size_t size = kMinimumPoolSize, std::uint32_t chunk_size = kChunkSize)
      : size_(size), memory_(static_cast<std::byte*>(std::aligned_alloc(4096, size)), &std::free) {
    std::memset(memory_.get(), 0, size);
    pool_ = format_pool(memory_.get(), size, chunk_size);
  }
  PoolReader open() {
    auto reader = PoolReader::open({memory_.get(), size_});
    EXPECT_TRUE(reader);
    return std::move(*reader);
  }
  PoolReader::Pass drain(PoolReader& reader, Mode mode, std::uint64_t limit = 1'000'000) {
    auto pass = reader.drain(seen_, mode, limit);
    EXPECT_TRUE(pass);
    return *pass;
  }
  // Makes passes for 50 microseconds: the reader leaves records younger than its margin (one microsecond) to a later
  // pass.
  void drain_past_the_margin(PoolReader& reader) {
    for (const std::uint64_t start = monotonic_ns(); monotonic_ns() < start + 50'000;) drain(reader, Mode::kLive);
  }
  static ThreadRecord record(std::uint64_t thread) { return {.thread = thread}; }

  std::size_t size_;
  std::unique_ptr<std::byte, void (*)(void*)> memory_;
  Pool pool_;
  Seen seen_;
};

TEST_F(PoolTest, MergesProducersByTime) {
  EventWriter a(pool_), b(pool_), c(pool_);
  for (std::uint64_t i = 1; i <= 100; ++i) {
    a.write(record(1), RecordKind::kThreadEnd, i * 30);
    b.write(record(2), RecordKind::kThreadEnd, i * 30 + 10);
    c.write(record(3), RecordKind::kThreadEnd, i * 30 + 20);
  }
  PoolReader reader = open();
  EXPECT_EQ(drain(reader, Mode::kFinal).events, 300u);
  EXPECT_TRUE(std::is_sorted(seen_.times.begin(), seen_.times.end()));
  EXPECT_EQ(seen_.threads[3], 1u);
  EXPECT_EQ(seen_.threads[4], 2u);
  EXPECT_EQ(drain(reader, Mode::kFinal).events, 0u);
}

TEST_F(PoolTest, KeepsAProducersOrderOverChunks) {
  EventWriter a(pool_);
  const std::uint64_t count = 3 * kChunkSize / sizeof(ThreadRecord) + 7;
  for (std::uint64_t i = 0; i < count; ++i) a.write(record(i), RecordKind::kThreadEnd, 5);  // all at the same time
  PoolReader reader = open();
  EXPECT_EQ(drain(reader, Mode::kFinal).events, count);
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(seen_.threads[i], i);
}

TEST_F(PoolTest, NothingIsMergedPastARecordInTheMaking) {
  EventWriter a(pool_), b(pool_);
  a.write(record(1), RecordKind::kThreadEnd);
  PoolReader reader = open();
  drain_past_the_margin(reader);
  ASSERT_EQ(seen_.times.size(), 1u);
  // a has read the time and not yet committed: b's later records must wait.
  pool_.chunk(a.chunk()).owner.fetch_or(kOwnerPending);
  b.write(record(2), RecordKind::kThreadEnd);
  drain_past_the_margin(reader);
  EXPECT_EQ(seen_.times.size(), 1u);
  pool_.chunk(a.chunk()).owner.fetch_and(~kOwnerPending);
  drain_past_the_margin(reader);
  EXPECT_EQ(seen_.times.size(), 2u);
}

TEST_F(PoolTest, AKilledWritersHalfRecordIsLeftOut) {
  EventWriter a(pool_);
  a.write(record(1), RecordKind::kThreadEnd);
  pool_.chunk(a.chunk()).owner.fetch_or(kOwnerPending);
  PoolReader reader = open();
  EXPECT_EQ(drain(reader, Mode::kFinal).events, 1u);
}

TEST_F(PoolTest, DefinitionsLongerThanAChunkComeWhole) {
  DefinitionWriter definitions(pool_);
  const std::string long_name(3 * kChunkSize, 'x');
  std::vector<std::string> written;
  for (int i = 0; i < 20; ++i) {
    written.push_back(thread_definition(static_cast<std::uint64_t>(i) + 1, 1, i % 7 == 0 ? long_name : "short"));
    ASSERT_TRUE(definitions.write(written.back().data(), written.back().size()));
  }
  PoolReader reader = open();
  drain(reader, Mode::kLive);
  ASSERT_EQ(seen_.definitions.size(), written.size());
  for (std::size_t i = 0; i < written.size(); ++i) EXPECT_EQ(seen_.definitions[i], written[i].substr(4));
}

TEST_F(PoolTest, ASecondReaderFindsTheDefinitionsThatWereRead) {
  DefinitionWriter definitions(pool_);
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    const std::string bytes = thread_definition(i, 1, "thread with a name");
    definitions.write(bytes.data(), bytes.size());
  }
  PoolReader reader = open();
  drain(reader, Mode::kLive);
  reader.release(false);
  seen_.definitions.clear();
  PoolReader second = open();
  drain(second, Mode::kReadOnly);
  EXPECT_EQ(seen_.definitions.size(), 1000u);
}

TEST_F(PoolTest, TheLimitStopsAndTheNextPassGoesOn) {
  EventWriter a(pool_), b(pool_);
  for (std::uint64_t i = 1; i <= 50; ++i) {
    a.write(record(1), RecordKind::kThreadEnd, i);
    b.write(record(2), RecordKind::kThreadEnd, i);
  }
  PoolReader reader = open();
  auto pass = drain(reader, Mode::kFinal, 30);
  EXPECT_EQ(pass.events, 30u);
  EXPECT_TRUE(pass.more);
  pass = drain(reader, Mode::kFinal);
  EXPECT_EQ(pass.events, 70u);
  EXPECT_FALSE(pass.more);
  EXPECT_TRUE(std::is_sorted(seen_.times.begin(), seen_.times.end()));
}

TEST_F(PoolTest, DrainedChunksComeFreeAndLostEventsAreCounted) {
  EventWriter a(pool_);
  const std::uint64_t per_chunk = kChunkSize / sizeof(ThreadRecord);
  std::uint64_t written = 0;
  while (a.write(record(written), RecordKind::kThreadEnd)) ++written;
  const std::uint32_t chunks = pool_.header().chunk_count;
  EXPECT_EQ(written, (chunks - chunks / kDefinitionReserveShare) * per_chunk);  // the reserve stays
  EXPECT_FALSE(a.write(record(0), RecordKind::kThreadEnd));
  PoolReader reader = open();
  EXPECT_EQ(drain(reader, Mode::kFinal).events, written);
  reader.release(true);
  EXPECT_EQ(reader.counts().dropped_events, 2u);
  EXPECT_EQ(pool_.header().free_chunks.load(), chunks);
  EXPECT_TRUE(a.write(record(0), RecordKind::kThreadEnd));
}

TEST_F(PoolTest, ChunksOfIdleThreadsAreTakenBackAndTheirWritersGoOn) {
  const std::uint32_t chunks = pool_.header().chunk_count;
  std::vector<std::unique_ptr<EventWriter>> idle;
  for (std::uint32_t i = 0; i < chunks - chunks / kDefinitionReserveShare; ++i) {
    idle.push_back(std::make_unique<EventWriter>(pool_));
    ASSERT_TRUE(idle.back()->write(record(i), RecordKind::kThreadEnd, 10));
  }
  EventWriter late(pool_);
  EXPECT_FALSE(late.write(record(0), RecordKind::kThreadEnd));
  PoolReader reader = open();
  drain(reader, Mode::kFinal);
  // Waits for idle time by draining, because the reader has a clock of its own.
  const std::uint64_t end = monotonic_ns() + 2 * kNanosPerSecond;
  while (reader.counts().free_chunks < chunks / 2 && monotonic_ns() < end) {
    drain(reader, Mode::kFinal);
    reader.release(false);
  }
  EXPECT_TRUE(late.write(record(77), RecordKind::kThreadEnd, 20));
  const std::uint32_t old_chunk = idle[0]->chunk();
  EXPECT_TRUE(idle[0]->write(record(78), RecordKind::kThreadEnd, 30));
  EXPECT_NE(idle[0]->chunk(), late.chunk());
  (void)old_chunk;
  seen_.threads.clear();
  EXPECT_EQ(drain(reader, Mode::kFinal).events, 2u);
  EXPECT_EQ(seen_.threads, (std::vector<std::uint64_t>{77, 78}));
}

struct SmallPool : PoolTest {
  SmallPool() : PoolTest(kMinimumPoolSize, 1024) {}
};

// Several threads write while the reader drains: nothing is lost except what is counted, every producer's order is
// exact, time never goes back, and a definition comes before the event that needs it.
TEST_F(SmallPool, ManyWritersOneReader) {
  constexpr int kWriters = 4;
  constexpr std::uint64_t kEvents = 60'000;
  std::atomic<int> running{kWriters};
  std::atomic<std::uint64_t> written{0};
  std::mutex lock;
  DefinitionWriter definitions(pool_);
  std::atomic<std::uint64_t> defined{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kWriters; ++t) {
    threads.emplace_back([&, t] {
      EventWriter writer(pool_);
      std::uint64_t sent = 0;
      for (std::uint64_t i = 0; i < kEvents; ++i) {
        if (i % 100 == 0) {
          const std::lock_guard guard(lock);
          const std::string bytes = thread_definition(i + 1, 1, "t");
          if (definitions.write(bytes.data(), bytes.size())) ++defined;
        }
        if (writer.write(record((static_cast<std::uint64_t>(t) << 32) | i), RecordKind::kThreadEnd)) ++sent;
      }
      writer.close();
      written += sent;
      --running;
    });
  }
  PoolReader reader = open();
  std::uint64_t events = 0;
  while (running > 0) {
    events += drain(reader, Mode::kLive).events;
    reader.release(false);
  }
  for (std::thread& thread : threads) thread.join();
  events += drain(reader, Mode::kFinal).events;
  const auto counts = reader.counts();
  EXPECT_EQ(events, written);
  EXPECT_EQ(events + counts.dropped_events, kWriters * kEvents);
  EXPECT_EQ(counts.malformed, 0u);
  EXPECT_EQ(seen_.definitions.size(), defined);
  EXPECT_TRUE(std::is_sorted(seen_.times.begin(), seen_.times.end()));
  std::map<std::uint64_t, std::uint64_t> last;
  for (const std::uint64_t thread : seen_.threads) {
    auto [place, first] = last.try_emplace(thread >> 32, thread);
    if (!first) {
      ASSERT_GT(thread, place->second);
    }
    place->second = thread;
  }
}

TEST_F(PoolTest, NonsenseIsCountedAndNeverFollowed) {
  EventWriter a(pool_), b(pool_);
  a.write(record(1), RecordKind::kThreadEnd, 1);
  b.write(record(2), RecordKind::kThreadEnd, 2);
  pool_.chunk(a.chunk()).committed.store(1u << 30);  // beyond the chunk
  PoolReader reader = open();
  EXPECT_EQ(drain(reader, Mode::kFinal).events, 1u);
  EXPECT_EQ(reader.counts().malformed, 1u);

  reinterpret_cast<RecordHeader*>(pool_.data(b.chunk()) + sizeof(ThreadRecord))->slots = 200;
  pool_.chunk(b.chunk()).committed.store(2 * sizeof(ThreadRecord));
  EXPECT_EQ(drain(reader, Mode::kFinal).events, 0u);
  EXPECT_EQ(reader.counts().malformed, 2u);
}

TEST_F(PoolTest, HeadersThatDoNotFitAreRefused) {
  const auto refused = [&] { return !PoolReader::open({memory_.get(), size_}); };
  PoolHeader& header = pool_.header();
  EXPECT_FALSE(refused());
  header.chunk_count = 0xffffffff;
  EXPECT_TRUE(refused());
  header.chunk_count = 10;
  header.data_offset = size_ + 16;
  EXPECT_TRUE(refused());
  header.data_offset = 8192;
  header.layout_version = 99;
  EXPECT_TRUE(refused());
  EXPECT_FALSE(PoolReader::open({memory_.get(), 100}));
}

}  // namespace
}  // namespace jtrace::trace::record
