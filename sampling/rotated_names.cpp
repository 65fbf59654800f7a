#include "sampling/rotated_names.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/utc_text.h"

namespace jtrace::sampling {
namespace {

constexpr char kTime[] = "%Y%m%d-%H%M%S";
constexpr std::size_t kTimeLength = 15;  // "20231114-221320"

// "app." of "app.html".
std::string stem_of(const std::string& output, const std::string& ending) {
  return output.substr(0, output.size() - ending.size()) + ".";
}

bool is_time(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (i == 8 ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
  return text.size() == kTimeLength;
}

}  // namespace

std::string rotated_name(const std::string& output, const std::string& ending, std::uint64_t time) {
  return stem_of(output, ending) + utc_text(static_cast<std::int64_t>(time), kTime) + ending;
}

// Times of this form are in the order of their texts.
std::vector<std::string> rotated_before(const std::string& output, const std::string& ending, std::uint64_t oldest) {
  const std::filesystem::path path(output);
  const std::string stem = stem_of(path.filename().string(), ending),
                    limit = utc_text(static_cast<std::int64_t>(oldest), kTime);
  std::vector<std::string> found;
  std::error_code ignored;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() != stem.size() + kTimeLength + ending.size()) continue;
    const std::string time = name.substr(stem.size(), kTimeLength);
    if (name.starts_with(stem) && name.ends_with(ending) && is_time(time) && time < limit)
      found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace jtrace::sampling
