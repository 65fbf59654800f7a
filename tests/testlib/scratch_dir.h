// ScratchDir: a directory of a test's own, removed with its contents when the object is destroyed.
#pragma once

#include <string>
#include <string_view>

namespace jtrace::test {

class ScratchDir {
 public:
  // Made in $TMPDIR, otherwise in /tmp; its name starts with `name`. Ends the program if that fails.
  explicit ScratchDir(std::string_view name = "jtrace-test");
  ~ScratchDir();
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

}  // namespace jtrace::test
