// UUIDs as text (RFC 9562), made by libuuid. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace jtrace {

std::string random_uuid();  // version 4
// Version 5: the same name gives the same UUID, on every machine and in every producer.
std::string name_based_uuid(std::string_view name);

}  // namespace jtrace
