// A JVM that keeps a word in many places (tests/apps/Secrets.java), and the search for it in a file.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/testlib/jvm_process.h"

namespace jtrace::test {

inline constexpr std::string_view kPlantedWord = "Zq7XvKw9";

// The word is in its heap, a direct buffer, a frame, the environment, a property and an argument.
std::unique_ptr<JvmProcess> start_with_word(const Jdk& jdk, std::vector<std::string> flags);

// Where the file has the word in ASCII or UTF-16 of either order, or as the number that its characters are; at most
// ten places, each with what stands around it.
std::vector<std::string> places_of_word(const std::string& path);

}  // namespace jtrace::test
