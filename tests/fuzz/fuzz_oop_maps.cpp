// Any bytes as an oop map of compiled code.
#include <span>

#include "coreinspect/code/oop_maps.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace jtrace::coreinspect;
  const auto bytes = std::as_bytes(std::span(data, size));
  if (bytes.empty()) return 0;
  const auto count = std::to_integer<std::uint32_t>(bytes[0]);
  for (const bool newer : {false, true})
    (void)decode_oop_map(bytes.subspan(1), count, {.excludes_zero = newer, .stack0 = 184});
  const OopMapRules first{.type_mask = 31,
                          .register_shift = 5,
                          .register_mask = 2047,
                          .oop_value = 1,
                          .narrowoop_value = 4,
                          .callee_saved_value = 8,
                          .derived_oop_value = 16,
                          .stack0 = 184};
  (void)decode_oop_map(bytes.subspan(1), count, first);
  return 0;
}
