#include "diagnose/verdict.h"

#include <algorithm>
#include <span>

#include "base/joined.h"
#include "base/json.h"
#include "base/size_text.h"
#include "diagnose/rules.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

std::string number_of(std::size_t count, std::string_view one, std::string_view more) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : more);
}

void append_finding(std::string& out, const Finding& finding, std::size_t number) {
  out += "\n" + std::to_string(number) + ". " + finding.sentence + " [" + finding.rule + ", " +
         std::string(to_string(finding.confidence)) + "]\n";
  for (const std::string& line : finding.evidence) out += "     " + line + "\n";
  if (!finding.next.empty()) out += "   next: " + finding.next + "\n";
}

// " 29 of 31 rules looked; skipped: swap, disks and 3 more." The reasons are at the end of the verdict.
std::string skipped_rules(const Verdict& verdict) {
  constexpr std::size_t kNamed = 3;
  if (verdict.unasked.empty() || verdict.of_core) return {};
  std::vector<std::string> names;
  for (const Unasked& each : verdict.unasked)
    if (names.size() < kNamed) names.push_back(each.about);
  const std::size_t more = verdict.unasked.size() - names.size();
  return " " + std::to_string(verdict.asked.size()) + " of " +
         number_of(verdict.asked.size() + verdict.unasked.size(), "rule", "rules") +
         " looked; skipped: " + joined(names) + (more == 0 ? "" : " and " + std::to_string(more) + " more") + ".";
}

void append_standing(std::string& out, const Standing& standing) {
  out += "\n" + standing.sentence + "\n";
  for (const std::string& line : standing.evidence) out += "     " + line + "\n";
  out += "   next: " + standing.next + "\n";
}

// What the rule of a finding is about.
std::string subject_of(const Finding& finding) {
  const auto rule =
      std::find_if(rules().begin(), rules().end(), [&](const Rule& each) { return each.name == finding.rule; });
  return rule == rules().end() ? finding.rule : std::string(rule->about);
}

// "2 hints (carriers that are kept by virtual threads, threads that spin)"
std::string named_hints(const Verdict& verdict, std::size_t hints) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> subjects;
  for (const Finding& each : verdict.findings)
    if (const std::string about = subject_of(each);
        std::find(subjects.begin(), subjects.end(), about) == subjects.end())
      subjects.push_back(about);
  const std::size_t more = subjects.size() - std::min(subjects.size(), kNamed);
  subjects.resize(subjects.size() - more);
  return number_of(hints, "hint", "hints") + " (" + joined(subjects) +
         (more == 0 ? "" : " and " + std::to_string(more) + " more") + ")";
}

// Hints may be all of the trouble: they are found, too.
std::string headline(const Verdict& verdict, bool partial) {
  const auto hints =
      static_cast<std::size_t>(std::count_if(verdict.findings.begin(), verdict.findings.end(),
                                             [](const Finding& each) { return each.confidence == Confidence::kHint; }));
  const std::size_t sure = verdict.findings.size() - hints;
  const std::string found = sure != 0 ? "Found: " + number_of(sure, "trouble", "troubles") +
                                            (hints == 0 ? "" : ", " + number_of(hints, "hint", "hints"))
                            : hints != 0 ? "Found: " + named_hints(verdict, hints) + ", no certain or likely trouble"
                                         : "Nothing found";
  if (sure == 0 && verdict.of_core)
    return found + " by the " + std::to_string(verdict.asked.size()) + " of " + std::to_string(rules().size()) +
           " rules that a core can answer" + (partial ? ", and a part of this one could not be read" : "") + ".\n";
  return found + "." + skipped_rules(verdict) + "\n";
}

double millis(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e6; }

std::string cost_of(const Collected& collected) {
  char text[160];
  const auto seconds = [](std::chrono::milliseconds time) { return static_cast<double>(time.count()) / 1e3; };
  std::snprintf(text, sizeof text, "It took %.1f s", seconds(collected.elapsed));
  std::string line = text;
  if (collected.limits) {
    std::snprintf(text, sizeof text, " of %.1f, and %s of its memory were read", seconds(collected.limits->time),
                  size_text(collected.bytes_read).c_str());
    line += text;
  }
  line += ".";
  if (collected.stops > 0) {
    std::snprintf(text, sizeof text,
                  " Threads of the JVM were stopped %zu times, %.1f ms at the longest and %.1f ms in all.",
                  collected.stops, millis(collected.pause_longest), millis(collected.pause_all));
    line += text;
  }
  if (collected.limits && collected.pause_longest > collected.limits->stop)
    line += " That is longer than --max-stop (" + std::to_string(collected.limits->stop.count()) +
            " ms): this program waited for a processor.";
  return line + " Nothing was loaded into it.\n";
}

// The steps that failed; those with the same reason together.
std::vector<std::pair<std::string, std::string>> failed_steps(const Collected& collected) {
  std::vector<std::pair<std::string, std::string>> failed;
  for (const StepRecord& each : collected.steps) {
    if (each.problem.empty()) continue;
    if (!failed.empty() && failed.back().second == each.problem) failed.back().first += "; " + each.name;
    else failed.emplace_back(each.name, each.problem);
  }
  return failed;
}

void append_skipped(std::string& out, const Verdict& verdict, const Collected& collected) {
  const auto failed = failed_steps(collected);
  if (verdict.unasked.empty() && failed.empty() && collected.missing.empty()) return;
  out += "Skipped, and why:\n";
  std::vector<std::string> together;  // for a reason that holds for the whole target
  const std::string_view shared = verdict.ended ? kEnded : kNotInCore;
  for (const Unasked& each : verdict.unasked)
    if (each.why == shared) together.push_back(each.about);
    else out += "  " + each.about + ": " + each.why + "\n";
  if (!together.empty()) out += "  " + std::string(shared) + ": " + joined(together) + "\n";
  for (const auto& [steps, why] : failed) out += "  " + steps + ": " + printable(why) + "\n";
  for (const std::string& each : collected.missing) out += "  " + printable(each) + "\n";
}

void write_steps(JsonWriter& json, const std::vector<StepRecord>& steps) {
  json.begin_array();
  for (const StepRecord& each : steps) {
    json.begin_object().member("step", each.name).member("budgetMillis", each.budget.count());
    json.member("usedMillis", each.used.count());
    if (!each.problem.empty()) json.member("problem", each.problem);
    json.end_object();
  }
  json.end_array();
}

std::string asked_text(const Verdict& verdict) {
  constexpr std::size_t kShown = 4;
  const std::span<const std::string> asked(verdict.asked);
  if (asked.empty()) return "nothing";
  if (asked.size() <= kShown) return joined(asked);
  return joined(asked.first(kShown)) + " and " + std::to_string(asked.size() - kShown) +
         " more kinds of trouble (--format json names all)";
}

// Whoever reads that nothing was found must not take it for more than it says.
std::string not_asked_text(const Verdict& verdict, const std::string& target) {
  if (verdict.is_found() || verdict.ended) return "";
  const std::string leaks = "Not looked for: memory that leaks (jtrace inspect " + target + " leaks" +
                            (verdict.of_core ? ")" : " --duration 1m)");
  return leaks + (verdict.of_core ? "" : ", slow calls (jtrace slow " + target + ")") + ".\n";
}

// A finding that says by itself where to look next. That processors are few says nothing of why threads wait, and is
// often true of a machine.
bool leads_on(const Finding& finding) {
  return finding.confidence != Confidence::kHint && finding.rule != "processors";
}

// A hint has the same threads.
bool is_told(const Verdict& verdict, const Standing& standing) {
  return std::any_of(verdict.findings.begin(), verdict.findings.end(), [&](const Finding& each) {
    return each.rule == "network" &&
           each.evidence.front().find(" at " + printable(standing.method) + "(") != std::string::npos;
  });
}

void write_standing(JsonWriter& json, const Standing& standing) {
  json.begin_object().member("method", standing.method).member("threads", standing.threads);
  json.member("waiting", standing.waiting).member("sentence", standing.sentence).key("evidence").begin_array();
  for (const std::string& line : standing.evidence) json.value(line);
  json.end_array().member("next", standing.next).end_object();
}

}  // namespace

Verdict judge(const Facts& facts) {
  Verdict verdict{.of_core = !facts.live, .ended = facts.ended};
  for (const Rule& rule : rules()) {
    if (facts.live && rule.of_core_only) continue;
    if (const auto why = rule.unasked(facts); !why.empty()) {
      // Of a process that has ended the reasons of one that runs do not hold.
      verdict.unasked.push_back({std::string(rule.about), std::string(facts.ended ? kEnded : why),
                                 !facts.ended && (rule.not_all_tell || why == kNotInCore)});
      continue;
    }
    verdict.asked.emplace_back(rule.about);
    rule.ask(facts, verdict.findings);
  }
  std::stable_partition(verdict.findings.begin(), verdict.findings.end(),
                        [](const Finding& each) { return each.confidence != Confidence::kHint; });
  if (std::none_of(verdict.findings.begin(), verdict.findings.end(), leads_on)) verdict.standing = find_standing(facts);
  if (verdict.standing && is_told(verdict, *verdict.standing)) verdict.standing.reset();
  return verdict;
}

bool is_partial(const Verdict& verdict, const Collected& collected) {
  const bool failed = std::any_of(collected.steps.begin(), collected.steps.end(),
                                  [](const StepRecord& each) { return !each.problem.empty(); });
  const bool unasked =
      std::any_of(verdict.unasked.begin(), verdict.unasked.end(), [](const Unasked& each) { return !each.expected; });
  // A core stays as it is: what cannot be read of it is missing for good.
  return failed || unasked || (verdict.of_core && collected.target_incomplete);
}

std::string text_of(const Verdict& verdict, const Collected& collected) {
  std::string out = verdict.ended ? "The process ended while it was looked at: what follows was read before.\n" : "";
  out += headline(verdict, is_partial(verdict, collected));
  const std::size_t count = verdict.findings.size();
  for (std::size_t i = 0; i < std::min(count, kHeadline); ++i) append_finding(out, verdict.findings[i], i + 1);
  if (count > kHeadline) out += "\nBelow these:\n";
  for (std::size_t i = kHeadline; i < count; ++i) append_finding(out, verdict.findings[i], i + 1);
  if (verdict.standing) append_standing(out, *verdict.standing);
  out += "\nLooked for: " + asked_text(verdict) + ".\n" + not_asked_text(verdict, collected.facts.target);
  append_skipped(out, verdict, collected);
  return out + cost_of(collected);
}

void write_findings(std::string& out, const Verdict& verdict) {
  JsonWriter json(out);
  for (const Finding& each : verdict.findings) {
    json.begin_object().member("rule", each.rule).member("sentence", each.sentence);
    json.key("evidence").begin_array();
    for (const std::string& line : each.evidence) json.value(line);
    json.end_array().member("confidence", to_string(each.confidence)).member("next", each.next).end_object();
  }
}

void write_members(std::string& out, const Verdict& verdict, const Collected& collected) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().member("found", verdict.is_found());
  if (verdict.ended) json.member("ended", true);
  json.key("lookedFor").begin_array();
  for (const std::string& each : verdict.asked) json.value(each);
  json.end_array();
  if (verdict.standing) {
    json.key("standing");
    write_standing(json, *verdict.standing);
  }
  json.key("skipped").begin_array();
  for (const Unasked& each : verdict.unasked)
    json.begin_object().member("about", each.about).member("why", each.why).end_object();
  json.end_array().key("budgets");
  write_steps(json, collected.steps);
  json.member("elapsedMillis", collected.elapsed.count()).member("stops", collected.stops);
  json.member("pauseMicros", collected.pause_longest.count() / 1000);
  json.member("pauseAllMicros", collected.pause_all.count() / 1000);
  if (collected.limits) {
    json.member("bytesRead", collected.bytes_read).key("limits").begin_object();
    json.member("elapsedMillis", collected.limits->time.count()).member("stopMillis", collected.limits->stop.count());
    json.member("bytesRead", collected.limits->read).end_object();
  }
  json.end_object();
  out += "\"diagnosis\":" + text;
}

}  // namespace jtrace::diagnose
