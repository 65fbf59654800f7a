// TemporaryFile: a name for a file in a folder of its own; both are removed afterwards. What a process left that was
// killed is removed by the next one that makes a file for the same purpose.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace {

// TMPDIR, otherwise /tmp.
std::string temporary_folder();

class TemporaryFile {
 public:
  // In temporary_folder(): "jtrace-PURPOSE.XXXXXX/NAME". The file itself is not made.
  static Result<TemporaryFile> make(const std::string& purpose, const std::string& name);
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();  // removes both

  const std::string& path() const { return path_; }

 private:
  TemporaryFile(std::string folder, const std::string& name, UniqueFd in_use)
      : folder_(std::move(folder)), path_(folder_ + "/" + name), in_use_(std::move(in_use)) {}
  std::string folder_;
  std::string path_;
  UniqueFd in_use_;  // of the folder
};

}  // namespace jtrace
