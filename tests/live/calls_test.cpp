// methodCall and methodReturn by callouts around the calls of traced methods: their numbers against the program's own,
// on every JDK.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_calls.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

std::vector<std::string> only_calls(const std::string& events) {
  return {"--events", events,     "--when-full",    "block",    "--block-limit",
          "10000",    "--filter", "Calls* include", "--filter", "* exclude"};
}

// The calls of one round of the program's "calls", by the method that the instruction names.
const std::map<std::string, int>& calls_of_a_round() {
  static const std::map<std::string, int> calls{
      {"Calls.callEach", 1},
      {"Calls$Shape.area", 1},      // of an interface; Square's runs
      {"Calls$Square.corners", 3},  // Rounded's runs once, and calls its superclass's
      {"Calls.quick", 2},
      {"Calls$Late.late", 1},         // its class is loaded by the call
      {"java/lang/Object.clone", 1},  // of an array
      {"java/lang/System.nanoTime", 1},
      {"java/lang/Object.hashCode", 1},
      {"Calls$Cell.<init>", 1},
      {"Calls$Cell.touch", 1},
      {"Calls.callFailing", 1},
      {"Calls.failing", 5},  // an exception leaves each of them
      {"Calls.constructPicky", 2},
      {"Calls$Picky.<init>", 2},  // an exception leaves it before super() returns
      {"java/lang/IllegalStateException.<init>", 3},
      {"Calls$Rounded.<init>", 1},
      {"Calls$Square.<init>", 2},  // one of them Rounded's super()
      {"java/lang/Object.<init>", 3},
  };
  return calls;
}

void expect_calls(const TraceDocument& trace, int rounds, int fibs) {
  auto calls = by_method(trace, "methodCall");
  auto returns = by_method(trace, "methodReturn");
  // A virtual thread wakes the answering thread by this call, and may still be in it at the end of the trace.
  const std::string wakes = "java/util/concurrent/CountDownLatch.countDown";
  const int running = calls[wakes] - std::exchange(returns[wakes], calls[wakes]);
  EXPECT_EQ(calls, returns);
  for (const auto& [method, count] : calls_of_a_round()) EXPECT_EQ(calls[method], rounds * count) << method;
  EXPECT_EQ(calls["Calls.fib"], fibs);
  EXPECT_EQ(calls.count("Calls$Rounded.corners"), 0u);  // no instruction names it
  std::size_t open = 0;
  EXPECT_TRUE(none(call_faults(trace, &open)));
  EXPECT_EQ(open, static_cast<std::size_t>(running));
}

// Methods of the program that have more than one methodDef.
std::set<std::string> twice_defined(const TraceDocument& trace) {
  std::map<std::string, std::string> classes;
  for (const TraceElement* each : trace.all("classDef")) classes[each->get("classId")] = each->get("name");
  std::set<std::string> once, twice;
  for (const TraceElement* each : trace.all("methodDef")) {
    const std::string name = classes[each->get("classIdRef")] + "." + each->get("name") + each->get("signature");
    if (!once.insert(name).second) twice.insert(name);
  }
  return twice;
}

// Among the calls of Helper.help, whose class is linked by then: the number of those whose callee is the method that
// runs inside, which is that of the caller's own loader.
std::size_t calls_of_own_helpers(const TraceDocument& trace) {
  std::map<std::string, std::string> names = names_of_methods(trace);
  std::set<std::string> callees;
  std::string called;
  for (const TraceElement& each : trace.events()) {
    const std::string method = each.get("methodIdRef");
    if (method.empty() || names[method] != "Calls$Helper.help") continue;
    if (each.name == "methodCall") called = method;
    if (each.name == "methodEntry" && called == method) callees.insert(method);
  }
  return callees.size();
}

// Many loaders have classes of the same names.
void expect_own_helpers(JvmProcess& jvm) {
  constexpr std::size_t kLoaders = 128;
  auto run = must(TraceRun::start(jvm.pid(), only_calls("calls,methods")));
  ASSERT_TRUE(rewritten(*run));
  must(jvm.ask("plugins " + std::to_string(kLoaders)));
  auto trace = must(run->finish());
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_EQ(calls_of_own_helpers(trace), kLoaders);
}

TEST_P(EachJdk, CallsAreThoseThatTheProgramMakes) {
  auto jvm = must(JvmProcess::start(GetParam(), "Calls", attachable(GetParam())));
  constexpr int kRounds = 20;
  {
    auto run = must(TraceRun::start(jvm->pid(), only_calls("calls")));
    ASSERT_TRUE(rewritten(*run));
    must(jvm->ask("calls " + std::to_string(kRounds)));
    int fibs = 0;
    for (const std::string command : {"threads 4 12", "virtual 20 10"}) {
      if (GetParam().version < 21 && command.starts_with("virtual")) continue;
      auto answer = must(jvm->ask(command));
      fibs += static_cast<int>(value_in(answer, "fib"));
    }
    auto trace = must(run->finish());
    EXPECT_TRUE(none(trace.faults()));
    EXPECT_TRUE(valid(run->path()));
    expect_calls(trace, kRounds, fibs);
    EXPECT_EQ(trace.count("methodEntry") + trace.count("methodExit"), 0u);
    for (const TraceElement* each : trace.all("methodCall")) EXPECT_GE(each->number("stackDepth"), 1u);
  }
  // Both sides of a call; methods of loaded classes have the same ids as in their own entries.
  auto run = must(TraceRun::start(jvm->pid(), only_calls("calls,methods,exceptions")));
  ASSERT_TRUE(rewritten(*run));
  must(jvm->ask("calls " + std::to_string(kRounds)));
  auto fib = must(jvm->ask("fib 10"));
  auto trace = must(run->finish());
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_TRUE(valid(run->path()));
  expect_calls(trace, kRounds, static_cast<int>(value_in(fib, "fib")));
  EXPECT_EQ(twice_defined(trace), std::set<std::string>());
  auto entries = by_method(trace, "methodEntry");
  EXPECT_EQ(entries["Calls$Rounded.corners"], kRounds);
  EXPECT_EQ(entries["Calls$Square.corners"], 2 * kRounds);
  EXPECT_EQ(entries["Calls.failing"], 5 * kRounds);
  EXPECT_EQ(by_method(trace, "catch")["Calls.callFailing"], kRounds);
  expect_own_helpers(*jvm);
  EXPECT_EQ(jvm->err(), "");
  record_support(GetParam(), "G1", "live", "methodCall and methodReturn");
}

}  // namespace
}  // namespace jtrace::test
