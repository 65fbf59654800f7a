// WorldObjects: the objects of a target, for JavaContents, by the classes that the world has in its tables. Borrows the
// world. Threads: one at a time.
#pragma once

#include "coreinspect/oops/memory_objects.h"
#include "debug/world.h"

namespace jtrace::debug {

class WorldObjects final : public coreinspect::MemoryObjects {
 public:
  explicit WorldObjects(World& world) : MemoryObjects(world.inspection().objects()), world_(world) {}

  std::string class_of(Address object) override;
  std::optional<std::uint64_t> static_bits(std::string_view class_name, std::string_view field) override;

 private:
  World& world_;
};

}  // namespace jtrace::debug
