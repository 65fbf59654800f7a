#include "cli/version.h"

#include <gnu/libc-version.h>

#include "cli/version_stamp.h"
#include "target/native_registers.h"

#ifdef __clang__
#define JTRACE_COMPILER ""  // __VERSION__ has it
#else
#define JTRACE_COMPILER "GCC "
#endif

namespace jtrace::cli {

std::string version_text(std::string_view program) {
  std::string text(program);
  text += " " JTRACE_VERSION "\ncommit: " JTRACE_COMMIT "\nbuilt for: Linux ";
  text.append(target::kNativeTraits.name)
      .append(", " JTRACE_LINKAGE ", by " JTRACE_COMPILER __VERSION__ "\nlibraries: glibc ");
  text.append(gnu_get_libc_version()).append(JTRACE_LINKED);
  return text + "\nlicence: Apache-2.0; those of the libraries are in THIRD_PARTY (share/doc/jtrace)";
}

}  // namespace jtrace::cli
