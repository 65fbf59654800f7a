#include "coreinspect/model/class_facts.h"

#include "base/strings.h"

namespace jtrace::coreinspect {

const Loader& Loaders::of(Address klass) {
  const Address data = inspection_.classes().loader_data(klass).value_or(0);
  const auto known = loaders_.find(data);
  if (known != loaders_.end()) return known->second;
  Loader loader{.data = data, .object = 0, .name = "?"};
  if (const auto object = inspection_.objects().root_field(data, "ClassLoaderData", "_class_loader")) {
    loader.object = *object;
    if (*object == 0) loader.name = "boot";
    else if (const auto type = inspection_.objects().klass_of(*object))
      loader.name = inspection_.classes().name(*type).value_or("?");
  }
  return loaders_.emplace(data, std::move(loader)).first->second;
}

// AccessFlags: in Klass up to 25, u4; in InstanceKlass later, u2. In both the low half has the class file's flags.
std::uint32_t class_access(const Vm& vm, Address klass) {
  const auto offset = vm.types().offset({"InstanceKlass", "Klass"}, "_access_flags");
  if (!offset) return 0;
  return vm.memory().read<std::uint16_t>(klass + *offset).value_or(std::uint16_t{0});
}

std::vector<std::string> interface_names(const Inspection& inspection, Address klass) {
  std::vector<std::string> names;
  const ClassModel& model = inspection.classes();
  const auto array = inspection.vm().read_pointer(klass, "InstanceKlass", "_local_interfaces");
  if (!array || *array == 0) return names;
  const auto length = model.array_length(*array);
  const auto data = model.array_data(*array, "Array<Klass*>");
  for (std::uint32_t i = 0; length && data && i < *length && i < 65536; ++i) {
    const auto interface = inspection.vm().memory().read<Address>(*data + Address{i} * 8);
    const auto name = interface ? model.internal_name(*interface) : Result<std::string>("?");
    names.push_back(name ? utf8_from_modified(*name) : "?");
  }
  return names;
}

std::string class_source_file(const Inspection& inspection, Address klass) {
  const auto pool = inspection.classes().constants(klass);
  return pool ? inspection.methods().source_file_of(klass, *pool).value_or("") : "";
}

}  // namespace jtrace::coreinspect
