// The agent's writers against the drainer's reader, over one pool: real threads, a pool that is far too small.
#include "agent/producer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "agent/definition_stream.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "trace/record/pool_reader.h"

namespace jtrace::agent {
namespace {

constexpr std::uint64_t kPoolSize = record::kMinimumPoolSize;
constexpr int kThreads = 8;

struct FreeDeleter {
  void operator()(void* memory) const { std::free(memory); }
};

class PoolFixture : public testing::Test {
 protected:
  PoolFixture() : memory_(std::aligned_alloc(4096, kPoolSize)) {
    std::memset(memory_.get(), 0, kPoolSize);
    writer_.pool = record::Pool(memory_.get());
    record::PoolHeader& header = writer_.pool.header();
    std::memcpy(header.magic, record::kPoolMagic, sizeof header.magic);
    const record::PoolShape shape = record::pool_shape(kPoolSize, record::kChunkSize);
    header.layout_version = record::kLayoutVersion;
    header.header_size = record::kPoolHeaderSize;
    header.pool_size = kPoolSize;
    header.data_offset = shape.data_offset;
    header.chunk_size = record::kChunkSize;
    header.chunk_count = shape.chunk_count;
    header.free_chunks = shape.chunk_count;
    header.next_producer = 1;
    static std::uint32_t generation = 0;
    writer_.generation = ++generation;
  }
  std::span<std::byte> bytes() { return {static_cast<std::byte*>(memory_.get()), kPoolSize}; }

  std::unique_ptr<void, FreeDeleter> memory_;
  PoolWriter writer_;
};

// Checks what it is handed: events by time, each thread's events in their order, no definition after its first use.
class Judge final : public record::RecordSink {
 public:
  Result<> on_definition(std::span<const std::byte> bytes) override {
    ByteReader reader(bytes);
    EXPECT_EQ(reader.read<std::uint8_t>(), static_cast<std::uint8_t>(record::DefinitionKind::kObject));
    reader.read<std::uint64_t>();
    defined.insert(reader.read<std::uint64_t>());
    return {};
  }
  Result<> on_event(const record::RecordHeader& header) override {
    EXPECT_GE(header.time, last_time);
    last_time = header.time;
    const auto& event = reinterpret_cast<const record::MonitorRecord&>(header);
    std::uint64_t& last = last_of[event.thread];
    EXPECT_GT(event.argument, last);
    last = event.argument;
    if (event.object != 0) {
      EXPECT_TRUE(defined.contains(event.object));
    }
    ++events;
    return {};
  }

  std::map<std::uint64_t, std::uint64_t> last_of;  // thread -> number of its last event
  std::set<std::uint64_t> defined;
  std::uint64_t last_time = 0;
  std::uint64_t events = 0;
};

// `count` events of one thread, numbered from 1; each 64th refers to an object defined just before.
void produce(const PoolWriter& writer, DefinitionStream& definitions, std::uint64_t thread, std::uint64_t count,
             bool may_block) {
  Producer* producer = Producer::current();
  for (std::uint64_t i = 1; i <= count; ++i) {
    record::MonitorRecord made{};
    made.thread = thread;
    made.argument = i;
    if (i % 64 == 0) {
      Definition definition(record::DefinitionKind::kObject, thread << 32 | i);
      definition.put(std::uint64_t{1});
      definition.put(std::uint64_t{16});
      definition.put(std::uint8_t{0});
      if (definitions.append(definition)) made.object = thread << 32 | i;
    }
    producer->write(writer, made, record::RecordKind::kMonWait, may_block);
  }
  producer->leave(writer);
}

TEST_F(PoolFixture, EveryEventIsWrittenOrCounted) {
  auto reader = record::PoolReader::open(bytes());
  ASSERT_TRUE(reader);
  constexpr std::uint64_t kEach = 50'000;
  DefinitionStream definitions(writer_);
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 1; t <= kThreads; ++t)
    threads.emplace_back([&, t] {
      produce(writer_, definitions, t, kEach, false);
      --running;
    });
  Judge judge;
  while (running != 0) {
    ASSERT_TRUE(reader->drain(judge, record::PoolReader::Mode::kLive));
    reader->release(true);
  }
  for (std::thread& thread : threads) thread.join();
  for (bool more = true; more;) {
    auto pass = reader->drain(judge, record::PoolReader::Mode::kFinal);
    ASSERT_TRUE(pass);
    reader->release(false);
    more = pass->more;
  }
  EXPECT_EQ(judge.events + writer_.pool.header().dropped_events, kThreads * kEach);
  EXPECT_GT(judge.events, 0u);
  EXPECT_EQ(reader->counts().malformed, 0u);
}

TEST_F(PoolFixture, BlockingLosesNothing) {
  writer_.policy.block = true;
  writer_.policy.block_limit_ns = 60 * kNanosPerSecond;
  auto reader = record::PoolReader::open(bytes());
  ASSERT_TRUE(reader);
  constexpr std::uint64_t kEach = 20'000;
  DefinitionStream definitions(writer_);
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 1; t <= kThreads; ++t)
    threads.emplace_back([&, t] {
      produce(writer_, definitions, t, kEach, true);
      --running;
    });
  Judge judge;
  bool more = true;
  while (running != 0 || more) {
    auto pass = reader->drain(judge, running == 0 ? record::PoolReader::Mode::kFinal : record::PoolReader::Mode::kLive);
    ASSERT_TRUE(pass);
    reader->release(true);
    more = pass->more || pass->events != 0;
  }
  for (std::thread& thread : threads) thread.join();
  while (reader->drain(judge, record::PoolReader::Mode::kFinal)->events != 0) {
  }
  EXPECT_EQ(judge.events, kThreads * kEach);
  EXPECT_EQ(writer_.pool.header().dropped_events, 0u);
}

// More threads than the pool has chunks, each with one event and then idle: the drainer must take their chunks back,
// and what the threads write afterwards must arrive all the same.
TEST_F(PoolFixture, ChunksOfIdleThreadsAreTakenBack) {
  auto reader = record::PoolReader::open(bytes());
  ASSERT_TRUE(reader);
  const std::uint32_t chunks = reader->chunk_count();
  constexpr int kRounds = 3;
  const int count = static_cast<int>(chunks) * 2;
  writer_.policy.block = true;
  writer_.policy.block_limit_ns = 60 * kNanosPerSecond;
  std::atomic<int> written{0};
  std::atomic<int> round{1};
  std::vector<std::thread> threads;
  for (int t = 1; t <= count; ++t)
    threads.emplace_back([&, t] {
      Producer* producer = Producer::current();
      for (int mine = 1; mine <= kRounds; ++mine) {
        for (int now = round; now < mine; now = round) round.wait(now);
        record::MonitorRecord made{};
        made.thread = static_cast<std::uint64_t>(t);
        made.argument = static_cast<std::uint64_t>(mine);
        EXPECT_TRUE(producer->write(writer_, made, record::RecordKind::kMonWait, true));
        ++written;
      }
    });
  Judge judge;
  while (judge.events < static_cast<std::uint64_t>(count * kRounds)) {
    ASSERT_TRUE(reader->drain(judge, record::PoolReader::Mode::kLive));
    reader->release(true);
    if (round < kRounds && written == count * round) {
      ++round;
      round.notify_all();
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(judge.events, static_cast<std::uint64_t>(count * kRounds));
  EXPECT_EQ(reader->counts().malformed, 0u);
}

// What probes write where the pool has no room is counted by events: a receiver is a part of its call.
TEST_F(PoolFixture, RecordsOfProbesThatFindNoRoomAreCountedAsEvents) {
  while (writer_.take_chunk(1000, 0, 0) >= 0) {
  }
  Producer* producer = Producer::current();
  record::ChunkHeader* sink = producer->direct_chunk(writer_, 1, 1);
  ASSERT_NE(sink, nullptr);
  const auto put = [&](record::RecordKind kind, std::uint8_t slots) {
    const std::uint64_t at = sink->committed;
    const record::RecordHeader header{kind, slots, 0, 7, 0};
    std::memcpy(reinterpret_cast<void*>(sink->address + at), &header, sizeof header);
    sink->committed = at + slots * record::kSlotSize;
  };
  put(record::RecordKind::kEntryOf, 2);
  put(record::RecordKind::kReceiver, 2);
  put(record::RecordKind::kMethodExit, 1);
  record::ValueRecord value{};
  EXPECT_FALSE(producer->write(writer_, value, record::RecordKind::kValue, false));
  producer->leave(writer_);
  EXPECT_EQ(writer_.pool.header().dropped_events, 2u);
}

// A probe of another thread that has waited for this one takes its time from the clock.
TEST_F(PoolFixture, EventsMoveTheCoarseClockBeyondThemselves) {
  std::atomic<std::uint64_t>& clock = writer_.pool.header().coarse_clock;
  Producer* producer = Producer::current();
  record::ObjectRecord event{};
  ASSERT_TRUE(producer->write(writer_, event, record::RecordKind::kObjFree, false));
  EXPECT_EQ(clock, 0u);  // no probe reads it
  clock = 5;
  ASSERT_TRUE(producer->write(writer_, event, record::RecordKind::kObjFree, false));
  EXPECT_GT(clock, event.header.time);
  ASSERT_NE(producer->direct_chunk(writer_, 1, 1), nullptr);
  clock = 5;
  ASSERT_TRUE(producer->write(writer_, event, record::RecordKind::kObjFree, false));
  EXPECT_GT(clock, event.header.time);
  const std::uint64_t before = clock;
  record::ValueRecord value{};
  ASSERT_TRUE(producer->write(writer_, value, record::RecordKind::kValue, false));
  EXPECT_EQ(clock, before);
  EXPECT_EQ(value.header.time, before);
  producer->leave(writer_);
}

// A definition may be longer than a chunk, and one that finds no room is refused whole.
TEST_F(PoolFixture, DefinitionsMaySpanChunksAndAreNeverCut) {
  auto reader = record::PoolReader::open(bytes());
  ASSERT_TRUE(reader);
  DefinitionStream definitions(writer_);
  const auto definition_of = [](std::size_t size) {
    Definition definition(record::DefinitionKind::kObject, size);
    definition.put_text(std::string(size, 'x'));
    return definition;
  };
  Definition large = definition_of(3 * record::kChunkSize);
  Definition too_large = definition_of(2 * kPoolSize);
  Definition small = definition_of(10);
  EXPECT_TRUE(definitions.append(large));
  EXPECT_FALSE(definitions.append(too_large));
  EXPECT_TRUE(definitions.append(small));
  Judge judge;
  ASSERT_TRUE(reader->drain(judge, record::PoolReader::Mode::kFinal));
  EXPECT_EQ(judge.defined.size(), 2u);
  EXPECT_TRUE(judge.defined.contains(10));
  EXPECT_EQ(writer_.pool.header().dropped_definitions, 1u);
}

}  // namespace
}  // namespace jtrace::agent
