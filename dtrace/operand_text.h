// Parts of operands that machines have in common, and each machine's own places (operand_x86_64.cpp,
// operand_aarch64.cpp). Pure functions, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "dtrace/stap_note.h"

namespace jtrace::dtrace {

// Decimal or 0x..., with a sign; must be the whole text.
std::optional<std::int64_t> number_of(std::string_view text);

// The text after "SIZE@" of an operand, put into `operand`; false if it cannot be read.
namespace x86_64 {
bool parse_place(std::string_view text, Operand& operand);
}
namespace aarch64 {
bool parse_place(std::string_view text, Operand& operand);
}

}  // namespace jtrace::dtrace
