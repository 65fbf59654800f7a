// GraphObjects: the objects of a heap dump, for JavaContents; an object's address is its id in the dump.
//
// Ownership: borrows the graph. Threads: one at a time.
#pragma once

#include "coreinspect/graph/object_fields.h"
#include "coreinspect/oops/java_contents.h"

namespace jtrace::coreinspect {

class GraphObjects final : public ObjectReader {
 public:
  explicit GraphObjects(const ObjectGraph& graph) : graph_(graph), fields_(graph) {}

  std::string class_of(Address object) override;
  std::optional<std::uint64_t> bits(Address object, std::string_view field) override;
  std::optional<std::uint64_t> static_bits(std::string_view class_name, std::string_view field) override;
  std::optional<std::uint32_t> length(Address array) override;
  std::optional<Address> element(Address array, std::uint32_t index) override;
  std::optional<std::string> characters(Address array, std::size_t count, bool is_utf16) override;

 private:
  const ObjectGraph& graph_;
  ObjectFields fields_;
};

}  // namespace jtrace::coreinspect
