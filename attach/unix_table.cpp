#include "attach/unix_table.h"

#include <charconv>

#include "base/strings.h"

namespace jtrace::attach {
namespace {

constexpr std::uint32_t kAcceptConnections = 0x10000;  // __SO_ACCEPTCON, include/linux/socket.h
constexpr std::uint32_t kConnecting = 2;               // SS_CONNECTING, include/uapi/linux/net.h
constexpr std::uint32_t kConnected = 3;                // SS_CONNECTED, include/uapi/linux/net.h

template <class T>
T number(std::string_view text, int base) {
  T value{};
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

}  // namespace

std::vector<UnixSocket> parse_unix_table(std::string_view text) {
  std::vector<UnixSocket> sockets;
  for (std::string_view line : split(text, '\n')) {
    // Num RefCount Protocol Flags Type St Inode Path
    std::string_view fields[8];
    std::size_t count = 0;
    while (count < 8) {
      const std::size_t begin = line.find_first_not_of(' ');
      if (begin == line.npos) break;
      line.remove_prefix(begin);
      const std::size_t end = count == 7 ? line.size() : std::min(line.find(' '), line.size());
      fields[count++] = line.substr(0, end);
      line.remove_prefix(end);
    }
    if (count < 8 || !fields[0].ends_with(':') || fields[0] == "Num") continue;
    UnixSocket socket;
    socket.listening = (number<std::uint32_t>(fields[3], 16) & kAcceptConnections) != 0;
    const auto state = number<std::uint32_t>(fields[5], 16);
    socket.connected = state == kConnected;
    socket.waiting = state == kConnecting;
    socket.inode = number<std::uint64_t>(fields[6], 10);
    socket.path = fields[7];
    sockets.push_back(std::move(socket));
  }
  return sockets;
}

ListenerState listener_state(const std::vector<UnixSocket>& sockets, std::string_view socket_name) {
  ListenerState state;
  for (const UnixSocket& socket : sockets) {
    std::string_view name = socket.path;
    name = name.substr(name.rfind('/') + 1);
    if (name.ends_with(".tmp")) name.remove_suffix(4);
    if (name != socket_name) continue;
    state.listening |= socket.listening;
    state.clients += socket.connected || socket.waiting ? 1 : 0;
  }
  return state;
}

}  // namespace jtrace::attach
