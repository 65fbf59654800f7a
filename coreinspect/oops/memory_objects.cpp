#include "coreinspect/oops/memory_objects.h"

#include <span>
#include <vector>

#include "base/utf8.h"
#include "coreinspect/oops/java_collections.h"

namespace jtrace::coreinspect {
namespace {

// Bytes of a value of this type (JVMS 4.3.2); 0 of a reference.
std::size_t size_of(char type) {
  switch (type) {
    case 'Z':
    case 'B': return 1;
    case 'C':
    case 'S': return 2;
    case 'I':
    case 'F': return 4;
    case 'J':
    case 'D': return 8;
    default: return 0;
  }
}

}  // namespace

std::optional<std::uint64_t> MemoryObjects::bits_at(Address slot, std::string_view signature) {
  const std::size_t size = signature.empty() ? 0 : size_of(signature.front());
  if (size == 0) {
    const auto object = objects_.load(slot);
    return object ? std::optional<std::uint64_t>(*object) : std::nullopt;
  }
  std::uint64_t value = 0;  // the low bytes come first on both machines
  const auto bytes = std::as_writable_bytes(std::span(&value, 1)).first(size);
  return objects_.classes().vm().memory().read_exactly(slot, bytes) ? std::optional(value) : std::nullopt;
}

std::string MemoryObjects::class_of(Address object) {
  const auto klass = object == 0 ? Result<Address>(0) : objects_.klass_of(object);
  return klass && *klass != 0 ? objects_.classes().name(*klass).value_or("") : "";
}

std::optional<std::uint64_t> MemoryObjects::bits(Address object, std::string_view field) {
  const auto klass = object == 0 ? Result<Address>(0) : objects_.klass_of(object);
  if (!klass || *klass == 0) return std::nullopt;
  const auto found = objects_.classes().find_field(*klass, field);
  if (!found || found->is_static()) return std::nullopt;
  return bits_at(object + found->offset, found->signature);
}

std::optional<std::uint64_t> MemoryObjects::static_bits(std::string_view class_name, std::string_view field) {
  const auto classes = objects_.classes().find(class_name);
  return classes && !classes->empty() ? static_bits_of(classes->front(), field) : std::nullopt;
}

std::optional<std::uint64_t> MemoryObjects::static_bits_of(Address klass, std::string_view field) {
  const auto found = objects_.classes().find_field(klass, field);
  const auto mirror = mirror_of(objects_, klass);
  if (!found || !found->is_static() || !mirror) return std::nullopt;
  return bits_at(*mirror + found->offset, found->signature);
}

std::optional<std::uint32_t> MemoryObjects::length(Address array) {
  if (!MemoryObjects::class_of(array).ends_with("[]")) return std::nullopt;
  const auto length = objects_.array_length(array);
  return length ? std::optional(*length) : std::nullopt;
}

std::optional<Address> MemoryObjects::element(Address array, std::uint32_t index) {
  const auto count = length(array);
  if (!count || index >= *count) return std::nullopt;
  const auto element = objects_.element(array, index);
  return element ? std::optional(*element) : std::nullopt;
}

std::optional<std::string> MemoryObjects::characters(Address array, std::size_t count, bool is_utf16) {
  const std::string type = MemoryObjects::class_of(array);
  const bool is_chars = type == "char[]";
  if (!is_chars && type != "byte[]") return std::nullopt;
  const bool is_wide = is_chars || is_utf16;
  const auto length = objects_.array_length(array);
  const auto base = objects_.array_base(array);
  const std::size_t size = count * (is_wide ? 2 : 1);
  if (!length || !base || size > std::size_t{*length} * (is_chars ? 2 : 1)) return std::nullopt;
  std::vector<std::byte> bytes(size);
  if (!objects_.classes().vm().memory().read_exactly(*base, bytes)) return std::nullopt;
  return utf8_from_java(bytes, is_wide);
}

}  // namespace jtrace::coreinspect
