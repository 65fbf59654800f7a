#include "tests/testlib/support_matrix.h"

#include <fcntl.h>

#include <cstdlib>
#include <string>

#include "base/file.h"

namespace jtrace::test {

void record_support(const Jdk& jdk, std::string_view collector, std::string_view mode, std::string_view feature,
                    std::string_view gap) {
  const char* path = std::getenv("JTRACE_SUPPORT_MATRIX");
  if (path == nullptr) return;
  auto fd = open_file(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
  if (!fd) return;
  std::string row = std::to_string(jdk.version) + (jdk.root ? " (chroot)" : "");
  for (const std::string_view cell : {collector, mode, feature, gap}) row.append("\t").append(cell);
  // One write, so that rows of tests that run at the same time stay complete.
  [[maybe_unused]] const auto written = write_whole(fd->get(), row + "\n", path);
}

}  // namespace jtrace::test
