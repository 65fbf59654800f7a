#include "coreinspect/tools/named_classes.h"

#include "coreinspect/oops/class_names.h"

namespace jtrace::coreinspect {

Result<std::vector<Address>> named_classes(const Inspection& inspection, const std::string& wanted) {
  const ClassModel& model = inspection.classes();
  if (auto exact = model.find(wanted)) return exact;
  JTRACE_ASSIGN_OR_RETURN(const auto all, model.all());
  std::vector<std::string> names;
  for (const Address klass : all) names.push_back(model.name(klass).value_or(""));
  JTRACE_ASSIGN_OR_RETURN(const auto meant, classes_meant(names, wanted));
  std::vector<Address> found;
  for (const std::size_t i : meant) found.push_back(all[i]);
  return found;
}

}  // namespace jtrace::coreinspect
