// /proc/PID/net/unix: the Unix sockets in the target's network namespace (net/unix/af_unix.c, unix_seq_show). Pure
// functions over its text; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jtrace::attach {

struct UnixSocket {
  std::uint64_t inode = 0;
  bool listening = false;  // __SO_ACCEPTCON
  bool connected = false;  // SS_CONNECTED
  bool waiting = false;    // SS_CONNECTING: connected, and not yet accepted by the listener
  std::string path;        // the name to which it was bound; HotSpot's keeps ".java_pid<P>.tmp" after the rename
};
std::vector<UnixSocket> parse_unix_table(std::string_view text);

struct ListenerState {
  bool listening = false;  // a socket bound to the JVM's name listens
  int clients = 0;         // connected to it, accepted or not: the JVM serves one at a time
};
// The sockets named .java_pid<nspid> (with or without .tmp); several JVMs of one network namespace may have the same
// number.
ListenerState listener_state(const std::vector<UnixSocket>& sockets, std::string_view socket_name);

}  // namespace jtrace::attach
