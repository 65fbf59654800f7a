#include "cli/task_map.h"

namespace jtrace::cli {
namespace {

constexpr std::size_t kWidth = 100;  // columns

struct Task {
  const char* trouble;  // "" as the one before
  const char* command;
  const char* answer;
};
// Its commands are tried by tests/cli/task_map.test.
constexpr Task kTasks[] = {
    {"what is wrong", "jtrace diagnose PID", "deadlock, stuck safepoint, spinning thread, ...: a verdict"},
    {"it hangs", "jtrace stack PID", "where each thread is, and which lock it waits for"},
    {"", "jtrace inspect PID locks", "who owns which lock, deadlocks"},
    {"it is slow", "jtrace slow PID --over 200ms --filter 'com.example.*'", "slow calls, and what they waited for"},
    {"it fails", "jtrace exceptions PID --filter 'com.example.*'", "exceptions, where they end, which are swallowed"},
    {"CPU", "jtrace top PID", "threads by processor time, updated at an interval"},
    {"", "jtrace profile PID --duration 30 -o app.html", "a flame graph, without stopping it"},
    {"memory", "jtrace inspect PID histogram --rows 20", "which classes fill the heap"},
    {"", "jtrace allocations PID", "who allocates: by class, site and thread"},
    {"", "jtrace inspect PID leaks", "what looks like a leak, and who holds it"},
    {"pauses", "hsperf stat -gcutil PID 1s", "collections, second by second"},
    {"a trace", "jtrace sql TRACE", "its tables; jtrace sql TRACE 'SELECT ...' asks them"},
    {"only a core", "jtrace stack CORE; jtrace inspect CORE info", "the same of a JVM that is dead"},
    {"which JVMs run", "jtrace list; jtrace doctor [PID]", "the JVMs, and what you may do with one"},
};

constexpr Task kCounterTasks[] = {
    {"which JVMs run", "hsperf list", "the JVMs, and where their counters are"},
    {"", "hsperf top", "all of them on one screen: heap, pauses, threads"},
    {"pauses, heap", "hsperf stat -gcutil PID 1s", "as jstat, without a JDK"},
    {"all counters", "hsperf snap PID", "at one moment; --format json"},
    {"over time", "hsperf poll PID --interval 1s -o gc.csv", "a series; also .xml and .jsonl"},
    {"an alert", "hsperf check PID 'old.share > 90%'", "status 0: it holds, 1: it does not"},
    {"a dashboard", "hsperf serve", "metrics of all JVMs for Prometheus, at 127.0.0.1:9797"},
    {"", "hsperf push --to http://HOST:4318", "the same, sent to a collector of OpenTelemetry"},
};

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

template <std::size_t kCount>
std::string map_of(const CLI::App& app, const Task (&tasks)[kCount]) {
  std::string text =
      app.get_name() + " " + app.get_description() + ".\nPID is a process id or a part of a main class.\n\n";
  for (const Task& task : tasks)
    text.append("  ").append(padded(task.trouble, 15)).append(padded(task.command, 55)).append(task.answer) += '\n';
  text += "\nAll commands; each has --help:";
  std::size_t column = kWidth;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); })) {
    const std::string& name = command->get_name();
    if (column + name.size() + 1 > kWidth) text += "\n ", column = 1;
    text += " " + name;
    column += name.size() + 1;
  }
  return text + "\n";
}

}  // namespace

std::string task_map(const CLI::App& app) { return map_of(app, kTasks); }

std::string counter_map(const CLI::App& app) { return map_of(app, kCounterTasks); }

}  // namespace jtrace::cli
