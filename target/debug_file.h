// The separate file with the symbols of a stripped ELF file: by build id, else by its .gnu_debuglink section.
//
// Looked up where gdb looks (gdb manual, "Debugging Information in Separate Files"), below `root`: a descriptor of the
// root directory in which paths hold (open_in_root), -1 for this machine's own. Taken only where its build id is the
// same. Errors: kNotFound. Threads: any.
#pragma once

#include <string>
#include <vector>

#include "target/elf_image.h"

namespace jtrace::target {

// In the order they are tried. `path`: of the stripped file, absolute.
std::vector<std::string> debug_file_paths(const std::string& path, const std::string& build_id,
                                          const std::string& debug_link);
Result<ElfImage> open_debug_file(const ElfImage& image, int root);

}  // namespace jtrace::target
