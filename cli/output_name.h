// What the name of an output says about its format: a name that ends like that of another format is refused, because
// whoever gave it would get something else than was meant. Any other ending is taken. Pure.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace jtrace::cli {

// For CLI::Option::check(). `made`: what the command writes ("a page of HTML"); `endings`: those of its names, the
// first of them is what the error proposes.
CLI::Validator named_like(std::string made, std::vector<std::string> endings);
// Of a trace that is written as XML: what is wrong with its name, and which command makes that format of a trace; ""
// if nothing is.
std::string wrong_trace_name(const std::string& path);

}  // namespace jtrace::cli
