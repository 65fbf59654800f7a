// Command set 1: the virtual machine.
#include <algorithm>
#include <array>

#include "base/strings.h"
#include "coreinspect/tools/properties.h"
#include "debug/handlers.h"
#include "debug/heap_search.h"
#include "debug/version.h"

namespace jtrace::debug {
namespace {

// Those that are true: bytecodes, synthetic attribute, owned monitors, contended monitor, monitor info, source debug
// extension, instances, frames of owned monitors, constant pool. The first seven are those of Capabilities.
constexpr auto kCapabilities = [] {
  std::array<bool, 32> can{};
  for (const std::size_t i : {2u, 3u, 4u, 5u, 6u, 12u, 15u, 17u, 19u}) can[i] = true;
  return can;
}();

const std::string* property(const coreinspect::PropertyTable& table, std::string_view key) {
  const auto found =
      std::find_if(table.entries.begin(), table.entries.end(), [&](const auto& entry) { return entry.first == key; });
  return found == table.entries.end() ? nullptr : &found->second;
}

void write_paths(PacketWriter& out, const std::string* paths) {
  std::vector<std::string_view> parts;
  if (paths != nullptr && !paths->empty()) parts = split(*paths, ':');
  out.u4(parts.size());
  for (const std::string_view part : parts) out.text(part);
}

JdwpError write_classes(Request& request, bool generic) {
  ClassIndex& classes = request.world.classes();
  PacketWriter& out = request.out;
  out.u4(classes.all().size());
  for (const LoadedClass* type : classes.all()) {
    out.u1(static_cast<std::uint8_t>(type->kind)).id(type->klass).text(type->signature);
    if (generic) out.text(classes.generic_signature(*type));
    out.u4(type->status);
  }
  return JdwpError::kNone;
}

}  // namespace

JdwpError vm_version(Request& request) {
  const VersionFacts facts = version_facts(request.world);
  request.out.text(facts.description).u4(facts.major).u4(facts.minor).text(facts.version).text(facts.name);
  return JdwpError::kNone;
}

JdwpError vm_classes_by_signature(Request& request) {
  const auto types = request.world.classes().by_signature(request.in.text());
  request.out.u4(types.size());
  for (const LoadedClass* type : types)
    request.out.u1(static_cast<std::uint8_t>(type->kind)).id(type->klass).u4(type->status);
  return JdwpError::kNone;
}

JdwpError vm_all_classes(Request& request) { return write_classes(request, false); }
JdwpError vm_all_classes_with_generic(Request& request) { return write_classes(request, true); }

JdwpError vm_all_threads(Request& request) {
  World& world = request.world;
  const std::size_t count = request.out.later();
  std::uint32_t listed = 0;
  for (const DebugThread& thread : world.threads().all()) {
    if (thread.object == 0 || (thread.is_virtual && !world.options().virtual_threads)) continue;
    request.out.id(world.ids().of(thread.object));
    ++listed;
  }
  request.out.set_later(count, listed);
  return JdwpError::kNone;
}

JdwpError vm_top_level_thread_groups(Request& request) {
  const auto groups = request.world.threads().top_groups();
  request.out.u4(groups.size());
  for (const Address group : groups) request.out.id(request.world.ids().of(group));
  return JdwpError::kNone;
}

// Dispose and Exit: the target never ends.
JdwpError vm_goodbye(Request& request) {
  request.client.ended = true;
  return JdwpError::kNone;
}

JdwpError vm_id_sizes(Request& request) {
  for (int i = 0; i < 5; ++i) request.out.u4(sizeof(Id));
  return JdwpError::kNone;
}

JdwpError vm_create_string(Request& request) {
  const std::string_view text = request.in.text();
  request.out.id(request.world.ids().of_string(std::string(text)));
  return JdwpError::kNone;
}

JdwpError vm_capabilities(Request& request) {
  for (std::size_t i = 0; i < 7; ++i) request.out.flag(kCapabilities[i]);
  return JdwpError::kNone;
}

JdwpError vm_capabilities_new(Request& request) {
  for (const bool can : kCapabilities) request.out.flag(can);
  return JdwpError::kNone;
}

JdwpError vm_class_paths(Request& request) {
  const auto table = coreinspect::read_system_properties(request.world.inspection().objects());
  const coreinspect::PropertyTable none, &known = table ? *table : none;
  const std::string* base = property(known, "user.dir");
  request.out.text(base != nullptr ? *base : "");
  write_paths(request.out, property(known, "java.class.path"));
  write_paths(request.out, property(known, "sun.boot.class.path"));  // up to JDK 8
  return JdwpError::kNone;
}

JdwpError vm_instance_counts(Request& request) {
  std::vector<Address> klasses(request.in.count(sizeof(Id)));
  for (Address& klass : klasses) {
    JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
    klass = type->klass;
  }
  const auto counts = count_instances(request.world, klasses, [&] { return request.client.is_gone(); });
  if (!counts) return JdwpError::kInternal;
  request.out.u4(counts->size());
  for (const std::uint64_t count : *counts) request.out.u8(count);
  return JdwpError::kNone;
}

JdwpError vm_all_modules(Request& request) {
  World& world = request.world;
  const auto& objects = world.inspection().objects();
  std::set<Address> modules;
  for (const LoadedClass* type : world.classes().all()) {
    const auto mirror = objects.root_field(type->klass, "Klass", "_java_mirror");
    const Address module = mirror ? objects.reference(*mirror, "module").value_or(0) : 0;
    if (module != 0) modules.insert(module);
  }
  request.out.u4(modules.size());
  for (const Address module : modules) request.out.id(world.ids().of(module));
  return JdwpError::kNone;
}

}  // namespace jtrace::debug
