#include "base/terminal.h"

#include <sys/ioctl.h>

namespace jtrace {

TerminalSize terminal_size(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0) return {};
  return {.rows = size.ws_row, .columns = size.ws_col};
}

std::string cut_to_columns(std::string_view text, std::size_t columns) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) continue;
    if (characters++ == columns) return std::string(text.substr(0, i));
  }
  return std::string(text);
}

}  // namespace jtrace
