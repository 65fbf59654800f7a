#include "trace/io/profile_file.h"

#include "base/size_text.h"
#include "trace/io/byte_source.h"

namespace jtrace::trace::io {
Result<std::string> first_bytes(const std::string& path) {
  JTRACE_ASSIGN_OR_RETURN(const auto source, open_byte_source(path));
  std::string text(4096, '\0');
  JTRACE_ASSIGN_OR_RETURN(const std::size_t size, read_fully(*source, text.data(), text.size()));
  text.resize(size);
  return text;
}

Result<std::string> read_unpacked(const std::string& path) {
  JTRACE_ASSIGN_OR_RETURN(const auto source, open_byte_source(path));
  std::string text;
  constexpr std::size_t kPiece = 1u << 20;
  for (;;) {
    const std::size_t at = text.size();
    if (at > kMostProfile) return fail(ErrorCategory::kMalformed, path + " is longer than " + size_text(kMostProfile));
    text.resize(at + kPiece);
    JTRACE_ASSIGN_OR_RETURN(const std::size_t size, read_fully(*source, text.data() + at, kPiece));
    text.resize(at + size);
    if (size < kPiece) return text;
  }
}

Result<std::optional<StackProfile>> read_profile(const std::string& path) {
  JTRACE_ASSIGN_OR_RETURN(const std::string first, first_bytes(path));
  const ProfileFormat format = profile_format(first);
  if (format == ProfileFormat::kNone) return std::optional<StackProfile>();
  JTRACE_ASSIGN_OR_RETURN(const std::string text, read_unpacked(path));
  auto profile = format == ProfileFormat::kCollapsed ? read_collapsed(text) : read_speedscope(text);
  if (!profile) return fail(profile.error().with_context("profile " + path));
  return std::optional<StackProfile>(std::move(*profile));
}

}  // namespace jtrace::trace::io
