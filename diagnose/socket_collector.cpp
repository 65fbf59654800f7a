#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <map>
#include <set>

#include "base/strings.h"
#include "diagnose/collectors.h"

namespace jtrace::diagnose {
namespace {

constexpr int kClosedByPeer = 8;  // TCP_CLOSE_WAIT

template <class T>
std::optional<T> parse_hex(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// Hexadecimal words of 32 bits, each in the machine's byte order, as the kernel prints them.
std::string address_text(std::string_view hex) {
  std::array<std::uint32_t, 4> words{};
  const std::size_t count = hex.size() / 8;
  if (hex.size() % 8 != 0 || (count != 1 && count != 4)) return "";
  for (std::size_t i = 0; i < count; ++i) words[i] = parse_hex<std::uint32_t>(hex.substr(i * 8, 8)).value_or(0);
  const bool mapped = count == 4 && words[0] == 0 && words[1] == 0 && words[2] == htonl(0xffff);
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (count == 1 || mapped)
    return ::inet_ntop(AF_INET, &words[count == 1 ? 0 : 3], text.data(), text.size()) ? text.data() : "";
  return ::inet_ntop(AF_INET6, words.data(), text.data(), text.size()) ? "[" + std::string(text.data()) + "]" : "";
}

std::string peer_text(std::string_view field) {
  const std::size_t colon = field.find(':');
  if (colon == field.npos) return "";
  return address_text(field.substr(0, colon)) + ":" +
         std::to_string(parse_hex<unsigned>(field.substr(colon + 1)).value_or(0));
}

// The inodes of the sockets that the process has open.
std::set<std::uint64_t> sockets_of(const target::Process& process) {
  std::set<std::uint64_t> inodes;
  const int folder = ::openat(process.proc_fd(), "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* entries = folder >= 0 ? ::fdopendir(folder) : nullptr;
  if (!entries) return inodes;
  while (const dirent* entry = ::readdir(entries))
    if (const auto inode = socket_at(::dirfd(entries), entry->d_name)) inodes.insert(*inode);
  ::closedir(entries);
  return inodes;
}

SocketFact fact_of(const std::vector<TcpLine>& lines, const std::set<std::uint64_t>& own) {
  SocketFact fact;
  std::map<std::string, std::uint64_t> peers;
  for (const TcpLine& line : lines) {
    if (line.state != kClosedByPeer || !own.contains(line.inode)) continue;
    ++fact.unclosed;
    const std::uint64_t count = ++peers[line.peer.substr(0, line.peer.rfind(':'))];
    if (count > fact.of_peer) {
      fact.of_peer = count;
      fact.peer = line.peer.substr(0, line.peer.rfind(':'));
    }
  }
  return fact;
}

}  // namespace

std::optional<std::uint64_t> socket_at(int folder, const char* name) {
  constexpr std::string_view kSocket = "socket:[";
  std::array<char, 64> link{};
  const ssize_t size = ::readlinkat(folder, name, link.data(), link.size());
  const std::string_view text(link.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  if (!text.starts_with(kSocket) || !text.ends_with(']')) return std::nullopt;
  return parse_decimal<std::uint64_t>(text.substr(kSocket.size(), text.size() - kSocket.size() - 1));
}

// The kernel hands the table over in pieces: when other sockets come or go meanwhile, it repeats lines.
std::vector<TcpLine> parse_tcp(std::string_view text) {
  std::vector<TcpLine> lines;
  std::set<std::uint64_t> seen;
  for (const std::string_view line : split(text, '\n')) {
    std::vector<std::string_view> fields;
    for (const std::string_view field : split(line, ' '))
      if (!field.empty()) fields.push_back(field);
    // sl local remote st queues timer retransmits uid timeout inode
    if (fields.size() < 10 || !fields[0].ends_with(':')) continue;
    const auto state = parse_hex<int>(fields[3]);
    const auto inode = parse_decimal<std::uint64_t>(fields[9]);
    if (state && inode && (*inode == 0 || seen.insert(*inode).second))
      lines.push_back({peer_text(fields[2]), *state, *inode});
  }
  return lines;
}

Result<Publish> SocketCollector::look() {
  if (!process_) {
    JTRACE_ASSIGN_OR_RETURN(process_, target::Process::open(pid_));
  }
  std::vector<TcpLine> lines;
  for (const char* name : {"net/tcp", "net/tcp6"}) {
    const auto text = process_->read_proc(name);
    if (!text && std::string_view(name) == "net/tcp6") continue;  // a kernel without IPv6
    if (!text) return fail(text.error());
    for (TcpLine& line : parse_tcp(*text))
      if (line.state == kClosedByPeer) lines.push_back(std::move(line));
  }
  const SocketFact fact = lines.empty() ? SocketFact() : fact_of(lines, sockets_of(*process_));
  return [fact](Collected& collected) { collected.facts.sockets.push_back(fact); };
}

}  // namespace jtrace::diagnose
