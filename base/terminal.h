// What a terminal can show. Any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jtrace {

struct TerminalSize {
  std::size_t rows = 0;
  std::size_t columns = 0;
};

// 0 for what is not known: `fd` is not a terminal, or one that does not say (TIOCGWINSZ).
TerminalSize terminal_size(int fd);

// The first `columns` characters of UTF-8, each counted as one column.
std::string cut_to_columns(std::string_view text, std::size_t columns);

}  // namespace jtrace
