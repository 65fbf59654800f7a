// The views `threads` and `stack`: what each thread does.
#include <algorithm>
#include <set>

#include "base/jdk_names.h"
#include "base/joined.h"
#include "base/name_pattern.h"
#include "base/strings.h"
#include "coreinspect/tools/frame_variables.h"
#include "coreinspect/tools/idle_threads.h"
#include "coreinspect/tools/owned_locks.h"
#include "coreinspect/tools/profile.h"
#include "coreinspect/tools/task_waits.h"
#include "coreinspect/tools/thread_groups.h"
#include "coreinspect/tools/thread_snapshot.h"
#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {
namespace {

struct Shown {
  bool stubs = false;  // `stack` shows stubs, entry frames and native frames as well
  bool locks = true;   // the locks that frames hold
  bool kinds = true;   // whether a frame is compiled, inlined or interpreted
  const OwnedLocks* owned = nullptr;
  const FrameVariables* variables = nullptr;
};

struct ObjectNames {
  const ObjectModel& objects;
  const std::map<Address, std::string>& lock_classes;  // ThreadSnapshot
  std::string class_of(Address lock) const {
    const auto found = lock_classes.find(lock);
    return found == lock_classes.end() ? "?" : found->second;
  }
};

std::string seconds(std::uint64_t nanoseconds) {
  std::string text = std::to_string(nanoseconds / 1'000'000'000) + ".";
  std::string fraction = std::to_string(nanoseconds % 1'000'000'000 / 1'000'000);
  return text + std::string(3 - fraction.size(), '0') + fraction;
}

std::string cpu_text(const ThreadReport& report) {
  return report.cpu_ns ? " cpu=" + seconds(*report.cpu_ns) + "s" : " cpu=-";
}

void append_native(std::string& out, const Frame& frame) {
  out += "    at ";
  if (!frame.name.empty()) out += printable(frame.name) + " (" + printable(frame.module) + ")";
  else if (!frame.module.empty()) out += printable(frame.module) + "+" + hex(frame.module_offset);
  else out += hex(frame.pc);
  out += " native\n";
}

void append_frame(std::string& out, const Frame& frame, Shown shown, const ObjectNames& names) {
  if (frame.kind == FrameKind::kNative) {
    if (shown.stubs) append_native(out, frame);
  } else if (frame.method) {
    out += "    at " + printable(frame.method->class_name + "." + frame.method->name) + "(" +
           printable(frame_source(frame)) + ")";
    if (!frame.method->is_native()) out += " @" + std::to_string(frame.bci);
    if (shown.kinds) out.append(" ").append(to_string(frame.kind));
    out += "\n";
    // Of the JDK's frames they are many and say little: only with native frames, and in JSON.
    if (shown.variables && (shown.stubs || !is_of_the_jdk(frame.method->class_name)))
      shown.variables->append_text(out, frame);
    if (!shown.locks) return;
    for (Address lock : frame.locks)
      out += "    - locked <" + hex(lock) + "> (a " + printable(names.class_of(lock)) + ")\n";
  } else if (shown.stubs) {
    out.append("    - ").append(printable(frame.name)).append(" ").append(to_string(frame.kind)).append("\n");
  }
}

void append_end(std::string& out, const Walk& walk) {
  if (walk.gaps > 0) out += "    - native frames are missing in " + counted(walk.gaps, "place") + "\n";
  if (walk.incomplete()) out += "    - the rest cannot be read: " + walk.stopped + "\n";
}

// `first`: the frame from which on they are shown.
void append_walk(std::string& out, const Walk& walk, std::size_t first, Shown shown, const ObjectNames& names) {
  for (std::size_t i = first; i < walk.frames.size(); ++i) append_frame(out, walk.frames[i], shown, names);
  append_end(out, walk);
}

void append_owned(std::string& out, Address thread, Shown shown) {
  if (!shown.owned) return;
  for (const OwnedLock* lock : shown.owned->of(thread))
    out += "    - owns <" + hex(lock->object) + "> (a " + printable(lock->class_name) + ")\n";
}

// The virtual thread that it runs, which has its waits; null: none.
const LockFacts::Party* carried_by(const LockFacts& locks, const JavaThread& java) {
  const Address runner = locks.runner(java.address);
  return runner == java.address ? nullptr : locks.party(runner);
}

// "": it carries none.
std::string note_of(const LockFacts& locks, const JavaThread& java) {
  const LockFacts::Party* carried = carried_by(locks, java);
  return carried == nullptr ? ""
                            : "carries virtual thread #" + std::to_string(carried->id) + " \"" + *carried->name + "\"";
}

// It waits, and its carrier can run no other meanwhile.
bool is_pinned(const VirtualThread& thread) {
  const std::string_view state = thread.state();
  return thread.mounted && (state == "WAITING" || state == "TIMED_WAITING" || state == "BLOCKED");
}

// "": it has no carrier.
std::string note_of(const VirtualThread& thread, const ObjectNames& names) {
  if (thread.carrier == 0) return {};
  const auto id = names.objects.value<std::int64_t>(thread.carrier, "tid").value_or(0);
  return "carried by \"" + thread.carrier_name + "\" #" + std::to_string(id) +
         (!thread.mounted     ? ", where its frames are"
          : is_pinned(thread) ? ", pinned: it waits and keeps its carrier"
                              : "");
}

void append_text(std::string& out, const ThreadReport& report, std::size_t first, const LockFacts& locks, Shown shown,
                 const ObjectNames& names) {
  const JavaThread& java = report.java;
  if (java.address == 0) {
    out += "\"" + printable(report.name) + "\" nid=" + std::to_string(report.native_id) + cpu_text(report) +
           " not a Java thread\n";
  } else {
    out += "\"" + printable(java.name) + "\" #" + std::to_string(java.id) + (java.daemon ? " daemon" : "") +
           " prio=" + std::to_string(java.priority) + " nid=" + std::to_string(report.native_id) + cpu_text(report) +
           " " + std::string(java.state());
    if (!java.state_detail().empty()) out.append(" (").append(java.state_detail()).append(")");
    out.append(" [").append(vm_state_name(java.vm_state)).append("]\n");
  }
  if (const Wait* wait = locks.wait_of(java.address)) out += "    - " + describe(*wait) + "\n";
  if (const std::string note = note_of(locks, java); !note.empty()) out += "    - " + printable(note) + "\n";
  if (report.held) out += "    - held by " + printable(target::describe_tracer(*report.held)) + "\n";
  append_owned(out, java.object, shown);
  append_walk(out, report.walk, first, shown, names);
  if (!java.problem.empty()) out += "    - not all of this thread can be read: " + java.problem + "\n";
  out += "\n";
}

void append_text(std::string& out, const VirtualThread& thread, const LockFacts& locks, Shown shown,
                 const ObjectNames& names) {
  out += "\"" + printable(thread.name) + "\" #" + std::to_string(thread.id) + " virtual " +
         std::string(thread.state()) + " [" + thread.vm_state + "]\n";
  if (const std::string note = note_of(thread, names); !note.empty()) out += "    - " + printable(note) + "\n";
  if (const Wait* wait = locks.wait_of(thread.object)) out += "    - " + describe(*wait) + "\n";
  append_owned(out, thread.object, shown);
  append_walk(out, thread.walk, 0, shown, names);
  out += "\n";
}

void write_frame(JsonWriter& json, const Frame& frame, const FrameVariables* variables) {
  json.begin_object().member("kind", to_string(frame.kind));
  if (frame.method) {
    json.member("class", frame.method->class_name).member("method", frame.method->name);
    json.member("signature", frame.method->signature).member("bci", frame.bci);
    if (!frame.method->source_file.empty()) json.member("file", frame.method->source_file);
    if (const int line = frame.method->line_of(frame.bci); line >= 0 && !frame.method->is_native())
      json.member("line", line);
    if (frame.method->is_native()) json.member("nativeMethod", true);
    if (variables) variables->write(json, frame);
  } else if (!frame.name.empty()) {
    json.member("name", frame.name);
  }
  if (!frame.module.empty()) json.member("module", frame.module).member("offset", hex(frame.module_offset));
  else if (!frame.method) json.member("pc", hex(frame.pc));
  json.end_object();
}

void write_walk(JsonWriter& json, const Walk& walk, std::size_t first, Shown shown, const ObjectNames& names) {
  json.key("frames").begin_array();
  std::vector<std::pair<std::size_t, Address>> locked;
  std::size_t index = 0;
  for (std::size_t i = first; i < walk.frames.size(); ++i) {
    const Frame& frame = walk.frames[i];
    if (!frame.method && !shown.stubs) continue;
    write_frame(json, frame, shown.variables);
    for (Address lock : frame.locks) locked.emplace_back(index, lock);
    ++index;
  }
  json.end_array();
  // `frame`: the index of the frame that holds it.
  json.key("locked").begin_array();
  for (const auto& [frame, object] : locked)
    json.begin_object()
        .member("frame", frame)
        .member("object", hex(object))
        .member("class", names.class_of(object))
        .end_object();
  json.end_array();
  if (shown.stubs) json.member("bottom", walk.native_bottom);
  if (walk.gaps > 0) json.member("gaps", walk.gaps);
  if (walk.incomplete()) json.member("problem", walk.stopped);
}

void write_members(JsonWriter& json, const Wait& wait) {
  json.member("class", wait.class_name).member("object", hex(wait.object)).member("kind", wait.kind);
  if (!wait.owner.empty()) json.member("owner", wait.owner).member("ownerId", wait.owner_id);
  if (wait.work) write_members(json, *wait.work);
}

void write_wait(JsonWriter& json, const Wait* wait) {
  if (!wait) return;
  write_members(json.key("waitingOn").begin_object(), *wait);
  json.end_object();
}

void write_owned(JsonWriter& json, Address thread, Shown shown) {
  if (!shown.owned) return;
  json.key("owned").begin_array();
  for (const OwnedLock* lock : shown.owned->of(thread))
    json.begin_object().member("object", hex(lock->object)).member("class", lock->class_name).end_object();
  json.end_array();
}

void write_json(JsonWriter& json, const ThreadReport& report, std::size_t first, const LockFacts& locks, Shown shown,
                const ObjectNames& names) {
  const JavaThread& java = report.java;
  const bool is_java = java.address != 0;
  json.begin_object().member("name", is_java ? java.name : report.name).member("java", is_java);
  if (is_java) json.member("threadId", java.id);
  json.member("nativeId", report.native_id);
  if (is_java) {
    json.member("daemon", java.daemon).member("priority", java.priority).member("state", java.state());
    json.member("stateDetail", java.state_detail()).member("vmState", vm_state_name(java.vm_state));
  }
  json.member("virtual", false);
  if (report.cpu_ns) json.member("cpu", static_cast<double>(*report.cpu_ns) / 1e9);
  if (report.held) {
    json.key("heldBy").begin_object().member("pid", report.held->tracer).member("name", report.held->tracer_name);
    json.end_object();
  }
  if (const LockFacts::Party* carried = carried_by(locks, java)) json.member("carries", carried->id);
  write_wait(json, locks.wait_of(java.address));
  if (is_java) write_owned(json, java.object, shown);
  write_walk(json, report.walk, first, shown, names);
  if (!java.problem.empty()) json.member("threadProblem", java.problem);
  json.end_object();
}

void write_json(JsonWriter& json, const VirtualThread& thread, const LockFacts& locks, Shown shown,
                const ObjectNames& names) {
  json.begin_object().member("name", thread.name).member("java", true).member("threadId", thread.id);
  json.member("daemon", true).member("state", thread.state()).member("vmState", thread.vm_state);
  json.member("virtual", true);
  if (thread.carrier != 0) {
    json.member("carrier", names.objects.value<std::int64_t>(thread.carrier, "tid").value_or(0));
    json.member("carrierName", thread.carrier_name).member("mounted", thread.mounted);
    json.member("pinned", is_pinned(thread));
  }
  write_wait(json, locks.wait_of(thread.object));
  write_owned(json, thread.object, shown);
  write_walk(json, thread.walk, 0, shown, names);
  json.end_object();
}

std::string pause_text(const ThreadSnapshot& snapshot) {
  std::string text = "The target was stopped for " + std::to_string(snapshot.pause.count() / 1000) + " us";
  if (snapshot.batches > 1)
    text += " at a time: its threads were stopped in " + std::to_string(snapshot.batches) +
            " batches, so this is not one instant (--max-stop)";
  return text + ".\n\n";
}

// The threads that a choice names: each word of it is the name of one, if there is such a thread, else a part of names
// or a pattern.
class WantedNames {
 public:
  WantedNames(const ThreadSnapshot& snapshot, const std::string& choice) {
    if (choice.empty()) return;
    for (const std::string_view word : split(choice, ','))
      if (!trimmed(word).empty()) words_.emplace_back(trimmed(word));
    if (words_.size() != 1) words_.push_back(choice);  // names may have commas
    for (const ThreadReport& each : snapshot.threads) names_.insert(each.shown_name());
    for (const VirtualThread& each : snapshot.virtual_threads) names_.insert(each.name);
    if (names_.contains(choice)) words_ = {choice};
  }
  bool has(const std::string& name) const {
    return words_.empty() || std::any_of(words_.begin(), words_.end(), [&](const std::string& word) {
             return names_.contains(word) ? name == word : is_chosen(word, name);
           });
  }

 private:
  std::vector<std::string> words_;
  std::set<std::string> names_;
};

bool is_wanted(const ThreadChoice& choice, std::string_view state) {
  return choice.state.empty() || ("," + choice.state + ",").find("," + std::string(state) + ",") != std::string::npos;
}

bool has_unread_name(const ThreadReport& report, bool in_collection) {
  const JavaThread& java = report.java;
  if (java.address == 0 || !java.name.empty()) return false;
  return in_collection || !java.problem.empty() || java.object == 0 || java.id == 0;
}

// Any of them may be one that is asked for by name.
std::size_t unread_names(const ThreadSnapshot& snapshot) {
  const auto platform = std::count_if(snapshot.threads.begin(), snapshot.threads.end(), [&](const auto& each) {
    return has_unread_name(each, snapshot.read_in_collection);
  });
  const auto virtuals = std::count_if(snapshot.virtual_threads.begin(), snapshot.virtual_threads.end(),
                                      [](const VirtualThread& each) { return !each.has_name; });
  return static_cast<std::size_t>(platform + virtuals);
}

bool has_all_names(const ThreadSnapshot& snapshot) {
  return unread_names(snapshot) == 0 && !snapshot.read_in_collection;
}

// Again, up to three times in all, if names are asked for and some could not be read. What is still unread then is in
// `missing`.
Result<ThreadSnapshot> take_with_names(Inspection& inspection, const SnapshotOptions& options,
                                       const ThreadChoice& choice) {
  constexpr int kTries = 3;
  for (int tries = 1;; ++tries) {
    JTRACE_ASSIGN_OR_RETURN(ThreadSnapshot snapshot, take_thread_snapshot(inspection, options));
    if (choice.name.empty()) return snapshot;
    if (has_all_names(snapshot)) return snapshot;
    if (tries < kTries && inspection.target().process() != nullptr) continue;
    if (const std::size_t unread = unread_names(snapshot); unread > 0)
      snapshot.missing.push_back("the names of " + counted(unread, "thread") +
                                 " could not be read: --thread may leave out threads");
    return snapshot;
  }
}

// The options of the choice.
std::string words_of(const ThreadChoice& choice) {
  const std::string name = choice.name.empty() ? "" : "--thread " + choice.name;
  if (choice.state.empty()) return name;
  return (name.empty() ? "" : name + " and ") + "--state " + choice.state;
}

// Removes the threads that are not wanted. False if a choice was made and nothing is left.
bool keep_wanted(ThreadSnapshot& snapshot, const ThreadChoice& choice) {
  const WantedNames wanted(snapshot, choice.name);
  std::erase_if(snapshot.threads, [&](const ThreadReport& each) {
    const bool is_java = each.java.address != 0;
    if (choice.java && !is_java) return true;
    return !wanted.has(each.shown_name()) || !is_wanted(choice, is_java ? each.java.state() : "");
  });
  std::erase_if(snapshot.virtual_threads,
                [&](const VirtualThread& each) { return !wanted.has(each.name) || !is_wanted(choice, each.state()); });
  return !choice.is_some() || !snapshot.threads.empty() || !snapshot.virtual_threads.empty();
}

// `first`: the frame from which on they are shown.
GroupMember member_of(const ThreadLabel& thread, std::string_view state, const Walk& walk, Shown shown,
                      const ObjectNames& names, const Wait* wait, std::string note, std::size_t first = 0) {
  shown.locks = false;        // each thread has its own
  shown.kinds = shown.stubs;  // a method that one thread has compiled and another not is the same
  GroupMember member{.thread = thread, .state = state, .walk = &walk, .wait = wait, .note = std::move(note)};
  for (std::size_t i = first; i < walk.frames.size(); ++i) {
    std::string text;
    append_frame(text, walk.frames[i], shown, names);
    if (text.empty()) continue;
    member.frames.push_back(std::move(text));
    member.places.push_back(i);
  }
  append_end(member.end, walk);
  return member;
}

// How many frames of a carrier are those of the virtual thread that it runs, which is shown with them.
std::size_t frames_of_carried(const ThreadSnapshot& snapshot, const JavaThread& java) {
  const auto carried =
      std::find_if(snapshot.virtual_threads.begin(), snapshot.virtual_threads.end(), [&](const VirtualThread& each) {
        return each.mounted && java.address != 0 && each.carrier_thread == java.address;
      });
  return carried == snapshot.virtual_threads.end() ? 0 : carried->walk.frames.size();
}

std::string idle_text(const std::vector<ThreadLabel>& threads) {
  return threads.empty() ? "" : "idle threads of the JDK: " + joined(name_families(threads)) + "\n\n";
}

// The owners of what others wait for.
std::set<Address> awaited_threads(const LockFacts& locks) {
  std::set<Address> owners;
  for (const LockFacts::Party& party : locks.parties())
    if (const Wait* wait = locks.wait_of(party.key)) owners.insert(wait->owner_thread);
  return owners;
}

// `with_idle`: idle threads of the JDK too, otherwise one line has them.
void show_groups(const ThreadSnapshot& snapshot, const LockFacts& locks, bool as_json, bool with_idle, Shown shown,
                 const ObjectNames& names, ViewResult& result) {
  ThreadGroups groups([&](Address lock) { return names.class_of(lock); });
  std::vector<ThreadLabel> idle;
  const std::set<Address> awaited = awaited_threads(locks);
  for (const ThreadReport& each : snapshot.threads) {
    const Wait* wait = locks.wait_of(each.java.address);
    const ThreadLabel thread{each.shown_name(), each.java.address != 0 ? each.java.id : 0};
    if (!with_idle && is_idle_of_jdk(each, wait, awaited.contains(each.java.address))) {
      idle.push_back(thread);
      continue;
    }
    groups.add(member_of(thread, each.java.address != 0 ? each.java.state() : "", each.walk, shown, names, wait,
                         note_of(locks, each.java), frames_of_carried(snapshot, each.java)));
  }
  for (const VirtualThread& each : snapshot.virtual_threads)
    groups.add(member_of({each.name, each.id}, each.state(), each.walk, shown, names, locks.wait_of(each.object),
                         note_of(each, names)));
  JsonWriter json(result.out);
  const auto write_frames = [&](JsonWriter& to, const GroupMember& member) {
    to.begin_array();
    for (const std::size_t place : member.places) write_frame(to, member.walk->frames[place], nullptr);
    to.end_array();
  };
  if (as_json) groups.write(json, write_frames, [](JsonWriter& to, const Wait& wait) { write_members(to, wait); });
  else result.out += groups.text() + idle_text(idle);
}

// Why the objects may be elsewhere than the frames say; "" if they are not.
std::string why_moved(const Inspection& inspection, const ThreadSnapshot& snapshot) {
  if (!objects_may_have_moved(inspection, snapshot)) return "";
  if (!inspection.vm().moves_while_running()) return "a collection has moved objects meanwhile";
  return inspection.vm().collector_text() + " moves objects while threads run";
}

// Reads the variables of all frames.
void add_variables(const Inspection& inspection, const ThreadSnapshot& snapshot, FrameVariables& variables,
                   std::vector<std::string>& missing) {
  for (const ThreadReport& each : snapshot.threads) variables.add(each.walk, snapshot.headers.get());
  for (const VirtualThread& each : snapshot.virtual_threads)
    variables.add(each.walk, each.mounted ? snapshot.headers.get() : nullptr);
  const std::string why = why_moved(inspection, snapshot);
  const std::size_t dropped = variables.settle(why);
  if (dropped == 0) return;
  missing.push_back(counted(dropped, "local variable") + " with references: " + why +
                    (inspection.vm().moves_while_running() ? "; jtrace core and jtrace debug have them" : ""));
}

Result<ViewResult> show(Inspection& inspection, const ViewOptions& options, Shown shown, bool with_owned) {
  // Frames need no objects: without the heap's pages the stacks are complete, but names are missing.
  if (!inspection.healthy() && !inspection.target().core()) return fail(inspection.healthy().error());
  std::optional<OwnedLocks> owned;  // `stack` is for JVMs in trouble: it does not walk their heap
  if (with_owned) owned.emplace(inspection, options.max_stop);
  JTRACE_ASSIGN_OR_RETURN(
      ThreadSnapshot snapshot,
      take_with_names(inspection, {.max_stop = options.max_stop, .native = shown.stubs}, options.threads));
  LockFacts locks(inspection, snapshot);
  locks.note(task_waits(inspection, locks));
  const bool all_named = options.threads.name.empty() || has_all_names(snapshot);
  if (!keep_wanted(snapshot, options.threads) && all_named)
    return fail(ErrorCategory::kRefused, "no thread matches " + words_of(options.threads));
  if (owned) owned->settle(locks);
  shown.owned = owned ? &*owned : nullptr;
  std::optional<FrameVariables> variables;
  if (options.threads.locals) {
    variables.emplace(inspection, options.show_secrets);
    add_variables(inspection, snapshot, *variables, snapshot.missing);
    shown.variables = &*variables;
  }
  const ObjectNames names{inspection.objects(), snapshot.lock_classes};
  ViewResult result;
  result.missing = std::move(snapshot.missing);
  if (!inspection.healthy()) result.missing.push_back(inspection.healthy().error().message());
  if (inspection.target().process()) {
    JsonWriter(result.members).member("pauseMicros", snapshot.pause.count() / 1000).member("batches", snapshot.batches);
    if (!options.json) result.out += pause_text(snapshot);
  }
  if (options.threads.group) {
    const bool with_idle = options.json || !options.threads.name.empty();
    show_groups(snapshot, locks, options.json, with_idle, shown, names, result);
    return result;
  }
  JsonWriter json(result.out);
  for (const ThreadReport& report : snapshot.threads) {
    const std::size_t first = frames_of_carried(snapshot, report.java);
    if (options.json) write_json(json, report, first, locks, shown, names);
    else append_text(result.out, report, first, locks, shown, names);
  }
  for (const VirtualThread& thread : snapshot.virtual_threads) {
    if (options.json) write_json(json, thread, locks, shown, names);
    else append_text(result.out, thread, locks, shown, names);
  }
  if (owned) append_why(*owned, options.json, result);
  if (variables) result.masked = variables->masked();
  return result;
}

}  // namespace

Result<ViewResult> view_threads(Inspection& inspection, const ViewOptions& options) {
  return show(inspection, options, {}, true);
}

Result<ViewResult> view_stack(Inspection& inspection, const ViewOptions& options) {
  return show(inspection, options, {.stubs = !options.threads.java}, false);
}

}  // namespace jtrace::coreinspect
