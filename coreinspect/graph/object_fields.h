// ObjectFields: fields of instances by name, elements of arrays and the text of strings, from the dump of a graph.
//
// If the dump does not have a value (a field of another JDK, a damaged instance), the result is kNoObject, nothing, or
// "". Ownership: borrows the graph. Threads: any number. Source of the field names: the JDK's sources.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "coreinspect/graph/object_graph.h"

namespace jtrace::coreinspect {

class ObjectFields {
 public:
  // The position of a field in the instances of a class: bytes from the start of the body.
  struct Place {
    std::uint32_t offset = 0;
    std::uint8_t type = 0;  // as in HprofField
  };
  explicit ObjectFields(const ObjectGraph& graph) : graph_(graph) {}

  // Calls `f(DECLARED, NUMBER, FIELD, PLACE)` for each field of the instances of a class, its own first, then those of
  // its superclasses: number of the class that declares it, of the field in it, the HprofField, its place. Ends when
  // `f` returns false, or where the dump lacks a class.
  template <class EachField>
  void each_field(std::uint32_t class_number, EachField&& f) const {
    std::uint32_t offset = 0;
    for (int depth = 0; class_number != kNoObject && depth < kDeepest; ++depth) {
      const HprofClass* const record = graph_.class_record(class_number);
      if (record == nullptr) return;
      for (std::uint32_t i = 0; i < record->fields.size(); ++i) {
        const HprofField& field = record->fields[i];
        if (!f(class_number, i, field, Place{offset, field.type})) return;
        offset += graph_.file().field_size(field.type);
      }
      class_number = graph_.superclass(class_number);
    }
  }

  // Of the class or the nearest superclass that declares it; with `declared_in`, of the superclass of that name.
  std::optional<Place> find(std::uint32_t class_number, std::string_view field,
                            std::string_view declared_in = "") const;
  // True if it is the class of this name, or a subclass.
  bool is_a(std::uint32_t class_number, std::string_view name) const;

  std::optional<std::uint64_t> number(std::uint32_t object, const std::optional<Place>& place) const;
  std::optional<std::uint64_t> number(std::uint32_t object, std::string_view field) const {
    return number(object, place_in(object, field));
  }
  std::uint32_t reference(std::uint32_t object, const std::optional<Place>& place) const;
  std::uint32_t reference(std::uint32_t object, std::string_view field) const {
    return reference(object, place_in(object, field));
  }
  std::uint32_t static_reference(std::uint32_t class_number, std::string_view field) const;

  bool is_array(std::uint32_t object) const;
  std::uint64_t length(std::uint32_t array) const;  // 0 if it is not an array
  // Of an array of references.
  std::uint32_t element(std::uint32_t array, std::uint64_t i) const;
  // Whether the elements of an array of primitives are not in the dump, because it is redacted. Where some contents
  // were kept, an array with only zeros counts as not kept.
  bool is_hidden(std::uint32_t array) const;
  static constexpr std::size_t kWhole = SIZE_MAX;  // for the next two: all characters
  // The first characters of a java.lang.String; "" for other objects. kRedacted if they are hidden.
  std::string text(std::uint32_t string, std::size_t most) const;
  // The first characters of a char[], or of a byte[] in one of the two codings of String.
  std::string characters(std::uint32_t array, bool is_utf16, std::size_t most) const;

 private:
  static constexpr int kDeepest = 1000;  // superclasses: more are a damaged dump

  std::optional<Place> place_in(std::uint32_t object, std::string_view field) const;

  const ObjectGraph& graph_;
};

}  // namespace jtrace::coreinspect
