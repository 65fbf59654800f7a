#include "debug/world_objects.h"

#include <algorithm>
#include <vector>

#include "base/utf8.h"

namespace jtrace::debug {
namespace {

template <class T>
std::optional<T> known(Result<T> result) {
  return result ? std::optional<T>(std::move(*result)) : std::nullopt;
}

std::size_t size_of(char type) {
  switch (type) {
    case 'Z':
    case 'B': return 1;
    case 'C':
    case 'S': return 2;
    case 'I':
    case 'F': return 4;
    default: return 8;
  }
}

}  // namespace

std::string WorldObjects::class_of(Address object) {
  const LoadedClass* type = world_.type_of(object);
  return type ? world_.inspection().classes().name(type->klass).value_or("") : "";
}

std::optional<std::uint64_t> WorldObjects::bits_at(Address at, char type) {
  if (type == 'L' || type == '[') return known(objects_.load(at));
  std::uint64_t value = 0;
  auto bytes = std::as_writable_bytes(std::span(&value, 1)).first(size_of(type));
  if (!world_.inspection().vm().memory().read_exactly(at, bytes)) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> WorldObjects::bits(Address object, std::string_view field) {
  const auto klass = objects_.klass_of(object);
  if (!klass) return std::nullopt;
  const auto found = world_.inspection().classes().find_field(*klass, field);
  if (!found || found->signature.empty()) return std::nullopt;
  return bits_at(object + found->offset, found->signature.front());
}

std::optional<std::uint64_t> WorldObjects::static_bits(std::string_view class_name, std::string_view field) {
  std::string internal(class_name);
  std::replace(internal.begin(), internal.end(), '.', '/');
  const auto holders = world_.classes().by_signature("L" + internal + ";");
  if (holders.empty()) return std::nullopt;
  const Address klass = holders.front()->klass;
  const auto found = world_.inspection().classes().find_field(klass, field);
  const auto mirror = objects_.root_field(klass, "Klass", "_java_mirror");
  if (!found || !mirror || found->signature.empty()) return std::nullopt;
  return bits_at(*mirror + found->offset, found->signature.front());
}

std::optional<std::uint32_t> WorldObjects::length(Address array) { return known(objects_.array_length(array)); }

std::optional<Address> WorldObjects::element(Address array, std::uint32_t index) {
  return known(objects_.element(array, index));
}

std::optional<std::string> WorldObjects::characters(Address array, std::size_t count, bool is_utf16) {
  const bool chars = class_of(array) == "char[]";
  const auto length = objects_.array_length(array);
  const auto base = objects_.array_base(array);
  const std::size_t size = count * (chars || is_utf16 ? 2 : 1);
  if (!length || !base || size > std::size_t{*length} * (chars ? 2 : 1)) return std::nullopt;
  std::vector<std::byte> bytes(size);
  if (!world_.inspection().vm().memory().read_exactly(*base, bytes)) return std::nullopt;
  return utf8_from_java(bytes, chars || is_utf16);
}

}  // namespace jtrace::debug
