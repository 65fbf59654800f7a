// TemporaryFile: a name for a file in a folder of its own; both are removed afterwards.
#pragma once

#include <string>

#include "base/result.h"

namespace jtrace::cli {

class TemporaryFile {
 public:
  // In TMPDIR, otherwise /tmp: "jtrace-PURPOSE.XXXXXX/NAME". The file itself is not made.
  static Result<TemporaryFile> make(const std::string& purpose, const std::string& name);
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();  // removes both

  const std::string& path() const { return path_; }

 private:
  TemporaryFile(std::string folder, const std::string& name)
      : folder_(std::move(folder)), path_(folder_ + "/" + name) {}
  std::string folder_;
  std::string path_;
};

}  // namespace jtrace::cli
