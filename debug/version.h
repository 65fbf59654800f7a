// What the version of the target's Java is, and how jtrace introduces itself.
#pragma once

#include <string>

#include "debug/world.h"

namespace jtrace::debug {

struct VersionFacts {
  std::string description;             // several lines
  std::uint32_t major = 0, minor = 0;  // clients ask for modules from 9 on, for virtual threads from 19 on
  std::string version, name;           // java.version, java.vm.name
};
VersionFacts version_facts(World& world);

}  // namespace jtrace::debug
