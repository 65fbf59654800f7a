#include "diagnose/standing.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/strings.h"
#include "diagnose/cpu_share.h"
#include "diagnose/duration.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

constexpr std::size_t kLarge = 10;  // threads: fewer are read quickly among all stacks

using Threads = std::vector<const ThreadFact*>;  // of the last look

bool waits(const ThreadFact& thread) {
  if (thread.wait && thread.wait->without_task) return false;
  return thread.state == "BLOCKED" || thread.state.ends_with("WAITING") || !outside_wait(thread).empty();
}

// The innermost frame of the program; null: the thread does not wait, or has only frames of the JDK.
const FrameFact* place_of_wait(const ThreadFact& thread) {
  if (thread.key == 0 || !waits(thread)) return nullptr;
  const auto own = innermost_of_program(thread.frames);
  return own == thread.frames.end() ? nullptr : &*own;
}

// By the method: the threads that waited in it at all looks.
std::map<std::string_view, Threads> groups_of(const Facts& facts) {
  std::map<ThreadKey, std::pair<std::string_view, std::size_t>> seen;  // the method, and at how many looks
  for (const ThreadsLook& look : facts.looks)
    for (const ThreadFact& each : look.threads)
      if (const FrameFact* frame = place_of_wait(each)) {
        auto& [method, looks] = seen.try_emplace(each.key, frame->method, 0).first->second;
        looks += method == frame->method ? 1 : 0;
      }
  std::map<std::string_view, Threads> groups;
  for (const ThreadFact& each : facts.looks.back().threads)
    if (const auto found = seen.find(each.key); found != seen.end() && found->second.second == facts.looks.size())
      groups[found->second.first].push_back(&each);
  return groups;
}

// "com.example.Pool.borrow(Pool.java:33)"; without the line, if they are in several.
std::string common_place(const Threads& threads) {
  const FrameFact& first = *place_of_wait(*threads.front());
  const bool same = std::all_of(threads.begin(), threads.end(),
                                [&](const ThreadFact* each) { return place_of_wait(*each)->source == first.source; });
  return same ? place(first) : printable(first.method);
}

// What all of them wait for; "" if it is not one object.
std::string common_object(const Threads& threads) {
  const auto& first = threads.front()->wait;
  const bool same = first && first->object != 0 && std::all_of(threads.begin(), threads.end(), [&](auto* each) {
                      return each->wait && each->wait->object == first->object;
                    });
  if (!same) return "";
  std::string address;
  append_hex(address, first->object);
  return "all of them wait for <" + address + "> (a " + printable(first->class_name) + ")";
}

// Whether they were in one wait from the first look to the last, as far as the kernel knows; "" if it does not.
std::string words_of_sleep(const Facts& facts, const Threads& threads) {
  const bool known = std::any_of(threads.begin(), threads.end(), [](auto* each) { return each->waits.has_value(); });
  if (facts.looks.size() < 2 || !known) return "";
  const std::uint64_t of_stops = waits_of_stops(facts);
  std::vector<ThreadKey> slept;
  for (const ThreadFact* each : threads)
    if (sleep_of(facts, each->key, of_stops) != Sleep::kNo) slept.push_back(each->key);
  if (slept.size() < threads.size())
    return (slept.empty() ? "none" : std::to_string(slept.size())) + " of them " + was_were(slept.size()) +
           " in one wait all the time";
  return "each of them was in one wait all the time, for at least " +
         lasted_words(facts, least_duration(facts, 0, slept));
}

Standing standing(const Facts& facts, Threads threads, std::size_t waiting) {
  std::sort(threads.begin(), threads.end(), [](auto* one, auto* other) { return one->key < other->key; });
  Standing found{.method = place_of_wait(*threads.front())->method, .threads = threads.size(), .waiting = waiting};
  const std::string count = std::to_string(threads.size()), method = printable(found.method);
  found.sentence = (waiting == threads.size() ? "All " + count : count + " of " + std::to_string(waiting)) +
                   " waiting threads stand in " + method + ". Threads without work wait so too: it is no finding.";
  std::vector<std::string> names;
  for (const ThreadFact* each : threads) names.push_back(each->name);
  std::string where = some_of(names) + ", at " + common_place(threads);
  if (facts.looks.size() > 1)
    where += ", at " + counted(facts.looks.size(), "look") + " over " +
             time_between(facts.looks.front(), facts.looks.back());
  found.evidence.push_back(std::move(where));
  for (std::string line : {common_object(threads), words_of_sleep(facts, threads)})
    if (!line.empty()) found.evidence.push_back(std::move(line));
  found.next = "jtrace stack " + facts.target + " --java --group";
  return found;
}

}  // namespace

std::optional<Standing> find_standing(const Facts& facts) {
  if (facts.looks.empty()) return std::nullopt;
  const auto groups = groups_of(facts);
  const auto largest = std::max_element(groups.begin(), groups.end(), [](const auto& one, const auto& other) {
    return one.second.size() < other.second.size();
  });
  if (largest == groups.end() || largest->second.size() < kLarge) return std::nullopt;
  std::size_t waiting = 0;
  for (const auto& [method, threads] : groups) waiting += threads.size();
  return standing(facts, largest->second, waiting);
}

}  // namespace jtrace::diagnose
