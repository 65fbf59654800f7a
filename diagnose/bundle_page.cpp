#include "diagnose/bundle_page.h"

#include <utility>

namespace jtrace::diagnose {
namespace {

constexpr std::string_view kPlace = "@DATA@";
constexpr std::size_t kMostOfMember = 8u << 20;  // bytes
// Names in the data, and the members that they are.
constexpr std::pair<std::string_view, std::string_view> kMembers[] = {
    {"manifest", "manifest.json"},         {"findings", "findings.json"}, {"samples", "threads.json"},
    {"threads", "views/threads.json"},     {"locks", "views/locks.json"}, {"memory", "views/memory.json"},
    {"histogram", "views/histogram.json"}, {"counters", "counters.json"},
};

// "</script>" in a name would end the element: "<" occurs in JSON only within texts.
void append_within_script(std::string& out, std::string_view json) {
  for (const char c : json) {
    if (c == '<') out += "\\u003c";
    else out += c;
  }
}

}  // namespace

std::string page_of(std::span<const Part> members) {
  std::string data;
  for (const auto& [name, member] : kMembers) {
    data.append(data.empty() ? "{\"" : ",\"").append(name).append("\":");
    const std::size_t before = data.size();
    for (const Part& each : members)
      if (each.name == member && each.content.size() <= kMostOfMember) append_within_script(data, each.content);
    if (data.size() == before) data += "null";
  }
  data += "}";
  const std::string_view frame = page_frame();
  const std::size_t at = frame.find(kPlace);
  return std::string(frame.substr(0, at)) + data + std::string(frame.substr(at + kPlace.size()));
}

}  // namespace jtrace::diagnose
