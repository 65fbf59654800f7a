#include "target/memory_map.h"

#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>

namespace jtrace::target {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

// Removes a number in base `base`, and `after`, from the front of `text`; if it returns false, `text` is undefined.
template <class T>
bool take_number(std::string_view& text, T& value, int base, char after) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.empty()) return after == '\0';
  if (text.front() != after) return false;
  text.remove_prefix(1);
  return true;
}

bool parse_line(std::string_view line, Mapping& mapping) {
  unsigned major_number = 0;
  unsigned minor_number = 0;
  if (!take_number(line, mapping.start, 16, '-') || !take_number(line, mapping.end, 16, ' ')) return false;
  if (mapping.end < mapping.start || line.size() < 5) return false;
  mapping.readable = line[0] == 'r';
  mapping.writable = line[1] == 'w';
  mapping.executable = line[2] == 'x';
  mapping.shared = line[3] == 's';
  line.remove_prefix(5);
  if (!take_number(line, mapping.offset, 16, ' ') || !take_number(line, major_number, 16, ':') ||
      !take_number(line, minor_number, 16, ' '))
    return false;
  mapping.device = makedev(major_number, minor_number);
  std::uint64_t inode = 0;
  if (!take_number(line, inode, 10, line.find(' ') == line.npos ? '\0' : ' ')) return false;
  mapping.inode = inode;
  const std::size_t path_at = line.find_first_not_of(' ');
  if (path_at == line.npos) return true;
  mapping.path = line.substr(path_at);
  if (mapping.path.ends_with(kDeleted)) {
    mapping.path.resize(mapping.path.size() - kDeleted.size());
    mapping.deleted = true;
  }
  return true;
}

}  // namespace

std::string_view Mapping::file_name() const {
  const std::string_view whole = path;
  const std::size_t slash = whole.rfind('/');
  return slash == whole.npos ? std::string_view() : whole.substr(slash + 1);
}

std::vector<Mapping> parse_memory_map(std::string_view text) {
  std::vector<Mapping> mappings;
  mappings.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Mapping mapping;
    if (parse_line(text.substr(0, end), mapping)) mappings.push_back(std::move(mapping));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return mappings;
}

const Mapping* find_mapping(const std::vector<Mapping>& mappings, Address address) {
  const auto after = std::upper_bound(mappings.begin(), mappings.end(), address,
                                      [](Address value, const Mapping& m) { return value < m.end; });
  return after != mappings.end() && after->contains(address) ? &*after : nullptr;
}

}  // namespace jtrace::target
