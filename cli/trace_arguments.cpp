#include "cli/trace_arguments.h"

#include <algorithm>

#include "cli/output_name.h"
#include "cli/shipped_output.h"
#include "cli/unit_lines.h"
#include "cli/units.h"

namespace jtrace::cli {
namespace {

constexpr std::string_view kAgentOnly[] = {"strict", "server", "jtrace"};

std::string flag_names(std::string_view name) { return (name == "output" ? "-o,--" : "--") + std::string(name); }

bool is_option(std::string_view word) {
  if (!word.starts_with("--")) return false;
  const auto names = session::option_table();
  return std::any_of(names.begin(), names.end(),
                     [&](const session::OptionSpec& spec) { return word.substr(2) == spec.name; });
}

// The parser takes the word after an option as its value, even if that is the next option.
std::string no_value(const std::string& word) {
  return is_option(word) ? "it has no value: " + word + " follows" : std::string();
}

// What is wrong with one value; "" for what only the whole can tell, and for a file, which is read once. At once, so
// that the first wrong word of the command line is named.
CLI::Validator fits(const session::OptionSpec& spec) {
  return CLI::Validator(
      [name = std::string(spec.name)](const std::string& word) -> std::string {
        if (name == "filters") return {};
        session::OptionReader reader;
        const auto given = reader.give(name, word);
        if (given || given.error().category != ErrorCategory::kUsage) return {};
        std::string wrong = given.error().message();
        const std::string option = "option " + name + ": ";
        return wrong.starts_with(option) ? wrong.substr(option.size()) : wrong;
      },
      "");
}

}  // namespace

void TraceArguments::add_to(CLI::App& command) {
  for (const session::OptionSpec& spec : session::option_table()) {
    if (std::find(std::begin(kAgentOnly), std::end(kAgentOnly), spec.name) != std::end(kAgentOnly)) continue;
    auto given = std::make_unique<Given>(Given{spec.name, spec.kind == session::OptionKind::kFlag, {}, nullptr});
    const std::string help(spec.help);
    if (given->is_flag) {
      given->option = command.add_flag(flag_names(spec.name), help);
    } else {
      // All occurrences are accepted here: the message about one too many is the options' own.
      given->option = command.add_option(flag_names(spec.name), given->values, help)
                          ->type_name(std::string(spec.value))
                          ->expected(1)
                          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                          ->check(no_value)
                          ->check(fits(spec));
      if (spec.plain == PlainUnit::kMilliseconds) mark_milliseconds(*given->option);
    }
    if (spec.name == "output") add_old_name(command, given->option->check(wrong_trace_name), "--file");
    given_.push_back(std::move(given));
  }
  command
      .add_option("--agent-options", agent_options_,
                  "more options, in the form of the agent's option string: KEY=VALUE,...")
      ->type_name("STR")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

Result<session::TraceOptions> TraceArguments::options(const std::string& output) const {
  session::OptionReader reader;
  std::string words;
  if (!output.empty()) JTRACE_RETURN_IF_ERROR(reader.give("output", output));
  for (const auto& given : given_) {
    if (!output.empty() && !given->values.empty() && (given->name == "output" || given->name == "spill"))
      return fail(ships_instead_of_output("--" + std::string(given->name)));
    if (given->is_flag && given->option->count() > 0) JTRACE_RETURN_IF_ERROR(reader.give_flag(given->name));
    for (const std::string& value : given->values) JTRACE_RETURN_IF_ERROR(reader.give(given->name, value));
  }
  for (const std::string& text : agent_options_) {
    JTRACE_RETURN_IF_ERROR(reader.give_string(text));
    words += (words.empty() ? "" : ",") + text;
  }
  JTRACE_ASSIGN_OR_RETURN(session::TraceOptions options, reader.finish());
  options.agent_parameters = words;
  return options;
}

}  // namespace jtrace::cli
