#include "sampling/hottest.h"

#include <algorithm>
#include <utility>

#include "base/jdk_names.h"
#include "base/joined.h"
#include "coreinspect/tools/profile.h"
#include "sampling/share_text.h"

namespace jtrace::sampling {
namespace {

constexpr std::size_t kShown = 3;
constexpr double kLeast = 0.01;  // of the samples; a frame with less is not hot

}  // namespace

void Hottest::add(const coreinspect::Walk& walk) {
  ++samples_;
  const auto frame = std::find_if(walk.frames.begin(), walk.frames.end(), [](const coreinspect::Frame& each) {
    return each.kind != coreinspect::FrameKind::kEntry;
  });
  if (frame != walk.frames.end()) ++frames_[coreinspect::frame_name(*frame)];
  for (const coreinspect::Frame& each : walk.frames)
    if (each.method != nullptr)
      if (std::string name = coreinspect::frame_name(each); !is_of_the_jdk(name)) {
        ++own_[std::move(name)];
        break;
      }
}

std::vector<std::string> Hottest::words_of(const Frames& frames) const {
  std::vector<std::pair<std::string, std::uint64_t>> rows(frames.begin(), frames.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> words;
  for (const auto& [name, samples] : rows) {
    if (words.size() == kShown || static_cast<double>(samples) < kLeast * static_cast<double>(samples_)) break;
    words.push_back(name + share_text(samples, samples_));
  }
  return words;
}

std::string Hottest::text() const {
  const std::vector<std::string> words = words_of(frames_), own = words_of(own_);
  if (words.empty()) return {};
  return "hottest: " + joined(words) +
         (own.empty() || own == words ? "" : "; of the program, with what it called of the JDK: " + joined(own));
}

}  // namespace jtrace::sampling
