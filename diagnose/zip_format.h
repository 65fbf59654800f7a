// Constants of zip archives (PKWARE's APPNOTE 6.3, 4.3 to 4.5) that reader and writer share.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jtrace::diagnose::zip {

inline constexpr std::uint32_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50, kEnd = 0x06054b50;
inline constexpr std::size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22;  // without names and comments
inline constexpr std::uint16_t kStored = 0, kDeflated = 8;                       // methods
inline constexpr std::uint16_t kEncrypted = 1, kUtf8 = 1u << 11;                 // flags
inline constexpr std::uint16_t kNeeded = 20;                                     // version 2.0: folders and deflate

}  // namespace jtrace::diagnose::zip
