#include "cli/naming_arguments.h"

#include <memory>

#include "base/strings.h"
#include "coreinspect/tools/inner_figures.h"

namespace jtrace::cli {

Result<perfdata::Naming> NamingArguments::parse() const {
  if (const auto known = perfdata::naming_of(naming)) return *known;
  return fail(ErrorCategory::kUsage,
              "unknown naming '" + printable(naming) + "': hotspot, otel, micrometer and client_java are known");
}

perfdata::InnerReader NamingArguments::inner() const {
  if (!inside) return {};
  const auto reader = std::make_shared<coreinspect::InnerFiguresReader>();
  return [reader](const std::vector<perfdata::NumberedJvm>& jvms) { return reader->read(jvms); };
}

void add_inside_option(CLI::App& command, NamingArguments& arguments) {
  command.add_flag(
      "--inside", arguments.inside,
      "also pools of code, thread states and direct buffers, from the memory of the JVMs (nothing is stopped)");
}

void add_naming_options(CLI::App& command, NamingArguments& arguments, const std::string& fallback) {
  arguments.naming = fallback;
  command
      .add_option("--naming", arguments.naming,
                  "names of the metrics: hotspot (its counters), otel, micrometer, client_java")
      ->capture_default_str();
  add_inside_option(command, arguments);
}

Error needs_counters(const std::string& options) {
  return {.category = ErrorCategory::kUsage, .text = options + " are about the counters: they need --naming hotspot"};
}

}  // namespace jtrace::cli
