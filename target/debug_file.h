// Finds the separate file with the symbols of a stripped ELF file: by build id, otherwise by its .gnu_debuglink
// section.
//
// It is searched where gdb searches it (gdb manual, "Debugging Information in Separate Files"), below `root`: a
// descriptor of the root directory to which paths refer (open_in_root), -1 for this machine's own. It is accepted only
// with the same build id. Errors: kNotFound. Threads: any.
#pragma once

#include <string>
#include <vector>

#include "target/elf_image.h"

namespace jtrace::target {

// The paths in the order in which they are tried. `path`: of the stripped file, absolute.
std::vector<std::string> debug_file_paths(const std::string& path, const std::string& build_id,
                                          const std::string& debug_link);
Result<ElfImage> open_debug_file(const ElfImage& image, int root);

}  // namespace jtrace::target
