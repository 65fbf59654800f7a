#include "tests/testlib/scratch_dir.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace jtrace::test {

ScratchDir::ScratchDir(std::string_view name) {
  const char* base = std::getenv("TMPDIR");
  path_ = std::string(base == nullptr ? "/tmp" : base) + "/" + std::string(name) + ".XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr) {
    std::perror(("making " + path_).c_str());
    std::abort();
  }
}

ScratchDir::~ScratchDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace jtrace::test
