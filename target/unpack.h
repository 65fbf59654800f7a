// Decompresses cores (systemd-coredump keeps them as zstd or lz4 frames) into an unlinked file.
//
// Constants: magic numbers of RFC 8878 (zstd) and of the LZ4 frame format. Errors: kMalformed, those of the system (the
// file needs room in $TMPDIR, otherwise in /var/tmp). Threads: any.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace::target {

enum class Packing { kNone, kZstd, kLz4, kGzip, kXz };
Packing packing_of(std::span<const std::byte> head);  // the first bytes of a file

// The contents of `packed` (kZstd, kLz4), read from its start, in a file that is deleted with its descriptor. Blocks of
// zeros take no room. A frame that is cut off is decompressed as far as possible.
Result<UniqueFd> unpack(std::span<const std::byte> packed, Packing packing, const std::string& path);

}  // namespace jtrace::target
