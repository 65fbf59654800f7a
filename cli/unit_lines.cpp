#include "cli/unit_lines.h"

#include <algorithm>
#include <string_view>

#include "base/joined.h"

namespace jtrace::cli {
namespace {

std::vector<const CLI::Option*>& in_milliseconds() {
  static std::vector<const CLI::Option*> options;
  return options;
}

bool is_in_milliseconds(const CLI::Option* option) {
  const auto& marked = in_milliseconds();
  return std::find(marked.begin(), marked.end(), option) != marked.end();
}

// "SIZE|N%" is a SIZE too.
std::vector<const CLI::Option*> options_of(const CLI::App& command, std::string_view type) {
  std::vector<const CLI::Option*> found;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_type_name();
    if (!option->get_group().empty() && name.substr(0, name.find_first_of("|:")) == type) found.push_back(option);
  }
  return found;
}

std::string shown_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames().front();
}

std::string time_line(const std::vector<const CLI::Option*>& times) {
  std::vector<std::string> exceptions;
  for (const CLI::Option* option : times)
    if (is_in_milliseconds(option)) exceptions.push_back(shown_name(*option));
  const std::string line = "TIME: 200ms, 30s, 5m, 1h; a number alone is ";
  if (exceptions.size() == times.size()) return line + "milliseconds";
  return line + "seconds" + (exceptions.empty() ? "" : " (milliseconds for " + joined(exceptions) + ")");
}

class HelpForm : public CLI::Formatter {
 public:
  std::string make_footer(const CLI::App* app) const override {
    std::string text = CLI::Formatter::make_footer(app);
    for (const std::string& line : unit_lines(*app)) text += line + '\n';
    return text;
  }
};

}  // namespace

void mark_milliseconds(const CLI::Option& option) { in_milliseconds().push_back(&option); }

std::vector<std::string> unit_lines(const CLI::App& command) {
  std::vector<std::string> lines;
  if (const auto times = options_of(command, "TIME"); !times.empty()) lines.push_back(time_line(times));
  if (!options_of(command, "SIZE").empty()) lines.push_back("SIZE: 64K, 8M, 1.5G; a number alone is bytes");
  return lines;
}

std::shared_ptr<CLI::FormatterBase> help_form() { return std::make_shared<HelpForm>(); }

}  // namespace jtrace::cli
