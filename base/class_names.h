// Which classes a name means, for every view and command that takes the name of a class. Pure; any thread.
//
// The class of that name; else those of which it is the short name (base/name_pattern.h), in any package and class;
// else, if it has '*' or '?', those whose whole name it matches.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jtrace {

// Positions in `names` ("java.lang.String", "int[]"; several classes may have one name), in order. kNotFound if there
// is none: with the array of that type, the name that is nearest, or those that contain the word, else `otherwise`.
Result<std::vector<std::size_t>> classes_meant(std::span<const std::string> names, const std::string& wanted,
                                               std::string_view otherwise);

// "shop.Order"; "2 classes (a.Order, b.Order)". `names`: different ones. Safe for a terminal.
std::string classes_text(std::span<const std::string> names);

}  // namespace jtrace
