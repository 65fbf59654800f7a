#include "debug/apart_text.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "base/utf8.h"
#include "coreinspect/runtime/java_number.h"

namespace jtrace::debug {
namespace {

using coreinspect::LocalValue;

constexpr std::uint32_t kMaxText = 16u << 20;  // bytes

const LocalValue* part_of(const ApartObject& object, std::string_view name) {
  for (const auto& part : object.object.parts)
    if (part.field.name == name && part.value) return &*part.value;
  return nullptr;
}

template <class T>
T number(const LocalValue& value) {
  T result{};
  std::memcpy(&result, &value.bits, sizeof result);
  return result;
}

// The bytes of an array, `size` each element.
std::optional<std::string> bytes_of(World& world, const ApartObject& holder, const LocalValue& array,
                                    std::size_t size) {
  std::string bytes;
  if (array.apart) {
    const ApartObject* made = world.apart(world.ids().of_apart(*holder.frame, *array.apart));
    if (made == nullptr || !made->type->is_array()) return std::nullopt;
    for (const auto& part : made->object.parts) {
      if (!part.value) return std::nullopt;
      bytes.append(reinterpret_cast<const char*>(&part.value->bits), size);
    }
    return bytes;
  }
  const LoadedClass* type = world.type_of_anything(array.bits);
  if (type == nullptr || type->signature != (size == 2 ? "[C" : "[B")) return std::nullopt;
  const auto& objects = world.inspection().objects();
  const auto length = objects.array_length(array.bits);
  const auto base = objects.array_base(array.bits);
  if (!length || !base || *length > kMaxText) return std::nullopt;
  bytes.resize(*length * size);
  if (!world.inspection().vm().memory().read_exactly(*base, std::as_writable_bytes(std::span(bytes))))
    return std::nullopt;
  return bytes;
}

}  // namespace

// char[] up to 8; then byte[] with a coder, 0 for Latin-1.
std::optional<std::string> text_of_string(World& world, const ApartObject& string) {
  const bool chars = world.inspection().vm().feature() < 9;
  const LocalValue* value = part_of(string, "value");
  const LocalValue* coder = part_of(string, "coder");
  if (value == nullptr || (!chars && coder == nullptr)) return std::nullopt;
  const auto bytes = bytes_of(world, string, *value, chars ? 2 : 1);
  if (!bytes) return std::nullopt;
  std::vector<std::uint16_t> units;
  if (chars || coder->bits != 0) {
    units.resize(bytes->size() / 2);
    std::memcpy(units.data(), bytes->data(), units.size() * 2);
  } else {
    for (const char each : *bytes) units.push_back(static_cast<std::uint8_t>(each));
  }
  return utf8_from_utf16(units);
}

std::string text_of_apart(World& world, const ApartObject& object) {
  const std::string name = world.inspection().classes().name(object.type->klass).value_or("?");
  const LocalValue* value = part_of(object, "value");
  if (value != nullptr) {
    if (name == "java.lang.Integer") return std::to_string(number<std::int32_t>(*value));
    if (name == "java.lang.Long") return std::to_string(number<std::int64_t>(*value));
    if (name == "java.lang.Short") return std::to_string(number<std::int16_t>(*value));
    if (name == "java.lang.Byte") return std::to_string(number<std::int8_t>(*value));
    if (name == "java.lang.Boolean") return value->bits != 0 ? "true" : "false";
    if (name == "java.lang.Double") return coreinspect::java_number(number<double>(*value));
    if (name == "java.lang.Float") return coreinspect::java_number(number<float>(*value));
    if (name == "java.lang.Character") {
      const auto unit = number<std::uint16_t>(*value);
      return utf8_from_utf16(std::span(&unit, 1));
    }
  }
  return name + " (taken apart by the compiler)";
}

}  // namespace jtrace::debug
