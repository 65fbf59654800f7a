#include "cli/units.h"

#include <limits>

#include "base/strings.h"
#include "cli/unit_lines.h"

namespace jtrace::cli {
namespace {

std::string what_is_wrong(const std::string& word, const TimeRange& range) {
  const auto time = parse_duration(word, range.plain);
  if (!time) return "'" + word + "' is not a time: 500ms, 2s, 5m or 1h";
  const auto least = static_cast<std::uint64_t>(range.least.count());
  const auto most = static_cast<std::uint64_t>(range.most.count());
  if (*time >= least && *time <= most) return "";
  return "'" + word + "' is not a time from " + duration_text(least) + " to " + duration_text(most);
}

}  // namespace

CLI::Validator is_time(TimeRange range) {
  return CLI::Validator([range](const std::string& word) { return what_is_wrong(word, range); }, "");
}

CLI::Validator is_size() {
  return CLI::Validator(
      [](const std::string& word) {
        return parse_size(word) ? std::string() : "'" + word + "' is not a size in bytes: 4096, 512K, 64M or 1.5G";
      },
      "");
}

CLI::Option* add_time(CLI::App& command, const std::string& names, std::function<void(std::chrono::nanoseconds)> take,
                      const std::string& help, TimeRange range) {
  CLI::Option* option = command.add_option_function<std::string>(
      names,
      [take = std::move(take), range](const std::string& word) {
        take(std::chrono::nanoseconds(parse_duration(word, range.plain).value_or(0)));
      },
      help);
  if (range.plain == PlainUnit::kMilliseconds) mark_milliseconds(*option);
  return option->type_name("TIME")->check(is_time(range));
}

CLI::Option* add_size(CLI::App& command, const std::string& names, std::uint64_t& value, const std::string& help) {
  return command
      .add_option_function<std::string>(
          names, [&value](const std::string& word) { value = parse_size(word).value_or(0); }, help)
      ->type_name("SIZE")
      ->check(is_size());
}

std::string is_count(const std::string& word) {
  return word.starts_with('-') ? "'" + word + "' is not a number of rows" : std::string();
}

CLI::Option* add_rows(CLI::App& command, std::size_t& rows, const std::string& help) {
  const auto take = [&rows](const std::size_t& given) {
    rows = given == 0 ? std::numeric_limits<std::size_t>::max() : given;
  };
  return command.add_option_function<std::size_t>("--rows", take, help + "; 0: all")->check(is_count);
}

void add_old_name(CLI::App& command, CLI::Option* option, const std::string& name) {
  // At once, so that the option's own callback, which comes after all words are read, has the value.
  command.add_option_function<std::string>(name, [option](const std::string& word) { option->add_result(word); })
      ->group("")
      ->trigger_on_parse();
}

}  // namespace jtrace::cli
