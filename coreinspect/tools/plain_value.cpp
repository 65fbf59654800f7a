#include "coreinspect/tools/plain_value.h"

#include "coreinspect/oops/memory_objects.h"
#include "coreinspect/tools/value_text.h"

namespace jtrace::coreinspect {
namespace {

// A constant with a body has a class of its own.
std::optional<std::string> constant_of_enum(const Inspection& inspection, Address object) {
  Address klass = inspection.objects().klass_of(object).value_or(0);
  for (int supers = 0; klass != 0 && supers < 2; ++supers) {
    klass = inspection.classes().super(klass).value_or(0);
    if (klass == 0 || inspection.classes().internal_name(klass).value_or("") != "java/lang/Enum") continue;
    const auto name = inspection.objects().text_field(object, "name");
    return name ? std::optional(*name) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> plain_value(const Inspection& inspection, Address object) {
  if (object == 0) return std::nullopt;
  MemoryObjects objects(inspection.objects());
  const std::string type = objects.class_of(object);
  if (type.starts_with("java.lang.StringBu")) return std::nullopt;
  if (auto value = JavaContents(objects).value(object, type)) return value;
  return constant_of_enum(inspection, object);
}

std::string readable_text(const Inspection& inspection, Address object) {
  if (auto value = plain_value(inspection, object)) return *value;
  std::string text = object_text(inspection, object);
  MemoryObjects objects(inspection.objects());
  if (object == 0 || !objects.class_of(object).starts_with("java.util.")) return text;
  if (const auto size = JavaContents(objects).size(object)) text += " (" + std::to_string(*size) + ")";
  return text;
}

}  // namespace jtrace::coreinspect
