// The code that a shell runs to complete the words of a program.
#pragma once

#include <string>
#include <string_view>

namespace jtrace::cli {

// `shell`: bash, zsh or fish.
std::string shell_code(std::string_view shell, std::string_view program);

}  // namespace jtrace::cli
