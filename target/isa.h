// Isa: the instruction set of a target, a value found when it is opened: a core's from its ELF header, a process's from
// its libjvm.so. What a folder needs to know of one machine is in its *_x86_64 and *_aarch64 files; the rest of the
// code asks these tables. Constants, any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jtrace::target {

enum class Isa : std::uint8_t { kX86_64, kAarch64 };

// Of this program: processes can be read live only if they are of the same.
#if defined(__aarch64__)
inline constexpr Isa kNativeIsa = Isa::kAarch64;
#else
inline constexpr Isa kNativeIsa = Isa::kX86_64;
#endif

inline constexpr std::size_t kMostRegisterWords = 34;

// Places are indices of Registers::words. What HotSpot uses a register for: register_x86.hpp, register_aarch64.hpp and
// the template interpreters.
struct IsaTraits {
  std::string_view name;           // as messages have it
  std::uint16_t machine = 0;       // e_machine
  std::size_t register_words = 0;  // of PTRACE_GETREGSET(NT_PRSTATUS) and of pr_reg in a core
  std::size_t prstatus_size = 0;   // bytes of NT_PRSTATUS in a core
  std::size_t pc = 0, sp = 0, fp = 0;
  std::size_t first_general = 0,
              last_general = 0;  // between them, both included, are all registers that may hold an oop
  // The interpreter: bytecode pointer; Method* of a method that is entered; stack pointer of its caller.
  std::size_t bytecodes = 0, method = 0, sender_sp = 0;
  // The register in which a return address may be, apart from the stack. x86-64: what some of the interpreter's entries
  // have popped; aarch64: x30, where each call leaves it.
  std::size_t link = 0;
  // The number of the system call a thread is in, its first three arguments, and the number of futex(2).
  std::size_t syscall = 0;
  std::array<std::size_t, 3> arguments{};
  std::uint64_t futex = 0;
  // Bits of a return address that may hold a signature and no part of the address, if the core does not have them.
  std::uint64_t signature_bits = 0;
};
const IsaTraits& traits_of(Isa isa);

// Nothing for a machine whose JVMs are not read.
std::optional<Isa> isa_of_machine(std::uint16_t machine);

// "x86-64", "AArch64", "i386", ...; "machine 243" if it has no name here.
std::string machine_name(std::uint16_t machine);

}  // namespace jtrace::target
