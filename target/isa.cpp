#include "target/isa.h"

#include "target/isa_aarch64.h"
#include "target/isa_x86_64.h"

namespace jtrace::target {

static_assert(x86_64::kTraits.register_words <= kMostRegisterWords);
static_assert(aarch64::kTraits.register_words <= kMostRegisterWords);

const IsaTraits& traits_of(Isa isa) {
  switch (isa) {
    case Isa::kAarch64: return aarch64::kTraits;
    case Isa::kX86_64: break;
  }
  return x86_64::kTraits;
}

std::optional<Isa> isa_of_machine(std::uint16_t machine) {
  for (const Isa isa : {Isa::kX86_64, Isa::kAarch64})
    if (traits_of(isa).machine == machine) return isa;
  return std::nullopt;
}

std::string machine_name(std::uint16_t machine) {
  if (const auto isa = isa_of_machine(machine)) return std::string(traits_of(*isa).name);
  switch (machine) {
    case EM_386: return "i386";
    case EM_ARM: return "ARM";
    case EM_RISCV: return "RISC-V";
    case EM_PPC64: return "PowerPC64";
    case EM_S390: return "S/390";
    default: return "machine " + std::to_string(machine);
  }
}

}  // namespace jtrace::target
