// Values of fields and addresses as text, for every view that shows them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {

// The value of that type at `at`: numbers, strings in quotes, other objects as class@address, "?" if unreadable.
std::string value_text(const Inspection& inspection, Address at, std::string_view signature);
// The same of a reference that is read already.
std::string object_text(const Inspection& inspection, Address object);
// Hexadecimal, with or without 0x.
std::optional<Address> parse_address(std::string_view text);
// The same for an argument that may be the name of a class: Facade and Cafe are none. Without 0x an address begins with
// a digit or has eight of them.
std::optional<Address> parse_address_not_name(std::string_view text);

}  // namespace jtrace::coreinspect
