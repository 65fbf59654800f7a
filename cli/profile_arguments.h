// The options of `jtrace profile`, and which of them go together.
#pragma once

#include <string>
#include <vector>

#include "cli/inspect_common.h"
#include "sampling/profile_files.h"
#include "sampling/sampler.h"

namespace jtrace::cli {

struct ProfileArguments {
  static constexpr std::size_t kRows = 20;
  std::vector<std::string> targets;
  std::string group;  // "": any
  InspectArguments inspect;
  double hz = 0, max_share = 2;
  std::string duration;  // "": until Ctrl-C
  std::string least;     // "": 1 ms
  std::string rotate, keep, ship;
  std::size_t rows = kRows;  // of each table of text
  const CLI::Option* rows_option = nullptr;
  bool has_rows() const { return rows_option != nullptr && rows_option->count() != 0; }
  std::uint64_t stack_bytes = sampling::kStackBytes;
  bool wall = false, cpu = false, off_cpu = false, ptrace = false, no_fallback = false;
};

// --wall or --off-cpu.
bool takes_waits(const ProfileArguments& arguments);
// "cpu", "wall" or "off-cpu".
const char* kind_of(const ProfileArguments& arguments);
// --rotate, --keep.
sampling::Rotation rotation_of(const ProfileArguments& arguments);
// Options that exclude each other, or `format`: kUsage.
Result<> check_profile(const ProfileArguments& arguments, const std::string& format);
void add_profile_options(CLI::App& command, ProfileArguments& arguments);

}  // namespace jtrace::cli
