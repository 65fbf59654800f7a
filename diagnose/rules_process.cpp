// Rules about the process, from the kernel's facts.
#include <algorithm>

#include "base/strings.h"
#include "diagnose/rules.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

bool is_stopped(const ProcessFact& process) { return process.state == 'T'; }
constexpr double kNear = 0.9;  // of a limit

bool is_held(const ProcessFact& process) { return process.state == 't' && !process.tracer.empty(); }

template <class Condition>
bool always(const std::vector<ProcessFact>& looks, Condition condition) {
  return looks.size() > 1 && std::all_of(looks.begin(), looks.end(), condition);
}

std::string over(const std::vector<ProcessFact>& looks) {
  return "so at " + counted(looks.size(), "look") + " over " +
         seconds(static_cast<double>(looks.back().ns - looks.front().ns) / 1e9);
}

// Single threads that a tracer has stopped, while the others run.
void find_held_threads(const Facts& facts, std::vector<Finding>& found) {
  if (facts.looks.size() < 2) return;
  for (const ThreadFact& each : facts.looks.back().threads) {
    const auto held_then = [&](const ThreadsLook& look) {
      return std::any_of(look.threads.begin(), look.threads.end(),
                         [&](const ThreadFact& then) { return then.tid == each.tid && then.held_by == each.held_by; });
    };
    if (each.held_by.empty() || !std::all_of(facts.looks.begin(), facts.looks.end(), held_then)) continue;
    found.push_back(
        {.rule = "stopped",
         .sentence =
             "The thread " + quoted(each.name) + " does not run: " + printable(each.held_by) + " has stopped it.",
         .evidence = {"thread id " + std::to_string(each.tid) + ", so at " + counted(facts.looks.size(), "look")},
         .confidence = Confidence::kCertain,
         .next = "let that program go on, or end it"});
  }
}

}  // namespace

bool stands_still(const Facts& facts) { return always(facts.process, is_stopped) || always(facts.process, is_held); }

void find_crash(const Facts& facts, std::vector<Finding>& found) {
  if (!facts.crash) return;
  const CrashFact& crash = *facts.crash;
  std::string sentence = "The JVM crashed: " + crash.signal;
  if (crash.fault) {
    sentence += " at the address ";
    append_hex(sentence, *crash.fault);
  }
  sentence += ", in " + (crash.thread.empty() ? "a thread" : "the thread " + quoted(crash.thread)) +
              " with the native id " + std::to_string(crash.nid) + ".";
  std::vector<std::string> evidence;
  for (const std::string& frame : crash.frames) evidence.push_back("at " + frame);
  if (evidence.empty()) evidence.emplace_back("the stack of that thread could not be read");
  found.push_back({.rule = "crash",
                   .sentence = std::move(sentence),
                   .evidence = std::move(evidence),
                   .confidence = Confidence::kCertain,
                   .next = "jtrace stack " + facts.target});
}

void find_stopped(const Facts& facts, std::vector<Finding>& found) {
  if (always(facts.process, is_stopped)) {
    found.push_back({.rule = "stopped",
                     .sentence = "The process is stopped by a signal: none of its threads runs.",
                     .evidence = {"state T (stopped) in /proc/" + facts.target + "/status, " + over(facts.process)},
                     .confidence = Confidence::kCertain,
                     .next = "kill -CONT " + facts.target});
    return;
  }
  if (always(facts.process, is_held)) {
    found.push_back(
        {.rule = "stopped",
         .sentence = "The process is stopped by a debugger or tracer, " + printable(facts.process.back().tracer) + ".",
         .evidence = {"state t (tracing stop), " + over(facts.process)},
         .confidence = Confidence::kCertain,
         .next = "let that program go on, or end it"});
    return;
  }
  find_held_threads(facts, found);
}

void find_many_files(const Facts& facts, std::vector<Finding>& found) {
  const auto near = [](const ProcessFact& look) {
    return look.files && look.files_limit &&
           static_cast<double>(*look.files) >= kNear * static_cast<double>(*look.files_limit);
  };
  if (!always(facts.process, near)) return;
  const ProcessFact& now = facts.process.back();
  found.push_back({.rule = "descriptors",
                   .sentence = "The process has nearly as many open files and sockets as it may have: " +
                               std::to_string(*now.files) + " of " + std::to_string(*now.files_limit) + ".",
                   .evidence = {"entries of /proc/" + facts.target + "/fd, and \"Max open files\" of its limits, " +
                                over(facts.process)},
                   .confidence = Confidence::kCertain,
                   .next = "ls -l /proc/" + facts.target + "/fd"});
}

}  // namespace jtrace::diagnose
