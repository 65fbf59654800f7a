// The eBPF program for all chosen probe sites: generated at run time from the operands in the notes, so that neither a
// compiler nor BTF is needed. Pure: generates instructions, loads nothing.
//
// The site is identified by its attach cookie. A hit becomes one record in the ring: site, thread, time and the
// operands as 64-bit numbers. A text is sent once, in a record of its own before the first event that needs it, and is
// then identified by its address and length; symbols that were sent are remembered in a map until a class is unloaded
// (other text may then use their memory). Hits, lost records and unreadable operands are counted in a map. A site may
// also send the registers and the stack: page by page from the stack pointer up, until the end of the stack or until
// kStackPages are copied.
#pragma once

#include <linux/bpf.h>

#include <compare>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "dtrace/probe_catalogue.h"
#include "target/native_registers.h"

namespace jtrace::dtrace {

// A chosen site: its probe and what it does at a hit. Its index is its cookie.
struct TracedSite {
  const Probe* probe = nullptr;
  const ProbeSite* site = nullptr;
  bool records = true;          // false: only counted (and, if it ends the life of symbols, processed)
  bool ends_symbols = false;    // class__unloaded
  bool chosen = true;           // by the user; false: needed to interpret the others
  bool counts_methods = false;  // method__entry: counted in the kernel by method; only the first hit has a record
  bool copies_stack = false;    // each record has registers and stack
};

// Layout of the counters: the only element of an array map.
struct SiteCounters {
  std::uint64_t hits = 0;
  std::uint64_t lost = 0;        // hits whose record found no room in the ring
  std::uint64_t unreadable = 0;  // operands and texts that could not be read in the probe
  std::uint64_t unused = 0;
};
inline constexpr std::uint32_t kCountersHeader = 64;  // bytes before the first SiteCounters; the first word: generation

// A method in the map of counts. The generation is that of the symbols: their addresses are valid only within it.
struct MethodKey {
  std::uint64_t generation = 0, class_name = 0, name = 0, signature = 0;
  friend auto operator<=>(const MethodKey&, const MethodKey&) = default;
};

// Layout of the records in the ring.
inline constexpr std::uint32_t kTextRecord = 0xffffffff;  // in place of the site
struct EventHeader {
  std::uint32_t site;
  std::uint32_t tid;   // in the first pid namespace
  std::uint64_t time;  // CLOCK_MONOTONIC, ns
  // operands follow, 8 bytes each; of a counted method the generation after them, of a copied stack a StackHeader
};
inline constexpr std::size_t kStackRegisters = target::kContextWords;  // as in target::Registers
inline constexpr std::uint32_t kStackPage = 4096;
inline constexpr std::uint32_t kStackPages = 12;   // copied at most
inline constexpr std::uint32_t kStackBelow = 128;  // bytes below the stack pointer (red zone; AMD64 ABI 3.2.2)
struct StackHeader {
  std::uint64_t registers[kStackRegisters];
  std::uint64_t copied;  // bytes, from sp - kStackBelow on
  // kStackPages pages follow: the first is that of sp - kStackBelow, which is at its place in it
};
struct TextHeader {
  std::uint32_t mark;    // kTextRecord
  std::uint32_t length;  // of the text
  std::uint64_t address;
  std::uint32_t copied;  // bytes that follow; less than length: cut, or unreadable
  std::uint32_t unreadable;
};
inline constexpr std::uint32_t kTextSizes[] = {64, 512, 8192};  // record sizes for texts, by length
inline constexpr std::uint32_t kLongestText = kTextSizes[2];
inline constexpr std::size_t kMaxOperands = 16;  // of one site; further ones are left out

struct ProgramMaps {
  int ring = -1;
  int texts = -1;     // hash: {address, length} -> generation, 8 bytes
  int counters = -1;  // array
  int methods = -1;   // hash: MethodKey -> count, 8 bytes; where a site counts methods
};

// `tgid`: the process in the first pid namespace; 0: any process.
Result<std::vector<bpf_insn>> make_probe_program(const std::vector<TracedSite>& sites, const ProgramMaps& maps,
                                                 std::uint32_t tgid);

}  // namespace jtrace::dtrace
