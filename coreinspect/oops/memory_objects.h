// MemoryObjects: the objects of a live JVM or a core, for JavaContents. Who knows its classes in another way derives.
//
// Ownership: borrows the model. Threads: one at a time.
#pragma once

#include "coreinspect/oops/java_contents.h"
#include "coreinspect/oops/object_model.h"

namespace jtrace::coreinspect {

class MemoryObjects : public ObjectReader {
 public:
  explicit MemoryObjects(const ObjectModel& objects) : objects_(objects) {}

  std::string class_of(Address object) override;
  std::optional<std::uint64_t> bits(Address object, std::string_view field) override;
  std::optional<std::uint64_t> static_bits(std::string_view class_name, std::string_view field) override;
  std::optional<std::uint32_t> length(Address array) override;
  std::optional<Address> element(Address array, std::uint32_t index) override;
  std::optional<std::string> characters(Address array, std::size_t count, bool is_utf16) override;

 protected:
  // The value of a static field of this class.
  std::optional<std::uint64_t> static_bits_of(Address klass, std::string_view field);

 private:
  std::optional<std::uint64_t> bits_at(Address slot, std::string_view signature);

  const ObjectModel& objects_;
};

}  // namespace jtrace::coreinspect
