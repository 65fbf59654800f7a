#include "coreinspect/hprof/class_plan.h"

#include <algorithm>
#include <array>

#include "coreinspect/hprof/redaction.h"
#include "coreinspect/model/class_facts.h"
#include "coreinspect/oops/java_collections.h"

namespace jtrace::coreinspect {
namespace {

// The fields of the class file, static or not, in its order. They live as long as the model.
std::vector<const JavaField*> declared_fields(const ClassModel& model, Address klass, bool statics) {
  std::vector<const JavaField*> found;
  const auto fields = model.fields(klass);
  if (!fields) return found;
  for (const JavaField& field : **fields)
    if (field.is_static() == statics && !field.injected && !field.signature.empty()) found.push_back(&field);
  return found;
}

}  // namespace

void ClassPlans::add(Address klass) {
  if (klass == 0 || plans_.contains(klass)) return;
  const ClassModel& model = inspection_.classes();
  const auto name = model.internal_name(klass);
  if (!name) {
    ++broken_;
    return;
  }
  ClassPlan plan{
      .klass = klass, .mirror = access_.place_of(mirror_of(inspection_.objects(), klass).value_or(0)), .name = *name};
  plans_.emplace(klass, plan);  // before its superclasses, because a damaged chain may be a circle
  if (const auto super = model.super(klass)) add(*super);
  if (model.is_instance_class(klass)) {
    if (!model.fields(klass)) ++broken_;
    for (const JavaField* field : declared_fields(model, klass, false)) {
      const std::uint8_t type = hprof_type(field->signature.front());
      plan.fields.push_back({.offset = static_cast<std::uint32_t>(field->offset),
                             .type = type,
                             .redacted = redacted_ && type != 2 && !stays_redacted(plan.name, field->name)});
    }
    plan.injected_bytes = injected_bytes(klass);
    if (const auto super = model.super(klass)) {
      if (const auto above = plans_.find(*super); above != plans_.end()) {
        plan.fields.insert(plan.fields.end(), above->second.fields.begin(), above->second.fields.end());
        plan.injected_bytes += above->second.injected_bytes;
      }
    }
  }
  for (const FieldPlan& field : plan.fields) plan.instance_bytes += hprof_size(field.type);
  plan.serial = static_cast<std::uint32_t>(order_.size() + 1);
  order_.push_back(klass);
  plans_[klass] = std::move(plan);
}

// Of the class itself.
std::uint32_t ClassPlans::injected_bytes(Address klass) const {
  std::uint32_t bytes = 0;
  const auto fields = inspection_.classes().fields(klass);
  if (!fields) return bytes;
  for (const JavaField& field : **fields) {
    if (field.is_static() || !field.injected || field.signature.empty()) continue;
    const std::uint8_t type = hprof_type(field.signature.front());
    bytes += type == 2 ? inspection_.objects().reference_size() : hprof_size(type);
  }
  return bytes;
}

Result<> ClassPlans::write_names(HprofWriter& writer) const {
  for (Address klass : order_) {
    const ClassPlan& plan = plans_.at(klass);
    HprofBuffer body(32);
    body.u4(plan.serial);
    body.id(plan.mirror);
    body.u4(1);
    body.id(writer.text(plan.name));
    JTRACE_RETURN_IF_ERROR(writer.record(HprofTag::kLoadClass, body.text()));
  }
  return writer.status();
}

// The mirror's own fields that refer to what a dump contains of a class; 0 for those that it lacks.
Address ClassPlans::mirror_field(const ClassPlan& plan, std::string_view name) const {
  const auto found = inspection_.objects().reference(plan.mirror, name);
  return found ? access_.place_of(*found) : 0;
}

void ClassPlans::append_dump(const ClassPlan& plan, HprofWriter& writer, HprofBuffer& out) const {
  const ClassModel& model = inspection_.classes();
  const bool is_instance = model.is_instance_class(plan.klass);
  const ClassPlan* super = find(model.super(plan.klass).value_or(0));
  Address loader = 0;
  if (const auto data = model.loader_data(plan.klass))
    loader = access_.place_of(inspection_.objects().root_field(*data, "ClassLoaderData", "_class_loader").value_or(0));
  out.sub(HprofSub::kClassDump);
  out.id(plan.mirror);
  out.u4(1);
  out.id(super ? super->mirror : 0);
  out.id(loader);
  out.id(is_instance ? mirror_field(plan, "signers") : 0);
  out.id(is_instance ? mirror_field(plan, "protection_domain") : 0);
  out.id(0);
  out.id(0);
  out.u4(plan.instance_bytes);
  out.u2(0);  // number of constants: none is ever written
  if (!is_instance) {
    out.u2(0);
    out.u2(0);
    return;
  }
  append_statics(plan, writer, out);
  const auto own = declared_fields(model, plan.klass, false);
  out.u2(static_cast<std::uint16_t>(own.size()));
  for (const JavaField* field : own) {
    out.id(writer.text(field->name));
    out.u1(hprof_type(field->signature.front()));
  }
}

// In JDK 8 the constant pool has its address; later the ConstantPoolCache has a handle of it, which is searched for.
Address resolved_references(const Inspection& inspection, Address klass) {
  const Vm& vm = inspection.vm();
  const auto pool = inspection.classes().constants(klass);
  if (!pool) return 0;
  const auto is_object_array = [&](Address object) {
    const auto type = object != 0 ? inspection.objects().klass_of(object) : Result<Address>(Address{0});
    return type && *type != 0 && inspection.classes().internal_name(*type).value_or("") == "[Ljava/lang/Object;";
  };
  const auto array_of_handle = [&](Address handle) -> Address {
    if (handle == 0 || handle % 8 != 0) return 0;
    const auto raw = vm.memory().read<Address>(handle);
    const Address object = raw && *raw != 0 ? inspection.objects().from_root(*raw) : 0;
    if (!is_object_array(object)) return 0;
    vm.note_root(handle);
    return object;
  };
  if (vm.types().has("ConstantPool", "_resolved_references"))
    return array_of_handle(vm.read_pointer(*pool, "ConstantPool", "_resolved_references").value_or(0));
  const auto cache = vm.read_pointer(*pool, "ConstantPool", "_cache");
  const std::uint64_t size = std::min<std::uint64_t>(vm.types().size_of("ConstantPoolCache").value_or(0), 128);
  for (std::uint64_t at = 0; cache && *cache != 0 && at + 8 <= size; at += 8)
    if (const Address found = array_of_handle(vm.memory().read<Address>(*cache + at).value_or(Address{0})))
      return found;
  return 0;
}

void ClassPlans::append_statics(const ClassPlan& plan, HprofWriter& writer, HprofBuffer& out) const {
  const target::MemoryReader& memory = inspection_.vm().memory();
  const auto statics = declared_fields(inspection_.classes(), plan.klass, true);
  const Address resolved = access_.place_of(resolved_references(inspection_, plan.klass));
  out.u2(static_cast<std::uint16_t>(statics.size() + (resolved != 0)));
  if (resolved != 0) {
    out.id(writer.text("<resolved_references>"));
    out.u1(2);
    out.id(resolved);
  }
  for (const JavaField* field : statics) {
    const std::uint8_t type = hprof_type(field->signature.front());
    out.id(writer.text(field->name));
    out.u1(type);
    if (type == 2) {
      out.id(access_.place_of(inspection_.objects().load(plan.mirror + field->offset).value_or(0)));
      continue;
    }
    std::array<std::byte, 8> value{};
    if (!redacted_ || stays_redacted(plan.name, field->name))
      (void)memory.read_exactly(plan.mirror + field->offset, std::span(value).first(hprof_size(type)));
    out.value(value.data(), hprof_size(type));
  }
}

}  // namespace jtrace::coreinspect
