// WorldObjects: the objects of a target, for JavaContents. Borrows the world. Threads: one at a time.
#pragma once

#include "coreinspect/oops/java_contents.h"
#include "debug/world.h"

namespace jtrace::debug {

class WorldObjects final : public coreinspect::ObjectReader {
 public:
  explicit WorldObjects(World& world) : world_(world), objects_(world.inspection().objects()) {}

  std::string class_of(Address object) override;
  std::optional<std::uint64_t> bits(Address object, std::string_view field) override;
  std::optional<std::uint64_t> static_bits(std::string_view class_name, std::string_view field) override;
  std::optional<std::uint32_t> length(Address array) override;
  std::optional<Address> element(Address array, std::uint32_t index) override;
  std::optional<std::string> characters(Address array, std::size_t count, bool is_utf16) override;

 private:
  std::optional<std::uint64_t> bits_at(Address at, char type);

  World& world_;
  const coreinspect::ObjectModel& objects_;
};

}  // namespace jtrace::debug
