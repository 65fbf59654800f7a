// Reads the fields of definitions and frames: a function for each simple type of definitions.def, and the type that it
// returns. Texts are converted to UTF-8. Pure, any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/strings.h"

namespace jtrace::trace::record {

namespace fields_read {
using U8 = std::uint8_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using I32 = std::int32_t;
using Text = std::string;
using Utf8 = std::string;
}  // namespace fields_read

inline std::uint8_t read_U8(ByteReader& reader) { return reader.read<std::uint8_t>(); }
inline std::uint32_t read_U32(ByteReader& reader) { return reader.read<std::uint32_t>(); }
inline std::uint64_t read_U64(ByteReader& reader) { return reader.read<std::uint64_t>(); }
inline std::int32_t read_I32(ByteReader& reader) { return reader.read<std::int32_t>(); }
inline std::string read_Utf8(ByteReader& reader) { return std::string(reader.read_text(read_U32(reader))); }
inline std::string read_Text(ByteReader& reader) { return utf8_from_modified(reader.read_text(read_U32(reader))); }

}  // namespace jtrace::trace::record
