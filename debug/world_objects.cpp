#include "debug/world_objects.h"

#include <algorithm>

namespace jtrace::debug {

std::string WorldObjects::class_of(Address object) {
  const LoadedClass* type = world_.type_of(object);
  return type ? world_.inspection().classes().name(type->klass).value_or("") : "";
}

std::optional<std::uint64_t> WorldObjects::static_bits(std::string_view class_name, std::string_view field) {
  std::string internal(class_name);
  std::replace(internal.begin(), internal.end(), '.', '/');
  const auto holders = world_.classes().by_signature("L" + internal + ";");
  return holders.empty() ? std::nullopt : static_bits_of(holders.front()->klass, field);
}

}  // namespace jtrace::debug
