#include "agent/jvmpi/profiler_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/libc_floor.h"

namespace jtrace::agent::jvmpi {
namespace {

#if defined(__x86_64__)
constexpr unsigned kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kMachine = EM_AARCH64;
#endif

// Why a file with this header cannot be loaded here; null if it can. A 32-bit library is the most likely case: JVMPI
// ended before 64-bit JVMs were common.
const char* wrong_head(const unsigned char* head, ssize_t size) {
  if (size < 20 || memcmp(head, ELFMAG, SELFMAG) != 0) return "it is not an ELF library";
  if (head[EI_CLASS] == ELFCLASS32) return "it is a 32-bit library, and this JVM is 64-bit: rebuild it";
  const unsigned machine = head[18] | static_cast<unsigned>(head[19]) << 8;  // e_machine; both are little endian
  return machine == kMachine ? nullptr : "it was built for another instruction set: rebuild it";
}

LoadFault check_file(const char* path, char* why, std::size_t size) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    snprintf(why, size, "loading the profiler %s: %s", path, strerror(errno));
    return LoadFault::kMissing;
  }
  unsigned char head[20];
  const ssize_t count = read(fd, head, sizeof head);
  close(fd);
  const char* wrong = wrong_head(head, count);
  if (wrong == nullptr) return LoadFault::kNone;
  snprintf(why, size, "loading the profiler %s: %s", path, wrong);
  return LoadFault::kOtherMachine;
}

}  // namespace

ProfilerLibrary load_profiler(const char* name, const char* jdk_folder, char* why, std::size_t size) {
  ProfilerLibrary library;
  char path[PATH_MAX];
  bool is_file = true;
  if (strchr(name, '/') != nullptr) {
    snprintf(path, sizeof path, "%s", name);
  } else {
    snprintf(path, sizeof path, "%s/lib%s.so", jdk_folder == nullptr ? "" : jdk_folder, name);
    is_file = jdk_folder != nullptr && access(path, F_OK) == 0;
    if (!is_file) snprintf(path, sizeof path, "lib%s.so", name);
  }
  library.fault = is_file ? check_file(path, why, size) : LoadFault::kNone;
  if (library.fault != LoadFault::kNone) return library;
  void* handle = dlopen(path, RTLD_LAZY);
  if (handle == nullptr) {
    snprintf(why, size, "loading the profiler failed: %s", dlerror());  // names the library
    library.fault = is_file ? LoadFault::kNotLoadable : LoadFault::kMissing;
    return library;
  }
  library.on_load = reinterpret_cast<OnLoad>(dlsym(handle, "JVM_OnLoad"));
  if (library.on_load != nullptr) return library;
  snprintf(
      why, size, "%s: it has no JVM_OnLoad, so it is not a JVMPI profiler%s", path,
      dlsym(handle, "Agent_OnLoad") != nullptr ? " but a JVM TI agent, which the JVM loads itself (-agentpath)" : "");
  library.fault = LoadFault::kNoEntry;
  return library;
}

}  // namespace jtrace::agent::jvmpi
