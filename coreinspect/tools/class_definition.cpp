#include "coreinspect/tools/class_definition.h"

#include <algorithm>

#include "base/strings.h"
#include "trace/access_flags.h"

namespace jtrace::coreinspect {
namespace {

void count_fields(const std::vector<JavaField>& fields, ClassDefinition& definition) {
  std::uint64_t statics = 0, others = 0;
  for (const JavaField& field : fields) {
    if (field.injected) continue;
    ++(field.is_static() ? statics : others);
  }
  definition.static_fields = statics;
  definition.instance_fields = others;
}

}  // namespace

trace::ClassDef ClassDefinition::element() const {
  trace::ClassDef element{.objIdRef = trace::ObjectId::none()};
  element.name = name;
  element.superclass = superclass;
  element.classLoader = loader;
  if (!is_instance) return element;
  element.numInterfaces = interface_count;
  element.interfaceNames = interfaces;
  element.sourceName = source;
  element.access = access;
  element.numMethods = method_count;
  element.numStaticFields = static_fields;
  element.numInstanceFields = instance_fields;
  return element;
}

ClassDefinition read_class_definition(const Inspection& inspection, Loaders& loaders, Address klass) {
  const ClassModel& model = inspection.classes();
  ClassDefinition definition;
  const auto name = model.internal_name(klass);
  definition.name = name ? utf8_from_modified(*name) : "?";
  if (!name) definition.nameless = name.error();
  if (const Address up = model.super(klass).value_or(0); up != 0)
    definition.superclass = utf8_from_modified(model.internal_name(up).value_or("?"));
  const Loader& loader = loaders.of(klass);
  if (loader.object != 0) definition.loader = loader.name;
  std::replace(definition.loader.begin(), definition.loader.end(), '.', '/');
  definition.is_instance = model.is_instance_class(klass);
  if (!definition.is_instance) return definition;
  const auto interfaces = interface_names(inspection, klass);
  for (const std::string& interface : interfaces)
    definition.interfaces += (definition.interfaces.empty() ? "" : ",") + interface;
  definition.interface_count = interfaces.size();
  definition.source = class_source_file(inspection, klass);
  definition.access = trace::access_word(class_access(inspection.vm(), klass));
  if (const auto methods = model.methods(klass)) definition.method_count = methods->size();
  if (const auto fields = model.fields(klass)) count_fields(**fields, definition);
  return definition;
}

}  // namespace jtrace::coreinspect
