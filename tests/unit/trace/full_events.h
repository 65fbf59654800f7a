// Events for tests: every element of the table, with every attribute set and every kind of child, or only with the
// required ones. Borrowed texts are constants.
#pragma once

#include <type_traits>
#include <vector>

#include "trace/schema.h"

namespace jtrace::trace::test {

inline constexpr std::string_view kSampleUuid = "0b7ad4bc-5a0c-4b0f-9f0a-0f5e0d3c2b1a";
inline constexpr Time kSampleTime{1'763'650'001'200'012'345};

inline void fill(Text& member, AttributeType type) {
  member = type == AttributeType::kUuid         ? kSampleUuid
           : type == AttributeType::kMethodName ? std::string_view("<init>")
                                                : std::string_view("a b<c>&\"d'\xc3\xa9\xf0\x9f\x98\x80\t\n");
}
inline void fill(Number& member, AttributeType) { member = 18'446'744'073'709'551'614u; }
inline void fill(WordList& member, AttributeType) { member = 4'294'967'296; }
inline void fill(Boolean& member, AttributeType) { member = true; }
inline void fill(Time& member, AttributeType) { member = kSampleTime; }
inline void fill(ObjectId& member, AttributeType) { member = ObjectId::unavailable(); }
template <class Kind>
void fill(TypedId<Kind>& member, AttributeType) {
  member = TypedId<Kind>(1'000'000'000'017);
}

// `which` decides by the AttributeInfo whether an attribute is set.
template <class Element, class Which>
Element element_with(Which which) {
  Element element{};
  for_each_attribute(element, [&](const AttributeInfo& info, auto& member) {
    if (which(info)) fill(member, info.type);
  });
  return element;
}

inline constexpr auto kAll = [](const AttributeInfo&) { return true; };
inline constexpr auto kRequiredOnly = [](const AttributeInfo& info) { return info.presence == Presence::kRequired; };

template <class Element>
void add_children(Element& element) {
  static const InvocationContext context = element_with<InvocationContext>(kAll);
  static const std::vector<Value> values = [] {
    Value with_text = element_with<Value>(kAll);
    with_text.text = "x<y>&\xc3\xa9";
    return std::vector<Value>{element_with<Value>(kAll), with_text, Value{}};
  }();
  if constexpr (requires { element.invocationContext; }) element.invocationContext = &context;
  if constexpr (requires { element.values; }) element.values = values;
  if constexpr (requires { element.text; }) element.text = "text of <it>";
  if constexpr (requires { element.items; }) {
    static const std::vector<MethodBodyItem> items = [] {
      MethodCall call = element_with<MethodCall>(kAll);
      add_children(call);
      return std::vector<MethodBodyItem>{{call},
                                         {element_with<MethodReturn>(kAll)},
                                         {element_with<Value>(kAll)},
                                         {element_with<ObjDef>(kAll)},
                                         {element_with<Code>(kAll)}};
    }();
    element.items = items;
  }
}

// One of each element, in the order of the table.
inline std::vector<Event> full_events() {
  std::vector<Event> events;
  const auto add = [&]<class Element>(std::type_identity<Element>) {
    Element element = element_with<Element>(kAll);
    add_children(element);
    events.push_back(element);
  };
#define JTRACE_ELEMENT(Struct, name, content, description) add(std::type_identity<Struct>{});
#include "trace/elements.def"
  return events;
}
inline std::vector<Event> smallest_events() {
  std::vector<Event> events;
#define JTRACE_ELEMENT(Struct, name, content, description) events.push_back(element_with<Struct>(kRequiredOnly));
#include "trace/elements.def"
  return events;
}

}  // namespace jtrace::trace::test
