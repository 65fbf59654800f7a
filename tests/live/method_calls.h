// What the tests of method events share: tests/apps/Calls.java and its traces.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/file.h"
#include "tests/testlib/trace_calls.h"
#include "tests/testlib/trace_document.h"
#include "tests/testlib/trace_run.h"
#include "trace/exception_value.h"

namespace jtrace::test {

inline const std::vector<std::string> kOnlyCalls{"--when-full", "block",          "--block-limit", "10000",
                                                 "--filter",    "Calls* include", "--filter",      "* exclude"};

inline std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// "TYPE=value", "TYPE#objId" of each child; "exception" of a call that one has ended.
inline std::string values_of(const TraceElement& call) {
  std::string text;
  for (const TraceElement& each : call.children) {
    if (!text.empty()) text += ' ';
    if (each.get("name") == trace::kExceptionValue) {
      text += trace::kExceptionValue;
      continue;
    }
    text += each.get("type");
    if (each.has("value")) text += "=" + each.get("value");
    else if (each.has("objIdRef")) text += each.get("objIdRef") == "0" ? "#0" : "#id";
  }
  return text;
}

// By "Entry Class.method" and "Exit Class.method", in their order.
inline std::map<std::string, std::vector<std::string>> values_by_call(const TraceDocument& trace) {
  std::map<std::string, std::string> names = names_of_methods(trace);
  std::map<std::string, std::vector<std::string>> given;
  for (const TraceElement& each : trace.events())
    if (each.name == "methodEntry" || each.name == "methodExit")
      given[each.name.substr(6) + " " + names[each.get("methodIdRef")]].push_back(values_of(each));
  return given;
}

// Waits until the trace has that many of the element, or until a time limit.
inline void await_elements(TraceRun& run, const std::string& element, std::size_t count) {
  for (int i = 0; i < 1500 && run.command().alive(); ++i) {
    const auto text = read_file(run.path());
    if (text && occurrences(*text, "<" + element + " ") >= count) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace jtrace::test
