#include "session/trace_runner.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "base/file.h"
#include "session/ctl_socket.h"
#include "session/document/partial_document.h"
#include "session/document/session_text.h"
#include "session/make_drain.h"
#include "session/options/agent_config.h"
#include "session/recover.h"
#include "tests/testlib/must.h"
#include "tests/unit/session/fake_agent.h"
#include "trace/record/definition_builder.h"
#include "trace/record/pool_writer.h"

namespace jtrace::session {
namespace {

namespace fs = std::filesystem;
namespace record = trace::record;
using testing::HasSubstr;

constexpr int kEvents = 5000;

// Writes ends of threads, with their definitions.
bool write_events_after(record::DefinitionWriter& definitions, const record::Pool& pool) {
  record::EventWriter events(pool);
  for (std::uint64_t i = 1; i <= kEvents; ++i) {
    const std::string bytes = record::thread_definition(i, monotonic_ns(), "t");
    definitions.write(bytes.data(), bytes.size());
    events.write(record::ThreadRecord{.thread = i}, record::RecordKind::kThreadEnd);
  }
  return true;
}

bool write_events(const record::Pool& pool) {
  record::DefinitionWriter definitions(pool);
  return write_events_after(definitions, pool);
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

// Stands for the signalfd.
struct SignalPipe {
  SignalPipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  void send() const {
    const signalfd_siginfo signal{.ssi_signo = SIGINT};
    EXPECT_EQ(::write(write.get(), &signal, sizeof signal), static_cast<ssize_t>(sizeof signal));
  }
  UniqueFd read, write;
};

class TraceRunnerTest : public testing::Test {
 protected:
  TraceRunnerTest() {
    char name[] = "/tmp/jtrace-session-XXXXXX";
    folder_ = ::mkdtemp(name);
    options_.output = folder_ + "/trace.xml";
    options_.min_free = 0;
    options_.ring_memory = 4u << 20;
  }
  ~TraceRunnerTest() override { fs::remove_all(folder_); }

  // Runs a trace of `agent` to its end; `meanwhile` runs at the same time.
  TraceSummary trace(FakeAgent& agent, const std::function<void()>& meanwhile = {}) {
    auto process = target::Process::open(agent.pid());
    EXPECT_TRUE(process);
    ControlChannel channel(agent.take_socket());
    auto output = TraceOutput::open(options_.output, options_);
    EXPECT_TRUE(output);
    TraceIdentity identity = identify(*process, {}, options_);
    const ClockAnchor anchor = ClockAnchor::now();
    auto pool = PoolFile::create(options_.ring_memory,
                                 session_text(identity, options_, anchor, anchor.monotonic, options_.output),
                                 agent.pid(), process->start_ticks(), folder_);
    EXPECT_TRUE(pool);
    pool_path_ = pool->path();
    auto reader = record::PoolReader::open(pool->memory());
    EXPECT_TRUE(reader);
    EXPECT_TRUE(channel.send(record::FrameType::kStart, encode_start(options_, {}), pool->shared_fd()));
    wait_for_started(channel);
    const auto drain = make_drain(*reader, **output, {identity, options_, anchor, anchor.monotonic, options_.output});
    EXPECT_TRUE(drain->begin(anchor.monotonic));
    std::vector<ControlSource*> controls;
    if (ctl_ != nullptr) controls.push_back(ctl_);
    TraceRunner runner(channel, *pool, *reader, *drain, **output, *process,
                       {.signal_fd = signals_.read.get(), .controls = controls, .progress = {}});
    std::thread beside([&] {
      if (meanwhile) meanwhile();
    });
    TraceSummary summary = runner.run();
    beside.join();
    return summary;
  }
  static void wait_for_started(ControlChannel& channel) {
    while (!channel.hung_up()) {
      pollfd source{channel.fd(), POLLIN, 0};
      ::poll(&source, 1, -1);
      ASSERT_TRUE(channel.receive());
      if (const auto frame = channel.next()) {
        EXPECT_EQ(frame->type, record::FrameType::kStarted);
        return;
      }
    }
    FAIL() << "the agent hung up";
  }
  std::string text() const { return read_file(options_.output).value_or(""); }
  void expect_whole_document(std::size_t ends) const {
    const std::string document = text();
    EXPECT_EQ(count(document, "<threadEnd "), ends);
    EXPECT_EQ(count(document, "<threadStart "), ends);
    EXPECT_EQ(count(document, "<traceStart "), 1u);
    EXPECT_EQ(count(document, "<traceEnd "), 1u);
    EXPECT_EQ(count(document, "<agentDestroy "), 1u);
    EXPECT_THAT(document, testing::EndsWith("</TRACE>\n"));
  }

  std::string folder_;
  std::string pool_path_;
  TraceOptions options_;
  CtlServer* ctl_ = nullptr;
  SignalPipe signals_;
};

TEST_F(TraceRunnerTest, EndsAfterTheDurationAndTheAgentLeaves) {
  FakeAgent agent(write_events);
  options_.duration = 300'000'000;
  const TraceSummary summary = trace(agent);
  EXPECT_EQ(summary.reason, EndReason::kDuration);
  EXPECT_EQ(summary.status(), ExitStatus::kOk);
  EXPECT_TRUE(summary.agent_left);
  EXPECT_EQ(agent.wait(), 0);
  EXPECT_FALSE(fs::exists(pool_path_));
  expect_whole_document(kEvents);
}

// An agent that leaves when a byte comes.
class SlowLeaver {
 public:
  SlowLeaver() { EXPECT_EQ(::pipe2(ends_, O_CLOEXEC), 0); }
  ~SlowLeaver() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  FakeAgent::Work work() const {
    return [this](const record::Pool& pool) {
      char byte;
      return write_events(pool) && ::read(ends_[0], &byte, 1) == 1;
    };
  }
  void let_go() const { EXPECT_EQ(::write(ends_[1], "x", 1), 1); }

 private:
  int ends_[2] = {-1, -1};
};

TEST_F(TraceRunnerTest, TheFirstSignalWhileTheAgentLeavesDoesNotCutThatShort) {
  const SlowLeaver slow;
  FakeAgent agent(slow.work());
  options_.duration = 100'000'000;
  const TraceSummary summary = trace(agent, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the trace is over
    signals_.send();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    slow.let_go();
  });
  EXPECT_TRUE(summary.agent_left);
  EXPECT_EQ(summary.status(), ExitStatus::kOk);
  EXPECT_EQ(agent.wait(), 0);
  expect_whole_document(kEvents);
}

TEST_F(TraceRunnerTest, WhoAsksAgainDoesNotWaitForTheAgent) {
  const SlowLeaver slow;
  FakeAgent agent(slow.work());
  options_.duration = 100'000'000;
  const TraceSummary summary = trace(agent, [&] {
    while (fs::exists(pool_path_)) {
      signals_.send();
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    slow.let_go();
  });
  EXPECT_FALSE(summary.agent_left);
  EXPECT_LT(summary.elapsed, 10 * kNanosPerSecond);
  expect_whole_document(kEvents);
}

TEST_F(TraceRunnerTest, AKilledTargetLosesNothingThatWasWritten) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  FakeAgent agent([&](const record::Pool& pool) {
    write_events(pool);
    [[maybe_unused]] const ssize_t told = ::write(ready[1], "x", 1);
    return true;
  });
  const TraceSummary summary = trace(agent, [&] {
    char byte;
    [[maybe_unused]] const ssize_t heard = ::read(ready[0], &byte, 1);
    ::kill(agent.pid(), SIGKILL);
  });
  EXPECT_EQ(summary.reason, EndReason::kTargetEnded);
  EXPECT_EQ(summary.status(), ExitStatus::kOk);
  expect_whole_document(kEvents);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(TraceRunnerTest, WhatFoundNoRoomIsCountedAndReported) {
  options_.ring_memory = record::kMinimumPoolSize;
  options_.duration = 300'000'000;
  FakeAgent agent([](const record::Pool& pool) {
    record::EventWriter events(pool);
    while (pool.header().dropped_events.load() < 10)
      events.write(record::ThreadRecord{.thread = 1}, record::RecordKind::kGcStart);
    return true;
  });
  const TraceSummary summary = trace(agent);
  EXPECT_EQ(summary.status(), ExitStatus::kPartial);
  EXPECT_EQ(summary.dropped, 10u);
  EXPECT_THAT(text(), HasSubstr("<option key=\"jtrace.dropped\" value=\""));
}

TEST_F(TraceRunnerTest, RotatedFilesAreWholeDocuments) {
  options_.max_size = 256u << 10;
  options_.rotate = 20;
  options_.duration = 500'000'000;
  FakeAgent agent(write_events);
  const TraceSummary summary = trace(agent);
  EXPECT_GT(summary.documents, 2u);
  std::size_t ends = count(text(), "<threadEnd ");
  for (std::uint64_t i = 1; i < summary.documents; ++i) {
    const auto read = read_file(options_.output + "." + std::to_string(i));
    ASSERT_TRUE(read) << read.error().message() << " of " << summary.documents << " documents";
    const std::string& document = *read;
    EXPECT_THAT(document, testing::EndsWith("</TRACE>\n"));
    EXPECT_EQ(count(document, "<traceEnd "), 1u);
    EXPECT_LE(document.size(), options_.max_size);
    ends += count(document, "<threadEnd ");
  }
  EXPECT_EQ(ends, static_cast<std::size_t>(kEvents));
}

TEST_F(TraceRunnerTest, ADestinationThatIsFullEndsTheTraceProperly) {
  options_.max_size = 200u << 10;
  FakeAgent agent(write_events);
  const TraceSummary summary = trace(agent);
  EXPECT_EQ(summary.reason, EndReason::kSizeReached);
  EXPECT_LE(fs::file_size(options_.output), options_.max_size);
  EXPECT_EQ(count(text(), "<traceEnd "), 1u);
  EXPECT_EQ(count(text(), "<option key=\"jtrace.gap\" value=\"from="), 1u) << "what was open is not known to go on";
  EXPECT_THAT(text(), testing::EndsWith("</TRACE>\n"));
}

// The same after the definitions of the counted methods.
FakeAgent::Work write_counted_events(std::uint64_t methods) {
  return [methods](const record::Pool& pool) {
    record::DefinitionWriter definitions(pool);
    const std::string made = record::class_definition(5, monotonic_ns(), "LMade;");
    definitions.write(made.data(), made.size());
    for (std::uint64_t i = 0; i < methods; ++i) {
      const std::string method = record::method_definition(FakeAgent::kCountedMethod + i, monotonic_ns(), 5, "counted");
      definitions.write(method.data(), method.size());
    }
    return write_events_after(definitions, pool);
  };
}

TEST_F(TraceRunnerTest, EachRotatedFileEndsWithTheCountsOfThen) {
  options_.events |= record::kMethodCountEvent;
  options_.max_size = 256u << 10;
  options_.rotate = 20;
  options_.duration = 3'000'000'000;  // what is rotated after the end has the counts of the end
  FakeAgent agent(write_counted_events(1));
  const TraceSummary summary = trace(agent);
  EXPECT_EQ(summary.status(), ExitStatus::kOk);
  ASSERT_GT(summary.documents, 2u);
  for (std::uint64_t i = 1; i < summary.documents; ++i) {
    const std::string document = read_file(options_.output + "." + std::to_string(summary.documents - i)).value_or("");
    EXPECT_EQ(count(document, "<methodCount "), 1u);
    EXPECT_THAT(document, HasSubstr("count=\"" + std::to_string(10 * i) + "\""));
    EXPECT_EQ(count(document, "<methodDef "), 1u);
    EXPECT_THAT(document, HasSubstr("<option key=\"jtrace.counted\" value=\"asked=" + std::to_string(i) + "\""));
    EXPECT_LE(document.size(), options_.max_size);
  }
  EXPECT_EQ(count(text(), "jtrace.uncounted"), 0u);
}

TEST_F(TraceRunnerTest, ATraceThatEndsAtItsLimitHasItsCounts) {
  options_.events |= record::kMethodCountEvent;
  options_.max_size = 200u << 10;
  FakeAgent agent(write_counted_events(1));
  const TraceSummary summary = trace(agent);
  EXPECT_EQ(summary.reason, EndReason::kSizeReached);
  EXPECT_LE(fs::file_size(options_.output), options_.max_size);
  EXPECT_EQ(count(text(), "<methodCount "), 1u);
  EXPECT_EQ(count(text(), "jtrace.uncounted"), 0u);
  EXPECT_THAT(text(), testing::EndsWith("</TRACE>\n"));
}

TEST_F(TraceRunnerTest, CountsThatHaveNoRoomAreReportedMissing) {
  options_.events |= record::kMethodCountEvent;
  options_.max_size = 200u << 10;
  FakeAgent agent(write_counted_events(1000));
  const TraceSummary summary = trace(agent);
  EXPECT_EQ(summary.reason, EndReason::kSizeReached);
  EXPECT_EQ(count(text(), "<methodCount "), 0u);
  EXPECT_THAT(text(), HasSubstr("<option key=\"jtrace.uncounted\" value=\"1000 methods"));
  EXPECT_THAT(text(), testing::EndsWith("</TRACE>\n"));
}

TEST_F(TraceRunnerTest, TheCountsOfAKilledTargetAreReportedMissing) {
  options_.events |= record::kMethodCountEvent;
  FakeAgent agent([](const record::Pool& pool) { return write_counted_events(1)(pool) && false; });  // it ends
  const TraceSummary summary = trace(agent);
  EXPECT_EQ(summary.reason, EndReason::kTargetEnded);
  EXPECT_TRUE(summary.target_killed);
  EXPECT_EQ(summary.status(), ExitStatus::kPartial);
  EXPECT_THAT(text(), HasSubstr("<option key=\"jtrace.uncounted\" value=\"the JVM was killed\""));
}

TEST_F(TraceRunnerTest, CtlSteersIt) {
  FakeAgent agent(write_events);
  auto process = target::Process::open(agent.pid());
  ASSERT_TRUE(process);
  auto ctl = test::must(CtlServer::open(agent.pid(), process->start_ticks()));
  ctl_ = &ctl;
  EXPECT_FALSE(CtlServer::open(agent.pid(), process->start_ticks()));  // a second trace
  const auto ask = [&](const std::string& lines) {
    return ask_ctl_text(process->pid(), process->start_ticks(), ::geteuid(), lines);
  };
  const TraceSummary summary = trace(agent, [&] {
    const auto status = ask_ctl(process->pid(), process->start_ticks(), ::geteuid(), {ControlVerb::kStatus});
    EXPECT_THAT(status->text, HasSubstr("state=tracing"));
    EXPECT_EQ(ask("pause\n")->status, ExitStatus::kOk);
    EXPECT_THAT(ask("status\n")->text, HasSubstr("state=paused"));
    EXPECT_EQ(ask("filters\njava.* exclude\n")->status, ExitStatus::kOk);
    EXPECT_EQ(ask("filters\njava.* run maybe\n")->status, ExitStatus::kUsage);
    EXPECT_EQ(ask("stop\n")->status, ExitStatus::kOk);
    EXPECT_EQ(ask("resume\n")->status, ExitStatus::kRefused);
    EXPECT_EQ(ask("start\n")->status, ExitStatus::kOk);
    EXPECT_EQ(ask("nonsense\n")->status, ExitStatus::kUsage);
    EXPECT_THAT(ask("detach\n")->text, HasSubstr("2 documents"));
  });
  EXPECT_EQ(summary.reason, EndReason::kDetached);
  const std::string first = *read_file(options_.output + ".1");
  EXPECT_THAT(first, HasSubstr("<filter pattern=\"java.*\""));
  EXPECT_THAT(first, HasSubstr("jtrace.paused"));
  EXPECT_THAT(first, testing::EndsWith("</TRACE>\n"));
  EXPECT_THAT(text(), testing::EndsWith("</TRACE>\n"));
}

// Both have died: the file and the rest in the pool make one document.
TEST_F(TraceRunnerTest, RecoverGoesOnWhereTheFileEnds) {
  options_.duration = 300'000'000;
  FakeAgent agent(write_events);
  ASSERT_EQ(trace(agent).status(), ExitStatus::kOk);
  const std::string whole = text();
  // The same trace as a killed jtrace would have left it: a file truncated in the middle of a line, and a pool with
  // everything.
  const std::string cut = whole.substr(0, whole.size() / 2);
  const PartialDocument document = read_partial_document(cut);
  EXPECT_FALSE(document.is_ended);
  EXPECT_EQ(document.whole_size, cut.rfind('\n') + 1);
  EXPECT_EQ(document.threads.size(), count(cut.substr(0, document.whole_size), "<threadStart "));
  EXPECT_NE(document.collation, 0u);
  EXPECT_NE(document.last_event_time, 0u);
}

TEST_F(TraceRunnerTest, RecoverMakesTheWholeDocument) {
  TraceIdentity identity;
  identity.pid = 4711;
  identity.agent_id = "agent";
  const ClockAnchor anchor = ClockAnchor::now();
  auto pool =
      PoolFile::create(options_.ring_memory,
                       session_text(identity, options_, anchor, anchor.monotonic, options_.output), 4711, 99, folder_);
  ASSERT_TRUE(pool);
  write_events(record::Pool(pool->memory().data()));
  EXPECT_EQ(recover(pool->path(), folder_ + "/out.xml").error().category,
            ErrorCategory::kRefused);  // the pool is in use
  const std::string copy = folder_ + "/left.pool";
  fs::copy_file(pool->path(), copy);
  // There is no file: everything comes from the pool.
  auto recovered = test::must(recover(copy, folder_ + "/out.xml"));
  EXPECT_FALSE(recovered.whole);
  const std::string whole = *read_file(folder_ + "/out.xml");
  EXPECT_EQ(count(whole, "<threadEnd "), static_cast<std::size_t>(kEvents));
  // A part of the file exists: the result is the same document, wherever the file is cut.
  for (const std::size_t size : {whole.size() / 3, whole.size() / 2, whole.find("<threadStart ") + 10}) {
    ASSERT_TRUE(
        write_whole(open_file(options_.output, O_WRONLY | O_CREAT | O_TRUNC, 0600)->get(), whole.substr(0, size), "x"));
    fs::remove(folder_ + "/again.xml");
    recovered = test::must(recover(copy, folder_ + "/again.xml"));
    EXPECT_TRUE(recovered.whole);
    EXPECT_EQ(*read_file(folder_ + "/again.xml"), whole);
  }
}

}  // namespace
}  // namespace jtrace::session
