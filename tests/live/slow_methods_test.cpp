// --slower-than: calls that take long, their callers, values and receivers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "tests/live/method_calls.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_calls.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

class SlowMethods : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(SlowMethods);

std::uint64_t length_of(const TraceElement& entry, const TraceElement& exit) {
  return nanoseconds_of(exit.get("time")) - nanoseconds_of(entry.get("time"));
}

// Calls whose exit came less than `least` ns after their entry.
std::vector<std::string> short_calls(const TraceDocument& trace, std::uint64_t least) {
  std::map<std::string, const TraceElement*> open;
  std::vector<std::string> faults;
  for (const TraceElement& each : trace.events()) {
    const std::string key = each.get("threadIdRef") + "/" + each.get("ticket");
    if (each.name == "methodEntry") open[key] = &each;
    if (each.name == "methodExit" && length_of(*open.at(key), each) < least) faults.push_back("call " + key);
  }
  return faults;
}

TEST_P(SlowMethods, OnlyCallsThatTakeLongAreTraced) {
  constexpr std::uint64_t kMilli = 1'000'000;
  TracedJvm jvm(GetParam(), "Calls",
                with({"--events", "methods,exceptions", "--slower-than", "40ms", "--time", "precise", "--arguments",
                      "--return-values"},
                     kOnlyCalls));
  jvm.wait_rewritten();
  int naps = 3;
  std::vector<std::string> commands{"fib 15", "throws 5", "constructors 10", "naps 3 60", "slowly 2 60"};
  if (GetParam().version >= 21) {
    commands.push_back("virtualNaps 5 60");
    naps += 5;
  }
  jvm.ask_each(commands);
  const TraceDocument trace = jvm.finish();
  EXPECT_TRUE(none(trace.id_faults()));
  EXPECT_TRUE(none(trace.collation_faults()));
  EXPECT_TRUE(none(call_faults(trace)));
  EXPECT_TRUE(none(short_calls(trace, 40 * kMilli)));
  EXPECT_TRUE(valid(jvm.path()));
  auto entries = by_method(trace, "methodEntry");
  auto exits = by_method(trace, "methodExit");
  for (const char* method : {"Calls.naps", "Calls.nap", "Calls.napAndThrow", "Calls.answer"})
    EXPECT_EQ(entries[method], exits[method]) << method;
  EXPECT_EQ(entries["Calls.naps"], naps);
  EXPECT_EQ(entries["Calls.nap"], 2 * naps + 3);
  EXPECT_EQ(entries["Calls.napAndThrow"], naps);
  // Any call is slow on a machine that stalls for a while.
  EXPECT_LT(entries["Calls.quick"], 50 * naps);
  EXPECT_LT(entries["Calls.fib"], 500);
  auto throws = by_method(trace, "throw");
  EXPECT_EQ(throws["Calls.napAndThrow"], naps);
  EXPECT_EQ(throws["Calls.thrower"], 20);  // exceptions are traced in quick calls too
  EXPECT_EQ(trace.option("slower-than"), "0.04");
  // The values are those of the beginning of the call, whatever was called afterwards.
  auto given = values_by_call(trace);
  using Texts = std::vector<std::string>;
  EXPECT_EQ(given["Entry Calls.slowly"],
            (Texts{"STRING=text OPAQUE#id LONG=2 INT=60", "STRING=text! OPAQUE#0 LONG=1 INT=60",
                   "STRING=text!! OPAQUE#0 LONG=0 INT=60"}));
  EXPECT_EQ(given["Exit Calls.slowly"], (Texts{"STRING=text!!0", "STRING=text!1", "STRING=text2"}));
  EXPECT_EQ(given["Entry Calls.nap"], Texts(static_cast<std::size_t>(2 * naps + 3), "INT=60"));
  EXPECT_EQ(given["Exit Calls.napAndThrow"], Texts(static_cast<std::size_t>(naps), "exception"));
  EXPECT_EQ(jvm.err(), "");
  record_support(GetParam(), "G1", "live", "calls slower than a time");

  // With the coarse clock.
  auto coarse = must(TraceRun::start(jvm.pid(), with({"--events", "methods", "--slower-than", "100ms"}, kOnlyCalls)));
  ASSERT_TRUE(rewritten(*coarse));
  jvm.ask("naps 1 500");
  auto second = must(coarse->finish());
  EXPECT_TRUE(none(call_faults(second)));
  EXPECT_TRUE(none(short_calls(second, 100 * kMilli)));
  auto later = by_method(second, "methodEntry");
  EXPECT_EQ(later, by_method(second, "methodExit"));
  EXPECT_EQ(later["Calls.naps"], 1);
  EXPECT_EQ(later["Calls.nap"], 2);
}

// Each call of the method: its length in ms, rounded down, and whether an exception ended it.
std::vector<std::pair<std::uint64_t, bool>> calls_of(const TraceDocument& trace, const std::string& method) {
  auto names = names_of_methods(trace);
  std::map<std::string, const TraceElement*> open;
  std::vector<std::pair<std::uint64_t, bool>> found;
  for (const TraceElement& each : trace.events()) {
    if (!each.has("methodIdRef") || names[each.get("methodIdRef")] != method) continue;
    const std::string key = each.get("threadIdRef") + "/" + each.get("ticket");
    if (each.name == "methodEntry") open[key] = &each;
    if (each.name == "methodExit")
      found.emplace_back(length_of(*open.at(key), each) / 1'000'000, values_of(each) == trace::kExceptionValue);
  }
  return found;
}

// No call is slow; each that is written took longer than those before it, so the last is the longest of all.
TEST_P(SlowMethods, OfQuickCallsTheLongestIsThere) {
  auto jvm = must(JvmProcess::start(GetParam(), "Calls", attachable(GetParam())));
  for (const bool precise : {false, true}) {
    SCOPED_TRACE(precise ? "precise" : "coarse");
    std::vector<std::string> options{
        "--events",           "methods",        "--slower-than",          "100s", "--filter",
        "Calls naps include", "--longest-from", precise ? "100us" : "3ms"};
    if (precise) options.insert(options.end(), {"--time", "precise"});
    auto run = must(TraceRun::start(jvm->pid(), options));
    ASSERT_TRUE(rewritten(*run));
    for (const char* command : {"naps 1 10", "naps 3 4", "naps 1 60", "naps 20 4"}) must(jvm->ask(command));
    const TraceDocument trace = must(run->finish());
    EXPECT_TRUE(none(call_faults(trace)));
    const auto calls = calls_of(trace, "Calls.naps");
    ASSERT_GE(calls.size(), 1u);
    EXPECT_LT(calls.size(), 10u) << "a machine that stalls more and more for 20 calls is not to be expected";
    std::uint64_t longest = 0;
    for (const auto& [ms, by_exception] : calls) {
      if (precise) {
        EXPECT_GE(ms, longest);
      }
      longest = std::max(longest, ms);
    }
    EXPECT_GE(longest, precise ? 120u : 100u);
  }
}

// Callers, exceptions, constructors and virtual threads: what is written nests.
TEST_P(SlowMethods, TheLongestQuickCallsNest) {
  for (const char* clock : {"coarse", "precise"}) {
    SCOPED_TRACE(clock);
    TracedJvm jvm(GetParam(), "Calls",
                  with({"--events", "methods,exceptions,monitors", "--slower-than", "50s", "--longest-from", "3ms",
                        "--time", clock, "--arguments", "--return-values", "--objects"},
                       kOnlyCalls));
    jvm.wait_rewritten();
    std::vector<std::string> commands{"naps 2 3", "throws 5", "constructors 10", "slowly 3 5", "fib 15", "naps 2 20"};
    if (GetParam().version >= 21) commands.push_back("virtualNaps 5 30");
    jvm.ask_each(commands);
    const TraceDocument trace = jvm.finish();
    EXPECT_TRUE(none(trace.id_faults()));
    EXPECT_TRUE(none(trace.collation_faults()));
    EXPECT_TRUE(none(call_faults(trace)));
    EXPECT_TRUE(valid(jvm.path()));
    auto entries = by_method(trace, "methodEntry");
    EXPECT_EQ(entries, by_method(trace, "methodExit"));
    EXPECT_FALSE(entries.empty());
    EXPECT_EQ(jvm.err(), "");
  }
}

// They are left after 300 ms, 300 ms before their untraced caller calls another method for 300 ms. One is left by an
// exception of its superclass's constructor, which no callout sees: with --slower-than it is known when the next slow
// call ends. If the thread had events meanwhile, it has the latest time that is possible.
TEST_P(SlowMethods, ConstructorsEndWhenAnExceptionLeavesThem) {
  const struct {
    std::vector<std::string> words;
    std::uint64_t most;  // ms, of the one; 0: it is not known
  } kRuns[] = {{{"--events", "methods", "--slower-than", "40ms"}, 550},
               {{"--events", "methods,sleeps", "--slower-than", "40ms"}, 850},
               {{"--events", "methods"}, 0}};
  for (const auto& [words, most] : kRuns) {
    TracedJvm jvm(GetParam(), "Leavers",
                  with(words, {"--time", "precise", "--filter", "Leavers$Leaver exclude", "--filter",
                               "Leavers* include", "--filter", "* exclude"}));
    jvm.wait_rewritten();
    jvm.ask("leave 300");
    const TraceDocument trace = jvm.finish();
    EXPECT_TRUE(valid(jvm.path()));
    EXPECT_TRUE(none(call_faults(trace)));
    for (const auto& [method, limit] : std::map<std::string, std::uint64_t>{{"Leavers$TiredBefore.<init>", 550},
                                                                            {"Leavers$Tired.<init>", 550},
                                                                            {"Leavers$TiredInside.<init>", most}}) {
      if (limit == 0) continue;
      const auto calls = calls_of(trace, method);
      ASSERT_EQ(calls.size(), 1u) << method << words.back();
      EXPECT_GE(calls[0].first, 300u) << method << words.back();
      EXPECT_LT(calls[0].first, limit) << method << words.back();
      EXPECT_TRUE(calls[0].second) << method << words.back();
    }
    EXPECT_EQ(calls_of(trace, "Leavers.nap").size(), 4u);
  }
}

// Constructors that an exception leaves before super() returns, called by an untraced method: no callout sees it if it
// comes from the superclass's constructor.
TEST_P(SlowMethods, ConstructorsThatAreRefusedDoNotStayOpen) {
  const auto without_caller = [](std::vector<std::string> words) {
    return with(with(std::move(words), {"--filter", "Calls$Refuser exclude"}), kOnlyCalls);
  };
  TracedJvm jvm(GetParam(), "Calls",
                without_caller({"--events", "methods", "--slower-than", "40ms", "--time", "precise"}));
  jvm.wait_rewritten();
  // The second has more such calls than a thread's stack of open calls can hold.
  jvm.ask_each({"refused 3 500 60", "refused 2 20000 60"});
  const TraceDocument trace = jvm.finish();
  EXPECT_TRUE(none(call_faults(trace)));
  EXPECT_TRUE(none(short_calls(trace, 40'000'000)));
  EXPECT_TRUE(valid(jvm.path()));
  auto entries = by_method(trace, "methodEntry");
  EXPECT_EQ(entries, by_method(trace, "methodExit"));
  EXPECT_EQ(entries["Calls.nap"], 10);
  EXPECT_EQ(entries["Calls$Sleeper.<init>"], 5);
  EXPECT_TRUE(none(calls_within(trace, "Calls.nap", {"Calls$Refused.<init>", "Calls$Derived.<init>"})));
  // Of 40,000: any call is slow on a machine that stalls for a while.
  EXPECT_LT(entries["Calls$Refused.<init>"], 20);
  EXPECT_LT(entries["Calls$Derived.<init>"], 20);

  auto all = must(TraceRun::start(jvm.pid(), without_caller({"--events", "methods"})));
  ASSERT_TRUE(rewritten(*all));
  jvm.ask("refused 60 400 5");
  auto second = must(all->finish());
  std::size_t open = 0;
  EXPECT_TRUE(none(call_faults(second, &open)));
  EXPECT_TRUE(valid(all->path()));
  entries = by_method(second, "methodEntry");
  EXPECT_EQ(entries["Calls$Refused.<init>"], 12000);
  EXPECT_EQ(entries["Calls$Derived.<init>"], 12000);
  // They end when the thread takes a chunk of 1023 records outside of such a constructor: every other time.
  constexpr std::uint64_t kMost = 16000;  // of 24000
  EXPECT_LT(open, kMost);
  std::uint64_t deepest = 0;
  for (const TraceElement* each : second.all("methodEntry"))
    deepest = std::max(deepest, std::uint64_t{std::stoull(each->get("stackDepth"))});
  EXPECT_LT(deepest, kMost);
  EXPECT_EQ(jvm.err(), "");
}

// The calls on each object and its end, with the number that the program gave it: the first argument.
struct Told {
  std::string type;                      // its class
  std::set<std::string> numbers;         // of the calls on it
  std::map<std::string, int> calls;      // by method
  std::vector<std::uint64_t> sequences;  // in the order of the document
  std::uint64_t events = 0;              // including those that did not name it yet
  bool is_over = false;
  bool named_afterwards = false;
};

std::map<std::string, Told> told_of_objects(const TraceDocument& trace) {
  std::map<std::string, std::string> names = names_of_methods(trace);
  std::map<std::string, std::string> classes;
  for (const TraceElement* each : trace.all("classDef")) classes[each->get("classId")] = each->get("name");
  std::map<std::string, Told> told;
  for (const TraceElement* each : trace.all("objDef")) told[each->get("objId")].type = classes[each->get("classIdRef")];
  std::map<std::string, const TraceElement*> open;
  for (const TraceElement& each : trace.events()) {
    const bool is_exit = each.name == "methodExit";
    const std::string key = each.get("threadIdRef") + "/" + each.get("ticket");
    if (each.name == "methodEntry") open[key] = &each;
    if (!each.has("sequenceCounter") || each.get("objIdRef") == "0") continue;
    Told& object = told[each.get("objIdRef")];
    object.named_afterwards = object.named_afterwards || object.is_over;
    object.is_over = each.name == "objFree";
    object.sequences.push_back(each.number("sequenceCounter"));
    ++object.events;
    if (!is_exit) continue;
    const TraceElement& entry = *open.at(key);
    if (!entry.has("objIdRef")) ++object.events;
    ++object.calls[names[each.get("methodIdRef")]];
    if (!entry.children.empty()) object.numbers.insert(entry.children[0].get("value"));
  }
  return told;
}

TEST_P(SlowMethods, SlowCallsNameTheirReceivers) {
  constexpr std::size_t kForgotten = 3;
  // forget() is compiled, so that its `this` is not kept until its end.
  TracedJvm jvm(GetParam(), "Calls",
                with({"--events", "methods", "--objects", "--slower-than", "40ms", "--time", "precise", "--arguments",
                      "--cpu-time"},
                     kOnlyCalls),
                attachable(GetParam(), {"-Xcomp", "-XX:CompileCommand=quiet",
                                        "-XX:CompileCommand=compileonly,Calls$Sleeper.forget"}));
  jvm.wait_rewritten();
  std::size_t sleepers = 4;
  jvm.ask("sleepers 2 60");
  if (GetParam().version >= 21) {
    jvm.ask("virtualSleepers 2 60");
    sleepers += 4;
  }
  const auto forgotten = jvm.ask("forgotten 3 60");
  EXPECT_EQ(forgotten, "gone=3");
  await_elements(jvm.run(), "objFree", sleepers + kForgotten);
  const TraceDocument trace = jvm.finish();
  EXPECT_TRUE(none(trace.id_faults()));
  EXPECT_TRUE(none(trace.collation_faults()));
  EXPECT_TRUE(none(call_faults(trace)));
  EXPECT_TRUE(none(short_calls(trace, 40'000'000)));
  EXPECT_TRUE(valid(jvm.path()));
  std::set<std::string> numbers;
  std::size_t late = 0;
  std::size_t gone = 0;
  for (const auto& [id, object] : told_of_objects(trace)) {
    if (!object.type.starts_with("Calls$")) continue;
    SCOPED_TRACE("object " + id);
    // Quick calls are neither written nor counted.
    ASSERT_FALSE(object.sequences.empty());
    EXPECT_TRUE(std::is_sorted(object.sequences.begin(), object.sequences.end(), std::less_equal<>()));
    EXPECT_EQ(object.sequences.back(), object.events);
    EXPECT_FALSE(object.named_afterwards);
    ASSERT_EQ(object.numbers.size(), 1u);
    const std::string number = *object.numbers.begin();
    EXPECT_TRUE(numbers.insert(number).second) << number;
    std::map<std::string, int> calls = object.calls;
    if (object.type == "Calls$LateSleeper") {
      ++late;
      EXPECT_EQ(calls["Calls$Sleeper.rest"], 1);
      EXPECT_EQ(calls["Calls$Sleeper.sleep"], 2);
      EXPECT_EQ(calls["Calls$LateSleeper.<init>"], 1);
      // The even ones sleep in their superclass's constructor.
      if (number.back() % 2 == 0) {
        EXPECT_EQ(calls["Calls$Sleeper.<init>"], 1);
      }
    } else if (calls["Calls$Sleeper.forget"] == 1) {
      ++gone;
      EXPECT_TRUE(object.is_over);
    }
  }
  EXPECT_EQ(late, sleepers);
  EXPECT_EQ(gone, kForgotten);
  // For constructors that are slow before there is an object, only the exit names it.
  std::map<std::string, std::string> names = names_of_methods(trace);
  for (const TraceElement& each : trace.events()) {
    const bool is_call = each.name == "methodEntry" || each.name == "methodExit";
    const std::string method = is_call ? names[each.get("methodIdRef")] : "";
    if (method == "Calls.sleepers" || method == "Calls.nap") {
      EXPECT_EQ(each.get("objIdRef") + "/" + each.get("sequenceCounter"), "0/0") << method;
    } else if (method.starts_with("Calls$") && !(each.name == "methodEntry" && method.ends_with("<init>"))) {
      EXPECT_TRUE(each.has("objIdRef") && each.has("sequenceCounter")) << method;
    }
  }
  EXPECT_EQ(jvm.err(), "");
  record_support(GetParam(), "G1", "live", "receivers of slow calls");
}

}  // namespace
}  // namespace jtrace::test
