#include "tests/testlib/java_programs.h"

#include <cstdlib>
#include <filesystem>

namespace jtrace::test {

namespace fs = std::filesystem;

std::vector<std::string> visualvm_jars() {
  const char* other = std::getenv("JTRACE_VISUALVM_TREE");
  std::vector<std::string> jars;
  for (const std::string tree : {"", other ? other : "/var/cache/jtrace/visualvm"}) {
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(tree + "/usr/share/visualvm/visualvm", error))
      if (entry.path().extension() == ".jar") jars.push_back(entry.path().string());
    if (!jars.empty()) break;
  }
  return jars;
}

std::string eclipse_compiler_jar() {
  const char* path = "/usr/share/java/eclipse-jdt-core.jar";
  return fs::exists(path) ? path : "";
}

}  // namespace jtrace::test
