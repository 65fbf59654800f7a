#include "coreinspect/tools/properties.h"

#include <algorithm>

namespace jtrace::coreinspect {

Result<PropertyTable> read_system_properties(const ObjectModel& objects) {
  JTRACE_ASSIGN_OR_RETURN(const auto classes, objects.classes().find("java/lang/System"));
  JTRACE_ASSIGN_OR_RETURN(const Address properties, static_reference(objects, classes.front(), "props"));
  if (properties == 0) return fail(ErrorCategory::kNotAttachable, "this JVM has no system properties yet");
  // A Hashtable in 8; from 9 on it has a ConcurrentHashMap inside.
  const bool hashtable = objects.classes().vm().feature() < 9;
  Address map = properties;
  if (!hashtable) {
    JTRACE_ASSIGN_OR_RETURN(map, objects.reference(properties, "map"));
  }
  PropertyTable table;
  JTRACE_ASSIGN_OR_RETURN(const std::size_t broken, for_each_map_node(objects, map, [&](Address node) {
                            const auto key = objects.text_field(node, "key");
                            const auto value = objects.text_field(node, hashtable ? "value" : "val");
                            if (key && value) table.entries.emplace_back(*key, *value);
                            else ++table.unreadable;
                          }));
  table.unreadable += broken;
  std::sort(table.entries.begin(), table.entries.end());
  return table;
}

}  // namespace jtrace::coreinspect
