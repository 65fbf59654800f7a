// The meaning of HotSpot's probes: the names and kinds of their arguments, and the flag that they need. The probes
// themselves come from the notes of the file; probes that are not in this table are listed with their operands only.
// Pure, any thread.
//
// Source: hotspot/share/utilities/dtrace*.hpp and hotspot.d/hotspot_jni.d/hs_private.d in HotSpot 11 to 27 (same
// arguments in all of them). Two operands make one text: a pointer and a length, never NUL-terminated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dtrace/probe_image.h"

namespace jtrace::dtrace {

enum class ArgumentKind : std::uint8_t {
  kNumber,
  kFlag,     // 0 or not
  kAddress,  // of a C++ object of the VM: used again after the object is freed
  kSymbol,   // a text that does not change at its address, as long as its class lives (two operands)
  kText,     // a text at an address that may later have another text (two operands)
};
std::string_view to_string(ArgumentKind kind);

struct ProbeArgument {
  std::string name;
  ArgumentKind kind = ArgumentKind::kNumber;
  std::size_t operand = 0;  // index of its first operand

  bool is_text() const { return kind == ArgumentKind::kSymbol || kind == ArgumentKind::kText; }
};

struct ProbeDescription {
  bool known = false;  // it is in the table; otherwise the arguments are named arg0, arg1...
  std::vector<ProbeArgument> arguments;
  std::string_view flag;  // DTraceMethodProbes...; "" if it needs none
};

// `operands`: their number at the site; arguments without operands are left out.
ProbeDescription describe_probe(std::string_view provider, std::string_view name, std::size_t operands);

// All sites with one name.
struct Probe {
  std::string provider;
  std::string name;
  std::vector<ProbeSite> sites;
  ProbeDescription description;

  std::string full_name() const { return provider + ":" + name; }
};
// By provider and name.
std::vector<Probe> group_probes(std::vector<ProbeSite> sites);

// The probes that a word selects: "gc__begin", "gc-begin", "hotspot:gc__*", "hotspot_jni:*", "hotspot" (a provider). A
// word without a provider selects those of hotspot, otherwise those of the others. Globs: '*' and '?'. Errors: kUsage:
// no such probe, with the nearest name.
Result<std::vector<const Probe*>> select_probes(const std::vector<Probe>& probes, std::string_view word);

}  // namespace jtrace::dtrace
