#include "coreinspect/tools/thread_groups.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "base/joined.h"
#include "base/strings.h"
#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {
namespace {

std::vector<std::string> texts_of(std::span<const ThreadLabel> threads) {
  std::vector<std::string> out;
  for (const ThreadLabel& each : threads) out.push_back(each.text());
  return out;
}

// "<0x10>, <0x20>", and how many more there are.
std::string addresses(const std::set<Address>& objects) {
  constexpr std::size_t kShown = 8;
  std::vector<std::string> texts;
  for (const Address object : objects) texts.push_back("<" + hex(object) + ">");
  const std::size_t most = std::min(texts.size(), kShown);
  const std::string more = texts.size() > most ? " and " + std::to_string(texts.size() - most) + " more" : "";
  return joined(std::span(texts).first(most)) + more;
}

// "GC Thread#*" of "GC Thread#12".
std::string family_of(const std::string& name) {
  std::string family;
  for (const char c : name) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) family += c;
    else if (!family.ends_with('*')) family += '*';
  }
  return family;
}

// Of threads without a name: '3000 without a name (#45, #46, ...)'.
std::string unnamed_text(const std::vector<ThreadLabel>& threads) {
  constexpr std::size_t kShown = 4;
  const std::size_t most = std::min(threads.size(), kShown);
  return std::to_string(threads.size()) + " without a name (" + joined(texts_of(std::span(threads).first(most))) +
         (threads.size() > most ? ", ...)" : ")");
}

}  // namespace

std::string ThreadLabel::text() const {
  return name.empty() && id != 0 ? "#" + std::to_string(id) : "\"" + printable(name) + "\"";
}

std::vector<std::string> name_families(const std::vector<ThreadLabel>& threads) {
  std::vector<std::pair<std::string, std::vector<ThreadLabel>>> all;
  for (const ThreadLabel& thread : threads) {
    const std::string family = family_of(thread.name);
    auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first == family; });
    if (found == all.end()) found = all.insert(found, {family, {}});
    found->second.push_back(thread);
  }
  std::vector<std::string> out;
  for (const auto& [family, members] : all)
    out.push_back(members.size() == 1 ? members.front().text()
                  : family.empty()    ? unnamed_text(members)
                                      : std::to_string(members.size()) + " \"" + printable(family) + "\"");
  return out;
}

void ThreadGroups::Group::add(const Wait& wait) {
  const auto same = [&](const Waiting& each) {
    return each.wait->kind == wait.kind && each.wait->object == wait.object &&
           each.wait->owner_thread == wait.owner_thread;
  };
  const auto found = std::find_if(waits.begin(), waits.end(), same);
  if (found != waits.end()) ++found->count;
  else waits.push_back({&wait, 1});
}

std::string ThreadGroups::Group::waits_text() const {
  constexpr std::size_t kShownWaits = 4;
  std::string out;
  for (std::size_t i = 0; i < std::min(waits.size(), kShownWaits); ++i) {
    out += "    - ";
    if (waits[i].count < threads.size()) out += std::to_string(waits[i].count) + " of them: ";
    out += describe(*waits[i].wait) + "\n";
  }
  if (waits.size() > kShownWaits)
    out += "    - and for " + std::to_string(waits.size() - kShownWaits) + " more: --format json has all\n";
  return out;
}

bool ThreadGroups::Group::has_frames() const { return !first.end.empty() || !first.frames.empty(); }

std::string ThreadGroups::Group::notes_text() const {
  constexpr std::size_t kShownNotes = 4;
  std::string out;
  for (std::size_t i = 0; i < std::min(notes.size(), kShownNotes); ++i) out += "    - " + notes[i] + "\n";
  if (notes.size() > kShownNotes)
    out += "    - and " + std::to_string(notes.size() - kShownNotes) + " more such: --format json has all\n";
  return out;
}

// Of locks that differ from thread to thread only those have their address that somebody waits for.
std::string ThreadGroups::Group::locks_text(std::size_t frame, const std::set<Address>& wanted) const {
  std::string out;
  for (auto each = locks.lower_bound({frame, ""}); each != locks.end() && each->first.first == frame; ++each) {
    const Held& held = each->second;
    const std::string type = printable(each->first.second);
    const bool is_one = held.objects.size() == 1;
    out += "    - ";
    if (held.threads < threads.size()) out += std::to_string(held.threads) + " of them: ";
    out += "locked";
    if (held.all_same) out += " " + addresses(held.objects);
    else out += ", " + std::to_string(held.objects.size()) + " different ones";
    out += is_one ? " (a " + type + ")" : " (each a " + type + ")";
    std::set<Address> waited;
    std::set_intersection(held.objects.begin(), held.objects.end(), wanted.begin(), wanted.end(),
                          std::inserter(waited, waited.end()));
    if (!held.all_same && !waited.empty()) out += "; threads wait for " + addresses(waited);
    out += "\n";
  }
  return out;
}

std::set<Address> ThreadGroups::wanted_monitors() const {
  std::set<Address> out;
  for (const Group& group : groups_)
    for (const Waiting& each : group.waits)
      if (each.wait->kind == "monitor") out.insert(each.wait->object);
  return out;
}

// A thread that has two locks of a class in one frame counts once.
void ThreadGroups::add_locks(Group& group, const GroupMember& member) const {
  for (std::size_t i = 0; i < member.places.size(); ++i) {
    std::map<std::string, std::set<Address>> own;
    for (const Address lock : member.walk->frames[member.places[i]].locks) own[class_of_(lock)].insert(lock);
    for (const auto& [name, objects] : own) {
      Held& held = group.locks[{i, name}];
      held.all_same = held.threads == 0 || (held.all_same && held.objects == objects);
      held.objects.insert(objects.begin(), objects.end());
      ++held.threads;
    }
  }
}

void ThreadGroups::add(GroupMember member) {
  const auto same = [&](const Group& group) {
    return group.first.state == member.state && group.first.frames == member.frames && group.first.end == member.end;
  };
  auto found = std::find_if(groups_.begin(), groups_.end(), same);
  if (found == groups_.end()) found = groups_.insert(found, Group{.first = member});
  found->threads.push_back(member.thread);
  if (!member.note.empty()) found->notes.push_back(member.thread.text() + " " + printable(member.note));
  if (member.wait) found->add(*member.wait);
  add_locks(*found, member);
}

// Threads without frames have nothing in common: their names are all that tells what they are, so all are shown.
std::string ThreadGroups::Group::names_text() const {
  constexpr std::size_t kShownNames = 8;
  const std::vector<std::string> shown = has_frames() ? texts_of(threads) : name_families(threads);
  const std::size_t most = has_frames() ? std::min(shown.size(), kShownNames) : shown.size();
  std::string out = joined(std::span(shown).first(most));
  if (shown.size() > most) out += " and " + std::to_string(shown.size() - most) + " more";
  return out;
}

std::vector<const ThreadGroups::Group*> ThreadGroups::by_size() const {
  std::vector<const Group*> order;
  for (const Group& group : groups_) order.push_back(&group);
  std::stable_sort(order.begin(), order.end(),
                   [](const Group* a, const Group* b) { return a->threads.size() > b->threads.size(); });
  return order;
}

std::string ThreadGroups::text() const {
  const std::set<Address> wanted = wanted_monitors();
  std::string out;
  for (const Group* group : by_size()) {
    const std::string state(group->first.state);
    out += counted(group->threads.size(), "thread") + (state.empty() ? "" : " " + state) +
           (group->has_frames() ? ": " : " without frames: ") + group->names_text() + "\n" + group->waits_text() +
           group->notes_text();
    for (std::size_t i = 0; i < group->first.frames.size(); ++i)
      out += group->first.frames[i] + group->locks_text(i, wanted);
    out += group->first.end + "\n";
  }
  return out;
}

void ThreadGroups::write(JsonWriter& json, const std::function<void(JsonWriter&, const GroupMember&)>& write_frames,
                         const std::function<void(JsonWriter&, const Wait&)>& write_wait) const {
  for (const Group* group : by_size()) {
    json.begin_object().member("count", group->threads.size()).member("state", group->first.state);
    json.key("threads").begin_array();
    for (const ThreadLabel& each : group->threads) json.value(each.name);
    json.end_array().key("threadIds").begin_array();  // 0: no thread of Java's
    for (const ThreadLabel& each : group->threads) json.value(each.id);
    json.end_array().key("waits").begin_array();
    for (const Waiting& each : group->waits) {
      json.begin_object().member("count", each.count);
      write_wait(json, *each.wait);
      json.end_object();
    }
    json.end_array().key("notes").begin_array();
    for (const std::string& note : group->notes) json.value(note);
    json.end_array().key("locked").begin_array();
    for (const auto& [key, held] : group->locks) {
      json.begin_object().member("frame", key.first).member("class", key.second).member("threads", held.threads);
      json.key("objects").begin_array();
      for (const Address object : held.objects) json.value(hex(object));
      json.end_array().end_object();
    }
    json.end_array().key("frames");
    write_frames(json, group->first);
    json.end_object();
  }
}

}  // namespace jtrace::coreinspect
