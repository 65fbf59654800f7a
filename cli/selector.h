// Selects a JVM on the command line: digits are a pid, other words a part of the main class (or module/class, or jar)
// that exactly one JVM has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "target/process.h"

namespace jtrace::cli {

// What a command takes in the place of the word: where a file can be named too, a word that names nothing may be one
// that is missing.
enum class Takes : std::uint8_t { kJvm, kJvmOrFile };

// Whether the word names an input where both can be given: "-", an existing file, anything with a '/'.
bool names_input(const std::string& word);

// Errors: kUsage (several match: they are listed; an empty word), kNotFound.
Result<pid_t> select_jvm(std::string_view selector, Takes takes = Takes::kJvm);

// Several JVMs: selectors separated by commas, or "all" for each JVM of this machine. Each once, in the given order.
Result<std::vector<pid_t>> select_jvms(std::string_view selectors, Takes takes = Takes::kJvm);
bool selects_all(std::string_view selectors);

// select_jvm(), then Process::open().
Result<target::Process> open_selected(std::string_view selector, Takes takes = Takes::kJvm);

}  // namespace jtrace::cli
