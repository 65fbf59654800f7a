// A profile as one JSON object.
#include "base/json_answer.h"
#include "base/strings.h"
#include "coreinspect/tools/profile.h"
#include "sampling/profile_writers.h"

namespace jtrace::sampling {
namespace {

using Kind = ProfileCounts::Kind;

void put_parties(JsonWriter& json, const char* key, const WaitPartyCounts::ByName& names) {
  if (names.empty()) return;
  json.key(key).begin_array();
  for (const auto& [name, amount] : by_time(names))
    json.begin_object().member("name", name).member("times", amount.times).member("ns", amount.ns).end_object();
  json.end_array();
}

void put_lines(JsonWriter& json, const char* key, const std::vector<std::string>& lines) {
  json.key(key).begin_array();
  for (const std::string& line : lines) json.value(line);
  json.end_array();
}

// What a stack has before its frames: "[sleep]", "[cut stack]".
void put_stack(JsonWriter& json, const ProfileCounts& counts, const ProfileCounts::Stack& stack) {
  std::size_t at = counts.thread_at();
  if (counts.shape().processes) json.member("process", counts.names()[stack[0]]);
  json.member("thread", counts.names()[stack[at++]]);
  bool cut = false;
  for (; at < stack.size() && counts.kinds()[stack[at]] == Kind::kThread; ++at) {
    const std::string& name = counts.names()[stack[at]];
    if (name == coreinspect::kCutStack) cut = true;
    else json.member("wait", name.substr(1, name.size() - 2));
  }
  if (cut) json.member("cut", true);
  json.key("frames").begin_array();
  for (; at < stack.size(); ++at) json.value(counts.names()[stack[at]]);
  json.end_array();
}

}  // namespace

std::string profile_json(const ProfileCounts& counts, const ProfileHead& head) {
  std::string text;
  JsonWriter json(text);
  begin_answer(json, "profile").begin_object().member("name", head.process);
  if (head.pid != 0) json.member("pid", head.pid);
  json.end_object();
  std::vector<std::string> missing = head.missing;
  if (head.lost > 0) missing.push_back(counted(head.lost, "sample") + " " + was_were(head.lost) + " lost");
  write_missing(json, missing).member("how", head.how).member("elapsedNs", head.elapsed);
  if (!head.notes.empty()) put_lines(json, "notes", head.notes);
  if (!head.no_wakers.empty()) json.member("wakersUnknown", head.no_wakers);
  json.key("data").begin_array();
  for (const auto& [stack, count] : counts.stacks()) {
    put_stack(json.begin_object(), counts, stack);
    json.member("samples", count.samples).member("ns", count.weight);
    if (counts.shape().waits) json.member("longestNs", count.longest);
    if (const WaitPartyCounts* parties = counts.parties_of(stack)) {
      put_parties(json, "owners", parties->owners());
      put_parties(json, "wakers", parties->wakers());
    }
    json.end_object();
  }
  json.end_array().end_object();
  return text + "\n";
}

}  // namespace jtrace::sampling
