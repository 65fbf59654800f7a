// What a redacted heap dump keeps. Contents are zeros: elements of primitive arrays, and with them the text of strings;
// primitive fields, static or not. References, lengths, classes, roots, stacks and the names in the dump stay, and the
// few primitive fields of the JDK that say how large a collection is or in which state a thread is.
//
// Source of the names of the fields: the JDK's sources, 8 to 27.
#pragma once

#include <string_view>

namespace jtrace::coreinspect {

// Whether this primitive field keeps its value. `class_name` is that of the class which declares it, with dots or
// slashes.
bool stays_redacted(std::string_view class_name, std::string_view field);

// A text of each redacted dump, by which it is recognised. The number is that of the table of fields that stay.
inline constexpr std::string_view kRedactedMark = "jtrace: contents are redacted (1)";
// Stands for a content in views of such a dump.
inline constexpr const char* kRedacted = "<redacted>";

}  // namespace jtrace::coreinspect
