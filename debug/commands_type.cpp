// Command sets 2 and 3: classes.
#include <algorithm>

#include "base/strings.h"
#include "coreinspect/runtime/const_method.h"
#include "coreinspect/tools/class_file_pool.h"
#include "debug/handlers.h"
#include "debug/heap_search.h"

namespace jtrace::debug {
namespace {

using coreinspect::JavaField;

// What a class file may say of a field, of a method (JVM_RECOGNIZED_*_MODIFIERS of jvm.h); the rest is the VM's own.
constexpr std::uint32_t kFieldModifiers = 0x50df, kMethodModifiers = 0x1fff, kSynthetic = 0x1000;

std::uint32_t with_synthetic(std::uint32_t modifiers) {
  return (modifiers & kSynthetic) != 0 ? modifiers | kSyntheticBits : modifiers;
}

JdwpError write_fields(Request& request, bool generic) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  const auto fields = request.world.classes().fields(*type);
  request.out.u4(fields.size());
  for (const auto& [id, field] : fields) {
    request.out.id(id).text(utf8_from_modified(field->name)).text(utf8_from_modified(field->signature));
    if (generic) request.out.text(request.world.classes().constant(type->klass, field->generic_signature));
    request.out.u4(with_synthetic(field->access & kFieldModifiers));
  }
  return JdwpError::kNone;
}

JdwpError write_methods(Request& request, bool generic) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  const auto& inspection = request.world.inspection();
  const auto& methods = request.world.classes().methods(*type);
  const std::size_t count = request.out.later();
  std::uint32_t listed = 0;
  for (const Address address : methods) {
    const auto method = inspection.methods().method(address);
    if (!method) continue;
    request.out.id(address).text((*method)->name).text((*method)->signature);
    if (generic) {
      const auto tables = coreinspect::read_const_method(inspection.classes(), **method);
      request.out.text(tables ? request.world.classes().constant(type->klass, tables->generic_signature) : "");
    }
    request.out.u4(with_synthetic((*method)->access & kMethodModifiers));
    ++listed;
  }
  request.out.set_later(count, listed);
  return JdwpError::kNone;
}

Result<Address> mirror_of(const World& world, const LoadedClass& type) {
  if (type.is_primitive()) return type.klass & ~Address{1};
  return world.inspection().objects().root_field(type.klass, "Klass", "_java_mirror");
}

void write_types(Request& request, const std::vector<const LoadedClass*>& types) {
  request.out.u4(types.size());
  for (const LoadedClass* type : types) request.out.u1(static_cast<std::uint8_t>(type->kind)).id(type->klass);
}

}  // namespace

JdwpError type_signature(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  request.out.text(type->signature);
  return JdwpError::kNone;
}

JdwpError type_signature_with_generic(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  request.out.text(type->signature).text(request.world.classes().generic_signature(*type));
  return JdwpError::kNone;
}

JdwpError type_class_loader(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  World& world = request.world;
  if (type->is_primitive()) return request.out.id(0), JdwpError::kNone;
  const auto data = world.inspection().classes().loader_data(type->klass);
  const auto loader = data ? world.inspection().objects().root_field(*data, "ClassLoaderData", "_class_loader")
                           : Result<Address>(Address{0});
  request.out.id(world.ids().of(loader.value_or(0)));
  return JdwpError::kNone;
}

JdwpError type_modifiers(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  request.out.u4(request.world.classes().modifiers(*type));
  return JdwpError::kNone;
}

JdwpError type_fields(Request& request) { return write_fields(request, false); }
JdwpError type_fields_with_generic(Request& request) { return write_fields(request, true); }
JdwpError type_methods(Request& request) { return write_methods(request, false); }
JdwpError type_methods_with_generic(Request& request) { return write_methods(request, true); }

// Static fields: of the class or of what it inherits from.
JdwpError type_get_values(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  const std::uint32_t count = request.in.count(sizeof(Id));
  request.out.u4(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto declared = request.world.classes().field(request.in.id());
    if (!declared || !declared->field->is_static()) return JdwpError::kInvalidField;
    const LoadedClass* holder = request.world.classes().find(declared->klass);
    if (holder->kind != TypeKind::kInterface && !request.world.classes().is_subclass(type->klass, declared->klass))
      return JdwpError::kInvalidField;
    const char kind = declared->field->signature.front();
    if (const auto mirror = mirror_of(request.world, *holder); mirror && *mirror != 0)
      request.world.write_value_at(request.out, *mirror + declared->field->offset, kind);
    else request.world.write_unavailable(request.out, kind, "its class has no class object yet");
  }
  return JdwpError::kNone;
}

JdwpError type_source_file(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  if (!type->has_members()) return JdwpError::kAbsentInformation;
  const std::string file = coreinspect::class_source_file(request.world.inspection(), type->klass);
  if (file.empty()) return JdwpError::kAbsentInformation;
  request.out.text(file);
  return JdwpError::kNone;
}

JdwpError type_nested_types(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  std::vector<const LoadedClass*> nested;
  if (type->has_members()) {
    const std::string prefix = type->signature.substr(0, type->signature.size() - 1) + "$";
    const auto& model = request.world.inspection().classes();
    const Address loader = model.loader_data(type->klass).value_or(0);
    for (const LoadedClass* each : request.world.classes().all())
      if (each->signature.starts_with(prefix) && model.loader_data(each->klass).value_or(0) == loader)
        nested.push_back(each);
  }
  write_types(request, nested);
  return JdwpError::kNone;
}

JdwpError type_status(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  request.out.u4(type->status);
  return JdwpError::kNone;
}

JdwpError type_interfaces(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  const auto interfaces = request.world.classes().interfaces(*type);
  request.out.u4(interfaces.size());
  for (const Address interface : interfaces) request.out.id(interface);
  return JdwpError::kNone;
}

JdwpError type_class_object(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  request.out.id(request.world.ids().of(mirror_of(request.world, *type).value_or(0)));
  return JdwpError::kNone;
}

// Of JSR 45. Clients ask it of each class of a frame.
JdwpError type_source_debug_extension(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  if (!type->has_members()) return JdwpError::kAbsentInformation;
  const coreinspect::Vm& vm = request.world.inspection().vm();
  const auto at = vm.read_pointer(type->klass, "InstanceKlass", "_source_debug_extension");
  if (!at || *at == 0) return JdwpError::kAbsentInformation;
  const auto text = vm.memory().read_cstring(*at, 1u << 20);
  if (!text) return JdwpError::kAbsentInformation;
  request.out.text(utf8_from_modified(*text));
  return JdwpError::kNone;
}

JdwpError type_instances(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  const std::int32_t most = request.in.i4();
  if (most < 0) return JdwpError::kIllegalArgument;
  if (type->is_primitive()) return request.out.u4(0), JdwpError::kNone;
  const auto found = find_instances(request.world, type->klass, static_cast<std::size_t>(most),
                                    [&] { return request.client.is_gone(); });
  if (!found) return JdwpError::kInternal;
  request.out.u4(found->size());
  for (const Address object : *found) request.world.write_object(request.out, object);
  return JdwpError::kNone;
}

JdwpError type_class_file_version(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  if (!type->has_members()) return JdwpError::kAbsentInformation;
  const coreinspect::Vm& vm = request.world.inspection().vm();
  const auto pool = request.world.inspection().classes().constants(type->klass);
  const auto read = [&](const char* name) {
    return vm.types().has("ConstantPool", name) && pool
               ? vm.read_field<std::uint16_t>(*pool, "ConstantPool", name)
               : vm.read_field<std::uint16_t>(type->klass, "InstanceKlass", name);
  };
  const auto major = read("_major_version"), minor = read("_minor_version");
  if (!major || !minor) return JdwpError::kAbsentInformation;
  request.out.u4(*major).u4(*minor);
  return JdwpError::kNone;
}

JdwpError type_constant_pool(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  if (!type->has_members()) return JdwpError::kAbsentInformation;
  const auto& model = request.world.inspection().classes();
  const auto address = model.constants(type->klass);
  if (!address) return JdwpError::kInternal;
  const auto pool = coreinspect::ClassFilePool::read(model, *address);
  const auto bytes = pool ? pool->bytes() : Result<std::string>(fail(pool.error()));
  if (!bytes || bytes->size() < 2) return JdwpError::kInternal;
  const auto high = static_cast<unsigned char>((*bytes)[0]), low = static_cast<unsigned char>((*bytes)[1]);
  request.out.u4(static_cast<std::uint32_t>(high) << 8 | low).text(std::string_view(*bytes).substr(2));
  return JdwpError::kNone;
}

JdwpError type_module(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  const auto mirror = mirror_of(request.world, *type);
  const auto module = mirror ? request.world.inspection().objects().reference(*mirror, "module") : mirror;
  if (!module) return JdwpError::kNotImplemented;  // before JDK 9
  request.out.id(request.world.ids().of(*module));
  return JdwpError::kNone;
}

JdwpError class_superclass(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  if (type->kind == TypeKind::kInterface || type->is_primitive()) return request.out.id(0), JdwpError::kNone;
  Address super = request.world.inspection().classes().super(type->klass).value_or(0);
  // The superclass of a VM's array of objects may be another array class: Java's is Object.
  for (int depth = 0; type->is_array() && super != 0 && depth < 256; ++depth) {
    const LoadedClass* above = request.world.classes().find(super);
    if (above != nullptr && !above->is_array()) break;
    super = request.world.inspection().classes().super(super).value_or(0);
  }
  request.out.id(request.world.classes().find(super) ? super : 0);
  return JdwpError::kNone;
}

}  // namespace jtrace::debug
