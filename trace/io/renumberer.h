// Renumberer: makes the ids of several agents unique in their document: adds to each agent's thread, class, method and
// object ids the largest ids of the agents before it. 0 (none) and values that are not numbers stay. transientThreadIds
// are the kernel's and stay. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/strings.h"
#include "trace/io/option_ids.h"
#include "trace/schema.h"

namespace jtrace::trace::io {

struct IdRange {  // the largest id of each kind, which is added to those of the next agent
  std::uint64_t thread = 0, class_ = 0, method = 0, object = 0;
  std::uint64_t& of(ThreadId) { return thread; }
  std::uint64_t& of(ClassId) { return class_; }
  std::uint64_t& of(MethodId) { return method; }
  std::uint64_t& of(ObjectId) { return object; }
};

template <class Id>
constexpr bool is_renumbered(Id id) {
  if constexpr (std::is_same_v<Id, ObjectId>) return id.present() && id.is_number() && id.value() != 0;
  else return id.present() && id.value() != 0;
}

// Calls f(id&) for each id in the event that is renumbered, including those of children. `children` receives the copies
// that this needs.
class IdVisitor {
 public:
  template <class F>
  void visit(Event& event, F&& f) {
    std::visit([&](auto& element) { of_element(element, f); }, event);
  }

 private:
  template <class Element, class F>
  void of_element(Element& element, F& f) {
    for_each_attribute(element, [&](const AttributeInfo&, auto& member) { of_member(member, f); });
    if constexpr (std::is_same_v<Element, Value>) of_histogram(element, f);
    if constexpr (std::is_same_v<Element, Option>) of_option(element, f);
    if constexpr (requires { element.values; }) {
      if (element.values.empty()) return;
      values_.assign(element.values.begin(), element.values.end());
      for (Value& value : values_) of_element(value, f);
      element.values = values_;
    }
    if constexpr (requires { element.items; }) {
      items_.assign(element.items.begin(), element.items.end());
      for (MethodBodyItem& item : items_)
        std::visit(
            [&](auto& child) {
              // Children of children share the list: only the last would be right, so they are left as they are.
              if constexpr (!requires { child.values; }) of_element(child, f);
            },
            item.element);
      element.items = items_;
    }
  }
  template <class Member, class F>
  void of_member(Member& member, F& f) {
    if constexpr (requires(IdRange range) { range.of(member); }) {
      if (is_renumbered(member)) f(member);
    }
  }
  template <class F>
  void of_option(Option& option, F& f) {
    const std::string_view text = option.value.view();
    const auto ids = ids_in_option(option.key.view(), text);
    if (ids.empty()) return;
    std::string changed;
    std::size_t at = 0;
    for (const IdInText& each : ids) {
      changed.append(text, at, each.from - at).append(std::to_string(renumbered(each, f)));
      at = each.from + each.size;
    }
    format_ = changed.append(text, at, std::string_view::npos);
    option.value = format_;
  }
  template <class F>
  static std::uint64_t renumbered(const IdInText& each, F& f) {
    ThreadId thread(each.id);
    ObjectId object(each.id);
    if (each.kind == IdKind::kThread) of_one(thread, f);
    else of_one(object, f);
    return each.kind == IdKind::kThread ? thread.value() : object.value();
  }
  template <class Id, class F>
  static void of_one(Id& id, F& f) {
    if (is_renumbered(id)) f(id);
  }
  // "histogram instances=N classId=ID" (docs/trace_format.md).
  template <class F>
  void of_histogram(Value& value, F& f) {
    const std::string_view text = value.serializationFormat.view();
    constexpr std::string_view kKey = " classId=";
    const std::size_t key = text.starts_with("histogram ") ? text.find(kKey) : std::string_view::npos;
    if (key == std::string_view::npos) return;
    const std::size_t from = key + kKey.size(), to = std::min(text.find(' ', from), text.size());
    const auto number = parse_decimal<std::uint64_t>(text.substr(from, to - from));
    if (!number || *number == 0) return;
    ClassId id(*number);
    f(id);
    format_ = std::string(text.substr(0, from)) + std::to_string(id.value()) + std::string(text.substr(to));
    value.serializationFormat = format_;
  }

  std::vector<Value> values_;
  std::vector<MethodBodyItem> items_;
  std::string format_;  // of a value, or the value of an option
};

}  // namespace jtrace::trace::io
