#include "target/vector_registers.h"

#include <sys/ptrace.h>
#include <sys/uio.h>

#include <cstring>

#include "target/native_registers.h"

namespace jtrace::target {

std::vector<std::byte> register_set(pid_t tid, std::uint32_t type, std::size_t room) {
  std::vector<std::byte> bytes(room);
  iovec into{bytes.data(), bytes.size()};
  if (::ptrace(PTRACE_GETREGSET, tid, reinterpret_cast<void*>(static_cast<std::uintptr_t>(type)), &into) != 0)
    return {};
  bytes.resize(into.iov_len);
  return bytes;
}

std::vector<std::byte> vector_set(pid_t tid) {
  return kVectorsNote == 0 ? std::vector<std::byte>() : register_set(tid, kVectorsNote, 16u << 10);
}

std::vector<std::uint64_t> words_of_set(std::span<const std::byte> set) {
  std::vector<std::uint64_t> words;
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= set.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, set.data() + at, sizeof word);
    if (word != 0) words.push_back(word);
  }
  return words;
}

}  // namespace jtrace::target
