#include "debug/apart_text.h"

#include <span>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "coreinspect/runtime/java_number.h"

namespace jtrace::debug {
namespace {

using coreinspect::LocalValue;

constexpr std::uint32_t kMaxText = 16u << 20;  // bytes
constexpr std::pair<std::string_view, char> kBoxes[] = {
    {"java.lang.Integer", 'I'}, {"java.lang.Long", 'J'},   {"java.lang.Short", 'S'}, {"java.lang.Byte", 'B'},
    {"java.lang.Boolean", 'Z'}, {"java.lang.Double", 'D'}, {"java.lang.Float", 'F'}, {"java.lang.Character", 'C'}};

const LocalValue* part_of(const ApartObject& object, std::string_view name) {
  for (const auto& part : object.object.parts)
    if (part.field.name == name && part.value) return &*part.value;
  return nullptr;
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
  if (world.objects_have_moved()) return std::nullopt;
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
  return utf8_from_java(std::as_bytes(std::span(*bytes)), chars || coder->bits != 0);
}

std::string text_of_apart(World& world, const ApartObject& object) {
  const std::string name = world.inspection().classes().name(object.type->klass).value_or("?");
  const LocalValue* value = part_of(object, "value");
  for (const auto& [box, type] : kBoxes)
    if (value != nullptr && name == box) return coreinspect::primitive_text(value->bits, type);
  return name + " (taken apart by the compiler)";
}

}  // namespace jtrace::debug
