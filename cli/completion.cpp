#include "cli/completion.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/strings.h"
#include "cli/units.h"
#include "cli/word_scopes.h"
#include "target/jvm_discovery.h"

namespace jtrace::cli {
namespace {

// The code for bash, zsh and fish; NAME stands for the program.
constexpr std::string_view kBash = R"(# Completion of NAME for bash: source <(NAME completion bash)
_NAME() {
  local word rest
  COMPREPLY=()
  while IFS=$'\t' read -r word rest; do
    if [ "$word" = :files ]; then
      compopt -o filenames 2>/dev/null
      mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$2")
    else
      COMPREPLY+=("$word")
    fi
  done < <("$1" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _NAME NAME
)";
constexpr std::string_view kZsh = R"(#compdef NAME
# Completion of NAME for zsh: source <(NAME completion zsh)
_NAME() {
  local line word
  local -a candidates
  for line in "${(@f)$(${words[1]} __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] || continue
    word=${line%%$'\t'*}
    if [[ $word == :files ]]; then _files
    elif [[ $line == *$'\t'* ]]; then candidates+=("${word//:/\\:}:${line#*$'\t'}")
    else candidates+=("${word//:/\\:}")
    fi
  done
  (( ${#candidates} )) && _describe NAME candidates
}
if [[ $funcstack[1] == _NAME ]]; then _NAME "$@"; else compdef _NAME NAME; fi
)";
constexpr std::string_view kFish = R"(# Completion of NAME for fish: NAME completion fish | source
function __NAME_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in ($words[1] __complete -- $words[2..-1] 2>/dev/null)
    if test "$line" = :files
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c NAME -f -a '(__NAME_complete)'
)";

std::string adaptor(std::string_view text, std::string_view program) {
  std::string out;
  constexpr std::string_view kName = "NAME";
  for (std::size_t at = 0; at < text.size();) {
    const bool found = text.substr(at, kName.size()) == kName;
    if (found) out += program;
    else out += text[at];
    at += found ? kName.size() : 1;
  }
  return out;
}

// Text of a target is printed on a terminal, and fields are separated by tabs.
std::string one_field(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return out;
}

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

bool takes_value(const CLI::Option* option) { return option != nullptr && option->get_type_size_max() > 0; }

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

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  std::vector<const CLI::App*> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) commands.push_back(command);
  return commands;
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
  return out;
}

}  // namespace

void add_completion_command(CLI::App& app, ExitStatus& status) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "print the shell code for the completion of commands and options");
  command->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer("Example: source <(" + app.get_name() + " completion bash)");
  command->callback([&app, shell, &status] {
    const std::string_view text = *shell == "bash" ? kBash : *shell == "zsh" ? kZsh : kFish;
    std::fputs(adaptor(text, app.get_name()).c_str(), stdout);
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

std::string option_tables(const CLI::App& app) {
  std::string out = "command\t\t" + one_field(app.get_description()) + '\n' + lines_of(app, "");
  for (const CLI::App* command : commands_of(app))
    out += "command\t" + command->get_name() + '\t' + one_field(command->get_description()) + '\n' +
           lines_of(*command, command->get_name());
  return out;
}

}  // namespace jtrace::cli
