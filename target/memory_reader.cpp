#include "target/memory_reader.h"

#include <algorithm>
#include <array>

namespace jtrace::target {

Result<> MemoryReader::read_exactly(Address address, std::span<std::byte> out) const {
  while (!out.empty()) {
    JTRACE_ASSIGN_OR_RETURN(const std::size_t count, read_some(address, out));
    out = out.subspan(count);
    address += count;
  }
  return {};
}

std::size_t MemoryReader::read_available(Address address, std::span<std::byte> out) const {
  std::size_t size = 0;
  while (size < out.size()) {  // each read may end with a page
    const auto more = read_some(address + size, out.subspan(size));
    if (!more || *more == 0) break;
    size += *more;
  }
  return size;
}

Result<std::string> MemoryReader::read_cstring(Address address, std::size_t limit) const {
  std::string text;
  std::array<std::byte, 128> chunk{};
  while (text.size() < limit) {
    // Does not read across the end of a page: the string may end just before unreadable memory.
    const std::size_t to_page_end = 4096 - (address + text.size()) % 4096;
    const std::size_t size = std::min({chunk.size(), to_page_end, limit - text.size()});
    JTRACE_ASSIGN_OR_RETURN(const std::size_t count, read_text(address + text.size(), std::span(chunk).first(size)));
    const auto* begin = reinterpret_cast<const char*>(chunk.data());
    const auto* end = static_cast<const char*>(std::memchr(begin, 0, count));
    text.append(begin, end ? static_cast<std::size_t>(end - begin) : count);
    if (end) return text;
  }
  Error error{.category = ErrorCategory::kMalformed, .text = "text is longer than " + std::to_string(limit) + " bytes"};
  error.address = address;
  return fail(std::move(error));
}

}  // namespace jtrace::target
