// jtrace_schema DIRECTORY: writes trace.dtd, jtrace.dtd and trace.xsd into it. Run by the build.
#include <fcntl.h>

#include <cstdio>
#include <string>
#include <utility>

#include "base/file.h"
#include "trace/schema_text.h"

namespace {

using namespace jtrace;

Result<> write_file(const std::string& path, const std::string& text) {
  JTRACE_ASSIGN_OR_RETURN(UniqueFd fd, open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0644));
  return write_whole(fd.get(), text, path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: jtrace_schema DIRECTORY\n");
    return static_cast<int>(ExitStatus::kUsage);
  }
  const std::string directory = argv[1];
  for (const auto& [name, text] :
       {std::pair("/trace.dtd", trace::original_dtd()), std::pair("/jtrace.dtd", trace::mended_dtd()),
        std::pair("/trace.xsd", trace::xml_schema())}) {
    if (Result<> written = write_file(directory + name, text); !written) {
      std::fprintf(stderr, "jtrace_schema: %s\n", written.error().message().c_str());
      return static_cast<int>(exit_status(written.error()));
    }
  }
  return 0;
}
