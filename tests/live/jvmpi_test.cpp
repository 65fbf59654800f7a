// JVMPI profilers, run by libjtrace_jvmpi.so on every JDK: each event and each function, the examples of the
// interface's document, libraries that are not profilers, a profiler that is loaded at run time.
#include "agent/jvmpi/jvmpi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "base/file.h"
#include "base/strings.h"
#include "tests/live/jvmpi_run.h"
#include "tests/testlib/places.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::Ge;
using ::testing::HasSubstr;

constexpr std::string_view kApp = "JvmpiZoo";

struct Named {
  const char* name;
  int event;
};
constexpr Named kEvents[] = {
    {"METHOD_ENTRY", JVMPI_EVENT_METHOD_ENTRY},
    {"METHOD_ENTRY2", JVMPI_EVENT_METHOD_ENTRY2},
    {"METHOD_EXIT", JVMPI_EVENT_METHOD_EXIT},
    {"OBJECT_ALLOC", JVMPI_EVENT_OBJECT_ALLOC},
    {"OBJECT_FREE", JVMPI_EVENT_OBJECT_FREE},
    {"COMPILED_METHOD_LOAD", JVMPI_EVENT_COMPILED_METHOD_LOAD},
    {"THREAD_START", JVMPI_EVENT_THREAD_START},
    {"THREAD_END", JVMPI_EVENT_THREAD_END},
    {"CLASS_LOAD_HOOK", JVMPI_EVENT_CLASS_LOAD_HOOK},
    {"JNI_GLOBALREF_ALLOC", JVMPI_EVENT_JNI_GLOBALREF_ALLOC},
    {"JNI_GLOBALREF_FREE", JVMPI_EVENT_JNI_GLOBALREF_FREE},
    {"JNI_WEAK_GLOBALREF_ALLOC", JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC},
    {"JNI_WEAK_GLOBALREF_FREE", JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE},
    {"CLASS_LOAD", JVMPI_EVENT_CLASS_LOAD},
    {"CLASS_UNLOAD", JVMPI_EVENT_CLASS_UNLOAD},
    {"JVM_INIT_DONE", JVMPI_EVENT_JVM_INIT_DONE},
    {"JVM_SHUT_DOWN", JVMPI_EVENT_JVM_SHUT_DOWN},
    {"RAW_MONITOR_CONTENDED_ENTER", JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER},
    {"RAW_MONITOR_CONTENDED_ENTERED", JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTERED},
    {"RAW_MONITOR_CONTENDED_EXIT", JVMPI_EVENT_RAW_MONITOR_CONTENDED_EXIT},
    {"MONITOR_CONTENDED_ENTER", JVMPI_EVENT_MONITOR_CONTENDED_ENTER},
    {"MONITOR_CONTENDED_ENTERED", JVMPI_EVENT_MONITOR_CONTENDED_ENTERED},
    {"MONITOR_CONTENDED_EXIT", JVMPI_EVENT_MONITOR_CONTENDED_EXIT},
    {"MONITOR_WAIT", JVMPI_EVENT_MONITOR_WAIT},
    {"MONITOR_WAITED", JVMPI_EVENT_MONITOR_WAITED},
    {"GC_START", JVMPI_EVENT_GC_START},
    {"GC_FINISH", JVMPI_EVENT_GC_FINISH},
};
// Sent only on request.
constexpr Named kRequested[] = {{"HEAP_DUMP", JVMPI_EVENT_HEAP_DUMP},
                                {"OBJECT_DUMP", JVMPI_EVENT_OBJECT_DUMP},
                                {"MONITOR_DUMP", JVMPI_EVENT_MONITOR_DUMP}};
// What the exerciser checks, each alone or with what belongs to it.
constexpr const char* kFunctions[] = {"GetCurrentThreadCpuTime",
                                      "GetThreadObject",
                                      "RequestEvent THREAD_START",
                                      "jobjectID2jobject",
                                      "ThreadLocalStorage",
                                      "GetThreadStatus",
                                      "GetCallTrace",
                                      "SuspendThread",
                                      "ThreadHasRun",
                                      "SuspendThreadList",
                                      "ResumeThreadList",
                                      "GetMethodClass",
                                      "RequestEvent CLASS_LOAD",
                                      "RequestEvent OBJECT_ALLOC",
                                      "RequestEvent of others",
                                      "EnableEvent of dumps",
                                      "RawMonitorCreate",
                                      "RawMonitorWait",
                                      "CreateSystemThread",
                                      "RawMonitorNotifyAll",
                                      "RawMonitorDestroy",
                                      "RunGC",
                                      "global references",
                                      "EnableEvent",
                                      "DisableEvent",
                                      "RequestEvent HEAP_DUMP",
                                      "RequestEvent HEAP_DUMP NULL",
                                      "RequestEvent OBJECT_DUMP",
                                      "RequestEvent MONITOR_DUMP"};

// The report of the exerciser: "key=value" lines.
using Report = std::map<std::string, std::string>;
Report read_report(const std::string& path) {
  Report report;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.find('=');
    if (at != std::string::npos) report[line.substr(0, at)] = line.substr(at + 1);
  }
  return report;
}
long number(const Report& report, const std::string& key) {
  const auto found = report.find(key);
  return found == report.end() ? 0 : std::strtol(found->second.c_str(), nullptr, 10);
}

class EachJdk : public JvmpiRun {
 protected:
  Report run(const JvmOptions& options, const std::vector<std::string>& commands, int want_status = 0) {
    auto jvm = JvmProcess::start(GetParam(), kApp, options);
    EXPECT_TRUE(succeeded(jvm));
    if (!jvm) return {};
    for (const std::string& command : commands) EXPECT_TRUE(succeeded((*jvm)->ask(command))) << command;
    (*jvm)->close_input();
    auto status = (*jvm)->wait_exit();
    EXPECT_TRUE(succeeded(status)) << (*jvm)->crash_report();
    EXPECT_EQ(status.value_or(-1), want_status) << (*jvm)->crash_report();
    EXPECT_EQ((*jvm)->err(), "");
    return read_report(folder_.file("report"));
  }
  void record(const Report& report) const {
    for (const Named& each : kEvents)
      if (number(report, "event." + std::to_string(each.event)) > 0) matrix(each.name);
    for (const Named& each : kRequested)
      if (number(report, "requested." + std::to_string(each.event)) > 0) matrix(each.name);
    for (const char* each : kFunctions)
      if (const auto found = report.find("function." + std::string(each));
          found != report.end() && found->second == "ok")
        matrix("function " + std::string(each));
  }
};
JTRACE_ON_EACH_JDK(EachJdk);

// All but METHOD events, which are enabled and disabled in between.
TEST_P(EachJdk, EventsAndFunctions) {
  std::string options = for_jvm("report");
  std::vector<int> enabled{JVMPI_EVENT_OBJECT_MOVE, JVMPI_EVENT_COMPILED_METHOD_UNLOAD, JVMPI_EVENT_ARENA_NEW,
                           JVMPI_EVENT_ARENA_DELETE};
  for (const Named& each : kEvents)
    if (each.event > JVMPI_EVENT_METHOD_EXIT) enabled.push_back(each.event);
  for (const int event : enabled) options += ":" + std::to_string(event);
  const Report report =
      run(with_profiler("jvmpi_exerciser", options),
          {"step threads", "step classes", "step monitors", "step collections", "step references", "threads 5",
           "contend 3", "waits 4", "sleeps 3", "load 3", "alloc 1000", "gc 3", "replaced", "held monitor_dump",
           "step heap", "step methods_on", "calls 10", "step methods_off", "bench 25 50"});
  for (const int event : enabled) EXPECT_EQ(report.at("enable." + std::to_string(event)), "0") << event;
  for (const Named& each : kEvents) {
    if (each.event == JVMPI_EVENT_METHOD_ENTRY2) continue;
    EXPECT_GT(number(report, "event." + std::to_string(each.event)), 0) << each.name;
  }
  for (const char* each : kFunctions) {
    const auto found = report.find("function." + std::string(each));
    EXPECT_EQ(found == report.end() ? "not tried" : found->second, "ok") << each;
  }
  for (const char* each : {"free_outside_collection", "unknown_class", "unknown_free", "unknown_thread", "other"})
    EXPECT_EQ(number(report, "faults." + std::string(each)), 0) << each;
  EXPECT_EQ(number(report, "event." + std::to_string(JVMPI_EVENT_GC_START)),
            number(report, "event." + std::to_string(JVMPI_EVENT_GC_FINISH)));
  EXPECT_GE(number(report, "event." + std::to_string(JVMPI_EVENT_THREAD_START)), 5);
  EXPECT_GE(number(report, "event." + std::to_string(JVMPI_EVENT_CLASS_UNLOAD)), 3);
  EXPECT_GE(number(report, "event." + std::to_string(JVMPI_EVENT_MONITOR_WAITED)), 4);
  EXPECT_EQ(report.at("sleeps"), "4");
  EXPECT_EQ(report.at("sleeps.open"), "0");
  if (number(report, "sleeps") > 0) matrix("MONITOR_WAIT of a sleep");
  // JDK 17's sampling loses up to 1 object in 500 (docs/jvmpi.md).
  EXPECT_GE(number(report, "allocated.JvmpiZoo$Refusing"), 990);
  EXPECT_LE(number(report, "allocated.JvmpiZoo$Refusing"), 1010);
  // Calls between enabling and disabling.
  EXPECT_EQ(report.at("method.JvmpiZoo.fib"), "177/177/0");
  EXPECT_EQ(report.at("method.JvmpiZoo.thrower"), "40/40/0");
  EXPECT_EQ(report.at("method.JvmpiZoo$Derived.<init>"), "10/10/0");
  EXPECT_EQ(report.at("method.JvmpiZoo$Refusing.<init>"), "10/10/0");
  for (const char* level : {"heap1.", "heap2."}) {
    EXPECT_EQ(report.at(std::string(level) + "readable"), "1");
    EXPECT_EQ(report.at(std::string(level) + "known"), "11111");
    EXPECT_EQ(report.at(std::string(level) + "unknown"), "0");
    EXPECT_GT(number(report, std::string(level) + "roots"), 10);
    EXPECT_EQ(report.at(std::string(level) + "traces"), "1");
  }
  EXPECT_EQ(report.at("heap0.readable"), "1");
  EXPECT_EQ(report.at("heap0.traces"), "0");
  EXPECT_GT(number(report, "heap0.objects"), 1000);
  EXPECT_EQ(report.at("object.readable"), "1");
  EXPECT_EQ(report.at("object.known"), "1");
  EXPECT_EQ(report.at("monitors.readable"), "1");
  EXPECT_EQ(report.at("monitors.raw"), "1");
  EXPECT_EQ(report.at("monitors.held"), "1");
  EXPECT_GE(number(report, "monitors.waiting"), 1);
  record(report);
}

// A profiler that asks about threads by the ids it has, as a sampling one does, while threads begin and end.
TEST_P(EachJdk, ThreadsMayEndWhileTheyAreAskedAbout) {
  const Report report = run(with_profiler("jvmpi_exerciser", for_jvm("report") + ":33"), {"beside endings"});
  EXPECT_GT(number(report, "endings.asked"), 100);
  EXPECT_GT(number(report, "endings.seen"), 0);
  EXPECT_GT(number(report, "event." + std::to_string(JVMPI_EVENT_THREAD_START)), 20);
}

// METHOD_ENTRY2 from the start: receivers, those of constructors included; every call has its exit.
TEST_P(EachJdk, CallsFromTheStartWithTheirReceivers) {
  const Report report = run(with_profiler("jvmpi_exerciser", for_jvm("report") + ":42:33:2:3:46"), {"calls 10"});
  EXPECT_EQ(report.at("method.JvmpiZoo.fib"), "177/177/0");
  EXPECT_EQ(report.at("method.JvmpiZoo.instance"), "10/10/10");
  EXPECT_EQ(report.at("method.JvmpiZoo.thrower"), "40/40/0");
  EXPECT_EQ(report.at("method.JvmpiZoo.main"), "1/1/0");
  EXPECT_EQ(report.at("method.JvmpiZoo$Derived.<init>"), "10/10/10");
  EXPECT_EQ(report.at("method.JvmpiZoo$Refusing.<init>"), "10/10/10");
  EXPECT_EQ(number(report, "faults.unknown_class"), 0);
  if (number(report, "event." + std::to_string(JVMPI_EVENT_METHOD_ENTRY2)) > 0) matrix("METHOD_ENTRY2");
}

// A library that does not know StackMapTables drops them, or leaves them with wrong offsets. The resulting classes
// verify and do what they did.
TEST_P(EachJdk, ALibraryThatKnowsNoStackMaps) {
  std::vector<std::string> answers;
  for (const char* mode : {"", ":drop", ":stale"}) {
    JvmOptions options =
        *mode == '\0' ? seeing_folders() : with_profiler("jvmpi_instrumenter", for_jvm("changed") + mode);
    for (const char* flag :
         {"-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal", "-XX:+BytecodeVerificationRemote"})
      options.flags.push_back(flag);
    auto jvm = must(JvmProcess::start(GetParam(), kApp, options));
    for (const char* command : {"calls 3", "load 2", "contend 1"}) must(jvm->ask(command));
    auto answer = must(jvm->ask("paths 40"));
    answers.push_back(answer);
    jvm->close_input();
    must(jvm->wait_exit());
    EXPECT_EQ(jvm->err(), "");
    if (*mode != '\0') {
      EXPECT_GT(number(read_report(folder_.file("changed")), "changed"), 20);
    }
  }
  EXPECT_EQ(answers.at(1), answers.at(0));
  EXPECT_EQ(answers.at(2), answers.at(0));
  matrix("CLASS_LOAD_HOOK without frames");
}

TEST_P(EachJdk, EachInstructionWhereItWasEnabledFromTheStart) {
  const Report report = run(with_profiler("jvmpi_exerciser", for_jvm("report") + ":9"), {"calls 1"});
  EXPECT_GT(number(report, "event." + std::to_string(JVMPI_EVENT_INSTRUCTION_START)), 1000);
  matrix("INSTRUCTION_START");
}

// Compiled code is unloaded with its class.
TEST_P(EachJdk, CompiledCodeThatGoes) {
  JvmOptions options = with_profiler("jvmpi_exerciser", for_jvm("report") + ":7:8:33");
  for (const char* flag :
       {"-Xcomp", "-Xbatch", "-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,JvmpiZoo$Plugin::*"})
    options.flags.push_back(flag);
  const Report report = run(options, {"load 3", "gc 2", "step unloaded"});
  EXPECT_GE(number(report, "event." + std::to_string(JVMPI_EVENT_COMPILED_METHOD_LOAD)), 3);
  EXPECT_GT(number(report, "event." + std::to_string(JVMPI_EVENT_COMPILED_METHOD_UNLOAD)), 0);
  matrix("COMPILED_METHOD_UNLOAD");
}

TEST_P(EachJdk, CollectionsInThePauseWhereAskedFor) {
  JvmOptions options = seeing_folders();
  options.flags = {"-agentpath:" + library("jtrace_jvmpi") + "=gc=pause," + library("jvmpi_exerciser") + "," +
                   for_jvm("report") + ":60:61"};
  const Report report = run(options, {"gc 3"});
  EXPECT_GE(number(report, "event." + std::to_string(JVMPI_EVENT_GC_START)), 3);
  EXPECT_EQ(number(report, "event." + std::to_string(JVMPI_EVENT_GC_START)),
            number(report, "event." + std::to_string(JVMPI_EVENT_GC_FINISH)));
  matrix("GC_START and GC_FINISH in the pause");
}

TEST_P(EachJdk, TheDocumentsMethodCounter) {
  run(with_profiler("jvmpi_method_counter", for_jvm("counts")), {"threads 3"});
  const auto text = must(read_file(folder_.file("counts")));
  EXPECT_THAT(text, ContainsRegex("Thread 0x[0-9a-f]+ executed [1-9][0-9]* methods\n"));
  EXPECT_GE(std::count(text.begin(), text.end(), '\n'), 4);  // the three and the main thread
  matrix("example: method counter");
}

TEST_P(EachJdk, TheDocumentsClassPrinter) {
  run(with_profiler("jvmpi_class_printer", for_jvm("classes")), {"calls 1"});
  const auto text = must(read_file(folder_.file("classes")));
  EXPECT_THAT(text, AllOf(HasSubstr("class java.lang.String (String.java)"),
                          HasSubstr("class JvmpiZoo$Derived (JvmpiZoo.java) interfaces 0\n"),
                          ContainsRegex("  method fib\\(I\\)I lines [1-9][0-9]*-[1-9][0-9]*\n"),
                          HasSubstr("  static sink Ljava/lang/Object;\n")));
  matrix("example: class printer");
}

TEST_P(EachJdk, AProfilerThatComesAtRunTime) {
  auto jvm = must(JvmProcess::start(GetParam(), kApp, seeing_folders(attachable(GetParam()))));
  const auto load = [&](const std::string& options) {
    const auto done = run_jtrace({"load", jvm->pid_text(), library("jtrace_jvmpi"), options});
    EXPECT_TRUE(succeeded(done));
    return done ? *done : CommandOutput{};
  };
  // A library that is not a profiler changes nothing in the JVM; the number is the reason (docs/jvmpi.md).
  EXPECT_THAT(load("/nonexistent/profiler.so,x").err, HasSubstr(" 2"));
  EXPECT_THAT(load(library("jvmpi_wrong1")).err, HasSubstr(" 6"));
  const CommandOutput loaded = load(library("jvmpi_exerciser") + "," + for_jvm("report") + ":42:33:34:46:44:45:1:3");
  EXPECT_EQ(loaded.status, 0) << loaded.err;
  EXPECT_THAT(load(library("jvmpi_exerciser") + "," + for_jvm("other")).err, HasSubstr(" 8"));
  EXPECT_EQ(load(":dump").status, 0);
  EXPECT_EQ(load(":reset").status, 0);
  for (const char* command : {"calls 10", "threads 2", "step threads", "step heap"}) must(jvm->ask(command));
  jvm->close_input();
  must(jvm->wait_exit());
  EXPECT_EQ(jvm->err(), "");
  const Report report = read_report(folder_.file("report"));
  EXPECT_EQ(report.at("method.JvmpiZoo.fib"), "177/177/0");
  EXPECT_EQ(report.at("method.JvmpiZoo$Derived.<init>"), "10/10/0");
  EXPECT_EQ(report.at("function.GetCallTrace"), "ok");
  EXPECT_EQ(report.at("heap2.known"), "11111");
  for (const int event : {JVMPI_EVENT_JVM_INIT_DONE, JVMPI_EVENT_DATA_DUMP_REQUEST, JVMPI_EVENT_DATA_RESET_REQUEST})
    EXPECT_EQ(number(report, "event." + std::to_string(event)), 1) << event;
  for (const char* feature : {"DATA_DUMP_REQUEST", "DATA_RESET_REQUEST", "loaded at run time"}) matrix(feature);
}

TEST_P(EachJdk, ProfilerExitEndsTheJvmWithItsCode) {
  auto jvm = must(JvmProcess::start(GetParam(), kApp, with_profiler("jvmpi_exerciser", for_jvm("report") + ":33")));
  must(jvm->send("step exit"));
  auto status = must(jvm->wait_exit());
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(number(read_report(folder_.file("report")), "event." + std::to_string(JVMPI_EVENT_JVM_SHUT_DOWN)), 1);
  matrix("function ProfilerExit");
}

TEST_P(EachJdk, ByXrunAndByName) {
  JvmOptions options = seeing_folders();
  options.environment = {"LD_LIBRARY_PATH=" + (chrooted() ? std::string("/srv/lib") : libraries_folder())};
  options.flags = {"-Xrunjtrace_jvmpi:jvmpi_class_printer," + for_jvm("classes")};
  run(options, {"calls 1"});
  const auto text = must(read_file(folder_.file("classes")));
  EXPECT_THAT(text, HasSubstr("class JvmpiZoo "));
  matrix("by -Xrun");
}

// Each wrong library ends the JVM's start, with one line of jtrace's that has the reason.
TEST_P(EachJdk, WrongLibraries) {
  std::ofstream(folder_.file("old.so"), std::ios::binary) << std::string(
                                                                 "\x7f"
                                                                 "ELF\x01\x01\x01",
                                                                 7) +
                                                                 std::string(60, '\0');
  std::ofstream(folder_.file("text.so")) << "not a library\n";
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "no profiler is named"},
      {"/nonexistent/profiler.so,x", "/nonexistent/profiler.so: No such file or directory"},
      {for_jvm("old.so"), "old.so: it is a 32-bit library"},
      {for_jvm("text.so"), "text.so: it is not an ELF library"},
      {library("jvmpi_wrong1"), "its JVM_OnLoad failed (-1)"},
      {library("jvmpi_wrong2"), "asks for JVMPI version 0x10000009; versions 0x10000001 to 0x10000003 are known"},
      {library("jvmpi_wrong3"), "has set no NotifyEvent"},
      {library("jvmpi_wrong4"), "it has no JVM_OnLoad, so it is not a JVMPI profiler but a JVM TI agent"},
  };
  for (const auto& [profiler, message] : wrong) {
    JvmOptions options = seeing_folders();
    options.flags = {"-agentpath:" + library("jtrace_jvmpi") + "=" + profiler};
    options.wait_ready = false;
    auto jvm = must(JvmProcess::start(GetParam(), kApp, options));
    auto status = must(jvm->wait_exit());
    EXPECT_NE(status, 0) << profiler;
    EXPECT_THAT(jvm->err(), AllOf(HasSubstr("jtrace_jvmpi: "), HasSubstr(message)));
  }
  JvmOptions second = with_profiler("jvmpi_class_printer", for_jvm("classes"));
  second.flags.push_back(second.flags.back());
  second.wait_ready = false;
  auto jvm = must(JvmProcess::start(GetParam(), kApp, second));
  auto status = must(jvm->wait_exit());
  EXPECT_NE(status, 0);
  EXPECT_THAT(jvm->err(), HasSubstr("a JVMPI profiler is loaded already"));
  matrix("wrong libraries");
}

}  // namespace
}  // namespace jtrace::test
