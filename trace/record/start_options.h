// The options of start_options.def by name: on the command line, and in the `option` elements of a document. A literal
// instead of the constant is refused by lint.options. Pure, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/record/definition_fields.h"

namespace jtrace::trace::record {

// kSlowerThanOption and the others.
#define START_FLAG(bit, Name, member, key, ...) inline constexpr std::string_view k##Name##Option = key;
#define START_CHOICE(bit, Name, member, key, ...) inline constexpr std::string_view k##Name##Option = key;
#define START_VALUE(type, Name, member, form, normal, least, most, key, help) \
  inline constexpr std::string_view k##Name##Option = key;                    \
  inline constexpr fields_written::type kDefault##Name = normal;              \
  static_assert(kDefault##Name == 0 || std::string_view(help).find("{default}") != std::string_view::npos);
#include "trace/record/start_options.def"
// Not sent to the agent as a value of its own, but read in documents too.
inline constexpr std::string_view kEventsOption = "events";
inline constexpr std::string_view kMinContentionOption = "min-contention";
inline constexpr std::string_view kVirtualThreadsOption = "virtual-threads";

// A size as a user gives it, without rounding: "512K", "1M", "4095".
std::string size_option_text(std::uint64_t bytes);

enum class StartForm { kTime, kSize, kCount, kMilliseconds };
// `help` with the default in the place of "{default}", in the form in which a user gives it: 512K, 100ms.
std::string option_help(std::string_view help, StartForm form, std::uint64_t normal);

}  // namespace jtrace::trace::record
