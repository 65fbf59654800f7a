// StackProfile: stacks with their weights, as files of profilers have them: collapsed stacks (a line "outermost;...;
// innermost WEIGHT" each) and speedscope's JSON. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jtrace::trace::io {

struct StackProfile {
  std::string unit;                      // "samples", "ns" or "bytes"
  std::map<std::string, double> stacks;  // "outermost;...;innermost": what it has by itself
  double total() const;
};

enum class ProfileFormat : std::uint8_t { kNone, kCollapsed, kSpeedscope };
// By its first bytes; some hundred are enough.
ProfileFormat profile_format(std::string_view first_bytes);
// kMalformed: which line, or what is missing. A line without a stack is one.
Result<StackProfile> read_collapsed(std::string_view text);
// All profiles of the file together; "evented" ones too. Of several, each is a thread: its name is the outermost frame.
Result<StackProfile> read_speedscope(std::string_view text);

std::string collapsed_of(const StackProfile& profile);
// One "sampled" profile of that name.
std::string speedscope_of(const StackProfile& profile, std::string_view name);

// What each frame has: by itself, and with what it called (once in a stack that has it twice).
struct FrameWeights {
  std::map<std::string, double> self, total;
};
FrameWeights weights_of(const StackProfile& profile);

}  // namespace jtrace::trace::io
