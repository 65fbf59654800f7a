// Texts of objects that the compiler has taken apart. Borrow the world.
#pragma once

#include <optional>
#include <string>

#include "debug/world.h"

namespace jtrace::debug {

// What a java.lang.String says; nothing if a part of it is not known.
std::optional<std::string> text_of_string(World& world, const ApartObject& string);
// As toString would: of boxes their value; of others their class, and that they are no whole objects.
std::string text_of_apart(World& world, const ApartObject& object);

}  // namespace jtrace::debug
