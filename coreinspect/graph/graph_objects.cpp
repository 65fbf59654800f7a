#include "coreinspect/graph/graph_objects.h"

#include <algorithm>

namespace jtrace::coreinspect {

std::string GraphObjects::class_of(Address object) {
  const std::uint32_t number = graph_.find(object);
  if (number == kNoObject) return "";
  return graph_.is_class(number) ? "java.lang.Class" : graph_.classes()[graph_.class_of(number)].name;
}

std::optional<std::uint64_t> GraphObjects::bits(Address object, std::string_view field) {
  return fields_.number(graph_.find(object), field);
}

std::optional<std::uint64_t> GraphObjects::static_bits(std::string_view class_name, std::string_view field) {
  const auto& classes = graph_.classes();
  const auto found =
      std::find_if(classes.begin(), classes.end(), [&](const auto& each) { return each.name == class_name; });
  const HprofClass* const record =
      found == classes.end() ? nullptr : graph_.class_record(static_cast<std::uint32_t>(found - classes.begin()));
  if (record == nullptr) return std::nullopt;
  for (const HprofStatic& each : record->statics)
    if (graph_.file().text(each.field.name) == field) return each.value;
  return std::nullopt;
}

std::optional<std::uint32_t> GraphObjects::length(Address array) {
  const std::uint32_t number = graph_.find(array);
  if (!fields_.is_array(number)) return std::nullopt;
  return static_cast<std::uint32_t>(fields_.length(number));
}

std::optional<Address> GraphObjects::element(Address array, std::uint32_t index) {
  const std::uint32_t number = graph_.find(array);
  if (!fields_.is_array(number) || index >= fields_.length(number)) return std::nullopt;
  const HprofObject record = graph_.record(number);
  if (record.kind != HprofSub::kObjectArrayDump) return std::nullopt;
  return graph_.file().id(record.body + std::uint64_t{index} * graph_.file().id_size());
}

std::optional<std::string> GraphObjects::characters(Address array, std::size_t count, bool is_utf16) {
  const std::uint32_t number = graph_.find(array);
  if (!fields_.is_array(number) || graph_.record(number).kind != HprofSub::kPrimitiveArrayDump) return std::nullopt;
  return fields_.characters(number, is_utf16, count);
}

}  // namespace jtrace::coreinspect
