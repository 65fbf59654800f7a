#include "agent/startup.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

extern char** environ;

namespace jtrace::agent {
namespace {

constexpr int kChildSocket = 3;  // descriptor of the socket in the child
constexpr std::size_t kPathSize = 4096;

// The path of this library, from the mapping that holds this function (/proc/self/maps); its directory goes into `out`.
bool library_directory(char* out, std::size_t size) {
  FILE* maps = fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  const auto here = reinterpret_cast<std::uintptr_t>(&library_directory);
  char line[kPathSize + 128];
  bool found = false;
  while (!found && fgets(line, sizeof line, maps) != nullptr) {
    unsigned long start = 0;
    unsigned long end = 0;
    int path_at = 0;
    if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &start, &end, &path_at) < 2 || here < start || here >= end) continue;
    char* slash = strrchr(line + path_at, '/');
    if (slash == nullptr) break;
    *slash = 0;
    found = static_cast<std::size_t>(snprintf(out, size, "%s", line + path_at)) < size;
  }
  fclose(maps);
  return found;
}

// The jtrace to start; false: "jtrace" by PATH.
bool find_jtrace(std::string_view options, char* out, std::size_t size) {
  if (option_value(options, "jtrace", out, size)) return true;
  char directory[kPathSize];
  if (!library_directory(directory, sizeof directory)) return false;
  for (const char* place : {"../bin/jtrace", "../../bin/jtrace"}) {
    const int length = snprintf(out, size, "%s/%s", directory, place);
    if (length > 0 && static_cast<std::size_t>(length) < size && access(out, X_OK) == 0) return true;
  }
  return false;
}

}  // namespace

bool option_value(std::string_view options, std::string_view key, char* value, std::size_t size) {
  std::size_t i = 0;
  while (i < options.size()) {
    const std::size_t start = i;
    while (i < options.size() && options[i] != '=' && options[i] != ',') ++i;
    const bool wanted = options.substr(start, i - start) == key;
    if (i < options.size() && options[i] == '=') ++i;
    std::size_t length = 0;
    for (; i < options.size() && options[i] != ','; ++i) {
      if (options[i] == '\\' && i + 1 < options.size()) ++i;
      if (wanted && length + 1 < size) value[length++] = options[i];
    }
    ++i;
    if (!wanted) continue;
    if (size != 0) value[length] = 0;
    return true;
  }
  return false;
}

UniqueFd start_child(std::string_view options, int& child, Reason& error) {
  char path[kPathSize];
  const bool known = find_jtrace(options, path, sizeof path);
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    snprintf(error.text, sizeof error.text, "cannot make a socket: %s", strerror(errno));
    return UniqueFd();
  }
  UniqueFd ours(pair[0]);
  UniqueFd theirs(pair[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // dup2 onto itself would keep close-on-exec (before glibc 2.29): go through another number.
  if (theirs.get() == kChildSocket) theirs.reset(fcntl(theirs.release(), F_DUPFD_CLOEXEC, kChildSocket + 1));
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), kChildSocket);
  char name[] = "jtrace";
  char command[] = "agent-child";
  char* const arguments[] = {name, command, nullptr};
  const int failed = known ? posix_spawn(&child, path, &actions, nullptr, arguments, environ)
                           : posix_spawnp(&child, name, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    snprintf(error.text, sizeof error.text, "cannot start %s: %s; the option jtrace=PATH says where jtrace is",
             known ? path : name, strerror(failed));
    return UniqueFd();
  }
  return ours;
}

void reap_child(int child) {
  constexpr int kLimitMs = 5000;
  for (int waited = 0; waited < kLimitMs && waitpid(child, nullptr, WNOHANG) == 0; ++waited) usleep(1000);
}

}  // namespace jtrace::agent
