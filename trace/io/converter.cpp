#include "trace/io/converter.h"

namespace jtrace::trace::io {

void Converter::lose(const Event& event) { ++lost_[std::string(element_info(element_kind(event)).name)]; }

std::map<std::string, std::uint64_t> Converter::lost() const {
  std::map<std::string, std::uint64_t> all = lost_;
  for (const ElementInfo& element : kElements) {
    const auto& counts = lost_attributes_[static_cast<std::size_t>(element.kind)];
    const auto put = [&](std::size_t at, std::string_view name) {
      if (counts[at] != 0) all[std::string(element.name) + "@" + std::string(name)] = counts[at];
    };
    for (std::size_t i = 0; i < element.attributes.size(); ++i) put(i, element.attributes[i].name);
    put(kValues, "value");
    put(kContext, "InvocationContext");
    put(kText, "text");
    put(kItems, "items");
  }
  return all;
}

void Converter::lose_exits(std::uint64_t count) {
  if (count != 0) lost_["methodExit without methodEntry"] += count;
}

}  // namespace jtrace::trace::io
