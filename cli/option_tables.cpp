#include "cli/option_tables.h"

#include <algorithm>

#include "base/strings.h"
#include "cli/unit_lines.h"
#include "cli/word_scopes.h"

namespace jtrace::cli {

std::string one_field(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return out;
}

bool takes_value(const CLI::Option* option) { return option != nullptr && option->get_type_size_max() > 0; }

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  std::vector<const CLI::App*> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) commands.push_back(command);
  return commands;
}

namespace {

std::string option_line(const CLI::App& command, const CLI::Option& option, const std::string& name) {
  const WordScopes* scopes = word_scopes_of(command);
  const auto* scope = scopes != nullptr ? scopes->scope_of(option) : nullptr;
  std::string line = scope != nullptr ? "word-option" : "option";
  for (const std::string& field :
       {name, option.get_name(false, true), takes_value(&option) ? option.get_type_name() : std::string(),
        one_field(option.get_description())})
    line += '\t' + field;
  if (scope != nullptr)
    for (const std::string& word : scope->words) line += (&word == &scope->words.front() ? '\t' : ',') + word;
  return line;
}

std::string lines_of(const CLI::App& command, const std::string& name) {
  std::string out;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    const std::string about = one_field(option->get_description());
    if (option->get_positional())
      out += "positional\t" + name + '\t' + option->get_name(true) + '\t' +
             (option->get_required() ? "required" : "optional") + '\t' + about + '\n';
    else out += option_line(command, *option, name) + '\n';
  }
  const std::string footer = command.get_footer();
  if (!footer.empty())
    for (std::string_view line : split(footer, '\n')) out += "footer\t" + name + '\t' + one_field(line) + '\n';
  for (const std::string& line : unit_lines(command)) out += "units\t" + name + '\t' + line + '\n';
  return out;
}

}  // namespace

std::string option_tables(const CLI::App& app) {
  std::string out = "command\t\t" + one_field(app.get_description()) + '\n' + lines_of(app, "");
  for (const CLI::App* command : commands_of(app))
    out += "command\t" + command->get_name() + '\t' + one_field(command->get_description()) + '\n' +
           lines_of(*command, command->get_name());
  return out;
}

}  // namespace jtrace::cli
