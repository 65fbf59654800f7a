// Registers and notes of x86-64: user_regs_struct (<sys/user.h>), elf_prstatus (<sys/procfs.h>).
#pragma once

#include <elf.h>

#include "target/isa.h"

namespace jtrace::target::x86_64 {

// The words of user_regs_struct.
enum Word : std::size_t {
  kR15,
  kR14,
  kR13,
  kR12,
  kRbp,
  kRbx,
  kR11,
  kR10,
  kR9,
  kR8,
  kRax,
  kRcx,
  kRdx,
  kRsi,
  kRdi,
  kOrigRax,
  kRip,
  kCs,
  kFlags,
  kRsp,
  kWords = 27,
};

inline constexpr IsaTraits kTraits{.name = "x86-64",
                                   .machine = EM_X86_64,
                                   .register_words = kWords,
                                   .prstatus_size = 336,
                                   .pc = kRip,
                                   .sp = kRsp,
                                   .fp = kRbp,
                                   .first_general = kR15,
                                   .last_general = kRdi,
                                   .bytecodes = kR13,
                                   .method = kRbx,
                                   .sender_sp = kR13,
                                   .link = kRax,
                                   .syscall = kOrigRax,
                                   .arguments = {kRdi, kRsi, kRdx},
                                   .futex = 202};

}  // namespace jtrace::target::x86_64
