#include "cli/task_map.h"

#include <unistd.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "base/strings.h"
#include "base/terminal.h"

namespace jtrace::cli {
namespace {

constexpr std::size_t kIndent = 2, kTroubles = 15, kCommands = 48, kAnswers = 35;  // columns
constexpr std::size_t kUsual = 80;                                                 // of what is not a terminal

struct Task {
  const char* trouble;  // "" as the one before
  const char* command;
  const char* answer;
};
// Its commands are tried by tests/cli/task_map.test.
constexpr Task kTasks[] = {
    {"what is wrong", "jtrace diagnose PID", "a verdict: deadlock, spinning, ..."},
    {"it hangs", "jtrace stack PID", "each thread, and what it waits for"},
    {"", "jtrace inspect PID locks", "who owns which lock, deadlocks"},
    {"it is slow", "jtrace slow PID --filter 'com.example.*'", "slow calls, what they waited for"},
    {"it fails", "jtrace exceptions PID --filter 'com.example.*'", "where they end, which are swallowed"},
    {"CPU", "jtrace top PID", "threads by processor time, live"},
    {"", "jtrace profile PID --duration 30 -o app.html", "a flame graph, without stopping it"},
    {"memory", "jtrace inspect PID histogram --rows 20", "which classes fill the heap"},
    {"", "jtrace allocations PID", "who allocates: class, site, thread"},
    {"", "jtrace inspect PID leaks --duration 20s", "what grows, how fast, who holds it"},
    {"pauses", "hsperf stat -gcutil PID 1s", "collections, second by second"},
    {"a trace", "jtrace sql TRACE", "its tables; with 'SELECT ...' asks"},
    {"only a core", "jtrace stack CORE; jtrace inspect CORE info", "the same of a dead JVM"},
    {"which JVMs run", "jtrace list; jtrace doctor [PID]", "the JVMs; what you may do with one"},
};

constexpr Task kCounterTasks[] = {
    {"which JVMs run", "hsperf list", "the JVMs; where their counters are"},
    {"", "hsperf top", "all of them: heap, pauses, threads"},
    {"pauses, heap", "hsperf stat -gcutil PID 1s", "as jstat, without a JDK"},
    {"all counters", "hsperf snap PID", "at one moment; --format json"},
    {"over time", "hsperf poll PID --interval 1s -o gc.csv", "a series; also .xml and .jsonl"},
    {"an alert", "hsperf check PID 'old.share > 90%'", "status 0: it holds, 1: it does not"},
    {"a dashboard", "hsperf serve", "for Prometheus, at 127.0.0.1:9797"},
    {"", "hsperf push --to http://HOST:4318", "sent to a collector (OpenTelemetry)"},
};

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

struct Group {
  const char* name;
  const char* commands;  // separated by blanks
};
// Those that are built; a command that is in no group is in the last.
constexpr Group kGroups[] = {
    {"look", "list doctor diagnose stack inspect heap top core debug"},
    {"record", "attach slow exceptions allocations profile probe probes ctl recover"},
    {"traces", "stats report sql diff convert merge validate"},
    {"ask the JVM", "cmd load jmx"},
    {"fleet", "ship collect"},
    {"more", ""},
};
constexpr Group kCounterGroups[] = {
    {"look", "list top stat snap poll check restore"},
    {"metrics", "serve push"},
    {"more", ""},
};

bool is_in(std::string_view command, const Group& group) {
  return (" " + std::string(group.commands) + " ").find(" " + std::string(command) + " ") != std::string::npos;
}

std::string commands_of(const CLI::App& app, std::span<const Group> groups, const Group& group) {
  std::string text;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); })) {
    const std::string& name = command->get_name();
    const bool has_group =
        std::any_of(groups.begin(), groups.end(), [&](const Group& each) { return is_in(name, each); });
    if (is_in(name, group) || (!has_group && &group == &groups.back())) text += " " + name;
  }
  return text;
}

// `first`, and `words` from `column` on, as many in a line as fit into `width`.
std::string columns(std::string first, std::size_t column, std::string_view words, std::size_t width) {
  std::string text, line = std::move(first);
  if (line.size() < column) line.resize(column, ' ');
  bool is_empty = line.size() == column;  // the line has none of the words yet
  for (const std::string_view word : split(words, ' ')) {
    if (word.empty()) continue;
    const bool fits = line.size() + word.size() + (is_empty ? 0 : 1) <= width;
    if (line.size() > column && !fits) {
      text += line + "\n";
      line.assign(column, ' ');
      is_empty = true;
    }
    line.append(is_empty ? "" : " ").append(word);
    is_empty = false;
  }
  return text + line + "\n";
}

// The answer is beside the command, or below it if there is not room for both.
std::string line_of(const Task& task, std::size_t width) {
  const std::size_t commands = kIndent + kTroubles;
  const std::size_t room = std::max(width, commands + kIndent + kAnswers) - kAnswers;
  const std::size_t answers = std::min(commands + kCommands, room);
  std::string command = std::string(kIndent, ' ') + padded(task.trouble, kTroubles) + task.command;
  if (command.size() + kIndent <= answers) return columns(std::move(command), answers, task.answer, width);
  return command + "\n" + columns("", answers, task.answer, width);
}

std::string map_of(const CLI::App& app, std::span<const Task> tasks, std::span<const Group> groups) {
  const std::size_t terminal = terminal_size(STDOUT_FILENO).columns;
  const std::size_t width = terminal != 0 ? terminal : kUsual;
  std::string text =
      app.get_name() + " " + app.get_description() + ".\nPID is a process id or a part of a main class.\n\n";
  for (const Task& task : tasks) text += line_of(task, width);
  text += "\nAll commands; each has --help:\n";
  for (const Group& group : groups)
    if (const std::string commands = commands_of(app, groups, group); !commands.empty())
      text += columns(std::string(kIndent, ' ') + group.name, kIndent + kTroubles, commands, width);
  return text;
}

}  // namespace

std::string task_map(const CLI::App& app) { return map_of(app, kTasks, kGroups); }

std::string counter_map(const CLI::App& app) { return map_of(app, kCounterTasks, kCounterGroups); }

}  // namespace jtrace::cli
