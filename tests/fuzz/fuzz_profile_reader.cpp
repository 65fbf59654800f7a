// Collapsed stacks and speedscope's JSON from anybody.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trace/io/trace_diff.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jtrace::trace::io;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)profile_format(text);
  if (auto profile = read_collapsed(text)) (void)recording_of(std::move(*profile), "x");
  (void)read_speedscope(text);
  if (const auto json = jtrace::JsonValue::parse(text)) (void)recording_of(*json, "x");
  return 0;
}
