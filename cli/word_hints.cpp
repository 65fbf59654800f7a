#include "cli/word_hints.h"

#include <algorithm>
#include <iterator>

#include "coreinspect/tools/views.h"

namespace jtrace::cli {
namespace {

struct Hint {
  std::string_view word, command;
};
// Names of the JDK's tools and of what they do, and words for what a command does.
constexpr Hint kHints[] = {
    {"jps", "jtrace list"},
    {"ps", "jtrace list"},
    {"ls", "jtrace list"},
    {"jstack", "jtrace stack PID"},
    {"stacks", "jtrace stack PID"},
    {"threaddump", "jtrace stack PID"},
    {"deadlocks", "jtrace inspect PID locks"},
    {"deadlock", "jtrace inspect PID locks"},
    {"version", "jtrace --version"},
    {"jmap", "jtrace inspect PID histogram, or heapdump -o FILE.hprof"},
    {"histo", "jtrace inspect PID histogram"},
    {"dump", "jtrace inspect PID heapdump -o FILE.hprof, or jtrace core PID -o FILE"},
    {"jinfo", "jtrace inspect PID flags, or properties"},
    {"jhsdb", "jtrace inspect CORE VIEW"},
    {"jcmd", "jtrace cmd PID OPERATION"},
    {"jstat", "hsperf stat"},
    {"gc", "hsperf stat -gcutil PID 1s"},
    {"poll", "hsperf poll"},
    {"stat", "hsperf stat"},
    {"snap", "hsperf snap"},
    {"serve", "hsperf serve"},
    {"check", "hsperf check"},
    {"trace", "jtrace attach PID"},
    {"record", "jtrace attach PID -o FILE"},
    {"start", "jtrace ctl PID start"},
    {"stop", "jtrace ctl PID stop"},
    {"pause", "jtrace ctl PID pause"},
    {"resume", "jtrace ctl PID resume"},
    {"flush", "jtrace ctl PID flush"},
    {"status", "jtrace ctl PID status"},
    {"detach", "jtrace ctl PID detach"},
    {"cpu", "jtrace top PID, or jtrace profile PID"},
    {"memory", "jtrace inspect PID memory, histogram or leaks"},
    {"leak", "jtrace inspect PID leaks"},
    {"hangs", "jtrace diagnose PID, or jtrace stack PID"},
    {"pauses", "hsperf stat -gcutil PID 1s"},
    {"sample", "jtrace profile PID"},
    {"flamegraph", "jtrace profile PID --duration 30 -o app.html"},
    {"latency", "jtrace slow PID"},
    {"alloc", "jtrace allocations PID"},
    {"query", "jtrace sql TRACE 'SELECT ...'"},
    {"sqlite", "jtrace sql TRACE 'SELECT ...'"},
    {"select", "jtrace sql TRACE 'SELECT ...'"},
    {"watch", "jtrace diagnose PID --watch"},
    {"bundle", "jtrace diagnose PID -o FILE.zip"},
    {"compare", "jtrace diff BEFORE AFTER"},
};

}  // namespace

std::string hint_of_word(std::string_view word) {
  const auto known =
      std::find_if(std::begin(kHints), std::end(kHints), [&](const Hint& each) { return each.word == word; });
  if (known != std::end(kHints)) return std::string(known->command);
  const coreinspect::View* view = coreinspect::find_view(word);
  if (view == nullptr) return {};
  std::string hint = "it is a view: jtrace inspect PID ";
  hint.append(word);
  if (!view->argument.empty()) hint.append(" ").append(view->argument);
  return hint;
}

}  // namespace jtrace::cli
