#include "trace/io/exceptions.h"

#include <algorithm>

#include "base/strings.h"
#include "trace/exception_value.h"
#include "trace/io/allocation_weight.h"
#include "trace/io/call_stacks.h"
#include "trace/option_keys.h"

namespace jtrace::trace::io {
namespace {

constexpr std::uint64_t kIsHandle = 1ull << 63;  // no object: by its identity hash

std::uint64_t id_of(ObjectId object, Number handle) {
  if (object.present() && object.is_number()) return object.value();
  return kIsHandle | handle.value_or(0);
}

template <class Event>
ExceptionSite site_of(const Event& event) {
  return {event.methodIdRef.present() ? event.methodIdRef.value() : 0, event.lineNumber.value_or(0)};
}

std::uint64_t value_of(ThreadId thread) { return thread.present() ? thread.value() : 0; }

// The frame that throws has one event or, if it throws on what it caught, more.
void note_passed(ExceptionWay& way, std::uint64_t method, std::uint64_t thrown) {
  const std::uint64_t last = way.passed.empty() ? thrown : way.passed.back();
  if (method == 0 || method == last) return;
  way.is_cut = way.is_cut || way.passed.size() == Exceptions::kMaxPassed;
  if (!way.is_cut) way.passed.push_back(method);
}

// The nearest first.
std::vector<std::uint64_t> callers_of(std::uint64_t method, const std::vector<OpenFrame>* calls) {
  std::vector<std::uint64_t> callers;
  if (calls == nullptr) return callers;
  auto frame =
      std::find_if(calls->rbegin(), calls->rend(), [&](const OpenFrame& each) { return each.method == method; });
  for (; frame != calls->rend() && callers.size() < Exceptions::kMaxCallers; ++frame)
    if (frame->method != 0) callers.push_back(frame->method);
  if (!callers.empty()) callers.erase(callers.begin());  // itself
  return callers;
}

template <class Key>
void count_in(std::map<Key, std::uint64_t>& counts, const Key& key, std::size_t most, std::uint64_t& others) {
  const bool has_room = counts.size() < most || counts.contains(key);
  ++(has_room ? counts[key] : others);
}

}  // namespace

std::string_view name_of(ExceptionEnd end) {
  constexpr std::array<std::string_view, kExceptionEnds> kNames = {"swallowed",  "used", "wrapped",
                                                                   "suppressed", "left", "unknown"};
  return kNames[static_cast<std::size_t>(end)];
}

namespace {

bool last_in_initializer(const Scope& scope, const ExceptionKey& key) {
  const auto method = scope.methods.find(key.caught.method);
  return key.caught.line == 0 && method != scope.methods.end() && method->second.name == "<clinit>";
}

}  // namespace

bool left_initializer(const Scope& scope, const ExceptionKey& key) {
  const bool is_left =
      key.end == ExceptionEnd::kLeft || (key.end == ExceptionEnd::kWrapped && key.other == kInInitializer);
  return is_left && last_in_initializer(scope, key);
}

bool has_handler(const Scope& scope, const ExceptionKey& key) {
  return key.end != ExceptionEnd::kLeft && key.end != ExceptionEnd::kUnknown && !left_initializer(scope, key);
}

void Exceptions::note(const Event& event, const Scope& scope, const std::vector<OpenFrame>* calls) {
  if (const auto* thrown = std::get_if<Throw>(&event)) note_throw(*thrown, scope);
  else if (const auto* caught = std::get_if<Catch>(&event)) note_catch(*caught, scope, calls);
  else if (const auto* option = std::get_if<Option>(&event)) {
    if (option->key.view() == kSuppressedKey) note_suppressed(option->value.view(), scope);
    else if (option->key.view() == kPausedKey) note_gap(0, 0);
  }
}

Exceptions::Open* Exceptions::find(std::uint64_t thread, std::uint64_t object) {
  const auto found = by_id_.find({thread, object});
  return found == by_id_.end() ? nullptr : &*found->second;
}

Exceptions::Open* Exceptions::find_anywhere(std::uint64_t object) {
  const auto found = by_object_.find(object);
  return found == by_object_.end() ? nullptr : &*found->second;
}

Exceptions::Open& Exceptions::begin(std::uint64_t thread, std::uint64_t object, std::uint64_t time, std::string type) {
  if (open_.size() >= kMaxOpen) end(open_.begin());
  const Place place = open_.insert(open_.end(), Open{.thread = thread, .object = object, .time = time});
  place->key.type = std::move(type);
  by_id_[{thread, object}] = place;
  by_object_[object] = place;
  ++thrown_;
  return *place;
}

// Caught in another thread, which kept it.
Exceptions::Open& Exceptions::take_over(Open& open, std::uint64_t thread) {
  const auto node = by_id_.find({open.thread, open.object});
  const Place place = node->second;
  by_id_.erase(node);
  open.thread = thread;
  by_id_[{thread, open.object}] = place;
  return open;
}

// From where it was thrown first. Without a line it could also be on its way out of the method that caught it.
bool Exceptions::is_thrown_anew(const Open& open, const ExceptionSite& here) {
  return open.key.thrown == here && open.key.caught != here &&
         (here.line != 0 || (open.is_caught && here.method != open.key.caught.method));
}

void Exceptions::note_throw(const Throw& thrown, const Scope& scope) {
  const std::uint64_t thread = value_of(thrown.threadId), object = id_of(thrown.objIdRef, thrown.objHandle);
  const std::uint64_t time = thrown.time.present() ? thrown.time.ns() : 0;
  const ExceptionSite here = site_of(thrown);
  Open* open = find(thread, object);
  bool is_handed_over = false;
  if (open == nullptr) {
    Open* kept = find_anywhere(object);
    is_handed_over = kept != nullptr && kept->is_caught && kept->key.thrown != here;
    if (is_handed_over) open = &take_over(*kept, thread);
  }
  if (open != nullptr && is_thrown_anew(*open, here)) {
    end(by_id_.at({thread, object}));
    open = nullptr;
  }
  if (open == nullptr) {
    open = &begin(thread, object, time, type_of_object(scope, object));
    open->key.thrown = here;
    if (open->key.type == kInInitializer) note_initializer(*open, thrown, scope);
  }
  note_again(*open, here);
  if (is_handed_over) open->is_elsewhere = false;
  if (open->is_caught) {
    open->handler = open->key.caught;
    open->callers_of_handler = std::exchange(open->way.callers, {});  // it did not end there
  }
  open->came_again = open->is_caught && here == ExceptionSite{open->key.caught.method, 0} ? time : 0;
  open->is_caught = false;
  open->key.caught = {here.method, 0};
  note_passed(open->way, here.method, open->key.thrown.method);
  if (open->message.empty()) open->message = thrown.message.view();
  if (!thrown.causeIdRef.present() || !thrown.causeIdRef.is_number()) return;
  if (Open* cause = find_anywhere(thrown.causeIdRef.value()); cause != nullptr && cause->is_caught && cause != open) {
    cause->key.end = ExceptionEnd::kWrapped;
    cause->key.other = open->key.type;
  }
}

void Exceptions::note_catch(const Catch& caught, const Scope& scope, const std::vector<OpenFrame>* calls) {
  const std::uint64_t thread = value_of(caught.threadIdRef), object = id_of(caught.objIdRef, caught.objHandle);
  const std::uint64_t time = caught.time.present() ? caught.time.ns() : 0;
  Open* open = find(thread, object);
  if (open != nullptr && open->came_again != 0 && open->came_again == time && open->handler == site_of(caught)) {
    // It never left the handler's method: it ended there before, and is thrown anew.
    open->key.caught = open->handler;
    open->way.callers = open->callers_of_handler;
    open->is_caught = true;
    --open->thrown_on;
    end(by_id_.at({thread, object}));
    open = nullptr;
  }
  if (open == nullptr) {  // without throw events
    open = &begin(thread, object, time, type_of_object(scope, object));
    open->key.thrown = {caught.methodIdRef.present() ? caught.methodIdRef.value() : 0, 0};
  }
  settle_elsewhere(*open, site_of(caught).method);
  open->key.caught = site_of(caught);
  open->knows_handler = caught.handler.present();
  open->key.end = caught.handler.view() == kHandlerUses ? ExceptionEnd::kUsed : ExceptionEnd::kSwallowed;
  open->key.other.clear();
  open->is_caught = true;
  open->is_settled = false;
  open->caught_at = time;
  open->way.callers = callers_of(open->key.caught.method, calls);
  settle(*open);
}

void Exceptions::settle(const Open& caught) {
  std::uint64_t& last = handlers_[{caught.thread, caught.key.caught}];
  Open* before = last == caught.object ? nullptr : find(caught.thread, last);
  if (before != nullptr && before->is_caught && before->key.caught == caught.key.caught) before->is_settled = true;
  last = caught.object;
}

// An exception that a helper of the handler throws on comes through the handler's method; one that is thrown anew
// elsewhere does not.
void Exceptions::note_again(Open& open, const ExceptionSite& here) {
  if (!open.is_caught) {
    if (here.method == open.handler.method) open.is_elsewhere = false;
    return;
  }
  ++open.thrown_on;
  open.is_elsewhere = here.method != open.key.caught.method;
  if (here.line != 0 && here == open.key.thrown) ++open.maybe_anew;
}

void Exceptions::settle_elsewhere(Open& open, std::uint64_t method) {
  if (std::exchange(open.is_elsewhere, false) && method != open.handler.method) ++open.maybe_anew;
}

// The exception that left the initializer is the cause of the error. Up to JDK 11 the error keeps it in a field of its
// own and the trace names no cause: then it is the last one that the thread threw. An Error leaves as it is.
void Exceptions::note_initializer(const Open& error, const Throw& thrown, const Scope& scope) {
  const bool is_named = thrown.causeIdRef.present() && thrown.causeIdRef.is_number();
  const auto left = std::find_if(open_.rbegin(), open_.rend(), [&](const Open& each) {
    if (each.thread != error.thread || &each == &error) return false;
    return !is_named || each.object == thrown.causeIdRef.value();
  });
  if (left == open_.rend() || left->is_caught || left->key.type.ends_with("Error")) return;
  if (!last_in_initializer(scope, left->key)) return;
  left->is_caught = true;
  left->key.end = ExceptionEnd::kWrapped;
  left->key.other = error.key.type;
}

// "OBJECT by OBJECT"
void Exceptions::note_suppressed(std::string_view value, const Scope& scope) {
  const std::size_t end = value.find(' ');
  const auto object = parse_decimal<std::uint64_t>(value.substr(0, end));
  const auto by = parse_decimal<std::uint64_t>(value.substr(std::min(value.rfind(' ') + 1, value.size())));
  if (!object || !by) return;
  Open* open = find_anywhere(*object);
  if (open == nullptr || !open->is_caught) return;
  open->key.end = ExceptionEnd::kSuppressed;
  open->key.other = type_of_object(scope, *by);
}

void Exceptions::note_gap(std::uint64_t thread, std::uint64_t from) {
  for (Open& open : open_) {
    if (thread != 0 && open.thread != thread) continue;
    const bool is_at_end = open.key.end == ExceptionEnd::kSwallowed || open.key.end == ExceptionEnd::kUsed;
    const bool may_go_on = is_at_end && !open.is_settled && (from == 0 || open.caught_at + kHandlerTime > from);
    if (!open.is_caught || may_go_on) open.is_lost = true;
  }
}

void Exceptions::end(Place place) {
  Open& open = *place;
  settle_elsewhere(open, 0);
  if (!open.is_caught) open.key.end = ExceptionEnd::kLeft;
  if (!open.is_caught || open.is_lost) open.key.other.clear();
  if (open.is_lost) open.key.end = ExceptionEnd::kUnknown;
  ++ends_[static_cast<std::size_t>(open.key.end)];
  if (open.key.end == ExceptionEnd::kSwallowed && !open.knows_handler) ++handlers_not_known_;
  ExceptionCount& row = rows_[open.key];
  ++row.count;
  row.thrown_on += open.thrown_on;
  row.maybe_anew += open.maybe_anew;
  row.first = row.first == 0 ? open.time : std::min(row.first, open.time);
  row.last = std::max(row.last, open.time);
  if (!open.message.empty()) count_in(row.messages, open.message, ExceptionCount::kMaxMessages, row.other_messages);
  if (!open.way.is_cut && !open.way.passed.empty() && open.way.passed.back() == open.key.caught.method)
    open.way.passed.pop_back();
  count_in(row.ways, open.way, ExceptionCount::kMaxWays, row.other_ways);
  count_in(row.threads, open.thread, ExceptionCount::kMaxThreads, row.other_threads);
  if (listener_) listener_({&open.key, &open.message, open.thread, open.time, open.thrown_on});
  by_id_.erase({open.thread, open.object});
  if (const auto last = by_object_.find(open.object); last != by_object_.end() && last->second == place)
    by_object_.erase(last);
  open_.erase(place);
}

void Exceptions::finish() {
  while (!open_.empty()) end(open_.begin());
}

std::vector<Exceptions::Row> Exceptions::most_first() const {
  std::vector<Row> rows;
  for (const auto& [key, count] : rows_) rows.emplace_back(&key, &count);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.second->count > b.second->count; });
  return rows;
}

}  // namespace jtrace::trace::io
