#include "tests/testlib/trace_calls.h"

#include <chrono>
#include <set>
#include <thread>

#include "base/file.h"

namespace jtrace::test {

std::size_t occurrences(const std::string& text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

::testing::AssertionResult rewritten(TraceRun& run, std::size_t times) {
  for (int i = 0; i < 6000 && run.command().alive(); ++i) {
    const auto text = read_file(run.path());
    if (text && occurrences(*text, "key=\"jtrace.rewritten\"") >= times) return ::testing::AssertionSuccess();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return ::testing::AssertionFailure() << "nothing says jtrace.rewritten: " << run.command().err();
}

std::map<std::string, std::string> names_of_methods(const TraceDocument& trace) {
  std::map<std::string, std::string> classes;
  for (const TraceElement* each : trace.all("classDef")) classes[each->get("classId")] = each->get("name");
  std::map<std::string, std::string> methods;
  for (const TraceElement* each : trace.all("methodDef"))
    methods[each->get("methodId")] = classes[each->get("classIdRef")] + "." + each->get("name");
  return methods;
}

std::map<std::string, int> by_method(const TraceDocument& trace, std::string_view element) {
  std::map<std::string, std::string> methods = names_of_methods(trace);
  std::map<std::string, int> counts;
  for (const TraceElement* each : trace.all(element)) ++counts[methods[each->get("methodIdRef")]];
  return counts;
}

std::vector<std::string> calls_within(const TraceDocument& trace, std::string_view method,
                                      const std::set<std::string>& outer) {
  std::map<std::string, std::string> names = names_of_methods(trace);
  std::map<std::string, int> open;  // calls of `outer`, by thread
  std::vector<std::string> faults;
  for (const TraceElement& each : trace.events()) {
    if (each.name != "methodEntry" && each.name != "methodExit") continue;
    const std::string& name = names[each.get("methodIdRef")];
    int& within = open[each.get("threadIdRef")];
    if (outer.contains(name)) within += each.name == "methodEntry" ? 1 : -1;
    if (name == method && within != 0) faults.push_back("call " + each.get("ticket"));
  }
  return faults;
}

std::vector<std::string> call_faults(const TraceDocument& trace, std::size_t* open) {
  struct Call {
    std::string ticket, method, end;
  };
  struct Stack {
    std::vector<Call> calls;
    std::size_t frames = 0;
  };
  static const std::map<std::string, std::string> kEnds{{"methodEntry", "methodExit"}, {"methodCall", "methodReturn"}};
  const bool tells_frames = trace.count("methodEntry") != 0;
  std::map<std::string, Stack> stacks;
  std::map<std::string, std::set<std::string>> tickets;
  std::vector<std::string> faults;
  for (const TraceElement& each : trace.events()) {
    const auto begins = kEnds.find(each.name);
    const bool is_frame = each.name == "methodEntry" || each.name == "methodExit";
    if (begins == kEnds.end() && each.name != "methodExit" && each.name != "methodReturn") continue;
    Stack& stack = stacks[each.get("threadIdRef")];
    const std::string what = each.name + " collationValue " + each.get("collationValue");
    if (begins != kEnds.end()) {
      stack.calls.push_back({each.get("ticket"), each.get("methodIdRef"), begins->second});
      stack.frames += is_frame;
      if (tells_frames && each.number("stackDepth") != stack.frames) faults.push_back(what + ": wrong depth");
      if (!tickets[each.get("threadIdRef")].insert(each.get("ticket")).second)
        faults.push_back(what + ": ticket again");
    } else if (stack.calls.empty() || stack.calls.back().ticket != each.get("ticket") ||
               stack.calls.back().method != each.get("methodIdRef") || stack.calls.back().end != each.name) {
      faults.push_back(what + ": not the innermost open call");
    } else {
      stack.calls.pop_back();
      stack.frames -= is_frame;
    }
    if (faults.size() > 20) break;
  }
  if (open != nullptr) {
    *open = 0;
    for (const auto& [thread, stack] : stacks) *open += stack.calls.size();
  }
  return faults;
}

}  // namespace jtrace::test
