#include "coreinspect/tools/field_summary.h"

#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/secrets.h"
#include "base/strings.h"
#include "coreinspect/graph/holder_fields.h"
#include "coreinspect/graph/value_counts.h"
#include "coreinspect/hprof/redaction.h"
#include "coreinspect/tools/referred_values.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint8_t kReferenceType = 2;
constexpr std::uint64_t kMostSlow = ValueCounts::kMost;  // objects of a field
using Value = ReferredValues::Value;

class Bounds {
 public:
  void add(long double order, std::uint32_t object) {
    if (std::isnan(order)) return;
    if (!known_ || order < least_.order) least_ = {order, object};
    if (!known_ || order > most_.order) most_ = {order, object};
    known_ = true;
  }
  struct Bound {
    long double order = 0;
    std::uint32_t object = 0;
  };
  bool known() const { return known_; }
  const Bound& least() const { return least_; }
  const Bound& most() const { return most_; }

 private:
  bool known_ = false;
  Bound least_, most_;
};

// What is known of a field so far.
struct State {
  std::uint32_t declared = 0;  // number of the class
  std::string name;
  std::uint64_t objects = 0, nulls = 0, slow = 0;
  std::optional<FieldKind> kind;
  Bounds bounds;
  ValueCounts counts;
  std::map<std::uint32_t, std::uint64_t> types;  // by class number; kNoObject: a class
  std::uint64_t* type_count = nullptr;           // of the last one
  std::uint32_t type = 0;

  void meet(FieldKind next) {
    if (!kind) kind = next;
    else if (*kind != next) kind = FieldKind::kMixed;
  }
  void count_type(std::uint32_t number) {
    if (type_count == nullptr || type != number) type_count = &types[type = number];
    ++*type_count;
  }
};

class Summary {
 public:
  Summary(const ObjectGraph& graph, bool secrets)
      : graph_(graph),
        fields_(graph),
        values_(graph),
        secrets_(secrets),
        redacted_(graph.file().is_redacted()),
        kept_(KeptFields::of_text(graph.file().kept_fields())),
        plans_(graph.classes().size()) {
    states_.reserve(FieldSummaries::kMost);
  }

  FieldSummaries run(std::span<const std::uint32_t> objects) {
    FieldSummaries all;
    for (const std::uint32_t object : objects) {
      if (graph_.is_class(object) || graph_.strength(object) == Strength::kGarbage) continue;
      ++all.objects;
      look_at(object);
    }
    for (State& each : states_) all.fields.push_back(summary_of(each));
    all.left_out = left_out_.size();
    all.masked.assign(masked_.begin(), masked_.end());
    return all;
  }

 private:
  struct Slot {
    std::size_t state = 0;
    ObjectFields::Place place;
  };
  using Field = std::pair<std::uint32_t, std::uint32_t>;  // numbers of the class that declares it, and in it

  bool is_shown(const std::string& declared_by, const std::string& name, std::uint8_t type) const {
    return !redacted_ || type == kReferenceType || stays_redacted(declared_by, name) || kept_.keeps(declared_by, name);
  }
  const std::vector<Slot>& slots_of(std::uint32_t class_number) {
    std::optional<std::vector<Slot>>& plan = plans_[class_number];
    if (plan) return *plan;
    plan.emplace();
    fields_.each_field(class_number, [&](std::uint32_t declared, std::uint32_t number, const HprofField& field,
                                         const ObjectFields::Place& place) {
      const std::string& by = graph_.classes()[declared].name;
      const std::string name = graph_.file().text(field.name);
      if (is_class_of_the_jdk(by) || !is_shown(by, name, place.type)) return true;
      if (!secrets_ && place.type == kReferenceType && names_secret_field(name)) {
        masked_.insert(name);
        return true;
      }
      const Field key{declared, number};
      auto known = numbers_.find(key);
      if (known == numbers_.end()) {
        if (states_.size() == FieldSummaries::kMost) {
          left_out_.insert(key);
          return true;
        }
        known = numbers_.emplace(key, states_.size()).first;
        states_.push_back({.declared = declared, .name = name});
      }
      plan->push_back({known->second, place});
      return true;
    });
    return *plan;
  }
  void look_at(std::uint32_t object) {
    const auto& slots = slots_of(graph_.class_of(object));
    if (slots.empty()) return;
    const HprofObject record = graph_.record(object);
    if (record.kind != HprofSub::kInstanceDump) return;
    for (const Slot& slot : slots) {
      const std::uint32_t size = graph_.file().field_size(slot.place.type);
      if (std::uint64_t{slot.place.offset} + size > record.count) break;  // a damaged instance
      const std::uint64_t bits = graph_.file().number(record.body + slot.place.offset, size);
      add(states_[slot.state], slot.place.type, bits, object);
    }
  }
  void add(State& state, std::uint8_t type, std::uint64_t bits, std::uint32_t object) {
    ++state.objects;
    if (type != kReferenceType) {
      state.kind = ReferredValues::kind_of(type);
      return add(state, ReferredValues::value_of(bits, type), object);
    }
    if (bits == 0) {
      ++state.nulls;
      return;
    }
    const std::uint32_t target = graph_.find(bits);
    if (target == kNoObject) return;  // not in the dump
    state.count_type(graph_.is_class(target) ? kNoObject : graph_.class_of(target));
    state.meet(values_.kind(target));
    if (state.kind == FieldKind::kMixed) return;
    if (values_.is_slow(target) && ++state.slow > kMostSlow) return;
    // Texts are the most work. Where there are too many, only their number is of interest.
    if (state.kind == FieldKind::kText && state.counts.is_full()) return;
    if (const auto value = values_.value(target)) add(state, *value, object);
  }
  static void add(State& state, const Value& value, std::uint32_t object) {
    if (state.kind != FieldKind::kText && state.kind != FieldKind::kValue && state.kind != FieldKind::kReference)
      state.bounds.add(value.order, object);
    if (state.kind != FieldKind::kCollection && state.kind != FieldKind::kArray) state.counts.add(value.key, object);
  }

  // The field of an object: the place in it depends on its class.
  std::pair<std::uint64_t, std::uint8_t> bits_of(const State& state, std::uint32_t object) {
    for (const Slot& slot : slots_of(graph_.class_of(object)))
      if (&states_[slot.state] == &state) return {fields_.number(object, slot.place).value_or(0), slot.place.type};
    return {0, kReferenceType};
  }
  std::string text_of(const State& state, std::uint32_t object) {
    const auto [bits, type] = bits_of(state, object);
    if (type != kReferenceType) return ReferredValues::text_of(bits, type);
    const std::uint32_t target = graph_.find(bits);
    return target == kNoObject ? "?" : values_.text(target);
  }
  void add_bounds(FieldSummary& summary, const State& state) {
    const bool is_number = summary.kind == FieldKind::kNumber;
    const auto text = [&](const Bounds::Bound& of) {
      return is_number ? text_of(state, of.object) : std::to_string(static_cast<std::uint64_t>(of.order));
    };
    summary.least = text(state.bounds.least());
    summary.most = text(state.bounds.most());
    summary.least_at = graph_.address(state.bounds.least().object);
    summary.most_at = graph_.address(state.bounds.most().object);
  }
  void add_values(FieldSummary& summary, const State& state) {
    const auto most = state.counts.most(FieldSummary::kShown);
    if (summary.kind == FieldKind::kReference) {
      if (summary.different == 1) add_object(summary, most.front());
      return;
    }
    const bool few = summary.different <= FieldSummary::kShown;
    // Eight of many dates say nothing, if no two are the same.
    if (!few && (summary.kind != FieldKind::kValue || most.empty() || most.front().count == 1)) return;
    for (const ValueCounts::Entry& each : most)
      summary.values.push_back({text_of(state, each.object), each.count, graph_.address(each.object)});
  }
  void add_object(FieldSummary& summary, const ValueCounts::Entry& only) {
    const auto object = static_cast<std::uint32_t>(only.key);
    std::string text = printable(graph_.name(object)) + " @";
    append_hex(text, graph_.address(object));
    summary.values.push_back({std::move(text), only.count, graph_.address(only.object)});
  }
  void add_types(FieldSummary& summary, const State& state) const {
    for (const auto& [number, count] : state.types)
      summary.types.push_back({number == kNoObject ? "java.lang.Class" : graph_.classes()[number].name, count});
    std::stable_sort(summary.types.begin(), summary.types.end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
  }
  FieldSummary summary_of(const State& state) {
    FieldSummary summary{.name = state.name, .declared_by = graph_.classes()[state.declared].name};
    summary.kind = state.kind.value_or(FieldKind::kReference);
    summary.objects = state.objects;
    summary.nulls = state.nulls;
    if (state.slow > kMostSlow) summary.read = kMostSlow;
    add_types(summary, state);
    if (summary.kind == FieldKind::kMixed) return summary;
    summary.different = state.counts.different();
    summary.more_different = state.counts.is_full();
    if (state.bounds.known()) add_bounds(summary, state);
    add_values(summary, state);
    return summary;
  }

  const ObjectGraph& graph_;
  ObjectFields fields_;
  ReferredValues values_;
  const bool secrets_, redacted_;
  const KeptFields kept_;
  std::vector<std::optional<std::vector<Slot>>> plans_;  // by class number
  std::map<Field, std::size_t> numbers_;                 // of states
  std::set<Field> left_out_;
  std::set<std::string> masked_;
  std::vector<State> states_;
};

}  // namespace

std::string_view to_string(FieldKind kind) {
  constexpr std::array<std::string_view, 7> kNames = {"number", "value",     "text", "collection",
                                                      "array",  "reference", "mixed"};
  return kNames[static_cast<std::size_t>(kind)];
}

FieldSummaries summarize_fields(const ObjectGraph& graph, std::span<const std::uint32_t> objects, bool secrets) {
  return Summary(graph, secrets).run(objects);
}

}  // namespace jtrace::coreinspect
