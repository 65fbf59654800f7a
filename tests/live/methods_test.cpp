// methodEntry, methodExit, line, throw and catch by rewritten bytecode: their numbers against the program's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "base/file.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_calls.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

using ::testing::HasSubstr;

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

const std::vector<std::string> kOnlyCalls{"--when-full", "block",          "--block-limit", "10000",
                                          "--filter",    "Calls* include", "--filter",      "* exclude"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_P(EachJdk, CountsAreWhatTheProgramDid) {
  TracedJvm jvm(GetParam(), "Calls", with({"--events", "methods,exceptions,lines"}, kOnlyCalls));
  jvm.wait_rewritten();
  long fibs = jvm.sum_of("fib", {"fib 15", "threads 4 12"});
  jvm.ask_each({"everything 50", "constructors 40", "throws 10"});
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_TRUE(none(call_faults(trace)));
  auto entries = by_method(trace, "methodEntry");
  EXPECT_EQ(entries, by_method(trace, "methodExit"));
  EXPECT_EQ(entries["Calls.fib"], fibs);
  EXPECT_EQ(entries["Calls.everything"], 50);
  EXPECT_EQ(entries["Calls$Derived.<init>"], 40);
  EXPECT_EQ(entries["Calls$Base.<init>"], 40);
  EXPECT_EQ(entries["Calls.construct"], 1);
  EXPECT_EQ(entries["Calls.catcher"], 10);
  EXPECT_EQ(entries["Calls.thrower"], 40);
  EXPECT_EQ(entries["Calls.implicit"], 10);
  EXPECT_EQ(entries["Calls.answer"], 5);
  // Base refuses 10 of 40 constructions; there is one throw for each frame that is passed, the catching one included.
  auto throws = by_method(trace, "throw");
  EXPECT_EQ(throws["Calls.thrower"], 40);
  EXPECT_EQ(throws["Calls.catcher"], 10);
  EXPECT_EQ(throws["Calls.implicit"], 10);
  EXPECT_EQ(throws["Calls.implicitCatcher"], 10);
  EXPECT_EQ(throws["Calls$Base.<init>"], 10);
  EXPECT_EQ(throws["Calls.construct"], 10);
  auto catches = by_method(trace, "catch");
  EXPECT_EQ(catches["Calls.catcher"], 10);
  EXPECT_EQ(catches["Calls.implicitCatcher"], 10);
  EXPECT_EQ(catches["Calls.construct"], 10);
  EXPECT_EQ(by_method(trace, "line")["Calls.fib"], fibs);  // one line
  EXPECT_EQ(jvm.err(), "");
  record_support(GetParam(), "G1", "live", "methods, exceptions and lines");

  // No probe is left in the code: a trace that would see one sees nothing.
  auto second = must(
      TraceRun::start(jvm.pid(), {"--events", "methods", "--filter", "NoSuchClass include", "--filter", "* exclude"}));
  ASSERT_TRUE(rewritten(*second));
  jvm.ask("fib 15");
  auto empty = must(second->finish());
  EXPECT_EQ(empty.count("methodEntry") + empty.count("methodExit"), 0u);
  EXPECT_THAT(empty.option("jtrace.rewritten"), HasSubstr("classes=0,"));
}

// methodCount by "Class.method"; the last one of the document.
std::map<std::string, std::uint64_t> counts_of(const TraceDocument& trace) {
  std::map<std::string, std::string> names = names_of_methods(trace);
  std::map<std::string, std::uint64_t> counts;
  for (const TraceElement* each : trace.all("methodCount"))
    counts[names[each->get("methodIdRef")]] = each->number("count");
  return counts;
}

TEST_P(EachJdk, CallsAreCountedInEveryThreadAndWhilePaused) {
  TracedJvm jvm(GetParam(), "Calls", with({"--events", "counts"}, kOnlyCalls));
  jvm.wait_rewritten();
  auto fibs = static_cast<std::uint64_t>(jvm.sum_of("fib", {"fib 15", "threads 4 20", "threads 90 12"}));
  jvm.ask_each({"throws 10", "constructors 40"});
  auto counted = must(run_jtrace({"ctl", jvm.pid_text(), "count"}));
  ASSERT_EQ(counted.status, 0) << counted.err;
  EXPECT_THAT(counted.out, ::testing::MatchesRegex("methods=[0-9]+\n"));
  jvm.ctl({"pause"});
  jvm.ask("everything 100");
  jvm.ctl({"resume"});
  if (GetParam().version >= 21) {
    auto answer = jvm.ask("virtual 20 10");
    fibs += static_cast<std::uint64_t>(value_in(answer, "fib"));
  }
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_EQ(trace.count("methodEntry"), 0u);
  auto counts = counts_of(trace);
  EXPECT_EQ(counts["Calls.fib"], fibs);
  EXPECT_EQ(counts["Calls.everything"], 100u);
  EXPECT_EQ(counts["Calls.thrower"], 40u);
  EXPECT_EQ(counts["Calls.catcher"], 10u);
  EXPECT_EQ(counts["Calls$Base.<init>"], 40u);
  ASSERT_EQ(counts.count("Calls.main"), 1u);
  EXPECT_EQ(counts["Calls.main"], 0u);  // it began before
  // Each method twice: on request, and at the end.
  EXPECT_EQ(trace.count("methodCount"), 2 * counts.size());
  EXPECT_THAT(trace.option("jtrace.counted"), HasSubstr("native=0,"));
  EXPECT_EQ(jvm.err(), "");
  record_support(GetParam(), "G1", "live", "method counts");
}

TEST_P(EachJdk, EachFileOfATraceEndsWithTheCountsOfThen) {
  TracedJvm jvm(GetParam(), "Calls",
                with({"--events", "methods,counts", "--max-size", "256K", "--rotate", "30"}, kOnlyCalls));
  jvm.wait_rewritten();
  std::uint64_t fibs = 0;
  for (int i = 0; i < 2; ++i) {
    auto answer = jvm.ask("fib 14");
    fibs += static_cast<std::uint64_t>(value_in(answer, "fib"));
  }
  jvm.stop();
  std::vector<std::string> files{jvm.path()};
  while (std::filesystem::exists(jvm.path() + "." + std::to_string(files.size())))
    files.insert(files.begin(), jvm.path() + "." + std::to_string(files.size()));
  ASSERT_GE(files.size(), 3u);
  std::uint64_t entries = 0;
  std::uint64_t counted = 0;
  std::string before;  // the file before this one in the trace
  for (const std::string& file : files) {
    const auto trace = must(TraceDocument::read(file));
    EXPECT_TRUE(none(trace.id_faults()));
    const auto validated = must(run_command({jtrace_binary(), "validate", file}));
    EXPECT_EQ(validated.status, 0) << validated.out << validated.err;
    EXPECT_EQ(trace.option("jtrace.continues"), before);
    before = std::string(trace.all("traceStart").at(0)->get("traceId"));
    EXPECT_EQ(trace.option("jtrace.uncounted"), "");
    EXPECT_NE(trace.option("jtrace.counted"), "");
    entries += static_cast<std::uint64_t>(by_method(trace, "methodEntry")["Calls.fib"]);
    auto counts = counts_of(trace);
    EXPECT_GE(counts["Calls.fib"], std::max(counted, entries));
    counted = counts["Calls.fib"];
  }
  EXPECT_EQ(entries, fibs);
  EXPECT_EQ(counted, fibs);

  auto limited =
      must(TraceRun::start(jvm.pid(), with({"--events", "methods,counts", "--max-size", "300K"}, kOnlyCalls)));
  ASSERT_TRUE(rewritten(*limited));
  jvm.ask("fib 16");
  auto status = must(limited->command().wait_exit());  // at --max-size
  EXPECT_EQ(status, 0) << limited->command().err();
  auto trace = must(limited->document());
  EXPECT_TRUE(none(trace.id_faults()));
  EXPECT_EQ(trace.option("jtrace.uncounted"), "");
  EXPECT_GE(counts_of(trace)["Calls.fib"], static_cast<std::uint64_t>(by_method(trace, "methodEntry")["Calls.fib"]));
  EXPECT_EQ(jvm.err(), "");
}

TEST_P(EachJdk, CountsOfTheWholeJdkAreWrittenWhenTheJvmEnds) {
  TracedJvm jvm(GetParam(), "Calls", {"--events", "counts", "--ring-memory", "2M"});
  jvm.wait_rewritten();
  auto answer = jvm.ask("threads 3 15");
  must(jvm.process().send("exit"));
  auto status = jvm.wait_exit();
  EXPECT_EQ(status, 0) << jvm.command().err();
  const TraceDocument trace = jvm.document();
  jvm.expect_valid(trace);
  auto counts = counts_of(trace);
  EXPECT_EQ(counts["Calls.fib"], static_cast<std::uint64_t>(value_in(answer, "fib")));
  EXPECT_GT(counts["java/lang/String.length"], 0u);
  EXPECT_GT(counts.size(), 3000u);
  EXPECT_THAT(trace.option("jtrace.counted"), ::testing::Not(HasSubstr("guardedClasses=0")));
}

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

// "TYPE=value", "TYPE#objId" of each child.
std::string values_of(const TraceElement& call) {
  std::string text;
  for (const TraceElement& each : call.children) {
    if (!text.empty()) text += ' ';
    text += each.get("type");
    if (each.has("value")) text += "=" + each.get("value");
    else if (each.has("objIdRef")) text += each.get("objIdRef") == "0" ? "#0" : "#id";
  }
  return text;
}

// By "Entry Class.method" and "Exit Class.method", in their order.
std::map<std::string, std::vector<std::string>> values_by_call(const TraceDocument& trace) {
  std::map<std::string, std::string> names = names_of_methods(trace);
  std::map<std::string, std::vector<std::string>> given;
  for (const TraceElement& each : trace.events())
    if (each.name == "methodEntry" || each.name == "methodExit")
      given[each.name.substr(6) + " " + names[each.get("methodIdRef")]].push_back(values_of(each));
  return given;
}

TEST_P(EachJdk, OnlyCallsThatTakeLongAreTraced) {
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
  EXPECT_EQ(given["Exit Calls.napAndThrow"], Texts(static_cast<std::size_t>(naps), ""));
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

// Constructors that an exception leaves before super() returns, called by an untraced method: no probe sees it.
TEST_P(EachJdk, ConstructorsThatAreRefusedDoNotStayOpen) {
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

TEST_P(EachJdk, ArgumentsAndResultsHaveTheirValues) {
  auto jvm = must(JvmProcess::start(GetParam(), "Calls", attachable(GetParam())));
  auto run =
      must(TraceRun::start(jvm->pid(), with({"--events", "methods", "--arguments", "--return-values"}, kOnlyCalls)));
  ASSERT_TRUE(rewritten(*run));
  for (const char* command : {"values 300", "everything 2", "throws 3", "fib 10"}) must(jvm->ask(command));
  auto trace = must(run->finish());
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_TRUE(none(call_faults(trace)));
  EXPECT_TRUE(valid(run->path()));
  auto given = values_by_call(trace);
  using Texts = std::vector<std::string>;
  EXPECT_EQ(
      given["Entry Calls.many"],
      (Texts{"BOOLEAN=true INT=-3 CHAR=\xc3\xa9 INT=-300 FLOAT=1.5 STRING=a<b OPAQUE#id OPAQUE#0",
             "BOOLEAN=false INT=3 CHAR=c INT=300 FLOAT=-1.5 STRING=" + std::string(128, 'x') + " OPAQUE#0 STRING="}));
  EXPECT_EQ(given["Exit Calls.many"], (Texts{"STRING=\xc3\xa9"
                                             "a<b",
                                             "STRING=c" + std::string(127, 'x')}));
  EXPECT_EQ(given["Entry Calls.add"], (Texts{"LONG=5000000000 DOUBLE=0.25"}));
  EXPECT_EQ(given["Exit Calls.add"], (Texts{"LONG=5000000005"}));
  // Constructors have one argument each; none returns a value, an exception leaves the second.
  EXPECT_EQ(given["Entry Calls$Base.<init>"], (Texts{"INT=7", "INT=-1"}));
  EXPECT_EQ(given["Exit Calls$Base.<init>"], (Texts{"", ""}));
  // int[] is filtered out.
  EXPECT_EQ(given["Entry Calls.everything"],
            (Texts{"INT=0 LONG=0 DOUBLE=0 STRING=text OPAQUE", "INT=1 LONG=1 DOUBLE=1 STRING=text OPAQUE"}));
  EXPECT_EQ(given["Exit Calls.thrower"], Texts(12, ""));
  EXPECT_EQ(given["Exit Calls.catcher"], Texts(3, "INT=1"));
  EXPECT_EQ(given["Entry Calls.fib"].size(), 177u);
  EXPECT_EQ(given["Entry Calls.fib"][0], "INT=10");
  EXPECT_EQ(given["Exit Calls.fib"].back(), "INT=55");
  EXPECT_EQ(jvm->err(), "");
  record_support(GetParam(), "G1", "live", "arguments and return values");
}

// Waits until the trace has that many of the element, or until a time limit.
void await_elements(TraceRun& run, const std::string& element, std::size_t count) {
  for (int i = 0; i < 1500 && run.command().alive(); ++i) {
    const auto text = read_file(run.path());
    if (text && occurrences(*text, "<" + element + " ") >= count) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// sequenceCounter by objIdRef, in the order of the document.
using Sequences = std::map<std::string, std::vector<std::uint64_t>>;

TEST_P(EachJdk, CallsNameTheirReceivers) {
  constexpr std::size_t kCells = 50;
  constexpr std::size_t kThreads = 3;
  TracedJvm jvm(GetParam(), "Calls", with({"--events", "methods", "--objects"}, kOnlyCalls));
  jvm.wait_rewritten();
  jvm.ask_each({"cells 50 3", "fib 5", "dropCells 0"});
  await_elements(jvm.run(), "objFree", kCells);
  jvm.ask("constructors 4");
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_TRUE(none(call_faults(trace)));
  std::map<std::string, std::string> names = names_of_methods(trace);
  std::map<std::string, std::string> classes;
  for (const TraceElement* each : trace.all("classDef")) classes[each->get("classId")] = each->get("name");
  std::map<std::string, std::string> class_of;
  for (const TraceElement* each : trace.all("objDef")) class_of[each->get("objId")] = classes[each->get("classIdRef")];
  Sequences cells;
  int refused = 0;
  for (const TraceElement& each : trace.events()) {
    const bool is_call = each.name == "methodEntry" || each.name == "methodExit";
    if (!is_call && each.name != "objFree") continue;
    const std::string method = is_call ? names[each.get("methodIdRef")] : "";
    const std::string object = each.get("objIdRef");
    if (method == "Calls.fib" || method == "Calls.construct") {
      EXPECT_EQ(object + "/" + each.get("sequenceCounter"), "0/0") << method;
    } else if (method.ends_with("<init>") && each.name == "methodEntry") {
      EXPECT_FALSE(each.has("objIdRef") || each.has("sequenceCounter")) << method;
    } else if (class_of[object] == "Calls$SubCell") {
      cells[object].push_back(each.number("sequenceCounter"));
    } else if (method == "Calls$Derived.<init>" || method == "Calls$Base.<init>") {
      // Base refuses one of four, after its super(): Derived has not seen its receiver.
      if (each.has("objIdRef")) {
        EXPECT_EQ(class_of[object], "Calls$Derived");
      } else {
        ++refused;
      }
    }
  }
  EXPECT_EQ(refused, 1);
  // The constructors: Cell's entry 1, touch 2 and 3, Cell's exit 4, SubCell's entry 5 and exit 6; the entries do not
  // know the object yet. Six for each twice(); the end.
  std::vector<std::uint64_t> expected{2, 3, 4, 6};
  for (std::uint64_t i = 7; i <= 7 + 6 * kThreads; ++i) expected.push_back(i);
  EXPECT_EQ(cells.size(), kCells);
  for (const auto& [object, sequence] : cells) EXPECT_EQ(sequence, expected) << "object " << object;
  EXPECT_EQ(jvm.err(), "");
  record_support(GetParam(), "G1", "live", "receivers of calls");
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

TEST_P(EachJdk, SlowCallsNameTheirReceivers) {
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

// Each objAlloc by its type: "isArray class".
struct Allocations {
  std::map<std::string, std::size_t> by_type;
  std::map<std::string, std::set<std::string>> places;  // contextData
  std::set<std::string> objects, freed;
};

Allocations allocations_of(const TraceDocument& trace) {
  std::map<std::string, std::string> classes;
  for (const TraceElement* each : trace.all("classDef")) classes[each->get("classId")] = each->get("name");
  Allocations found;
  for (const TraceElement* each : trace.all("objAlloc")) {
    std::string type = each->get("isArray");
    if (each->has("classIdRef")) type += " " + classes[each->get("classIdRef")];
    ++found.by_type[type];
    found.places[type].insert(each->get("contextData"));
    found.objects.insert(each->get("objId"));
  }
  for (const TraceElement* each : trace.all("objFree")) found.freed.insert(each->get("objIdRef"));
  return found;
}

const std::vector<std::string> kOnlyAllocate{
    "--when-full",        "block",    "--block-limit", "10000", "--filter", "Calls allocate include", "--filter",
    "Calls$Base include", "--filter", "* exclude"};
using Counts = std::map<std::string, std::size_t>;

TEST_P(EachJdk, EveryObjectThatTheCodeMakesIsRecorded) {
  TracedJvm jvm(GetParam(), "Calls", with({"--events", "allocations"}, kOnlyAllocate));
  jvm.wait_rewritten();
  jvm.ask("allocate 300");
  jvm.ask("gc 1");
  const Counts expected{{"0 Calls$Base", 300},
                        {"0 java/lang/IllegalArgumentException", 300},
                        {"2 java/lang/Object", 1},
                        {"2 java/lang/String", 300},
                        {"10", 300},
                        {"2 [Z", 300},
                        {"4", 900},
                        {"2 [[LCalls$Base;", 300},
                        {"2 [LCalls$Base;", 600}};
  std::size_t all = 0;
  for (const auto& [type, count] : expected) all += count;
  await_elements(jvm.run(), "objFree", all);
  const TraceDocument trace = jvm.finish_valid();
  const Allocations made = allocations_of(trace);
  EXPECT_EQ(made.by_type, expected);
  EXPECT_EQ(made.objects.size(), all);
  EXPECT_EQ(made.freed, made.objects);
  // Each object is made in one line; those of allocate() follow each other.
  std::vector<long> lines;
  for (const char* type :
       {"2 java/lang/Object", "0 Calls$Base", "10", "2 java/lang/String", "2 [Z", "2 [[LCalls$Base;"}) {
    ASSERT_EQ(made.places.at(type).size(), 1u) << type;
    const std::string& place = *made.places.at(type).begin();
    EXPECT_THAT(place, ::testing::MatchesRegex("Calls.allocate:[0-9]+"));
    lines.push_back(std::strtol(place.c_str() + place.find(':') + 1, nullptr, 10));
  }
  EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end(), std::less_equal<>()));
  EXPECT_EQ(made.places.at("4"), made.places.at("2 [Z"));
  EXPECT_THAT(*made.places.at("0 java/lang/IllegalArgumentException").begin(),
              ::testing::StartsWith("Calls$Base.<init>:"));
  std::set<std::uint64_t> sizes;
  for (const TraceElement* each : trace.all("objAlloc"))
    if (each->get("isArray") == "10") sizes.insert(each->number("size"));
  EXPECT_GE(*sizes.rbegin(), 299u * 4);
  EXPECT_GE(sizes.size(), 100u);
  EXPECT_THAT(trace.option("jtrace.rewritten"), HasSubstr("unseenNews=0"));
  EXPECT_EQ(jvm.err(), "");
  record_support(GetParam(), "G1", "live", "allocations by bytecode");

  // With stacks, and with receivers: an object is known from the first of its constructors that is traced, even if its
  // construction is refused.
  auto second = must(TraceRun::start(
      jvm.pid(), with({"--events", "allocations,methods", "--objects", "--stack-depth", "4"}, kOnlyAllocate)));
  ASSERT_TRUE(rewritten(*second));
  jvm.ask("allocate 20");
  auto trace2 = must(second->finish());
  EXPECT_TRUE(none(trace2.faults()));
  EXPECT_TRUE(none(call_faults(trace2)));
  EXPECT_TRUE(valid(second->path()));
  const Allocations both = allocations_of(trace2);
  EXPECT_EQ(both.by_type.at("0 Calls$Base"), 40u);
  EXPECT_EQ(both.by_type.at("4"), 60u);
  EXPECT_EQ(trace2.count("objDef"), 0u);
  for (const std::string& place : both.places.at("0 Calls$Base"))
    EXPECT_THAT(place,
                ::testing::MatchesRegex("Calls.Base.<init>:[0-9]+;Calls.allocate:[0-9]+;Calls.answer:[0-9]+;.*"));
  for (const std::string& place : both.places.at("10"))
    EXPECT_THAT(place, ::testing::MatchesRegex("Calls.allocate:[0-9]+;Calls.answer:[0-9]+;Calls.main:[0-9]+"));
}

TEST_P(EachJdk, FiltersAreReplacedWhileItRuns) {
  TracedJvm jvm(GetParam(), "Calls",
                {"--events", "methods", "--time", "precise", "--filter", "Calls fib include", "--filter", "* exclude"});
  jvm.wait_rewritten();
  jvm.ask_each({"fib 10", "everything 5"});
  auto changed = must(run_jtrace({"ctl", jvm.pid_text(), "filters", "Calls everything include", "* exclude"}));
  ASSERT_EQ(changed.status, 0) << changed.err;
  jvm.wait_rewritten(2);
  jvm.ask_each({"fib 10", "everything 7"});
  jvm.ctl({"pause"});
  jvm.ask("everything 100");
  EXPECT_EQ(run_jtrace({"ctl", jvm.pid_text(), "count"})->status, 1);
  jvm.ctl({"resume"});
  jvm.ask("everything 3");
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_TRUE(none(call_faults(trace)));
  auto entries = by_method(trace, "methodEntry");
  EXPECT_EQ(entries["Calls.fib"], 177);
  EXPECT_EQ(entries["Calls.everything"], 10);
  EXPECT_EQ(entries.size(), 2u);
}

TEST_P(EachJdk, TheWholeJdkIsTracedAndGoesOnAsBefore) {
  // Virtual threads hand over objects that are known only while they are allocated.
  const bool has_virtual = GetParam().version >= 21;
  std::vector<std::string> words{"--when-full", "block", "--block-limit", "10000", "--events"};
  words = with(std::move(words), has_virtual ? std::vector<std::string>{"methods,exceptions,allocations", "--objects"}
                                             : std::vector<std::string>{"methods,exceptions"});
  TracedJvm jvm(GetParam(), "Calls", words);
  jvm.wait_rewritten();
  std::vector<std::string> commands{"fib 5", "throws 3", "threads 3 5"};
  if (has_virtual) commands.push_back("virtual 200 5");
  long fibs = jvm.sum_of("fib", commands);
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_TRUE(none(call_faults(trace)));
  EXPECT_EQ(by_method(trace, "methodEntry")["Calls.fib"], fibs);
  EXPECT_EQ(by_method(trace, "methodExit")["Calls.fib"], fibs);
  EXPECT_THAT(trace.option("jtrace.rewritten"), HasSubstr("refusedClasses=0,"));
  EXPECT_THAT(trace.option("jtrace.rewritten"), HasSubstr("unreadable=0"));
  EXPECT_EQ(jvm.err(), "");
  EXPECT_TRUE(succeeded(jvm.process().ask("fib 5")));
}

// On a full stack every call fails, those of probes too; the handler of a synchronized block covers itself.
TEST_P(EachJdk, FullStacksRunEmpty) {
  auto jvm = must(JvmProcess::start(GetParam(), "Calls", attachable(GetParam())));
  for (const char* events : {"methods,exceptions,lines", "calls,lines"}) {
    SCOPED_TRACE(events);
    auto run = must(TraceRun::start(jvm->pid(), with({"--events", events}, kOnlyCalls)));
    ASSERT_TRUE(rewritten(*run));
    auto answer = must(jvm->ask("overflows 8"));
    EXPECT_EQ(value_in(answer, "overflows"), 8);
    EXPECT_TRUE(succeeded(run->stop())) << events;
  }
  EXPECT_EQ(jvm->err(), "");
}

TEST_P(EachJdk, ComesAndGoesWhileTheProgramRuns) {
  auto jvm = must(JvmProcess::start(GetParam(), "Calls", attachable(GetParam())));
  must(jvm->ask("spin 1"));
  for (int i = 0; i < 3; ++i) {
    SCOPED_TRACE("trace " + std::to_string(i));
    auto run = must(TraceRun::start(jvm->pid(), {"--events", "methods", "--filter", "Calls* include", "--filter",
                                                 "* exclude", "--max-size", "1M"}));
    auto status = must(run->command().wait_exit());  // at --max-size
    EXPECT_THAT(status, ::testing::AnyOf(0, 9)) << run->command().err();
    auto trace = must(run->document());
    EXPECT_GT(trace.count("methodEntry"), 1000u);
    EXPECT_TRUE(none(call_faults(trace))) << i;
  }
  must(jvm->ask("spin 0"));
  auto answer = must(jvm->ask("fib 10"));
  EXPECT_EQ(answer, "fib=177");
  EXPECT_EQ(jvm->err(), "");
}

}  // namespace
}  // namespace jtrace::test
