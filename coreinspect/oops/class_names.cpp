#include "coreinspect/oops/class_names.h"

#include "base/class_names.h"

namespace jtrace::coreinspect {

Result<std::vector<std::size_t>> classes_meant(std::span<const std::string> names, const std::string& wanted) {
  return jtrace::classes_meant(names, wanted, "histogram lists the classes");
}

std::string classes_text(std::span<const std::string> names) { return jtrace::classes_text(names); }

}  // namespace jtrace::coreinspect
