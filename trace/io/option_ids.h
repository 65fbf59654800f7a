// The ids that values of options have in their text (docs/trace_format.md has the forms). Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace jtrace::trace::io {

enum class IdKind : std::uint8_t { kThread, kObject };
struct IdInText {
  std::size_t from = 0, size = 0;  // its digits
  std::uint64_t id = 0;
  IdKind kind = IdKind::kThread;
};
// In their order; none for an option without ids, or whose value has another form.
std::vector<IdInText> ids_in_option(std::string_view key, std::string_view value);

}  // namespace jtrace::trace::io
