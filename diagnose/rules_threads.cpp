// Rules about the number of threads.
#include <algorithm>
#include <cctype>
#include <set>

#include "base/strings.h"
#include "diagnose/rules.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

constexpr std::size_t kMany = 100;  // threads of one kind
constexpr std::size_t kTooMany = 500;
constexpr std::size_t kNew = 5;     // between two samples
constexpr double kSamePlace = 0.9;  // of the threads of a kind

// "pool-N-thread-N" of "pool-12-thread-1".
std::string kind_of(const std::string& name) {
  std::string kind;
  for (const char each : name) {
    if (std::isdigit(static_cast<unsigned char>(each)) == 0) kind += each;
    else if (!kind.ends_with('N')) kind += 'N';
  }
  return kind;
}

using Threads = std::map<ThreadKey, const ThreadFact*>;
std::map<std::string, Threads> kinds_of(const ThreadsLook& look) {
  std::map<std::string, Threads> kinds;
  for (const ThreadFact& each : look.threads)
    if (each.key != 0 && !each.is_virtual) kinds[kind_of(each.name)][each.key] = &each;
  return kinds;
}

// Whether all of the earlier ones are still there, and some are new.
bool only_grows(const Threads& before, const Threads& now) {
  const bool kept =
      std::all_of(before.begin(), before.end(), [&](const auto& each) { return now.contains(each.first); });
  return kept && now.size() >= before.size() + kNew;
}

// The place at which most of them are, and how many these are.
std::pair<std::string, std::size_t> common_place(const Threads& threads) {
  std::map<std::string, std::size_t> places;
  for (const auto& [key, thread] : threads)
    if (!thread->frames.empty()) ++places[place(thread->frames.front())];
  const auto most = std::max_element(places.begin(), places.end(),
                                     [](const auto& one, const auto& other) { return one.second < other.second; });
  if (most == places.end()) return {};
  return {most->first, most->second};
}

std::string by_counters(const Facts& facts) {
  if (facts.counters.size() < 2) return "";
  const CounterFact& before = facts.counters.front();
  const CounterFact& now = facts.counters.back();
  if (!before.threads_started || !now.threads_started || !now.threads_live) return "";
  const double started = *now.threads_started - *before.threads_started;
  return counted(static_cast<long>(started), "Java thread") + " started in " +
         seconds(static_cast<double>(now.ns - before.ns) / 1e9) + ", " +
         std::to_string(static_cast<long>(*now.threads_live)) + " live (java.threads.started, java.threads.live)";
}

}  // namespace

// New ones although those that are there are idle or wait at one place: a pool that has grown to its size ends that.
void find_growing_threads(const Facts& facts, std::vector<Finding>& found) {
  if (facts.looks.size() < 3 || stands_still(facts)) return;
  std::vector<std::map<std::string, Threads>> looks;
  for (const ThreadsLook& each : facts.looks) looks.push_back(kinds_of(each));
  for (const auto& [kind, threads] : looks.back()) {
    bool grows = looks.front()[kind].size() >= kMany;
    for (std::size_t i = 1; i < looks.size() && grows; ++i) grows = only_grows(looks[i - 1][kind], looks[i][kind]);
    const auto [place, count] = common_place(threads);
    if (!grows || static_cast<double>(count) < kSamePlace * static_cast<double>(threads.size())) continue;
    const std::size_t first = looks.front()[kind].size();
    Finding finding{.rule = "thread-growth",
                    .sentence = "Threads become more and more, and none of them ends: " + std::to_string(first) +
                                ", then " + std::to_string(threads.size()) + " with the name " + quoted(kind) + ".",
                    .evidence = {std::to_string(count) + " of them are at " + place},
                    .confidence = first >= kTooMany ? Confidence::kLikely : Confidence::kHint,
                    .next = "jtrace stack " + facts.target + " --java --group"};
    if (const std::string line = by_counters(facts); !line.empty()) finding.evidence.push_back(line);
    found.push_back(std::move(finding));
  }
}

}  // namespace jtrace::diagnose
