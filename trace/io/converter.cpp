#include "trace/io/converter.h"

#include "trace/schema.h"

namespace jtrace::trace::io {

void Converter::lose(const Event& event) { ++lost_[std::string(element_info(element_kind(event)).name)]; }

void Converter::lose_exits(std::uint64_t count) {
  if (count != 0) lost_["methodExit without methodEntry"] += count;
}

}  // namespace jtrace::trace::io
