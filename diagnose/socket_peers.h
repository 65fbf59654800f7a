// SocketPeers: with whom threads of a live process are connected that wait for a socket. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "diagnose/facts.h"
#include "target/memory_reader.h"
#include "target/process.h"

namespace jtrace::diagnose {

class SocketPeers {
 public:
  // Borrows both.
  SocketPeers(const target::Process& process, const target::MemoryReader& memory)
      : process_(process), memory_(memory) {}

  // Sets `peer` of the threads that Java frames show at a socket, and that have not run since this look.
  void note_in(ThreadsLook& look);

 private:
  std::string peer_of(const ThreadFact& thread);
  std::string peer_of_socket(std::uint64_t inode);

  const target::Process& process_;
  const target::MemoryReader& memory_;
  std::optional<std::map<std::uint64_t, std::string>> peers_;  // by inode; nothing before one is asked for
};

}  // namespace jtrace::diagnose
