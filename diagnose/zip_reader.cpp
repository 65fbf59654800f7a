#include "diagnose/zip_reader.h"

#include <zlib.h>

#include <algorithm>
#include <span>

#include "base/bytes.h"
#include "base/strings.h"
#include "diagnose/zip_format.h"

namespace jtrace::diagnose {
namespace {

constexpr std::size_t kLongestComment = 0xffff;

auto malformed(std::string text) { return fail(ErrorCategory::kMalformed, std::move(text)); }

ByteReader reader_at(std::string_view bytes, std::size_t offset) {
  ByteReader reader(std::as_bytes(std::span(bytes)), std::endian::little);
  reader.seek(offset);
  return reader;
}

// A name that leaves the folder in which the archive is unpacked.
bool climbs(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\\') != name.npos || name.find('\0') != name.npos) return true;
  const auto parts = split(name, '/');
  return std::find(parts.begin(), parts.end(), "..") != parts.end();
}

Result<std::string> inflated(std::string_view packed, std::uint32_t size) {
  // One byte more than the archive says, so that a longer stream is noticed.
  std::string out;
  z_stream stream{};
  if (::inflateInit2(&stream, -15) != Z_OK) return malformed("cannot be unpacked");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  int status = Z_OK;
  // In steps: a small archive that claims to be large takes no more memory than its contents.
  while (status == Z_OK && out.size() <= size) {
    const std::size_t before = out.size();
    const std::size_t room = std::min<std::size_t>(std::max<std::size_t>(before, 64u << 10), size + 1 - before);
    out.resize(before + room);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = static_cast<uInt>(room);
    status = ::inflate(&stream, Z_NO_FLUSH);
    out.resize(before + room - stream.avail_out);
  }
  ::inflateEnd(&stream);
  if (status != Z_STREAM_END || out.size() != size)
    return malformed("its packed bytes do not give what it should have");
  return out;
}

}  // namespace

Result<ZipReader> ZipReader::open(std::string bytes) {
  ZipReader reader(std::move(bytes));
  JTRACE_RETURN_IF_ERROR(reader.read_directory());
  return reader;
}

Result<std::size_t> ZipReader::find_end() const {
  if (bytes_.size() < zip::kEndSize) return malformed("not a zip archive: too short");
  const std::size_t last = bytes_.size() - zip::kEndSize;
  const std::size_t first = last > kLongestComment ? last - kLongestComment : 0;
  for (std::size_t at = last + 1; at-- > first;) {
    if (reader_at(bytes_, at).read<std::uint32_t>() != zip::kEnd) continue;
    if (reader_at(bytes_, at + 20).read<std::uint16_t>() == last - at) return at;
  }
  return malformed(bytes_.starts_with("PK") ? "a zip archive that was cut off: it has no directory"
                                            : "not a zip archive: it has no directory");
}

Result<> ZipReader::read_directory() {
  JTRACE_ASSIGN_OR_RETURN(const std::size_t end, find_end());
  ByteReader reader = reader_at(bytes_, end + 4);
  const auto disk = reader.read<std::uint16_t>(), start_disk = reader.read<std::uint16_t>();
  const auto here = reader.read<std::uint16_t>(), count = reader.read<std::uint16_t>();
  const auto size = reader.read<std::uint32_t>(), start = reader.read<std::uint32_t>();
  if (disk != 0 || start_disk != 0 || here != count) return malformed("an archive of several parts");
  if (count > kMostMembers) return malformed("an archive of " + counted(count, "member") + ": a bundle has few");
  if (start > end || size > end - start) return malformed("the directory of the archive lies outside of it");
  reader = reader_at(bytes_, start);
  for (unsigned i = 0; i < count; ++i) {
    const bool is_header = reader.read<std::uint32_t>() == zip::kCentralHeader;
    reader.skip(4);  // versions
    const auto flags = reader.read<std::uint16_t>();
    Member member{.method = reader.read<std::uint16_t>()};
    reader.skip(4);  // time
    member.checksum = reader.read<std::uint32_t>();
    member.packed = reader.read<std::uint32_t>();
    member.size = reader.read<std::uint32_t>();
    const auto name_size = reader.read<std::uint16_t>(), extra = reader.read<std::uint16_t>();
    const auto comment = reader.read<std::uint16_t>();
    reader.skip(8);  // disk, attributes
    member.header = reader.read<std::uint32_t>();
    const std::string name(reader.read_text(name_size));
    reader.skip(std::size_t{extra} + comment);
    if (reader.failed() || !is_header) return malformed("the directory of the archive is damaged");
    if (climbs(name)) return malformed("a member of the archive has a name that no bundle has: " + printable(name));
    if ((flags & zip::kEncrypted) != 0) return malformed("the archive is encrypted");
    if (member.size > kMostBytes)
      return malformed(name + " would be " + std::to_string(member.size) + " bytes: refused");
    if (!members_.emplace(name, member).second) return malformed("two members of the archive are called " + name);
  }
  return {};
}

Result<std::string_view> ZipReader::packed_bytes(const Member& member) const {
  ByteReader reader = reader_at(bytes_, member.header);
  const bool is_header = reader.read<std::uint32_t>() == zip::kLocalHeader;
  reader.skip(zip::kLocalSize - 8);
  const auto name = reader.read<std::uint16_t>(), extra = reader.read<std::uint16_t>();
  reader.skip(std::size_t{name} + extra);
  const std::string_view bytes = reader.read_text(member.packed);
  if (reader.failed() || !is_header) return malformed("its place in the archive is wrong");
  return bytes;
}

Result<std::string> ZipReader::read(std::string_view name) const {
  const auto found = members_.find(name);
  if (found == members_.end()) return fail(ErrorCategory::kNotFound, "the archive has no " + std::string(name));
  const Member& member = found->second;
  const auto unpack = [&]() -> Result<std::string> {
    JTRACE_ASSIGN_OR_RETURN(const std::string_view packed, packed_bytes(member));
    if (member.method == zip::kDeflated) return inflated(packed, member.size);
    if (member.method != zip::kStored || packed.size() != member.size)
      return malformed("it is packed in a way that is not known here");
    return std::string(packed);
  };
  auto content = unpack();
  if (!content) return fail(content.error().with_context(std::string(name)));
  const auto* bytes = reinterpret_cast<const Bytef*>(content->data());
  if (::crc32_z(0, bytes, content->size()) != member.checksum)
    return malformed(std::string(name) + ": its checksum is wrong");
  return content;
}

}  // namespace jtrace::diagnose
