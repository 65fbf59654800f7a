// The events: one passive struct for each element of trace.dtd (the root, TRACE, is the document itself and has none).
// Struct names are the elements' names in CamelCase (threadStart: ThreadStart); members are the attributes exactly as
// the DTD spells them, with its misspellings; values.h has their types. Use designated initializers:
//   sink.write(ThreadStart{.threadId = ThreadId(1), .time = Time(ns), .threadName = "main"});
// An event owns nothing: texts and lists must live until write() returns. Trivially copyable. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>

#include "trace/values.h"

namespace jtrace::trace {

#define JTRACE_ELEMENT(Struct, name, content, description) struct Struct;
#include "trace/elements.def"
struct MethodBodyItem;

#define JTRACE_ELEMENT(Struct, name, content, description) struct Struct {
#define JTRACE_ATTRIBUTE(type, name, presence, rank) type name{};
// methodEntry: the remote caller (null: none, borrowed) and the parameters.
#define JTRACE_CHILDREN_ENTRY()                         \
  const InvocationContext* invocationContext = nullptr; \
  List<Value> values{};
// methodExit: the returned value; methodCall: parameters; methodReturn: the returned value.
#define JTRACE_CHILDREN_VALUES() List<Value> values{};
#define JTRACE_CHILDREN_BODY() List<MethodBodyItem> items{};
#define JTRACE_CHILDREN_TEXT() Text text{};
#define JTRACE_ELEMENT_END(Struct) \
  }                                \
  ;
#include "trace/elements.def"

struct MethodBodyItem {
  std::variant<MethodCall, MethodReturn, Value, ObjDef, Code> element;
};

// In the order of elements.def, so that an ElementKind is the index of its alternative in Event.
enum class ElementKind : std::uint8_t {
#define JTRACE_ELEMENT(Struct, name, content, description) k##Struct,
#include "trace/elements.def"
};

namespace detail {
template <class None, class... Elements>
struct EventOf {
  using Type = std::variant<Elements...>;
};
}  // namespace detail

using Event = detail::EventOf<void
#define JTRACE_ELEMENT(Struct, name, content, description) , Struct
#include "trace/elements.def"
                              >::Type;
inline constexpr std::size_t kElementCount = std::variant_size_v<Event>;
static_assert(kElementCount == 40 && std::is_trivially_copyable_v<Event>);

inline ElementKind element_kind(const Event& event) { return static_cast<ElementKind>(event.index()); }

template <class Element>
inline constexpr ElementKind kKindOf = ElementKind{};
#define JTRACE_ELEMENT(Struct, name, content, description) \
  template <>                                              \
  inline constexpr ElementKind kKindOf<Struct> = ElementKind::k##Struct;
#include "trace/elements.def"

}  // namespace jtrace::trace
