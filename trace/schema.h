// The schema table: what trace.dtd declares, made from elements.def. element_table() for loops over names,
// Schema<Struct> for code that visits the members of one struct. Constants; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>

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
  std::uint8_t rank;  // place in the written order from 1, 0: behind those (elements.def)
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
template <class Member>
struct Attribute {
  AttributeInfo info;
  Member member;  // pointer to the struct's member
};
template <class Member>
constexpr Attribute<Member> make_attribute(Member member, std::string_view name, AttributeType type, Presence presence,
                                           std::uint8_t rank) {
  return {{name, type, presence, rank}, member};
}
}  // namespace detail

// Schema<Struct>::attributes: a tuple of detail::Attribute, in order of declaration.
template <class Struct>
struct Schema;
#define JTRACE_ELEMENT(Struct, element, content_model, description_text) \
  template <>                                                            \
  struct Schema<Struct> {                                                \
    using Self = Struct;                                                 \
    static constexpr std::string_view name = #element;                   \
    static constexpr Content content = Content::k##content_model;        \
    static constexpr std::string_view description = description_text;    \
    static constexpr auto attributes = std::tuple_cat(std::tuple<>{}
#define JTRACE_ATTRIBUTE(type, name, presence, rank) \
  , std::tuple(detail::make_attribute(&Self::name, #name, AttributeType::k##type, Presence::k##presence, rank))
#define JTRACE_ELEMENT_END(Struct)                                                                    \
    );                                                                                                \
  static constexpr auto infos =                                                                       \
      std::apply([](const auto&... attribute) { return std::array{attribute.info...}; }, attributes); \
  }                                                                                                   \
  ;
#include "trace/elements.def"

// All elements but the root, by ElementKind.
inline constexpr std::array<ElementInfo, kElementCount> kElements = {{
#define JTRACE_ELEMENT(Struct, element, content_model, description_text)                               \
  {Schema<Struct>::name, ElementKind::k##Struct, Schema<Struct>::content, Schema<Struct>::description, \
   Schema<Struct>::infos},
#include "trace/elements.def"
}};

constexpr const ElementInfo& element_info(ElementKind kind) { return kElements[static_cast<std::size_t>(kind)]; }
// The kind of an element's name, exactly as declared.
constexpr std::optional<ElementKind> element_of_name(std::string_view name) {
  for (const ElementInfo& element : kElements)
    if (element.name == name) return element.kind;
  return std::nullopt;
}

// Calls f(const AttributeInfo&, member) for every attribute of `element` (a struct of event.h), in order of
// declaration.
template <class Struct, class F>
constexpr void for_each_attribute(Struct& element, F&& f) {
  std::apply([&](const auto&... attribute) { (f(attribute.info, element.*(attribute.member)), ...); },
             Schema<std::remove_const_t<Struct>>::attributes);
}

}  // namespace jtrace::trace
