// Unpacking of compressed cores (systemd-coredump keeps them as zstd or lz4 frames) into a file without a name.
//
// Constants: magic numbers of RFC 8878 (zstd) and of the LZ4 frame format. Errors: kMalformed, those of the system (the
// file needs room: $TMPDIR, else /var/tmp). Threads: any.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace::target {

enum class Packing { kNone, kZstd, kLz4, kGzip, kXz };
Packing packing_of(std::span<const std::byte> head);  // the first bytes of a file

// The content of `packed`, read from its start (kZstd, kLz4), in a file that is gone with its descriptor. Blocks of
// zeros take no room. A frame that is cut off is unpacked as far as it goes.
Result<UniqueFd> unpack(std::span<const std::byte> packed, Packing packing, const std::string& path);

}  // namespace jtrace::target
