#include "coreinspect/tools/class_initialisers.h"

#include "coreinspect/oops/java_collections.h"

namespace jtrace::coreinspect {

std::vector<ClassInitialiser> class_initialisers(const Inspection& inspection) {
  std::vector<ClassInitialiser> found;
  const Vm& vm = inspection.vm();
  const auto initialising = vm.types().constant("InstanceKlass::being_initialized");
  const auto classes = inspection.classes().all();
  if (!initialising || !classes) return found;
  for (const Address klass : *classes) {
    if (!inspection.classes().is_instance_class(klass)) continue;
    const auto state = vm.read_field<std::uint8_t>(klass, "InstanceKlass", "_init_state");
    if (!state || *state != *initialising) continue;
    ClassInitialiser each{.klass = klass};
    each.mirror = mirror_of(inspection.objects(), klass).value_or(0);
    each.thread = vm.read_pointer(klass, "InstanceKlass", "_init_thread").value_or(0);
    if (each.mirror != 0) found.push_back(each);
  }
  return found;
}

bool may_be_init_lock(const Inspection& inspection, Address object) {
  const auto klass = inspection.objects().klass_of(object);
  return klass && inspection.classes().internal_name(*klass).value_or("") == "[I" &&
         inspection.objects().array_length(object).value_or(1) == 0;
}

// The statics of a class are in its mirror, after the fields of java.lang.Class.
bool is_init_lock_of(const Inspection& inspection, const ClassInitialiser& initialiser, Address object) {
  const ObjectModel& objects = inspection.objects();
  const auto klass = objects.klass_of(initialiser.mirror);
  const auto helper = klass ? inspection.classes().layout_helper(*klass).value_or(0) : 0;
  for (Address at = 8; helper > 0 && at < static_cast<Address>(helper & ~7); at += objects.reference_size())
    if (objects.load(initialiser.mirror + at).value_or(0) == object) return true;
  return false;
}

}  // namespace jtrace::coreinspect
