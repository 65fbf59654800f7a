// The agent's writers and the drainer's reader on one pool: real threads, and a pool that is far too small.
#include "agent/producer.h"

#include <gtest/gtest.h>

#include <algorithm>
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

// Checks the records: events are ordered by time, each thread's events are in order, none is missing except where a gap
// says so, and no definition comes after its first use.
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
    if (header.kind == record::RecordKind::kGap) {
      const auto& gap = reinterpret_cast<const record::GapRecord&>(header);
      EXPECT_NE(header.number, 0u);
      EXPECT_LE(gap.from, header.time);
      last_of[gap.thread] += header.number;
      of_several = of_several || gap.thread == 0;
      told += header.number;
      return {};
    }
    const auto& event = reinterpret_cast<const record::MonitorRecord&>(header);
    std::uint64_t& last = last_of[event.thread];
    EXPECT_TRUE(of_several ? event.argument > last : event.argument == last + 1);
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
  std::uint64_t told = 0;  // number of lost events, according to gaps
  bool of_several = false;
};

// Keeps the kinds of the records, and the gaps.
class Records final : public record::RecordSink {
 public:
  Result<> on_definition(std::span<const std::byte>) override { return {}; }
  Result<> on_event(const record::RecordHeader& header) override {
    kinds.push_back(header.kind);
    if (header.kind == record::RecordKind::kGap) gaps.push_back(reinterpret_cast<const record::GapRecord&>(header));
    if (header.kind == record::RecordKind::kThreadSwitch)
      switches.push_back(reinterpret_cast<const record::ThreadRecord&>(header));
    return {};
  }
  std::vector<record::RecordKind> kinds;
  std::vector<record::GapRecord> gaps;
  std::vector<record::ThreadRecord> switches;
};

// Writes as a callout does: `count` entries into the thread's chunk, taking another when it is full.
void callout(Producer& producer, const PoolWriter& writer, std::uint64_t count, std::uint64_t carrier = 1,
             std::uint64_t thread = 1) {
  record::ChunkHeader* chunk = nullptr;
  for (std::uint64_t i = 0; i < count; ++i) {
    constexpr std::uint64_t kLimit = record::kChunkSize - record::kGapRoom;
    if (chunk == nullptr || chunk->committed + record::kSlotSize > kLimit || chunk->current != thread)
      chunk = producer.direct_chunk(writer, carrier, thread);
    const record::RecordHeader header{record::RecordKind::kMethodEntry, 1, 0, 7, monotonic_ns()};
    std::memcpy(reinterpret_cast<void*>(chunk->address + chunk->committed), &header, sizeof header);
    chunk->committed += record::kSlotSize;
  }
}

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
  // The threads could not report their last losses: at the end of the session another thread does.
  Producer* mine = Producer::current();
  Producer::for_each([&](Producer& producer) { producer.leave(writer_, *mine); });
  mine->leave(writer_);
  ASSERT_TRUE(reader->drain(judge, record::PoolReader::Mode::kFinal));
  EXPECT_EQ(judge.told, writer_.pool.header().dropped_events);
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

// More threads than the pool has chunks; each writes one event and is then idle. The drainer must take their chunks
// back, and what the threads write afterwards must still arrive.
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

// Records that callouts cannot write are counted as events: a receiver is a part of its call, not an event.
TEST_F(PoolFixture, RecordsOfCalloutsThatFindNoRoomAreCountedAsEvents) {
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

// A thread that finds no room reports at once that its losses begin; it continues when there is much room, and then
// reports how many events it lost.
TEST_F(PoolFixture, CalloutsLoseWholeStretches) {
  auto reader = record::PoolReader::open(bytes());
  ASSERT_TRUE(reader);
  writer_.one_slot_callouts = true;
  constexpr std::uint64_t kMany = 200'000;
  Producer producer;
  const std::uint64_t begin = monotonic_ns();
  callout(producer, writer_, kMany);
  Records first;
  ASSERT_TRUE(reader->drain(first, record::PoolReader::Mode::kLive, kMany));
  ASSERT_EQ(first.gaps.size(), 1u);
  EXPECT_EQ(first.kinds.back(), record::RecordKind::kGap);
  EXPECT_EQ(first.gaps[0].header.flags, record::kGapBegins);
  EXPECT_EQ(first.gaps[0].thread, 1u);
  EXPECT_GE(first.gaps[0].from, begin);
  EXPECT_LE(first.gaps[0].from, first.gaps[0].header.time);
  // One or two free chunks are not enough.
  const std::uint32_t chunks = reader->chunk_count();
  writer_.pool.header().resume_above = chunks / 2;
  writer_.pool.header().free_chunks = chunks / 2;
  const std::uint64_t lost = writer_.pool.header().dropped_events;
  callout(producer, writer_, 10'000);
  EXPECT_GT(writer_.pool.header().dropped_events, lost + 8'000);
  writer_.pool.header().free_chunks = chunks / record::kDefinitionReserveShare;  // as before
  reader->release(false);
  EXPECT_GT(writer_.pool.header().resume_above, chunks / record::kDefinitionReserveShare);
  EXPECT_LT(writer_.pool.header().resume_above, writer_.pool.header().free_chunks);
  callout(producer, writer_, 10'000);
  Records second;
  ASSERT_TRUE(reader->drain(second, record::PoolReader::Mode::kFinal, kMany));
  ASSERT_EQ(second.gaps.size(), 1u);
  EXPECT_EQ(second.kinds.front(), record::RecordKind::kGap);
  EXPECT_EQ(second.gaps[0].header.number, writer_.pool.header().dropped_events);
  const auto entries = [](const Records& records) {
    return static_cast<std::uint64_t>(
        std::count(records.kinds.begin(), records.kinds.end(), record::RecordKind::kMethodEntry));
  };
  EXPECT_EQ(entries(first) + entries(second) + second.gaps[0].header.number, kMany + 20'000);
  EXPECT_LE(second.gaps[0].from, first.gaps[0].header.time);
  producer.leave(writer_);
}

// That the callouts have ended is told by the agent, and is no event of the program: where it finds no room, the number
// of lost events is still right.
TEST_F(PoolFixture, TheEndOfTheCalloutsIsNoLostEvent) {
  writer_.one_slot_callouts = true;
  std::thread([&] {
    Producer* producer = Producer::current();
    callout(*producer, writer_, 100'000, 10, 10);
    producer->leave(writer_);
  }).join();
  const std::uint64_t lost = writer_.pool.header().dropped_events;
  ASSERT_GT(lost, 0u);
  std::thread([&] {
    record::ThreadRecord made{};
    EXPECT_FALSE(Producer::current()->write(writer_, made, record::RecordKind::kCalloutsEnd, false));
    EXPECT_EQ(writer_.pool.header().dropped_events, lost);
    EXPECT_FALSE(Producer::current()->write(writer_, made, record::RecordKind::kThreadEnd, false));
    EXPECT_EQ(writer_.pool.header().dropped_events, lost + 1);
    Producer::current()->leave(writer_);
  }).join();
}

// A thread that ends when nothing can be written leaves its loss to the next thread of its producer, which may lose
// events too: each loss is reported with its own thread.
TEST_F(PoolFixture, ALossThatIsLeftIsReportedWithItsThread) {
  auto reader = record::PoolReader::open(bytes());
  ASSERT_TRUE(reader);
  writer_.one_slot_callouts = true;
  constexpr std::uint64_t kFirst = 10, kSecond = 20, kMany = 100'000;
  Records before, after;
  std::thread([&] {
    Producer* producer = Producer::current();
    callout(*producer, writer_, kMany, kFirst, kFirst);
    producer->leave(writer_);
  }).join();
  const std::uint64_t lost_by_first = writer_.pool.header().dropped_events;
  ASSERT_GT(lost_by_first, 0u);
  std::thread([&] {
    Producer* producer = Producer::current();
    callout(*producer, writer_, kMany, kSecond, kSecond);
    EXPECT_TRUE(reader->drain(before, record::PoolReader::Mode::kLive));
    reader->release(true);
    callout(*producer, writer_, kMany / 10, kSecond, kSecond);
    producer->leave(writer_);
  }).join();
  ASSERT_TRUE(reader->drain(after, record::PoolReader::Mode::kFinal));
  std::map<std::uint64_t, std::uint64_t> lost;
  for (const record::GapRecord& gap : after.gaps) lost[gap.thread] += gap.header.number;
  const std::uint64_t all = writer_.pool.header().dropped_events;
  EXPECT_EQ(lost, (std::map<std::uint64_t, std::uint64_t>{{kFirst, lost_by_first}, {kSecond, all - lost_by_first}}));
}

// A virtual thread that ran while events were lost, and continues when none are, possibly on a carrier that ran it
// before.
TEST_F(PoolFixture, AVirtualThreadReportsThatItMayHaveLostEventsElsewhere) {
  auto reader = record::PoolReader::open(bytes());
  ASSERT_TRUE(reader);
  writer_.one_slot_callouts = true;
  constexpr std::uint64_t kOne = 10, kOther = 20, kVirtual = 33;
  std::thread([&] {  // one carrier each
    Producer* one = Producer::current();
    callout(*one, writer_, 10, kOne, kVirtual);
    std::uint32_t taken = 0;
    while (writer_.take_chunk(1000, taken, 0) >= 0) ++taken;
    const std::uint64_t before = monotonic_ns();
    std::thread([&] {
      Producer* other = Producer::current();
      callout(*other, writer_, 10, kOther, kVirtual);
      other->leave(writer_);
    }).join();
    const std::uint64_t after = monotonic_ns();
    callout(*one, writer_, 10, kOne, kVirtual);
    one->leave(writer_);
    Records records;
    ASSERT_TRUE(reader->drain(records, record::PoolReader::Mode::kFinal));
    ASSERT_EQ(records.switches.size(), 2u);
    EXPECT_EQ(records.switches[0].lost_until, 0u);
    EXPECT_EQ(records.switches[1].thread, kVirtual);
    EXPECT_EQ(records.switches[1].header.flags, record::kIsVirtual);
    EXPECT_GE(records.switches[1].lost_until, before);
    EXPECT_LE(records.switches[1].lost_until, after);
  })
      .join();
}

// There and back: the carrier that loses events was the last one there that ran it, and would not notice that it is
// back.
TEST_F(PoolFixture, AVirtualThreadThatComesBackToWhereEventsAreLostReportsItAgain) {
  auto reader = record::PoolReader::open(bytes());
  ASSERT_TRUE(reader);
  writer_.one_slot_callouts = true;
  constexpr std::uint64_t kOne = 10, kOther = 20, kVirtual = 33;
  std::atomic<int> turn = 0;
  std::uint64_t before = 0;
  const auto run = [&](std::uint64_t carrier, int begin) {  // two turns, with the other one's between them
    Producer* producer = Producer::current();
    for (const int own : {begin, begin + 2}) {
      for (int now = turn; now != own; now = turn) turn.wait(now);
      callout(*producer, writer_, 10, carrier, kVirtual);
      std::uint32_t taken = 0;
      while (own == 0 && writer_.take_chunk(1000, taken, 0) >= 0) ++taken;
      if (own == 2) before = monotonic_ns();
      turn = own + 1;
      turn.notify_all();
    }
    for (int now = turn; now != 4; now = turn) turn.wait(now);
    if (begin == 0) callout(*producer, writer_, 10, carrier, kVirtual);
    producer->leave(writer_);
  };
  std::thread other(run, kOther, 1);
  std::thread(run, kOne, 0).join();
  other.join();
  Records records;
  ASSERT_TRUE(reader->drain(records, record::PoolReader::Mode::kFinal));
  ASSERT_EQ(records.switches.size(), 3u);
  EXPECT_LT(records.switches[1].lost_until, before);
  EXPECT_GE(records.switches[2].lost_until, before);
}

// A callout of another thread that has waited for this one reads this time from the clock.
TEST_F(PoolFixture, EventsMoveTheCoarseClockBeyondThemselves) {
  std::atomic<std::uint64_t>& clock = writer_.pool.header().coarse_clock;
  Producer* producer = Producer::current();
  record::ObjectRecord event{};
  ASSERT_TRUE(producer->write(writer_, event, record::RecordKind::kObjFree, false));
  EXPECT_EQ(clock, 0u);  // no callout reads the clock
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

// A definition may be longer than a chunk; one that finds no room is refused completely.
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
