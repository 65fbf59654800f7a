#include "sampling/rotated_names.h"

#include <time.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/clock.h"

namespace jtrace::sampling {
namespace {

constexpr std::size_t kTimeLength = 15;  // "20231114-221320"

std::string time_text(std::uint64_t time) {
  const auto seconds = static_cast<time_t>(time / kNanosPerSecond);
  tm parts{};
  char text[32] = "";
  if (::gmtime_r(&seconds, &parts)) ::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
  return text;
}

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
  return stem_of(output, ending) + time_text(time) + ending;
}

// Times of this form are in the order of their texts.
std::vector<std::string> rotated_before(const std::string& output, const std::string& ending, std::uint64_t oldest) {
  const std::filesystem::path path(output);
  const std::string stem = stem_of(path.filename().string(), ending), limit = time_text(oldest);
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
