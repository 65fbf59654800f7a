#include "trace/io/stack_profile.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/strings.h"

namespace jtrace::trace::io {
namespace {

// The weight after the last blank; a negative number where there is none.
double weight_of(std::string_view line, std::size_t blank) {
  if (blank == std::string_view::npos || blank == 0) return -1;
  const std::string_view word = line.substr(blank + 1);
  double weight = -1;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), weight);
  return error == std::errc() && end == word.data() + word.size() ? weight : -1;
}

// speedscope's units, in ours: how many ns, bytes or samples one is.
double scale_of(std::string_view unit) {
  constexpr std::pair<std::string_view, double> kScales[] = {
      {"microseconds", 1e3}, {"milliseconds", 1e6}, {"seconds", 1e9}};
  for (const auto& [name, scale] : kScales)
    if (name == unit) return scale;
  return 1;
}
std::string unit_of(std::string_view unit) {
  if (unit.ends_with("seconds")) return "ns";
  return unit == "bytes" ? "bytes" : "samples";
}

// ';' separates the frames of a stack.
std::string frame_name(const JsonValue& name) {
  std::string text = name.text();
  std::replace(text.begin(), text.end(), ';', ',');
  return text;
}

class Speedscope {
 public:
  explicit Speedscope(StackProfile& made) : made_(made) {}

  Result<> take(const JsonValue& file) {
    for (const JsonValue& frame : file["shared"]["frames"].items()) names_.push_back(frame_name(frame["name"]));
    const bool has_threads = file["profiles"].items().size() > 1;
    for (const JsonValue& profile : file["profiles"].items()) {
      thread_ = has_threads ? frame_name(profile["name"]) : "";
      const std::string unit = unit_of(profile["unit"].text());
      if (!made_.unit.empty() && made_.unit != unit)
        return fail(ErrorCategory::kMalformed, "its profiles have several units: " + made_.unit + " and " + unit);
      made_.unit = unit;
      scale_ = scale_of(profile["unit"].text());
      if (profile["type"].text() == "evented") JTRACE_RETURN_IF_ERROR(take_events(profile));
      else JTRACE_RETURN_IF_ERROR(take_samples(profile));
    }
    return {};
  }

 private:
  Result<> add(const std::vector<std::size_t>& stack, double weight) {
    if (stack.empty()) return {};
    std::string key = thread_;
    for (const std::size_t frame : stack) {
      if (frame >= names_.size()) return fail(ErrorCategory::kMalformed, "it has no frame " + std::to_string(frame));
      key += (key.empty() ? "" : ";") + names_[frame];
    }
    if (weight > 0) made_.stacks[key] += weight * scale_;
    return {};
  }
  Result<> take_samples(const JsonValue& profile) {
    const auto& samples = profile["samples"].items();
    const auto& weights = profile["weights"].items();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      std::vector<std::size_t> stack;
      for (const JsonValue& frame : samples[i].items()) stack.push_back(static_cast<std::size_t>(frame.number()));
      JTRACE_RETURN_IF_ERROR(add(stack, i < weights.size() ? weights[i].number() : 1));
    }
    return {};
  }
  Result<> take_events(const JsonValue& profile) {
    std::vector<std::size_t> stack;
    double last = profile["startValue"].number();
    for (const JsonValue& event : profile["events"].items()) {
      const double at = event["at"].number();
      JTRACE_RETURN_IF_ERROR(add(stack, at - last));
      last = at;
      if (event["type"].text() == "O") stack.push_back(static_cast<std::size_t>(event["frame"].number()));
      else if (!stack.empty()) stack.pop_back();
    }
    return {};
  }

  StackProfile& made_;
  std::vector<std::string> names_;
  std::string thread_;  // the outermost frame
  double scale_ = 1;
};

}  // namespace

double StackProfile::total() const {
  return std::accumulate(stacks.begin(), stacks.end(), 0.0,
                         [](double sum, const auto& each) { return sum + each.second; });
}

ProfileFormat profile_format(std::string_view first) {
  const std::size_t start = first.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return ProfileFormat::kNone;
  if (first[start] == '{')
    return first.find("speedscope.app/file-format") != std::string_view::npos ? ProfileFormat::kSpeedscope
                                                                              : ProfileFormat::kNone;
  const std::string_view line = first.substr(0, first.find('\n'));
  return first[start] != '<' && weight_of(line, line.rfind(' ')) >= 0 ? ProfileFormat::kCollapsed
                                                                      : ProfileFormat::kNone;
}

Result<StackProfile> read_collapsed(std::string_view text) {
  StackProfile made{.unit = "samples", .stacks = {}};
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::size_t blank = line.rfind(' ');
    const double weight = weight_of(line, blank);
    if (weight < 0)
      return fail(ErrorCategory::kMalformed, "line " + std::to_string(number) + " is not 'FRAME;FRAME;... WEIGHT'");
    made.stacks[std::string(line.substr(0, blank))] += weight;
  }
  return made;
}

Result<StackProfile> read_speedscope(std::string_view text) {
  JTRACE_ASSIGN_OR_RETURN(const JsonValue file, JsonValue::parse(text));
  if (!file.has("profiles") || !file["shared"].has("frames"))
    return fail(ErrorCategory::kMalformed, "it has no profiles, or no frames");
  StackProfile made;
  JTRACE_RETURN_IF_ERROR(Speedscope(made).take(file));
  return made;
}

std::string collapsed_of(const StackProfile& profile) {
  std::string out;
  for (const auto& [stack, weight] : profile.stacks)
    if (weight >= 0.5) out += stack + " " + std::to_string(std::llround(weight)) + "\n";
  return out;
}

std::string speedscope_of(const StackProfile& profile, std::string_view name) {
  std::map<std::string_view, std::size_t> places;
  std::string stacks, weights, frames;
  JsonWriter of_stacks(stacks), of_weights(weights), of_frames(frames);
  of_stacks.begin_array();
  of_weights.begin_array();
  of_frames.begin_array();
  for (const auto& [stack, weight] : profile.stacks) {
    of_stacks.begin_array();
    for (const std::string_view frame : split(stack, ';')) {
      const auto [place, fresh] = places.try_emplace(frame, places.size());
      if (fresh) of_frames.begin_object().member("name", frame).end_object();
      of_stacks.value(place->second);
    }
    of_stacks.end_array();
    of_weights.value(std::llround(weight));
  }
  of_stacks.end_array();
  of_weights.end_array();
  of_frames.end_array();
  const std::string unit = profile.unit == "ns" ? "nanoseconds" : profile.unit == "bytes" ? "bytes" : "none";
  std::string head, out;
  JsonWriter json(head);
  json.begin_object().member("$schema", "https://www.speedscope.app/file-format-schema.json");
  json.member("exporter", "jtrace " JTRACE_VERSION).member("name", name).member("activeProfileIndex", 0);
  out = head + ",\"shared\":{\"frames\":" + frames + "},\"profiles\":[{\"type\":\"sampled\",\"name\":\"";
  append_json_escaped(out, name);
  return out + "\",\"unit\":\"" + unit +
         "\",\"startValue\":0,\"endValue\":" + std::to_string(std::llround(profile.total())) +
         ",\"samples\":" + stacks + ",\"weights\":" + weights + "}]}\n";
}

FrameWeights weights_of(const StackProfile& profile) {
  FrameWeights made;
  for (const auto& [stack, weight] : profile.stacks) {
    std::set<std::string_view> seen;
    std::string_view last;
    for (const std::string_view frame : split(stack, ';')) {
      if (seen.insert(frame).second) made.total[std::string(frame)] += weight;
      last = frame;
    }
    made.self[std::string(last)] += weight;
  }
  return made;
}

}  // namespace jtrace::trace::io
