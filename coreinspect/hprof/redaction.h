// What a redacted heap dump keeps. Contents are zeros: elements of primitive arrays, and with them the text of strings;
// primitive fields, static or not. References, lengths, classes, roots, stacks and the names in the dump stay, and the
// few primitive fields of the JDK that say how large a collection is or in which state a thread is.
//
// Source of the names of the fields: the JDK's sources, 8 to 27.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jtrace::coreinspect {

// Whether this primitive field keeps its value. `class_name` is that of the class which declares it, with dots or
// slashes.
bool stays_redacted(std::string_view class_name, std::string_view field);

// Further fields that keep their contents because the user wants it: a number stays, and of a reference the text of the
// string, or the array of primitives, that it refers to; of an array of references those of its elements. Threads: any.
class KeptFields {
 public:
  KeptFields() = default;
  // Each is "CLASS.FIELD" or "CLASS#FIELD", both with * and ?. kUsage if one is not.
  static Result<KeptFields> of(const std::vector<std::string>& patterns);
  // Those of a mark.
  static KeptFields of_text(std::string_view text);

  bool empty() const { return fields_.empty(); }
  // `class_name`: of the class which declares it, with dots or slashes.
  bool keeps(std::string_view class_name, std::string_view field) const;
  // The first that matches none of the fields so far asked for; "" if each has matched one.
  std::string unmatched(const std::vector<std::pair<std::string, std::string>>& class_and_field) const;
  // Whether each of the others is one of these, by its words.
  bool has_all_of(const KeptFields& others) const;
  std::string text() const;  // "shop.Order.city, shop.*.name"

 private:
  struct Field {
    std::string type, field;
    bool operator==(const Field&) const = default;
    bool matches(std::string_view class_name, std::string_view name) const;
  };
  std::vector<Field> fields_;
};

// A text of each redacted dump, by which it is recognised. The number is that of the table of fields that stay. Where
// there are KeptFields, kKeptMark and their text follow.
inline constexpr std::string_view kRedactedMark = "jtrace: contents are redacted (1)";
inline constexpr std::string_view kKeptMark = "; kept: ";
// Shown in place of contents in views of such a dump.
inline constexpr const char* kRedacted = "<redacted>";

}  // namespace jtrace::coreinspect
