// Reads notes of SystemTap's sdt.h (NT_STAPSDT) as probes and operands. Pure functions, any thread.
//
// A note (systemtap's "UserSpaceProbeImplementation") has the address of a one-byte nop, the address of .stapsdt.base
// when the note was made, the address of a semaphore (0: none), and three texts: provider, name, arguments. The
// arguments are operands of the machine's assembler, "[-]SIZE@OPERAND" each, separated by blanks; a '-' marks a signed
// one. The bytes are not trusted: an invalid note is skipped and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "target/isa.h"

namespace jtrace::dtrace {

// A register of the file's machine: the index of its word in target::Registers.
using Register = std::uint8_t;

enum class OperandKind : std::uint8_t {
  kUnknown,    // cannot be read: only its text is known (relative to the pc, floating point, invalid)
  kImmediate,  // displacement is the value
  kRegister,   // base, from bit `shift` on
  kMemory,     // at displacement + base + index * scale
};

struct Operand {
  OperandKind kind = OperandKind::kUnknown;
  std::uint8_t size = 8;  // bytes: 1, 2, 4, 8
  bool is_signed = false;
  std::uint8_t shift = 0;  // 8 for %ah and similar registers
  Register base = 0;
  bool has_base = false;
  bool has_index = false;
  Register index = 0;
  std::uint8_t scale = 1;
  std::int64_t displacement = 0;
  std::string text;  // as in the note

  friend bool operator==(const Operand&, const Operand&) = default;
};

struct StapNote {
  std::string provider;
  std::string name;
  std::string arguments;        // the text
  std::uint64_t location = 0;   // virtual address in the file when the note was made
  std::uint64_t base = 0;       // address of .stapsdt.base at that time; 0: unknown
  std::uint64_t semaphore = 0;  // 0: none
};

struct StapNotes {
  std::vector<StapNote> notes;  // in the order of the section
  std::size_t skipped = 0;      // invalid notes of this kind
};

// `section`: the bytes of .note.stapsdt of a 64-bit little-endian file.
StapNotes parse_stap_notes(std::span<const std::byte> section);

// All operands of an argument text, in order; unreadable ones are kUnknown.
std::vector<Operand> parse_operands(std::string_view arguments, target::Isa isa);

}  // namespace jtrace::dtrace
