#!/usr/bin/env bash
# The completions of a shell after "jtrace stack": completion_shells.sh bash|zsh|fish JTRACE PID, one candidate a line.
jtrace=$2
PATH=$(dirname "$jtrace"):$PATH
case $1 in
  bash)
    source <("$jtrace" completion bash)
    for word in Idl "$3"; do
      COMP_WORDS=(jtrace stack "$word") COMP_CWORD=2
      _jtrace jtrace "$word" stack
      printf '%s\n' "${COMPREPLY[@]}"
    done
    ;;
  zsh)
    # Typed at a shell with a terminal: Tab, then a key that prints the command line.
    zsh -f -s Idl "$3" <<'TEXT'
zmodload zsh/zpty
zpty shell 'zsh -f -i'
zpty -w shell 'stty -echo; PS1= PS2= TERM=dumb; unsetopt zle_bracketed_paste; autoload -U compinit; compinit -D -u'
zpty -w shell 'source <(jtrace completion zsh); show() { print -r -- "<${BUFFER}>"; BUFFER= }; zle -N show; bindkey "^X^X" show'
zpty -w shell 'print RE""ADY'
zpty -r shell line '*READY*'
for word in "$@"; do
  zpty -w -n shell "jtrace stack $word"$'\t\C-x\C-x'
  zpty -r shell line '*<*>*'
  typed=(${=${${line#*<}%%>*}})
  print -r -- $typed[-1]
done
zpty -d shell
TEXT
    ;;
  fish)
    fish --no-config -c "jtrace completion fish | source; complete -C 'jtrace stack Idl'; complete -C 'jtrace stack $3'" | cut -f1
    ;;
esac
