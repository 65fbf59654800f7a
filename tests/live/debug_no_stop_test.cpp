// `jtrace debug --no-stop`: what a debugger was given before a collection is never another object after it.
#include <gmock/gmock.h>
#include <signal.h>

#include <optional>
#include <vector>

#include "tests/live/jdwp_client.h"
#include "tests/testlib/jvm_process.h"
#include "tests/testlib/must.h"
#include "tests/testlib/places.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using debug::Id;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint16_t kInvalidObject = 20;

PacketWriter ids(std::initializer_list<Id> values) {
  PacketWriter body;
  for (const Id value : values) body.id(value);
  return body;
}

PacketReader reader(const JdwpClient::Packet& packet) { return PacketReader(std::as_bytes(std::span(packet.body))); }

class DebugNoStop : public ::testing::TestWithParam<Jdk> {
 protected:
  void serve(const char* program, std::vector<std::string> flags) {
    jvm_ = must(JvmProcess::start(GetParam(), program, {.flags = std::move(flags)}));
    server_ = must(BackgroundCommand::start({jtrace_binary(), "debug", jvm_->pid_text(), "--no-stop", "--once"}));
    const std::uint16_t port = port_of(*server_);
    ASSERT_NE(port, 0) << server_->err();
    client_ = std::make_unique<JdwpClient>(port);
    client_->shake_hands();
    ASSERT_EQ(client_->ask(1, 7).error, 0) << server_->err();
  }
  Id type(std::string_view signature) {
    PacketWriter body;
    body.text(signature);
    const auto found = client_->ask(1, 2, body);
    PacketReader in = reader(found);
    return in.i4() == 1 ? (in.u1(), in.id()) : 0;
  }
  Id field(Id type, std::string_view name) {
    const auto fields = client_->ask(2, 4, ids({type}));
    PacketReader in = reader(fields);
    for (std::int32_t left = in.i4(); left > 0; --left) {
      const Id id = in.id();
      const bool is_it = in.text() == name;
      in.text(), in.i4();
      if (is_it) return id;
    }
    return 0;
  }
  Id static_object(Id type, Id field) {
    PacketWriter body;
    body.id(type).u4(1).id(field);
    const auto values = client_->ask(2, 6, body);
    PacketReader in = reader(values);
    return in.i4() == 1 ? in.value().bits : 0;
  }
  std::vector<Id> all_threads() {
    const auto threads = client_->ask(1, 4);
    PacketReader in = reader(threads);
    std::vector<Id> found;
    for (std::int32_t left = in.i4(); left > 0; --left) found.push_back(in.id());
    return found;
  }
  Id thread(std::string_view name) {
    for (const Id id : all_threads()) {
      const auto named = client_->ask(11, 1, ids({id}));
      if (reader(named).text() == name) return id;
    }
    return 0;
  }
  // The frame of that depth.
  Id frame(Id thread, std::uint32_t depth) {
    PacketWriter body;
    body.id(thread).u4(depth).u4(1);
    const auto frames = client_->ask(11, 6, body);
    PacketReader in = reader(frames);
    return in.i4() == 1 ? in.id() : 0;
  }
  void collect() {
    EXPECT_EQ(must(run_command({jtrace_binary(), "cmd", jvm_->pid_text(), "jcmd", "GC.run"})).status, 0);
  }

  std::unique_ptr<JvmProcess> jvm_;
  std::unique_ptr<BackgroundCommand> server_;
  std::unique_ptr<JdwpClient> client_;
};

JTRACE_ON_EACH_JDK(DebugNoStop);

TEST_P(DebugNoStop, ReferencesAreCollectedThreadsAreNot) {
  ASSERT_NO_FATAL_FAILURE(serve("Standing", {"-Xmx64m", "-Xint"}));
  const Id standing = type("LStanding;"), field_id = field(standing, "TEXT");
  const Id old = static_object(standing, field_id), main = thread("main");
  ASSERT_NE(old, 0u);
  ASSERT_NE(main, 0u);
  const auto text = client_->ask(10, 1, ids({old}));
  EXPECT_EQ(reader(text).text(), "text \u20ac");
  const auto group = client_->ask(11, 5, ids({main}));
  const Id group_id = reader(group).id();
  const auto count = client_->ask(11, 7, ids({main}));
  ASSERT_EQ(client_->ask(9, 9, ids({old})).body, std::string(1, '\0'));  // IsCollected

  collect();
  EXPECT_EQ(client_->ask(10, 1, ids({old})).error, kInvalidObject);
  EXPECT_EQ(client_->ask(9, 1, ids({old})).error, kInvalidObject);
  EXPECT_EQ(client_->ask(9, 9, ids({old})).body, std::string(1, '\1'));
  const Id now = static_object(standing, field_id);
  EXPECT_NE(now, old);
  EXPECT_EQ(client_->ask(10, 1, ids({now})).body, text.body);
  // What is of the stop, or is found again.
  const auto name = client_->ask(11, 1, ids({main}));
  EXPECT_EQ(reader(name).text(), "main");
  EXPECT_EQ(client_->ask(11, 7, ids({main})).body, count.body);
  EXPECT_EQ(client_->ask(11, 5, ids({main})).body, group.body);
  const auto group_name = client_->ask(12, 1, ids({group_id}));
  EXPECT_EQ(reader(group_name).text(), "main");
  EXPECT_EQ(client_->ask(11, 8, ids({main})).error, kInvalidObject);  // monitors: objects of the stop
  EXPECT_EQ(client_->ask(1, 6).error, 0);
  EXPECT_EQ(must(server_->wait_exit()), 0) << server_->err();
  EXPECT_THAT(server_->err(), AllOf(HasSubstr(" and runs: the debugger sees"), HasSubstr("a collection has moved")));
}

// The reference that a frame has is of the stop, and the number beside it still is what it was.
TEST_P(DebugNoStop, FramesLoseTheirReferencesAlone) {
  ASSERT_NO_FATAL_FAILURE(serve("Moved", {"-Xmx64m", "-Xint", "-XX:+UseSerialGC"}));
  const Id stirrer = thread("stirrer"), main = thread("main");
  ASSERT_NE(stirrer, 0u);
  collect();
  // `this` of a thread's run(), its outermost frame.
  const auto count = client_->ask(11, 7, ids({stirrer}));
  const auto outermost = static_cast<std::uint32_t>(reader(count).i4() - 1);
  const auto self = client_->ask(16, 3, ids({stirrer, frame(stirrer, outermost)}));
  PacketReader in = reader(self);
  const auto value = in.value();
  ASSERT_EQ(static_cast<char>(value.tag), 's');
  const auto said = client_->ask(10, 1, ids({value.bits}));
  EXPECT_EQ(reader(said).text(), "<not available: a collection has moved the objects since the stop>");
  EXPECT_NE(main, 0u);
}

// Programs name their threads by what they do just now. The debugger shows the name of the stop.
TEST_P(DebugNoStop, ARenamedThreadIsNotLost) {
  ASSERT_NO_FATAL_FAILURE(serve("Moved", {"-Xmx64m", "-Xint", "-XX:+UseSerialGC"}));
  const Id stirrer = thread("stirrer");
  ASSERT_NE(stirrer, 0u);
  const auto count = client_->ask(11, 7, ids({stirrer}));
  must(jvm_->ask("rename"));
  collect();
  EXPECT_EQ(client_->ask(11, 7, ids({stirrer})).body, count.body);
  EXPECT_EQ(thread("stirrer"), stirrer);
}

// Nothing tells such a JVM's observers that it unloads classes.
TEST_P(DebugNoStop, WithoutCountersClassesThatCanBeUnloadedAreNotShown) {
  ASSERT_NO_FATAL_FAILURE(serve("Reloads", {"-Xmx32m", "-XX:+UseSerialGC", "-XX:-UsePerfData"}));
  PacketWriter plug;
  plug.text("LReloads$Plug;");
  const auto plugs = client_->ask(1, 2, plug);
  EXPECT_EQ(reader(plugs).i4(), 0);
  const Id kept = type("LReloads$Kept;"), number = field(kept, "number");
  must(jvm_->ask("reload"));
  EXPECT_EQ(static_object(kept, number), 42u);
  EXPECT_TRUE(server_->wait_err_line("jtrace: missing: classes of the program's own", std::chrono::seconds(120)));
  EXPECT_EQ(client_->ask(1, 6).error, 0);
  EXPECT_EQ(must(server_->wait_exit()), 0);
  EXPECT_THAT(server_->err(), ::testing::Not(HasSubstr("classes were unloaded")));
}

// Its counters cannot be read any more, which tells nothing of classes.
TEST_P(DebugNoStop, TheEndOfTheJvmUnloadsNothing) {
  ASSERT_NO_FATAL_FAILURE(serve("Standing", {"-Xmx64m"}));
  jvm_->signal(SIGKILL);
  EXPECT_EQ(must(jvm_->wait_exit()), SIGKILL);
  (void)client_->ask(1, 4);
  EXPECT_EQ(must(server_->wait_exit()), 0) << server_->err();
  EXPECT_THAT(server_->err(),
              AllOf(HasSubstr("the JVM has ended"), ::testing::Not(HasSubstr("classes were unloaded"))));
}

// Collections all the time: each element is one of Moved.KEPT, with its array of 200 bytes, or is said to be collected.
TEST_P(DebugNoStop, NoObjectIsTakenForAnother) {
  ASSERT_NO_FATAL_FAILURE(serve("Moved", {"-Xmx24m", "-XX:+UseSerialGC"}));
  const Id moved = type("LMoved;"), kept = type("LMoved$Kept;");
  const Id array_field = field(moved, "KEPT"), load = field(kept, "load");
  constexpr int kRounds = 80;
  int right = 0, collected = 0;
  const std::vector<Id> threads = all_threads();
  EXPECT_NE(thread("stirrer"), 0u) << server_->err();
  for (int round = 0; round < kRounds; ++round) {
    const Id array = static_object(moved, array_field);
    PacketWriter range;
    range.id(array).u4(static_cast<std::uint32_t>(round * 100)).u4(5);
    const auto elements = client_->ask(13, 2, range);
    if (elements.error == kInvalidObject) {
      ++collected;
      continue;
    }
    ASSERT_EQ(elements.error, 0);
    PacketReader in = reader(elements);
    in.u1();
    for (std::int32_t left = in.i4(); left > 0; --left) {
      const Id element = in.value().bits;
      PacketWriter wanted;
      wanted.id(element).u4(1).id(load);
      const auto values = client_->ask(9, 2, wanted);
      if (values.error == kInvalidObject) {
        ++collected;
        continue;
      }
      ASSERT_EQ(values.error, 0);
      PacketReader of_values = reader(values);
      ASSERT_EQ(of_values.i4(), 1);
      const Id bytes = of_values.value().bits;
      if (bytes == 0) continue;  // KEPT is being filled
      const auto length = client_->ask(13, 1, ids({bytes}));
      if (length.error == kInvalidObject) ++collected;
      else ASSERT_EQ(reader(length).i4(), 200) << length.error;
      right += length.error == 0 ? 1 : 0;
    }
  }
  EXPECT_GT(right, 0);
  EXPECT_GT(collected, 0);
  EXPECT_GE(threads.size(), 60u);  // none of them has ended
  for (const Id each : threads) EXPECT_EQ(client_->ask(11, 7, ids({each})).error, 0);
  EXPECT_EQ(must(jvm_->ask("runs")), "");
}

// Loaders come and go, with classes of the same names: another class is at the address of one that is gone.
TEST_P(DebugNoStop, NoClassIsTakenForAnother) {
  ASSERT_NO_FATAL_FAILURE(serve("Reloads", {"-Xmx32m", "-XX:+UseSerialGC"}));
  const Id first = type("LReloads$Kept;"), kept = field(first, "number");
  std::vector<std::pair<Id, Id>> reloaded;  // class, its field
  PacketWriter name;
  name.text("LReloads$Plug;");
  const auto found = client_->ask(1, 2, name);
  PacketReader in = reader(found);
  for (std::int32_t left = in.i4(); left > 0; --left) {
    in.u1();
    const Id id = in.id();
    in.i4();
    reloaded.emplace_back(id, field(id, "number"));
  }
  ASSERT_FALSE(reloaded.empty());
  const auto number = [&](Id type, Id field) -> std::optional<std::int64_t> {
    PacketWriter body;
    body.id(type).u4(1).id(field);
    const auto values = client_->ask(2, 6, body);
    if (values.error != 0) return std::nullopt;
    PacketReader of_values = reader(values);
    of_values.i4();
    return static_cast<std::int64_t>(of_values.value().bits);
  };
  std::vector<std::optional<std::int64_t>> before;
  for (const auto& [type, field] : reloaded) before.push_back(number(type, field));
  must(jvm_->ask("reload"));
  for (std::size_t i = 0; i < reloaded.size(); ++i)
    if (const auto now = number(reloaded[i].first, reloaded[i].second)) {
      EXPECT_EQ(now, before[i]);
    }
  EXPECT_EQ(number(first, kept), 42);
  EXPECT_TRUE(server_->wait_err_line("jtrace: classes were unloaded", std::chrono::seconds(120))) << server_->err();
}

std::vector<Jdk> jdks_with_zgc() {
  std::vector<Jdk> found;
  for (const Jdk& jdk : jdks())
    if (jdk.version >= 17) found.push_back(jdk);
  return found;
}
class DebugNoStopOfZgc : public DebugNoStop {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DebugNoStopOfZgc);
INSTANTIATE_TEST_SUITE_P(Jdks, DebugNoStopOfZgc, ::testing::ValuesIn(jdks_with_zgc()), NameOf());

// It moves objects while the program runs.
TEST_P(DebugNoStopOfZgc, IsRefused) {
  jvm_ = must(JvmProcess::start(GetParam(), "Idle", {.flags = {"-Xmx64m", "-XX:+UseZGC"}}));
  const auto done = must(run_command({jtrace_binary(), "debug", jvm_->pid_text(), "--no-stop"}));
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.out, "");
  EXPECT_THAT(done.err, AllOf(HasSubstr("--no-stop cannot be used: ZGC moves objects while the program runs"),
                              HasSubstr("--hold")));
}

}  // namespace
}  // namespace jtrace::test
