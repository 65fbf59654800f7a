// Spills: the converted document equals the drainer's, byte for byte, wherever the file ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "base/file.h"
#include "session/document/drainer.h"
#include "session/spill/spill_source.h"
#include "session/spill/spiller.h"
#include "tests/testlib/effort.h"
#include "trace/io/byte_source.h"
#include "trace/record/definition_builder.h"
#include "trace/record/pool_writer.h"
#include "trace/record/spill_reader.h"
#include "trace/xml_writer.h"

namespace jtrace::session {
namespace {

namespace fs = std::filesystem;
namespace io = trace::io;
namespace record = trace::record;
using Mode = TraceDrain::Mode;
using testing::HasSubstr;

constexpr std::uint64_t kAnHour = 3600 * kNanosPerSecond;

// A pool, and the writers that play a script into it: three threads that call methods, block and end.
class Script {
 public:
  // `others`: number of methods in addition to those that it calls.
  explicit Script(std::uint64_t start, std::uint64_t others = 0)
      : memory_(static_cast<std::byte*>(std::aligned_alloc(4096, kSize)), &std::free), time_(start) {
    std::memset(memory_.get(), 0, kSize);
    pool_ = record::format_pool(memory_.get(), kSize);
    definitions_ = std::make_unique<record::DefinitionWriter>(pool_);
    for (auto& writer : writers_) writer = std::make_unique<record::EventWriter>(pool_);
    define(record::class_definition(1, time_, "Lapp/Main;"));
    for (std::uint64_t method = 1; method <= 5; ++method)
      define(record::method_definition(method, time_, 1, "m" + std::to_string(method)));
    for (std::uint64_t method = 6; method < 6 + others; ++method)
      define(record::method_definition(method, time_, 1, "never called" + std::to_string(method)));
    define(record::object_definition(1, time_, 1, 16));
    for (std::uint64_t thread = 1; thread <= kThreads; ++thread)
      define(record::thread_definition(thread, time_, "t" + std::to_string(thread)));
  }

  // Plays that many rounds; the first one defines the thread of each producer.
  void play(int rounds) {
    for (int i = 0; i < rounds; ++i, ++round_) {
      for (std::uint32_t thread = 1; thread <= kThreads; ++thread) {
        if (round_ == 0) write(thread, record::ThreadRecord{.thread = thread}, record::RecordKind::kThreadSwitch);
        callout(thread, record::RecordKind::kMethodEntry);
        if (round_ % 7 == 0)
          write(thread, record::MonitorRecord{.thread = thread, .object = 1}, record::RecordKind::kMonContendedEnter);
        callout(thread, record::RecordKind::kMethodExit);
      }
    }
  }
  // Plays rounds with times in the future, which only the last pass can take.
  void play_later(int rounds) {
    time_ += kAnHour;
    play(rounds);
  }
  void end_thread(std::uint32_t thread) {
    write(thread, record::ThreadRecord{.thread = thread}, record::RecordKind::kThreadEnd);
  }
  void unload_class() { write(1, record::ObjectRecord{.id = 1, .thread = 0}, record::RecordKind::kClassUnload); }
  void lose(std::uint64_t events) { pool_.header().dropped_events.fetch_add(events); }

  std::span<std::byte> memory() { return {memory_.get(), kSize}; }
  std::uint64_t written() const { return written_; }
  std::uint64_t time() const { return time_; }

 private:
  static constexpr std::size_t kSize = 2u << 20;
  static constexpr std::uint32_t kThreads = 3;

  void define(const std::string& bytes) { definitions_->write(bytes.data(), bytes.size()); }
  void callout(std::uint32_t thread, record::RecordKind kind) {
    record::CalloutRecord made{};
    made.header.number = 1 + static_cast<std::uint32_t>(round_) % 5;
    write(thread, made, kind);
  }
  template <class Record>
  void write(std::uint32_t thread, const Record& made, record::RecordKind kind) {
    written_ += kind != record::RecordKind::kThreadSwitch;
    ASSERT_TRUE(writers_[thread - 1]->write(made, kind, time_ += 100));
  }

  std::unique_ptr<std::byte, void (*)(void*)> memory_;
  record::Pool pool_;
  std::unique_ptr<record::DefinitionWriter> definitions_;
  std::array<std::unique_ptr<record::EventWriter>, kThreads> writers_;
  std::uint64_t time_;
  int round_ = 0;
  std::uint64_t written_ = 0;
};

std::string slurp(const std::string& path) { return read_file(path, 1u << 30).value_or(""); }

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

struct Converted {
  Result<io::ReadSummary> summary;
  std::string text;
  std::string said;
};
Converted convert(std::string_view bytes, record::PoolReader* rest = nullptr) {
  Converted made{io::ReadSummary{}, "", ""};
  io::FaultLog faults({.print = [&made](const std::string& text) { made.said += text + "\n"; }});
  auto source = io::memory_byte_source(bytes);
  if (!source) return {fail(source.error()), "", ""};
  auto spill = open_spill(std::move(*source), "a.spill", faults, rest);
  if (!spill) return {fail(spill.error()), "", ""};
  trace::MemorySink sink;
  trace::XmlWriter writer(sink);
  made.summary = (*spill)->read(writer);
  EXPECT_TRUE(writer.finish());
  made.text = sink.text();
  return made;
}

class SpillTest : public testing::Test {
 protected:
  SpillTest() {
    char name[] = "/tmp/jtrace-spill-XXXXXX";
    folder_ = ::mkdtemp(name);
    session_.identity.agent_id = "agent";
    session_.identity.node_id = "node";
    session_.identity.process_id = "process";
    session_.identity.executable = "Main a\\b\nc";
    session_.identity.agent_parameters = std::string(1000, 'p');
    session_.anchor = ClockAnchor::now();
    session_.start = session_.anchor.monotonic - 10 * kNanosPerSecond;
    session_.options.min_free = 0;
    session_.options.filters = {{"app.*", "*", true}, {"*", "*", false}};
    session_.options.virtual_threads = true;
    path_ = folder_ + "/a.spill";
  }
  ~SpillTest() override { fs::remove_all(folder_); }

  // Runs the trace's operations while the script is played.
  static void run(Script& script, TraceDrain& drain, const std::function<void()>& before_pass = {}) {
    const auto pass = [&] {
      if (before_pass) before_pass();
      ASSERT_TRUE(drain.pass(Mode::kLive));
    };
    script.play(2000);
    pass();
    script.lose(17);
    script.play(3000);
    pass();
    ASSERT_TRUE(drain.write(FiltersNote{{{"app.Other", "run*", true}}}));
    ASSERT_TRUE(drain.write(StandstillNote{script.time() + 10, true}));
    ASSERT_TRUE(drain.write(StandstillNote{script.time() + 20, false}));
    ASSERT_TRUE(drain.write(PausedNote{true}));
    ASSERT_TRUE(drain.write(PausedNote{false}));
    script.play(10);
    script.play_later(20);
    pass();
    script.end_thread(2);
    script.lose(4);
    if (before_pass) before_pass();
    ASSERT_TRUE(drain.end(Mode::kFinal));
  }
  // Spills the script.
  std::uint64_t spill(const std::string& path, std::uint64_t other_methods = 0) {
    session_.options.spill = path;
    Script script(session_.start, other_methods);
    auto reader = record::PoolReader::open(script.memory());
    auto output = TraceOutput::open(path, session_.options);
    EXPECT_TRUE(output);
    Spiller spiller(*reader, **output, session_);
    EXPECT_TRUE(spiller.begin(session_.start));
    run(script, spiller);
    documents_ = spiller.documents();
    EXPECT_EQ(spiller.figures().malformed, 0u);
    EXPECT_EQ(spiller.figures().events, script.written());
    return script.written();
  }

  // The spill, and what the script's pool has after it.
  Converted convert_with_the_rest(Script& script) const {
    auto left = record::PoolReader::open(script.memory());
    return left ? convert(slurp(path_), &*left) : Converted{fail(left.error()), "", ""};
  }

  std::string folder_;
  std::string path_;
  Session session_;
  std::uint64_t documents_ = 0;
};

// The moments in a spill, in their order; the last one is the end's.
std::vector<ClockAnchor> moments_of(const std::string& bytes, std::string& trace_id) {
  std::vector<ClockAnchor> moments;
  std::size_t at = 0;
  auto reader = record::SpillReader::open(
      [&](char* out, std::size_t size) -> Result<std::size_t> {
        const std::size_t part = std::min(size, bytes.size() - at);
        std::memcpy(out, bytes.data() + at, part);
        at += part;
        return part;
      },
      "a.spill");
  record::SpillReader::Block block;
  while (*reader->next(block)) {
    const bool start = block.header.kind == record::BlockKind::kTraceStart;
    if (!start && block.header.kind != record::BlockKind::kPass && block.header.kind != record::BlockKind::kTraceEnd)
      continue;
    record::SpillMoment moment{};
    std::memcpy(&moment, block.payload.data(), sizeof moment);
    moments.push_back({moment.monotonic, moment.realtime});
    if (start)
      trace_id.assign(reinterpret_cast<const char*>(block.payload.data()) + sizeof(record::StartBlock),
                      record::kTraceIdSize);
  }
  return moments;
}

TEST_F(SpillTest, MakesTheDocumentOfTheDrainerByteForByte) {
  const std::uint64_t events = spill(path_);
  const std::string bytes = slurp(path_);
  EXPECT_LT(bytes.size() / events, 32u);
  const Converted converted = convert(bytes);
  ASSERT_TRUE(converted.summary) << converted.summary.error().message();
  EXPECT_FALSE(converted.summary->truncated);
  EXPECT_EQ(converted.said, "");

  std::string trace_id;
  const std::vector<ClockAnchor> moments = moments_of(bytes, trace_id);
  ASSERT_EQ(moments.size(), 6u);  // the start, three passes, the last one, the end
  Script script(session_.start);
  auto reader = record::PoolReader::open(script.memory());
  const std::string document = folder_ + "/live.xml";
  Session live = session_;
  live.options.spill.clear();
  auto output = TraceOutput::open(document, live.options);
  ASSERT_TRUE(output);
  Drainer drainer(*reader, **output, live.identity, session_.options, live.anchor);
  std::size_t next = 0;
  drainer.set_now(moments[next++]);
  drainer.set_trace_id(trace_id);
  ASSERT_TRUE(drainer.begin(session_.start));
  run(script, drainer, [&] { drainer.set_now(moments[next == 4 ? 5 : next++]); });
  EXPECT_EQ(converted.text, slurp(document));
  EXPECT_THAT(converted.text, HasSubstr("<processSuspend time="));
  EXPECT_EQ(count(converted.text, "<methodEntry "), 3u * 5030u);
  EXPECT_THAT(converted.text, HasSubstr("key=\"jtrace.dropped\" value=\"17\""));
  EXPECT_THAT(converted.text, HasSubstr("key=\"jtrace.dropped\" value=\"4\""));
}

TEST_F(SpillTest, IsTheSameWhenItIsPacked) {
  for (const char* ending : {".zst", ".gz"}) {
    const std::uint64_t events = spill(path_ + ending);
    const std::string bytes = slurp(path_ + ending);
    EXPECT_LT(bytes.size() / events, 8u);
    const Converted converted = convert(bytes);
    ASSERT_TRUE(converted.summary) << converted.summary.error().message();
    EXPECT_FALSE(converted.summary->truncated);
    EXPECT_EQ(count(converted.text, "<methodExit "), 3u * 5030u);
  }
}

TEST_F(SpillTest, GivesWhatThereIsBeforeACut) {
  spill(path_);
  const std::string bytes = slurp(path_);
  std::size_t least = 0;
  for (std::size_t size = 0; size < bytes.size();
       size += size < 8192 ? test::effort(61, 241) : test::effort(9973, 39'953)) {
    const Converted converted = convert(std::string_view(bytes).substr(0, size));
    if (!converted.summary) {
      EXPECT_EQ(converted.summary.error().category, ErrorCategory::kMalformed);
      EXPECT_LT(size, 8192u) << "the trace had begun";
      continue;
    }
    EXPECT_TRUE(converted.summary->truncated);
    EXPECT_GE(converted.summary->elements, least);
    least = converted.summary->elements;
    EXPECT_EQ(count(converted.text, "<traceEnd "), 1u);
    EXPECT_THAT(converted.text, testing::EndsWith("</TRACE>\n"));
  }
  EXPECT_GT(least, 30'000u);
}

TEST_F(SpillTest, EndsBeforeADamagedBlock) {
  spill(path_);
  const std::string sound = slurp(path_);
  for (std::size_t at = 16; at < sound.size(); at += at < 4096 ? test::effort(37, 151) : test::effort(7919, 31'607)) {
    std::string bytes = sound;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    const Converted converted = convert(bytes);
    if (!converted.summary) continue;
    if (!converted.summary->truncated) continue;  // between the blocks
    EXPECT_THAT(converted.said, HasSubstr("at byte "));
    EXPECT_EQ(count(converted.text, "<traceEnd "), 1u);
  }
}

TEST_F(SpillTest, RefusesWhatIsNoSpillOrOfAnotherVersion) {
  spill(path_);
  std::string bytes = slurp(path_);
  bytes[8] = 9;
  EXPECT_EQ(convert(bytes).summary.error().message(),
            "a.spill: is a spill of version 9.4, this jtrace reads 3.4; convert it with the jtrace that wrote it");
  EXPECT_EQ(convert("JTRSPIL1").summary.error().message(), "a.spill: is a spill that ends within its header");
  EXPECT_EQ(convert("something else, and longer").summary.error().message(), "a.spill: is not a spill");
  EXPECT_FALSE(is_spill("JTRPOOL1"));
}

TEST_F(SpillTest, EachFileOfARotationCanBeReadAlone) {
  session_.options.rotate = 10;
  session_.options.max_size = 256u << 10;
  spill(path_);
  ASSERT_GT(documents_, 2u);
  std::size_t entries = 0;
  for (std::uint64_t i = 0; i < documents_; ++i) {
    const std::string path = i == 0 ? path_ : path_ + "." + std::to_string(i);
    EXPECT_LE(fs::file_size(path), (256u << 10) + 64);
    const Converted converted = convert(slurp(path));
    ASSERT_TRUE(converted.summary) << converted.summary.error().message();
    EXPECT_FALSE(converted.summary->truncated);
    EXPECT_EQ(converted.said, "");  // no reference lacks its definition
    entries += count(converted.text, "<methodEntry ");
    EXPECT_THAT(converted.text, HasSubstr("threadName=\"t3\""));
    EXPECT_EQ(count(converted.text, "threadIdRef=\"0\""), 0u);
  }
  EXPECT_EQ(entries, 3u * 5030u);
}

TEST_F(SpillTest, AFurtherFileRepeatsWhatItsOwnEventsReferTo) {
  constexpr std::uint64_t kOthers = 3000;
  spill(path_, kOthers);
  const std::uint64_t whole = fs::file_size(path_);
  session_.options.rotate = 100;
  session_.options.max_size = 128u << 10;
  spill(path_, kOthers);
  ASSERT_GT(documents_, 4u);
  std::uint64_t all = 0, others = 0;
  for (std::uint64_t i = 0; i < documents_; ++i) {
    const std::string path = i == 0 ? path_ : path_ + "." + std::to_string(i);
    all += fs::file_size(path);
    const std::string bytes = slurp(path);
    const Converted converted = convert(bytes);
    EXPECT_EQ(converted.said, "");  // no reference lacks its definition
    others += count(bytes, "never called");
    if (i + 4 >= documents_) continue;  // the stream of definitions
    for (const char* name : {"m1", "m2", "m3", "m4", "m5"})
      EXPECT_LE(count(converted.text, "<methodDef name=\"" + std::string(name) + "\""), 1u);
    EXPECT_EQ(count(converted.text, "<classDef "), 1u);
  }
  EXPECT_LE(others, kOthers);  // once, or split in two
  EXPECT_LT(all, whole + documents_ * 8192);
}

TEST_F(SpillTest, EachFileHasTheCountsOfItsEnd) {
  for (const std::uint32_t rotate : {10u, 0u}) {
    session_.options.events |= record::kMethodCountEvent;
    session_.options.rotate = rotate;
    session_.options.max_size = 256u << 10;
    session_.options.spill = path_;
    Script script(session_.start);
    auto reader = record::PoolReader::open(script.memory());
    auto output = TraceOutput::open(path_, session_.options);
    ASSERT_TRUE(output);
    Spiller spiller(*reader, **output, session_);
    std::uint64_t asked = 0;
    spiller.set_counter([&asked] {
      MethodCounts counts{{{1, 10 * ++asked}, {2, 0}, {99, 5}}, "asked=" + std::to_string(asked)};
      return counts;
    });
    ASSERT_TRUE(spiller.begin(session_.start));
    script.play(5000);
    EXPECT_EQ(static_cast<bool>(spiller.pass(Mode::kLive)), rotate != 0);
    (void)spiller.end(Mode::kFinal);
    EXPECT_EQ(asked, rotate != 0 ? spiller.documents() - 1 : 1u);
    const Converted last = convert(slurp(path_));
    EXPECT_EQ(count(last.text, "<methodCount "), rotate != 0 ? 0u : 2u);
    for (std::uint64_t i = 1; i < spiller.documents(); ++i) {
      const Converted each = convert(slurp(path_ + "." + std::to_string(spiller.documents() - i)));
      ASSERT_TRUE(each.summary);
      EXPECT_EQ(count(each.text, "<methodCount "), 2u);
      EXPECT_THAT(each.text, HasSubstr("count=\"" + std::to_string(10 * i) + "\""));
      EXPECT_THAT(each.text, HasSubstr("\"jtrace.counted\" value=\"asked=" + std::to_string(i) + "\""));
      EXPECT_LT(each.text.rfind("<methodExit "), each.text.find("<methodCount "));
    }
  }
}

TEST_F(SpillTest, AFurtherFileDefinesCountedMethodsBeforeTheirClassIsUnloaded) {
  session_.options.events |= record::kMethodCountEvent | record::kClassUnloadEvent;
  session_.options.rotate = 10;
  session_.options.max_size = 256u << 10;
  session_.options.spill = path_;
  Script script(session_.start, 1);
  auto reader = record::PoolReader::open(script.memory());
  auto output = TraceOutput::open(path_, session_.options);
  ASSERT_TRUE(output);
  Spiller spiller(*reader, **output, session_);
  spiller.set_counter([] { return MethodCounts{}; });
  ASSERT_TRUE(spiller.begin(session_.start));
  script.play(5000);
  ASSERT_TRUE(spiller.pass(Mode::kLive));
  script.play(1);
  script.unload_class();
  ASSERT_TRUE(spiller.pass(Mode::kLive));
  spiller.set_last_counts({{{6, 3}}, "counted=1"});
  ASSERT_TRUE(spiller.end(Mode::kFinal));
  ASSERT_GT(spiller.documents(), 1u);
  const std::string text = convert(slurp(path_)).text;
  const std::size_t defined = text.find("never called6"), unloaded = text.find("<classUnload ");
  EXPECT_LT(defined, unloaded);
  EXPECT_LT(unloaded, text.find("<methodCount "));
}

TEST_F(SpillTest, ReportsThatItHasNoCounts) {
  session_.options.spill = path_;
  session_.options.events |= record::kMethodCountEvent;
  Script script(session_.start);
  auto reader = record::PoolReader::open(script.memory());
  auto output = TraceOutput::open(path_, session_.options);
  ASSERT_TRUE(output);
  Spiller spiller(*reader, **output, session_);
  ASSERT_TRUE(spiller.begin(session_.start));
  script.play(10);
  spiller.set_uncounted("the JVM was killed");
  ASSERT_TRUE(spiller.end(Mode::kFinal));
  EXPECT_THAT(convert(slurp(path_)).text, HasSubstr("key=\"jtrace.uncounted\" value=\"the JVM was killed\""));
}

TEST_F(SpillTest, EndsValidlyAtItsLimit) {
  session_.options.max_size = 200u << 10;
  session_.options.spill = path_;
  Script script(session_.start);
  auto reader = record::PoolReader::open(script.memory());
  auto output = TraceOutput::open(path_, session_.options);
  ASSERT_TRUE(output);
  Spiller spiller(*reader, **output, session_);
  ASSERT_TRUE(spiller.begin(session_.start));
  script.play(3000);
  const auto pass = spiller.pass(Mode::kLive);
  ASSERT_FALSE(pass);
  EXPECT_TRUE(trace::is_full(pass.error()));
  EXPECT_FALSE(spiller.end(Mode::kFinal));
  EXPECT_LE(fs::file_size(path_), 200u << 10);
  const Converted converted = convert(slurp(path_));
  ASSERT_TRUE(converted.summary);
  EXPECT_FALSE(converted.summary->truncated);
  EXPECT_GT(count(converted.text, "<methodEntry "), 1000u);
  EXPECT_THAT(converted.text, HasSubstr("<option key=\"jtrace.gap\" value=\"from="));
}

// jtrace was killed after its second pass: the file has what came until then, the pool has the rest; some is in both.
TEST_F(SpillTest, GoesOnInThePoolThatWasLeft) {
  session_.options.spill = path_;
  Script script(session_.start);
  auto reader = record::PoolReader::open(script.memory());
  {
    auto output = TraceOutput::open(path_, session_.options);
    ASSERT_TRUE(output);
    Spiller spiller(*reader, **output, session_);
    ASSERT_TRUE(spiller.begin(session_.start));
    script.play(1000);
    ASSERT_TRUE(spiller.pass(Mode::kLive));
    script.play(500);
    ASSERT_TRUE(spiller.pass(Mode::kLive));
  }
  script.play(700);
  const Converted converted = convert_with_the_rest(script);
  ASSERT_TRUE(converted.summary) << converted.summary.error().message();
  EXPECT_FALSE(converted.summary->truncated);
  EXPECT_EQ(count(converted.text, "<methodEntry "), 3u * 2200u);
  EXPECT_EQ(count(converted.text, "<methodExit "), 3u * 2200u);
  EXPECT_EQ(count(converted.text, "<classDef "), 1u);
}

// The chunks of a thread are in the pool in any order, once chunks have been used again.
TEST_F(SpillTest, GoesOnWithChunksInAnyOrder) {
  session_.options.spill = path_;
  Script script(session_.start);
  auto reader = record::PoolReader::open(script.memory());
  auto output = TraceOutput::open(path_, session_.options);
  ASSERT_TRUE(output);
  Spiller spiller(*reader, **output, session_);
  ASSERT_TRUE(spiller.begin(session_.start));
  constexpr std::uint64_t kRounds = 2000, kWholePool = 10;  // after so many steps each chunk has been used
  for (std::uint64_t step = 1; step <= kWholePool + 4; ++step) {
    script.play(kRounds);
    if (step >= kWholePool) {
      const Converted converted = convert_with_the_rest(script);
      ASSERT_TRUE(converted.summary) << converted.summary.error().message();
      EXPECT_EQ(count(converted.text, "<methodEntry "), 3 * kRounds * step) << step;
      EXPECT_EQ(count(converted.text, "<methodExit "), 3 * kRounds * step) << step;
    }
    ASSERT_TRUE(spiller.pass(Mode::kLive));
  }
}

}  // namespace
}  // namespace jtrace::session
