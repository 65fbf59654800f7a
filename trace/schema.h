// The schema table: the declarations of trace.dtd, made from elements.def. element_table() is for loops over names,
// Schema<Struct> for code that visits the members of one struct. Constants; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "trace/event.h"

namespace jtrace::trace {

enum class Content : std::uint8_t {
  kEmpty,
  kText,    // value: characters
  kEntry,   // methodEntry: InvocationContext, value*
  kValues,  // methodExit, methodCall, methodReturn: value*
  kBody,    // methodBody
};
enum class Presence : std::uint8_t { kRequired, kImplied, kExtension };
enum class AttributeType : std::uint8_t {
  kText,
  kMethodName,
  kUuid,
  kNumber,
  kBoolean,
  kTime,
  kThreadId,
  kTransientThreadId,
  kClassId,
  kMethodId,
  kObjectId,
  kWordList,
};

struct AttributeInfo {
  std::string_view name;
  AttributeType type;
  Presence presence;
  std::uint8_t rank;  // place in the written order from 1; 0: after those (elements.def)
};
struct ElementInfo {
  std::string_view name;
  ElementKind kind;
  Content content;
  std::string_view description;
  std::span<const AttributeInfo> attributes;  // in order of declaration
};

inline constexpr std::string_view kRootElement =
#define JTRACE_ROOT(name) #name
#include "trace/elements.def"
    ;

namespace detail {
// The pointers to a struct's members, by number. Not a std::tuple: many sources read this header, and a tuple of up to
// 20 for each of 40 elements took most of its compile time.
template <std::size_t Index, class Member>
struct Slot {
  Member member;
};
template <class Indices, class... Member>
struct Slots;
template <std::size_t... Index, class... Member>
struct Slots<std::index_sequence<Index...>, Member...> : Slot<Index, Member>... {};
template <class... Member>
constexpr Slots<std::index_sequence_for<Member...>, Member...> make_slots(int, Member... member) {
  return {{member}...};
}
template <std::size_t Index, class Member>
constexpr Member slot(const Slot<Index, Member>& from) {
  return from.member;
}
}  // namespace detail

// Schema<Struct>::infos: its attributes in order of declaration. kMember (below) has their members.
template <class Struct>
struct Schema;
#define JTRACE_ELEMENT(Struct, element, content_model, description_text) \
  template <>                                                            \
  struct Schema<Struct> {                                                \
    using Self = Struct;                                                 \
    static constexpr std::string_view name = #element;                   \
    static constexpr Content content = Content::k##content_model;        \
    static constexpr std::string_view description = description_text;    \
    static constexpr AttributeInfo list[] = {
#define JTRACE_ATTRIBUTE(type, name, presence, rank) {#name, AttributeType::k##type, Presence::k##presence, rank},
#define JTRACE_ELEMENT_END(Struct)                                                  \
  {} /* no array is empty */                                                        \
  }                                                                                 \
  ;                                                                                 \
  static constexpr std::span<const AttributeInfo> infos{list, std::size(list) - 1}; \
  }                                                                                 \
  ;
#include "trace/elements.def"

namespace detail {
template <class Struct>
struct Members;
// A template, so that only code that asks for an element's members pays for them.
#define JTRACE_ELEMENT(Struct, element, content_model, description_text) \
  template <>                                                            \
  struct Members<Struct> {                                               \
    using Self = Struct;                                                 \
    template <class = void>                                              \
    static constexpr auto slots() {                                      \
      return make_slots(0
#define JTRACE_ATTRIBUTE(type, name, presence, rank) , &Self::name
#define JTRACE_ELEMENT_END(Struct) \
      );                           \
  }                                \
  }                                \
  ;
#include "trace/elements.def"
template <class Struct>
inline constexpr auto kSlots = Members<Struct>::slots();
}  // namespace detail

// The pointer to the member of attribute number Index (of Schema<Struct>::infos).
template <class Struct, std::size_t Index>
inline constexpr auto kMember = detail::slot<Index>(detail::kSlots<Struct>);

// All elements but the root, by ElementKind.
inline constexpr std::array<ElementInfo, kElementCount> kElements = {{
#define JTRACE_ELEMENT(Struct, element, content_model, description_text)                               \
  {Schema<Struct>::name, ElementKind::k##Struct, Schema<Struct>::content, Schema<Struct>::description, \
   Schema<Struct>::infos},
#include "trace/elements.def"
}};

constexpr const ElementInfo& element_info(ElementKind kind) { return kElements[static_cast<std::size_t>(kind)]; }
// The kind of an element by its name, exactly as declared.
constexpr std::optional<ElementKind> element_of_name(std::string_view name) {
  for (const ElementInfo& element : kElements)
    if (element.name == name) return element.kind;
  return std::nullopt;
}

// Calls f(const AttributeInfo&, member) for every attribute of `element` (a struct of event.h), in order of
// declaration.
template <class Struct, class F>
constexpr void for_each_attribute(Struct& element, F&& f) {
  using Of = std::remove_const_t<Struct>;
  [&]<std::size_t... I>(std::index_sequence<I...>) { (f(Schema<Of>::infos[I], element.*kMember<Of, I>), ...); }
  (std::make_index_sequence<Schema<Of>::infos.size()>());
}
// The same for two elements at once: f(const AttributeInfo&, member of a, member of b).
template <class Struct, class F>
constexpr void for_each_attribute_of(Struct& a, const std::remove_const_t<Struct>& b, F&& f) {
  using Of = std::remove_const_t<Struct>;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (f(Schema<Of>::infos[I], a.*kMember<Of, I>, b.*kMember<Of, I>), ...);
  }
  (std::make_index_sequence<Schema<Of>::infos.size()>());
}

}  // namespace jtrace::trace
