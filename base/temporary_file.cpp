#include "base/temporary_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/file.h"
#include "base/leftovers.h"

namespace jtrace {

std::string temporary_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

Result<TemporaryFile> TemporaryFile::make(const std::string& purpose, const std::string& name) {
  const std::string parent = temporary_folder(), prefix = "jtrace-" + purpose + ".";
  std::string folder = parent + "/" + prefix + "XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return fail(system_error("cannot create a folder", folder));
  JTRACE_ASSIGN_OR_RETURN(UniqueFd in_use, open_file(folder, O_RDONLY | O_DIRECTORY));
  mark_in_use(in_use.get());
  if (const auto all = open_file(parent, O_RDONLY | O_DIRECTORY)) remove_leftovers(all->get(), prefix);
  return TemporaryFile(folder, name, std::move(in_use));
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : folder_(std::exchange(other.folder_, {})),
      path_(std::exchange(other.path_, {})),
      in_use_(std::move(other.in_use_)) {}

TemporaryFile::~TemporaryFile() {
  if (folder_.empty()) return;
  ::unlink(path_.c_str());
  ::rmdir(folder_.c_str());
}

}  // namespace jtrace
