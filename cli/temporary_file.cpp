#include "cli/temporary_file.h"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "cli/trace_output.h"

namespace jtrace::cli {

Result<TemporaryFile> TemporaryFile::make(const std::string& purpose, const std::string& name) {
  std::string folder = folder_of_output("-") + "/jtrace-" + purpose + ".XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return fail(system_error("cannot create a folder", folder));
  return TemporaryFile(folder, name);
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : folder_(std::exchange(other.folder_, {})), path_(std::exchange(other.path_, {})) {}

TemporaryFile::~TemporaryFile() {
  if (folder_.empty()) return;
  ::unlink(path_.c_str());
  ::rmdir(folder_.c_str());
}

}  // namespace jtrace::cli
