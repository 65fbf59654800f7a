#!/usr/bin/env bash
# Asserts what lets the agent load into any JVM: check_agent_exports.sh LIBRARY
#   it needs libc.so.6 alone, no symbol version above GLIBC_2.17, exports its three entry points and nothing else, runs no
#   constructor of ours, asks for no executable stack, cannot be unloaded by dlclose, loads under musl where musl is, and
#   docs/install.md says the version.
# check_agent_exports.sh --self-test builds a library that breaks the rules and sees each one found (needs g++).
set -euo pipefail
export LC_ALL=C

floor=2.17
entries="Agent_OnAttach Agent_OnLoad Agent_OnUnload"
status=0
fault() { echo "$library: $1"; status=1; }

check_needed() {
  local needed
  needed=$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' | sort | tr '\n' ' ')
  [ "$needed" = "libc.so.6 " ] || fault "NEEDED is '$needed', not libc.so.6 alone"
}

check_exports() {
  local name
  for name in $(nm -D --defined-only "$library" | awk '{print $NF}' | sed 's/@.*//' | sort -u); do
    case " $entries " in *" $name "*) ;; *) fault "exports $name" ;; esac
  done
  for name in Agent_OnLoad Agent_OnAttach; do
    nm -D --defined-only "$library" | grep -q " T $name\$" || fault "does not export $name"
  done
}

check_floor() {
  local version
  for version in $(nm -D --undefined-only "$library" | sed -n 's/.*@GLIBC_//p' | sort -u); do
    [ "$(printf '%s\n%s\n' "$version" "$floor" | sort -V | tail -n 1)" = "$floor" ] ||
      fault "asks for GLIBC_$version: $(nm -D --undefined-only "$library" | grep "@GLIBC_$version\$" | awk '{print $2}' | tr '\n' ' ')"
  done
}

# The toolchain's own frame_dummy is one entry of eight bytes; a constructor of ours would be a second one.
check_constructors() {
  local size
  size=$(readelf -SW "$library" | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".init_array" {print $5}')
  [ $((16#${size:-0})) -le 8 ] || fault ".init_array has $((16#$size / 8)) entries: a global constructor"
  ! readelf -SW "$library" | grep -q ' \.ctors ' || fault "has .ctors"
}

check_stack() {
  local line
  line=$(readelf -lW "$library" | grep GNU_STACK || true)
  [ -n "$line" ] || fault "has no GNU_STACK header: the loader takes that for an executable stack"
  case "$line" in *RWE*) fault "asks for an executable stack" ;; esac
}

check_pinned() {
  readelf -dW "$library" | grep -q 'NODELETE' || fault "is not linked with -z nodelete: the JVM could unmap it"
}

machine_of() { readelf -hW "$1" | sed -n 's/^ *Machine: *//p'; }

check_musl() {
  if [ "$(machine_of "$library")" != "$(machine_of "$(command -v bash)")" ]; then
    echo "it is for $(machine_of "$library"): loading under musl was not tried on this machine"
    return
  fi
  if ! command -v musl-gcc >/dev/null; then echo "musl is not here: loading under it was not tried"; return; fi
  local folder
  folder=$(mktemp -d)
  cat >"$folder/load.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : 0;
  if (library == 0 || dlsym(library, "Agent_OnAttach") == 0) {
    printf("%s\n", dlerror());
    return 1;
  }
  return 0;
}
C
  musl-gcc -o "$folder/load" "$folder/load.c"
  local said
  said=$("$folder/load" "$(realpath "$library")") || fault "does not load under musl: $said"
  rm -rf "$folder"
}

# docs/install.md says from which glibc on.
check_document() {
  grep -q "glibc $floor or later" "$(dirname "$0")/../docs/install.md" || fault "docs/install.md does not say 'glibc $floor or later'"
}

check_all() {
  library=$1
  check_needed
  check_exports
  check_floor
  check_constructors
  check_stack
  check_pinned
  check_musl
  check_document
}

self_test() {
  local folder output word missed=0
  folder=$(mktemp -d)
  cat >"$folder/bad.cpp" <<'CPP'
#include <pthread.h>
#include <string>
std::string constructed(getenv("PATH"));
extern "C" int Agent_OnAttach(void*, char*, void*) { pthread_t t; return pthread_create(&t, 0, 0, 0); }
extern "C" int leaked() { return 1; }
CPP
  g++ -shared -fPIC -O1 -Wl,-z,execstack -o "$folder/bad.so" "$folder/bad.cpp" 2>/dev/null
  output=$(check_all "$folder/bad.so" || true)
  for word in "NEEDED is" "exports leaked" "does not export Agent_OnLoad" "asks for GLIBC_" "global constructor" \
    "executable stack" "nodelete"; do
    case "$output" in *"$word"*) ;; *) echo "self-test: '$word' was not found in: $output"; missed=1 ;; esac
  done
  rm -rf "$folder"
  return $missed
}

case "${1:-}" in
  --self-test) self_test ;;
  ""|-*) sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  *) check_all "$1"; [ $status -ne 0 ] || echo "$1: loads anywhere"; exit $status ;;
esac
