// Any bytes as a .note.stapsdt section, and as the text of operands: at most, they are refused.
#include <cstddef>
#include <cstdint>

#include "dtrace/probe_catalogue.h"
#include "dtrace/stap_note.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jtrace::dtrace;
  using jtrace::target::Isa;
  for (const StapNote& note : parse_stap_notes({reinterpret_cast<const std::byte*>(data), size}).notes) {
    const auto operands = parse_operands(note.arguments, Isa::kX86_64);
    (void)describe_probe(note.provider, note.name, operands.size());
  }
  for (const Isa isa : {Isa::kX86_64, Isa::kAarch64})
    (void)parse_operands({reinterpret_cast<const char*>(data), size}, isa);
  return 0;
}
