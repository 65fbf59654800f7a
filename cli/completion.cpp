#include "cli/completion.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/strings.h"
#include "cli/one_of.h"
#include "cli/option_tables.h"
#include "cli/shell_code.h"
#include "cli/units.h"
#include "cli/word_scopes.h"
#include "target/jvm_discovery.h"

namespace jtrace::cli {
namespace {

class Candidates {
 public:
  explicit Candidates(std::string_view prefix) : prefix_(prefix) {}
  void add(std::string_view word, std::string_view about = "") {
    if (!word.starts_with(prefix_)) return;
    text_ += one_field(word);
    if (!about.empty()) text_ += '\t' + one_field(about);
    text_ += '\n';
  }
  void add_files() { text_ += ":files\n"; }
  void add_jvms() {
    if (!prefix_.empty() && prefix_.find('/') != std::string_view::npos) return;
    for (const target::Jvm& jvm : target::discover_jvms().jvms) {
      const std::string about = jvm.main_class + (jvm.version.empty() ? "" : ", JDK " + jvm.version);
      add(std::to_string(jvm.pid), about);
      if (!prefix_.empty() && !parse_decimal<int>(prefix_)) add(jvm.main_class, std::to_string(jvm.pid));
    }
  }
  // "{text,json}" in a type's name: the possible values.
  bool add_values(std::string_view type) {
    const std::size_t open = type.find('{'), close = type.find('}');
    if (open == std::string_view::npos || close == std::string_view::npos) return false;
    for (std::string_view word : split(type.substr(open + 1, close - open - 1), ',')) add(trimmed(word));
    return true;
  }
  const std::string& text() const { return text_; }

 private:
  std::string_view prefix_;
  std::string text_;
};

bool has(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](auto word) { return text.find(word) != text.npos; });
}

// The possible values, by the type and by the word for it in the help.
void add_value(Candidates& candidates, const CLI::Option& option, const std::string& name) {
  const std::string type = option.get_type_name();
  if (candidates.add_values(type) || candidates.add_values(name)) return;
  // "exact|classic"
  if (type.find('|') != std::string::npos && !has(type, {"CORE", "FILE", "PID", "%"}))
    for (std::string_view word : split(type, '|')) candidates.add(word);
  const std::string about = name + " " + type + " " + option.get_description();
  if (option.get_positional() && has(about, {"JVM", "jvm", "PID", "pid", "process id"})) candidates.add_jvms();
  if (has(about, {"FILE", "CORE", "DIR", "LIBRARY", "LIBJVM", "IN ", "file", "folder", "page;"}))
    candidates.add_files();
}

// `words`: the command line so far; some options depend on one of its words.
void add_options(Candidates& candidates, const CLI::App& app, const std::vector<std::string>& words = {}) {
  const WordScopes* scopes = word_scopes_of(app);
  const auto is_had = [&](const CLI::Option& option) {
    if (scopes == nullptr || scopes->scope_of(option) == nullptr) return true;
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) { return scopes->has(word, option); });
  };
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (is_shown(*option) && is_had(*option)) candidates.add("--" + name, option->get_description());
}

const CLI::Option* option_named(const CLI::App& app, std::string_view word) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames())
      if (word == "--" + name) return option;
    for (const std::string& name : option->get_snames())
      if (word == "-" + name) return option;
  }
  return nullptr;
}

// The positional argument for word number `index`; the last one if it takes several words.
const CLI::Option* positional_at(const CLI::App& app, std::size_t index) {
  const CLI::Option* last = nullptr;
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional()) {
      last = option;
      if (index-- == 0) return option;
    }
  return last != nullptr && last->get_items_expected_max() > 1 ? last : nullptr;
}

void complete_command(Candidates& candidates, const CLI::App& command, const std::vector<std::string>& words) {
  std::size_t positionals = 0;
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    if (!words[i].starts_with("-") || words[i] == "-") positionals++;
    else if (takes_value(option_named(command, words[i])) && i + 2 < words.size()) i++;
  }
  const CLI::Option* before = option_named(command, words[words.size() - 2]);
  if (words.size() > 2 && takes_value(before)) return add_value(candidates, *before, "");
  if (words.back().starts_with("-")) return add_options(candidates, command, words);
  const CLI::Option* positional = positional_at(command, positionals);
  const WordScopes* scopes = word_scopes_of(command);
  if (scopes != nullptr && scopes->argument == positional)
    for (const WordScopes::Word& word : scopes->words) candidates.add(word.name, word.about);
  else if (positional != nullptr) add_value(candidates, *positional, positional->get_name(true));
}

}  // namespace

void add_completion_command(CLI::App& app, ExitStatus& status) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "print the shell code for the completion of commands and options");
  command->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(one_of({"bash", "zsh", "fish"}));
  command->footer("Example: source <(" + app.get_name() + " completion bash)");
  command->callback([&app, shell, &status] {
    std::fputs(shell_code(*shell, app.get_name()).c_str(), stdout);
    status = ExitStatus::kOk;
  });
}

std::string completions(const CLI::App& app, std::vector<std::string> words) {
  // bash splits "--format=json" into three words.
  std::erase(words, "=");
  if (words.empty()) words.emplace_back();
  Candidates candidates(words.back());
  const auto commands = commands_of(app);
  if (words.size() == 1) {
    if (words.back().starts_with("-")) add_options(candidates, app);
    else
      for (const CLI::App* command : commands) candidates.add(command->get_name(), command->get_description());
    return candidates.text();
  }
  const auto named = std::find_if(commands.begin(), commands.end(),
                                  [&](const CLI::App* command) { return command->get_name() == words.front(); });
  if (named != commands.end()) complete_command(candidates, **named, words);
  return candidates.text();
}

}  // namespace jtrace::cli
