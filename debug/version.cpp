#include "debug/version.h"

#include "coreinspect/tools/properties.h"

namespace jtrace::debug {

VersionFacts version_facts(World& world) {
  const coreinspect::Inspection& inspection = world.inspection();
  const int feature = inspection.vm().feature();
  VersionFacts facts;
  facts.major = feature < 9 ? 1 : static_cast<std::uint32_t>(feature);
  facts.minor = feature < 9 ? static_cast<std::uint32_t>(feature) : 0;
  facts.version = inspection.vm().release();
  facts.name = "HotSpot";
  if (const auto table = coreinspect::read_system_properties(inspection.objects()); table)
    for (const auto& [key, value] : table->entries) {
      if (key == "java.version") facts.version = value;
      if (key == "java.vm.name") facts.name = value;
    }
  const target::Target& target = inspection.target();
  facts.description = "jtrace, read-only, on ";
  if (!world.options().name.empty()) facts.description += world.options().name;
  else if (target.core()) facts.description += "the core " + target.core()->path();
  else facts.description += "process " + std::to_string(target.process()->pid());
  facts.description += "\nNothing is run in it and nothing can be changed.";
  for (const std::string& line : world.missing()) facts.description += "\nmissing: " + line;
  return facts;
}

}  // namespace jtrace::debug
