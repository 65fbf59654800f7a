// The trace of a JVMPI profiler (jvmpi/trace_profiler.c) against that of jtrace's own agent, for the same program: they
// agree on everything that both can observe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/live/jvmpi_run.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_calls.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

class TwoTraces : public JvmpiRun {
 protected:
  // The traced work: known numbers of calls, threads, waits, contended monitors, collections.
  static void work(JvmProcess& jvm) {
    for (const char* command : {"calls 10", "threads 3", "contend 3", "waits 4", "sleeps 3", "load 2", "gc 2"})
      EXPECT_TRUE(succeeded(jvm.ask(command))) << command;
  }

  // Through the bridge, loaded at run time like the agent.
  TraceDocument by_jvmpi() {
    auto jvm = JvmProcess::start(GetParam(), "JvmpiZoo", seeing_folders(attachable(GetParam())));
    EXPECT_TRUE(succeeded(jvm));
    if (!jvm) return {};
    const auto loaded = run_jtrace({"load", (*jvm)->pid_text(), library("jtrace_jvmpi"),
                                    library("jvmpi_trace") + "," + for_jvm("jvmpi.xml") + ":JvmpiZoo"});
    EXPECT_TRUE(succeeded(loaded));
    EXPECT_EQ(loaded ? loaded->status : -1, 0) << (loaded ? loaded->err : "");
    work(**jvm);
    (*jvm)->close_input();
    EXPECT_TRUE(succeeded((*jvm)->wait_exit())) << (*jvm)->crash_report();
    EXPECT_EQ((*jvm)->err(), "");
    EXPECT_TRUE(valid(folder_.file("jvmpi.xml")));
    auto trace = TraceDocument::read(folder_.file("jvmpi.xml"));
    EXPECT_TRUE(succeeded(trace));
    return trace ? *trace : TraceDocument{};
  }

  TraceDocument by_agent() {
    auto jvm = JvmProcess::start(GetParam(), "JvmpiZoo", attachable(GetParam()));
    EXPECT_TRUE(succeeded(jvm));
    if (!jvm) return {};
    auto run = TraceRun::start((*jvm)->pid(), {"--events", "all,methods", "--filter", "JvmpiZoo* include", "--filter",
                                               "* exclude", "--loaded-classes", "all", "--min-contention", "0"});
    EXPECT_TRUE(succeeded(run));
    if (!run) return {};
    EXPECT_TRUE(rewritten(**run));
    work(**jvm);
    auto trace = (*run)->finish();
    EXPECT_TRUE(succeeded(trace));
    return trace ? *trace : TraceDocument{};
  }
};
JTRACE_ON_EACH_JDK(TwoTraces);

// Facts that both have in definitions; "Class attribute=value..." each.
std::set<std::string> facts_of_classes(const TraceDocument& trace) {
  std::set<std::string> facts;
  for (const TraceElement* each : trace.all("classDef")) {
    // The name of a lambda's class has an address in it.
    if (!each->get("name").starts_with("JvmpiZoo") || each->get("name").find("$$") != std::string::npos) continue;
    std::string fact = each->get("name");
    for (const char* name : {"sourceName", "numInterfaces", "numMethods", "numStaticFields", "numInstanceFields"})
      fact += std::string(" ") + name + "=" + each->get(name);
    facts.insert(fact);
  }
  return facts;
}

std::set<std::string> facts_of_methods(const TraceDocument& trace) {
  const auto names = names_of_methods(trace);
  std::set<std::string> facts;
  for (const TraceElement* each : trace.all("methodDef"))
    facts.insert(names.at(each->get("methodId")) + each->get("signature") + " " + each->get("startLineNumber") + "-" +
                 each->get("endLineNumber"));
  return facts;
}

// The int[64] of each worker.
long arrays_of_workers(const TraceDocument& trace) {
  const auto all = trace.all("objAlloc");
  return std::count_if(all.begin(), all.end(), [](const TraceElement* each) {
    return each->get("isArray") == "10" && each->number("size") >= 256 && each->number("size") <= 280;
  });
}

// Sleeps of 7 ms, which "sleeps" makes.
long sleeps(const TraceDocument& trace) {
  const auto all = trace.all("monWait");
  return std::count_if(all.begin(), all.end(), [](const TraceElement* each) {
    return each->get("objIdRef") == "-1" && each->get("timeout") == "7";
  });
}

TEST_P(TwoTraces, Agree) {
  const TraceDocument bridge = by_jvmpi();
  const TraceDocument agent = by_agent();
  EXPECT_TRUE(none(bridge.faults()));
  EXPECT_TRUE(none(agent.faults()));
  EXPECT_TRUE(none(call_faults(bridge)));
  EXPECT_EQ(bridge.option("jvmpi.unbalanced"), "0");
  EXPECT_EQ(bridge.option("jvmpi.unknownThreads"), "0");
  // The calls of each method, with their exits.
  const auto calls = by_method(agent, "methodEntry");
  EXPECT_EQ(calls.at("JvmpiZoo.fib"), 177);
  EXPECT_EQ(by_method(bridge, "methodEntry"), calls);
  EXPECT_EQ(by_method(bridge, "methodExit"), by_method(agent, "methodExit"));
  // The agent defines a method at its first event, the bridge with its class.
  const auto all = facts_of_methods(bridge);
  for (const std::string& each : facts_of_methods(agent)) EXPECT_TRUE(all.contains(each)) << each;
  EXPECT_EQ(facts_of_classes(bridge), facts_of_classes(agent));
  for (const char* element : {"threadStart", "threadEnd"})
    for (const char* name : {"worker-", "contender-"})
      EXPECT_EQ(count_by_thread(bridge, element, name), count_by_thread(agent, element, name)) << element << name;
  for (const TraceElement* each : bridge.all("threadStart"))
    EXPECT_NE(each->get("threadName"), "") << each->get("threadId");
  // Whether Thread.join must wait depends on a race.
  for (const TraceDocument* trace : {&bridge, &agent}) {
    EXPECT_GE(count_by_thread(*trace, "monWait", "main"), 4);
    EXPECT_EQ(count_by_thread(*trace, "monWaited", "main"), count_by_thread(*trace, "monWait", "main"));
  }
  EXPECT_EQ(sleeps(bridge), 4);
  EXPECT_EQ(sleeps(agent), 4);
  for (const char* element : {"monContendedEnter", "monContendedEntered"})
    EXPECT_EQ(count_by_thread(bridge, element, "contender-"), count_by_thread(agent, element, "contender-")) << element;
  EXPECT_EQ(count_by_thread(bridge, "monContendedEnter", "contender-"), 3);
  EXPECT_EQ(count_classes(bridge, "JvmpiZoo$Plugin"), 2);
  // JDK 17's sampling loses up to 1 object in 500 (docs/jvmpi.md).
  EXPECT_GE(arrays_of_workers(bridge), 2);
  EXPECT_GE(bridge.count("classUnload"), 2u);
  EXPECT_GE(bridge.count("gcStart"), 2u);
  EXPECT_GT(bridge.count("objFree"), 0u);
  matrix("a trace.dtd profiler");
}

}  // namespace
}  // namespace jtrace::test
