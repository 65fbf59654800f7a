// --arguments, --return-values, --objects: what calls are given and return, and on which object they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/live/method_calls.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_calls.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

class MethodValues : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(MethodValues);

TEST_P(MethodValues, ArgumentsAndResultsHaveTheirValues) {
  auto jvm = must(JvmProcess::start(GetParam(), "Calls", attachable(GetParam())));
  auto run =
      must(TraceRun::start(jvm->pid(), with({"--events", "methods", "--arguments", "--return-values"}, kOnlyCalls)));
  ASSERT_TRUE(rewritten(*run));
  for (const char* command : {"values 300", "boxes 70000", "everything 2", "throws 3", "fib 10"})
    must(jvm->ask(command));
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
  EXPECT_EQ(given["Entry Calls.boxes"],
            (Texts{"BOOLEAN=true CHAR=x INT=-3 INT=-300 INT=70000 LONG=5000000000 FLOAT=1.5 DOUBLE=-0.25 OPAQUE"}));
  EXPECT_EQ(given["Exit Calls.boxes"], (Texts{"INT=70000"}));
  EXPECT_EQ(given["Entry Calls.add"], (Texts{"LONG=5000000000 DOUBLE=0.25"}));
  EXPECT_EQ(given["Exit Calls.add"], (Texts{"LONG=5000000005"}));
  // Constructors have one argument each; none returns a value, an exception leaves the second.
  EXPECT_EQ(given["Entry Calls$Base.<init>"], (Texts{"INT=7", "INT=-1"}));
  EXPECT_EQ(given["Exit Calls$Base.<init>"], (Texts{"", "exception"}));
  // int[] is filtered out.
  EXPECT_EQ(given["Entry Calls.everything"],
            (Texts{"INT=0 LONG=0 DOUBLE=0 STRING=text OPAQUE", "INT=1 LONG=1 DOUBLE=1 STRING=text OPAQUE"}));
  EXPECT_EQ(given["Exit Calls.thrower"], Texts(12, "exception"));
  EXPECT_EQ(given["Exit Calls.catcher"], Texts(3, "INT=1"));
  EXPECT_EQ(given["Entry Calls.fib"].size(), 177u);
  EXPECT_EQ(given["Entry Calls.fib"][0], "INT=10");
  EXPECT_EQ(given["Exit Calls.fib"].back(), "INT=55");
  EXPECT_EQ(jvm->err(), "");
  record_support(GetParam(), "G1", "live", "arguments and return values");
}

// sequenceCounter by objIdRef, in the order of the document.
using Sequences = std::map<std::string, std::vector<std::uint64_t>>;

TEST_P(MethodValues, CallsNameTheirReceivers) {
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

}  // namespace
}  // namespace jtrace::test
