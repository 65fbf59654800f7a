// Options for metrics by the names of a convention: --naming and --inside.
#pragma once

#include <string>

#include "cli/command.h"
#include "perfdata/conventions.h"
#include "perfdata/inner_figures.h"

namespace jtrace::cli {

struct NamingArguments {
  std::string naming;
  bool inside = false;

  bool is_given() const { return !naming.empty(); }
  // kUsage: no such naming.
  Result<perfdata::Naming> parse() const;
  perfdata::InnerReader inner() const;  // none without --inside
};

// `fallback`: what holds if --naming is not given.
void add_naming_options(CLI::App& command, NamingArguments& arguments, const std::string& fallback);
void add_inside_option(CLI::App& command, NamingArguments& arguments);
// kUsage: options about counters, where the names are not those of the counters.
Error needs_counters(const std::string& options);

}  // namespace jtrace::cli
