#!/usr/bin/env bash
# What a shell itself completes after "jtrace stack": completion_shells.sh bash|fish JTRACE PID, one candidate a line.
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
  fish)
    fish --no-config -c "jtrace completion fish | source; complete -C 'jtrace stack Idl'; complete -C 'jtrace stack $3'" | cut -f1
    ;;
esac
