#include "session/live_watch.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "session/live_watch_text.h"
#include "trace/gap_option.h"
#include "trace/gc_cause.h"
#include "trace/io/scopes.h"
#include "trace/option_keys.h"
#include "trace/record/control.h"
#include "trace/record/event_names.h"
#include "trace/record/start_options.h"
#include "trace/vm_threads.h"

namespace jtrace::session {
namespace {

namespace record = trace::record;

constexpr std::size_t kMost = 65'536;  // names of threads, of classes, objects: beyond, all of the kind are forgotten

// '"http-*"' of '"http-12"'.
std::string family_of(std::string name) {
  const bool is_quoted = name.ends_with('"');
  if (is_quoted) name.pop_back();
  const std::size_t length = name.size();
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.pop_back();
  return name + (name.size() < length ? "*" : "") + (is_quoted ? "\"" : "");
}

void keep(std::unordered_map<std::uint64_t, std::string>& names, std::uint64_t id, std::string name) {
  if (names.size() >= kMost) names.clear();
  names.insert_or_assign(id, std::move(name));
}

}  // namespace

Result<> LiveWatch::write(const trace::Event& event) {
  if (std::holds_alternative<trace::MethodEntry>(event) || std::holds_alternative<trace::MethodExit>(event)) return {};
  if (const auto* enter = std::get_if<trace::MonContendedEnter>(&event)) on_enter(*enter);
  else if (const auto* entered = std::get_if<trace::MonContendedEntered>(&event)) on_entered(*entered);
  else if (const auto* wait = std::get_if<trace::MonWait>(&event)) on_park(*wait);
  else if (const auto* waited = std::get_if<trace::MonWaited>(&event))
    on_unblocked(waited->threadIdRef, waited->time, true);
  else if (const auto* object = std::get_if<trace::ObjDef>(&event)) define(*object);
  else if (const auto* of_class = std::get_if<trace::ClassDef>(&event)) {
    if (of_class->classId.present())
      keep(classes_, of_class->classId.value(), trace::io::java_class_name(of_class->name.view()));
  } else if (const auto* thread = std::get_if<trace::ThreadStart>(&event)) {
    on_thread_start(*thread);
  } else if (const auto* end = std::get_if<trace::ThreadEnd>(&event)) {
    on_thread_end(*end);
  } else if (const auto* start = std::get_if<trace::GcStart>(&event)) {
    pause_since_ = start->time.present() ? start->time.ns() : 0;
  } else if (const auto* finish = std::get_if<trace::GcFinish>(&event)) {
    on_pause_end(*finish);
  } else if (const auto* option = std::get_if<trace::Option>(&event)) {
    on_option(*option);
  } else if (const auto* begin = std::get_if<trace::TraceStart>(&event)) {
    trace_since_ = begin->time.present() ? begin->time.ns() : 0;
  }
  return {};
}

void LiveWatch::on_option(const trace::Option& option) {
  if (option.key == trace::kGapKey || option.key == trace::kDroppedKey) note_loss();
  else if (option.key == record::kEventsOption) {
    const std::uint64_t events = record::events_in(option.value.view());
    has_blocking_ends_ |= (events & record::kMonContendedEnteredEvent) != 0;
    threads_.are_traced |= (events & record::kThreadStartEvent) != 0 && (events & record::kThreadEndEvent) != 0;
  } else if (option.key == trace::kThreadStateKey) {
    on_first_state(option.value.view());
  } else if (option.key == trace::kThreadMetKey) {
    on_thread_met(option.value.view());
  } else if (option.key == record::kVirtualThreadsOption) {
    threads_.has_virtual_ends = option.value == "true";
  } else if (option.key == trace::kPausedKey) {
    // In a pause the end of a wait without a begin is not written, nor what threads do.
    std::erase_if(blocked_, [](const auto& each) { return each.second.is_older; });
    threads_.are_known = false;
  }
}

// Its end is an event, if those are asked for.
void LiveWatch::on_first_state(std::string_view text) {
  const std::size_t blank = text.find(' ');
  const auto thread = parse_decimal<std::uint64_t>(text.substr(0, blank));
  if (!thread) return;
  note_older(*thread);
  if (blank == std::string_view::npos || text.substr(blank + 1) != "blocked") return;
  if (trace_since_ == 0 || !has_blocking_ends_) return;
  Blocked blocked;
  blocked.since = trace_since_;
  blocked.is_older = true;
  blocked_.try_emplace(*thread, blocked);
}

// The end of what is open may be among what was lost.
void LiveWatch::note_loss() {
  threads_.are_known = false;
  blocked_.clear();
  pause_since_ = 0;
}

void LiveWatch::on_thread_start(const trace::ThreadStart& start) {
  if (!start.threadId.present()) return;
  const std::uint64_t id = start.threadId.value();
  keep(names_, id, printable(std::string(start.threadName.view())));
  if (id >= trace::kVmThreadBase) return;
  if (threads_.alive.size() >= kMost) threads_.are_known = false;  // its end would count
  if (!threads_.are_known) return;
  if (!threads_.alive.insert(id).second) return;
  ++threads_.started;
  // Unless an option says right away that it is older. A new part restates those that began in the part before.
  if (trace_since_ != 0 && start.time.present() && start.time.ns() > trace_since_) threads_.fresh.insert(id);
}

void LiveWatch::note_older(std::uint64_t thread) {
  if (threads_.fresh.erase(thread) != 0 && threads_.started != 0) --threads_.started;
}

// Of a virtual thread it may never be known when it ends.
void LiveWatch::on_thread_met(std::string_view text) {
  const std::size_t blank = text.find(' ');
  const auto thread = parse_decimal<std::uint64_t>(text.substr(0, blank));
  if (!thread) return;
  note_older(*thread);
  const bool is_virtual = blank != std::string_view::npos && text.substr(blank + 1) == trace::kMetVirtual;
  if (is_virtual && !threads_.has_virtual_ends) threads_.alive.erase(*thread);
}

// Its name is kept: it may be the owner in a wait that is reported later.
void LiveWatch::on_thread_end(const trace::ThreadEnd& end) {
  if (!end.threadIdRef.present()) return;
  blocked_.erase(end.threadIdRef.value());
  if (threads_.alive.erase(end.threadIdRef.value()) == 0) return;
  ++threads_.ended;
  if (threads_.fresh.erase(end.threadIdRef.value()) == 0) ++threads_.old_ended;
}

void LiveWatch::define(const trace::ObjDef& object) {
  if (!object.objId.present() || !object.classIdRef.present()) return;
  if (objects_.size() >= kMost) objects_.clear();
  objects_.insert_or_assign(object.objId.value(), object.classIdRef.value());
}

void LiveWatch::on_enter(const trace::MonContendedEnter& enter) {
  if (!enter.threadIdRef.present() || !enter.time.present()) return;
  Blocked blocked{.since = enter.time.ns(), .object = enter.objIdRef.present() ? enter.objIdRef.value() : 0};
  blocked.has_owner = enter.threadOwner.present() && enter.threadOwner.value() != 0;
  if (blocked.has_owner) blocked.owner = enter.threadOwner.value();
  blocked_.insert_or_assign(enter.threadIdRef.value(), blocked);
}

// Only parks for a lock that another thread has: idle threads of pools park too.
void LiveWatch::on_park(const trace::MonWait& wait) {
  if (!wait.threadIdRef.present() || !wait.time.present()) return;
  if (!wait.threadOwner.present() || wait.threadOwner.value() == 0) return;
  const std::uint64_t object = wait.objIdRef.present() && wait.objIdRef.is_number() ? wait.objIdRef.value() : 0;
  blocked_.insert_or_assign(wait.threadIdRef.value(), Blocked{.since = wait.time.ns(),
                                                              .object = object,
                                                              .owner = wait.threadOwner.value(),
                                                              .has_owner = true,
                                                              .parks = true});
}

void LiveWatch::on_entered(const trace::MonContendedEntered& entered) {
  if (entered.threadIdRef.present() && entered.objIdRef.present() && entered.objIdRef.is_number()) {
    const auto found = blocked_.find(entered.threadIdRef.value());
    if (found != blocked_.end() && found->second.is_older) found->second.object = entered.objIdRef.value();
  }
  on_unblocked(entered.threadIdRef, entered.time, false);
}

void LiveWatch::on_unblocked(trace::ThreadId thread, trace::Time end, bool parks) {
  if (!thread.present() || !end.present()) return;
  const auto found = blocked_.find(thread.value());
  if (found == blocked_.end() || found->second.parks != parks) return;
  const std::uint64_t now = end.ns(), time = now - std::min(found->second.since, now);
  if (time >= kLong) {
    lacked_owners_ = lacked_owners_ || (!found->second.has_owner && !found->second.is_older);
    line(now, time,
         name_of(found->first) + " was blocked for " + duration_text(time) +
             (found->second.is_older ? " (and before the trace)" : "") + " by " + what(found->second, "had"),
         long_waits_);
  }
  blocked_.erase(found);
}

void LiveWatch::on_pause_end(const trace::GcFinish& finish) {
  if (!finish.time.present() || pause_since_ == 0) return;
  const std::uint64_t now = finish.time.ns(), time = now - std::min(pause_since_, now);
  pause_since_ = 0;
  if (finish.cause.view() == trace::kSystemGcCause) ++asked_pauses_;
  ++pauses_.count;
  pauses_.total += time;
  pauses_.longest = std::max(pauses_.longest, time);
  if (time < kLong) return;
  line(now, time, "the collector stopped all threads for " + duration_text(time) + pause_text(finish), long_pauses_);
}

std::string LiveWatch::name_of(std::uint64_t thread) const {
  const auto found = names_.find(thread);
  const bool has_name = found != names_.end() && !found->second.empty();
  return has_name ? "\"" + found->second + "\"" : "thread " + std::to_string(thread);
}

std::string LiveWatch::what(const Blocked& blocked, std::string_view verb) const {
  const auto object = objects_.find(blocked.object);
  const auto of_class = object == objects_.end() ? classes_.end() : classes_.find(object->second);
  std::string text = (blocked.parks ? "" : "the monitor of ") +
                     (of_class == classes_.end() ? "an object" : "a " + printable(of_class->second));
  if (blocked.has_owner) text += " that " + name_of(blocked.owner) + " " + std::string(verb);
  return text;
}

void LiveWatch::line(std::uint64_t end, std::uint64_t time, const std::string& text, Longs& longs) {
  const std::string begin = time_of_day(end - time);
  ++longs.count;
  if (time > longs.longest) {
    longs.longest = time;
    longs.line = begin + "  " + text;
  }
  if (++lines_ <= kLines) show_(begin + "  " + text);
}

std::string LiveWatch::blocked_text(std::uint64_t wall) const {
  const auto longest = std::min_element(blocked_.begin(), blocked_.end(),
                                        [](const auto& a, const auto& b) { return a.second.since < b.second.since; });
  if (longest == blocked_.end() || wall < longest->second.since + kLong) return {};
  return std::to_string(blocked_.size()) + " blocked, the longest " +
         (longest->second.is_older ? "(since before the trace) " : "") + "for " +
         duration_text(wall - longest->second.since) + ": " + name_of(longest->first) + " by " +
         what(longest->second, "has");
}

std::string LiveWatch::findings(std::uint64_t wall) const {
  std::string text;
  const auto add = [&](const Longs& longs, const char* word) {
    if (longs.count == 0) return;
    text += (text.empty() ? "" : "; ") + counted(longs.count, word) + " of " + duration_text(kLong) + " and more, " +
            (longs.count == 1 ? "" : "the longest ") + longs.line;
  };
  add(long_waits_, "wait");
  add(long_pauses_, "pause");
  if (const std::string blocked = blocked_text(wall); !blocked.empty())
    text += (text.empty() ? "" : "; ") + ("at the end " + blocked);
  if (const std::string growth = growth_text(wall); !growth.empty()) text += (text.empty() ? "" : "; ") + growth;
  return text;
}

std::string LiveWatch::growth_text(std::uint64_t wall) const {
  constexpr std::size_t kFew = 3, kShown = 4;
  if (!threads_.are_traced || !threads_.are_known || wall <= trace_since_) return {};
  if (threads_.fresh.size() < threads_.old_ended + kFew) return {};
  std::map<std::string, std::size_t> families;
  for (const std::uint64_t id : threads_.fresh) ++families[family_of(name_of(id))];
  std::vector<std::pair<std::string, std::size_t>> largest(families.begin(), families.end());
  std::stable_sort(largest.begin(), largest.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  const std::size_t more = threads_.fresh.size() - threads_.old_ended;
  char rate[64];
  std::snprintf(rate, sizeof rate,
                ", %.1f a minute: ", static_cast<double>(more) * 60e9 / static_cast<double>(wall - trace_since_));
  std::string text = std::to_string(more) + " threads more than at the beginning" + rate;
  for (std::size_t i = 0; i < std::min(largest.size(), kShown); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(largest[i].second) + " " + largest[i].first;
  return text + (largest.size() > kShown ? ", ..." : "");
}

// Those of the first look were there before, or it cannot be told.
std::string LiveWatch::threads_text() {
  const auto [started, ended] = std::pair(std::exchange(threads_.started, 0), std::exchange(threads_.ended, 0));
  const bool is_first = !std::exchange(threads_.had_look, true);
  if (!threads_.are_traced || !threads_.are_known || threads_.alive.empty()) return {};
  std::string text = counted(threads_.alive.size(), "thread");
  if (is_first || (started == 0 && ended == 0)) return text;
  text += " (";
  if (started != 0) text += std::to_string(started) + " started";
  if (ended != 0) text += (started != 0 ? ", " : "") + std::to_string(ended) + " ended";
  return text + ")";
}

std::string LiveWatch::state(std::uint64_t wall) {
  if (lines_ > kLines)
    show_("... and " + std::to_string(lines_ - kLines) + " more waits and pauses of " + duration_text(kLong) +
          " and more");
  lines_ = 0;
  std::string text = threads_text();
  if (const std::string blocked = blocked_text(wall); !blocked.empty()) text += (text.empty() ? "" : ", ") + blocked;
  if (pauses_.count != 0)
    text += (text.empty() ? "" : ", ") + std::to_string(pauses_.count) +
            (pauses_.count == 1 ? " pause of " : " pauses, the longest ") + duration_text(pauses_.longest);
  pauses_ = {};
  return text;
}

}  // namespace jtrace::session
