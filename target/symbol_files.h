// The files with the symbols of a mapped image: the separate file with its symbols, if the image is stripped and such a
// file exists, then the mapped file itself; each only if its build id is that of the image in memory.
//
// Addresses in both are those of the mapped file. Empty if the file cannot be opened or was replaced; of a core,
// Target::missing() says so then (Target::note_unnamed), unless `wanted` is false. The vdso
// (vdso(7)) is an image of the kernel without a file: it is read from the target's memory. Threads: any; the images are
// for one thread at a time.
#pragma once

#include <vector>

#include "target/elf_image.h"
#include "target/target.h"

namespace jtrace::target {

std::vector<ElfImage> open_symbol_files(const Target& target, const Mapping& mapping, bool wanted = true);

}  // namespace jtrace::target
