#include "target/smaps.h"

#include "base/strings.h"

namespace jtrace::target {
namespace {

// "Rss:              1234 kB" in bytes; 0 if the text is not such a figure.
std::uint64_t bytes_of(std::string_view text) {
  text = trimmed(text);
  if (!text.ends_with(" kB")) return 0;
  text.remove_suffix(3);
  const auto kib = parse_decimal<std::uint64_t>(trimmed(text));
  return kib && *kib < 1ull << 53 ? *kib << 10 : 0;
}

void take_figure(std::string_view line, MappedPages& pages) {
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return;
  const std::string_view key = line.substr(0, colon), value = line.substr(colon + 1);
  if (key == "Rss") pages.rss = bytes_of(value);
  else if (key == "Pss") pages.pss = bytes_of(value);
  else if (key == "Swap") pages.swap = bytes_of(value);
  else if (key == "Anonymous") pages.anonymous = bytes_of(value);
}

}  // namespace

std::vector<MappedPages> parse_smaps(std::string_view text) {
  std::vector<MappedPages> all;
  for (const std::string_view line : split(text, '\n')) {
    // A line of figures begins with a capital letter, a mapping with a hexadecimal number.
    if (!line.empty() && line.front() >= 'A' && line.front() <= 'Z') {
      if (!all.empty()) take_figure(line, all.back());
      continue;
    }
    for (Mapping& mapping : parse_memory_map(line)) all.push_back({.mapping = std::move(mapping)});
  }
  return all;
}

}  // namespace jtrace::target
