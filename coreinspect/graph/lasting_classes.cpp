#include "coreinspect/graph/lasting_classes.h"

#include <array>

#include "coreinspect/graph/object_fields.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kLoaders = {{
    {"jdk.internal.loader.ClassLoaders$AppClassLoader", "class of the app loader"},
    {"jdk.internal.loader.ClassLoaders$PlatformClassLoader", "class of the platform loader"},
    {"sun.misc.Launcher$AppClassLoader", "class of the app loader"},
    {"sun.misc.Launcher$ExtClassLoader", "class of the extension loader"},
}};
constexpr std::string_view kSystemLoader = "class of the system class loader";

// What ClassLoader.getSystemClassLoader() returns.
std::uint32_t system_loader(const ObjectGraph& graph) {
  for (std::uint32_t i = 0; i < graph.classes().size(); ++i)
    if (graph.classes()[i].name == "java.lang.ClassLoader") return ObjectFields(graph).static_reference(i, "scl");
  return kNoObject;
}

// "" for a loader that may go.
std::string_view name_of_loader(const ObjectGraph& graph, std::uint32_t loader, std::uint32_t of_system) {
  if (loader == kNoObject || graph.is_class(loader)) return "";
  const std::uint32_t its = graph.class_of(loader);
  const HprofClass* const record = graph.class_record(its);
  for (const auto& [type, name] : kLoaders)
    if (record != nullptr && record->loader == 0 && graph.classes()[its].name == type) return name;
  return loader == of_system ? kSystemLoader : "";
}

// Java's names have dots: a slash is before the number of a hidden class.
bool is_hidden(const GraphClass& its) { return its.name.find('/') != its.name.npos; }

}  // namespace

LastingClasses::LastingClasses(const ObjectGraph& graph) {
  const std::uint32_t of_system = system_loader(graph);
  std::unordered_map<std::uint64_t, std::string_view> loaders;  // by id
  std::vector<std::uint32_t> of_jdk;
  for (std::uint32_t i = 0; i < graph.classes().size(); ++i) {
    const GraphClass& its = graph.classes()[i];
    const HprofClass* const record = graph.class_record(i);
    if (record == nullptr || graph.strength(its.object) != Strength::kStrong) continue;
    if (record->loader == 0) {
      if (graph.is_system_class(its.object)) of_jdk.push_back(its.object);
      continue;
    }
    const auto [known, is_new] = loaders.try_emplace(record->loader);
    if (is_new) known->second = name_of_loader(graph, graph.find(record->loader), of_system);
    if (known->second.empty() || is_hidden(its)) continue;
    objects_.push_back(its.object);
    names_.emplace(its.object, known->second);
  }
  objects_.insert(objects_.end(), of_jdk.begin(), of_jdk.end());
}

}  // namespace jtrace::coreinspect
