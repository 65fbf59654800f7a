// Any bytes as the description of the variables of compiled code.
#include <span>

#include "coreinspect/code/scope_values.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace jtrace::coreinspect;
  const auto bytes = std::as_bytes(std::span(data, size));
  if (bytes.empty()) return 0;
  const std::size_t split = std::to_integer<std::size_t>(bytes[0]) * bytes.size() / 256;
  for (const bool newer : {false, true}) {
    const ScopeRules rules{.excludes_zero = newer,
                           .objects_have_root = newer,
                           .normal = 1,
                           .oop = 2,
                           .narrow_oop = 8,
                           .lng = 4,
                           .dbl = 6,
                           .int_in_long = 3,
                           .float_in_dbl = 5};
    const auto found = decode_scope_variables(bytes.first(split), bytes.subspan(split), rules);
    if (found)
      for (const auto& value : found->locals) (void)found->object(static_cast<std::uint32_t>(value.number));
  }
  return 0;
}
