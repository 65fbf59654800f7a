#include "cli/shell_code.h"

namespace jtrace::cli {
namespace {

// The code for bash, zsh and fish; NAME is replaced by the program's name.
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

}  // namespace

std::string shell_code(std::string_view shell, std::string_view program) {
  return adaptor(shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish, program);
}

}  // namespace jtrace::cli
