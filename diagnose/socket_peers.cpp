#include "diagnose/socket_peers.h"

#include <optional>

#include "base/strings.h"
#include "coreinspect/tools/futex_waits.h"
#include "diagnose/collectors.h"
#include "diagnose/outside_waits.h"
#include "target/proc_text.h"
#include "target/socket_call.h"

namespace jtrace::diagnose {
namespace {

constexpr int kMost = 500;  // threads

// It sleeps, and has not run since the look: what it waits for is what it waited for then.
bool still_sleeps(const target::Process& process, const ThreadFact& thread) {
  const auto status = process.read_proc("task/" + std::to_string(thread.tid) + "/status");
  return status && target::parse_status(*status).state == 'S' && coreinspect::count_of_waits(*status) == thread.waits;
}

}  // namespace

void SocketPeers::note_in(ThreadsLook& look) {
  int asked = 0;
  for (ThreadFact& each : look.threads) {
    if (each.is_virtual || each.tid == 0 || !each.slept || !waits_for_socket(each)) continue;
    if (++asked > kMost) return;
    each.peer = peer_of(each);
  }
}

std::string SocketPeers::peer_of(const ThreadFact& thread) {
  const auto call = process_.read_proc("task/" + std::to_string(thread.tid) + "/syscall");
  const auto descriptor = call ? target::descriptor_of_syscall(*call, memory_) : std::nullopt;
  const auto inode =
      descriptor ? socket_at(process_.proc_fd(), ("fd/" + std::to_string(*descriptor)).c_str()) : std::nullopt;
  const std::string peer = inode ? peer_of_socket(*inode) : "";
  return still_sleeps(process_, thread) ? peer : "";
}

std::string SocketPeers::peer_of_socket(std::uint64_t inode) {
  if (!peers_) {
    peers_.emplace();
    for (const char* name : {"net/tcp", "net/tcp6"})
      if (const auto text = process_.read_proc(name))
        for (TcpLine& line : parse_tcp(*text)) (*peers_)[line.inode] = std::move(line.peer);
  }
  const auto found = peers_->find(inode);
  return found == peers_->end() ? "" : found->second;
}

}  // namespace jtrace::diagnose
