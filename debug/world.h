// World: all that a debugger can ask about: one target, its classes, threads and objects, and the ids of these.
//
// Ownership: borrows the inspection. It lives as long as the target's state does: ids stay the same from one client to
// the next. Of a target that runs on (let_run) threads and stacks are of the snapshot, and all else is read when asked
// for: the caller says when a collection has moved objects. Threads: one at a time.
#pragma once

#include <functional>
#include <memory>
#include <set>

#include "coreinspect/gc/heap_access.h"
#include "coreinspect/gc/histogram.h"
#include "coreinspect/unwind/frame_locals.h"
#include "debug/class_index.h"
#include "debug/object_ids.h"
#include "debug/packet.h"
#include "debug/thread_index.h"

namespace jtrace::debug {

// An object of a frame that the compiler has taken apart, as far as its parts are known.
struct ApartObject {
  const LoadedClass* type = nullptr;
  const coreinspect::Frame* frame = nullptr;
  coreinspect::TakenApart object;
};

struct WorldOptions {
  bool virtual_threads = false;  // list them with the others
  bool plain_values = false;     // 0 and null for what is not available, as the JVM's own agent does
  std::string name = {};         // of the target, where its own says too little
};

class World {
 public:
  World(coreinspect::Inspection& inspection, coreinspect::ThreadSnapshot snapshot, const WorldOptions& options);

  coreinspect::Inspection& inspection() const { return inspection_; }
  const WorldOptions& options() const { return options_; }
  ClassIndex& classes() { return classes_; }
  ThreadIndex& threads() { return threads_; }
  ObjectIds& ids() { return ids_; }
  const coreinspect::FrameLocals& locals() const { return locals_; }
  // What cannot be seen of this target; one line each.
  std::vector<std::string> missing() const;

  // How many classes were unloaded until now; nothing if the JVM has no counters, or they cannot be read.
  static std::optional<std::uint64_t> unloaded_classes(const coreinspect::Inspection& inspection);
  // The target runs on: keeps what its frames' variables need. Right after the construction; `unloaded`: from before
  // it. Without it nothing would tell when classes are unloaded: those that can be are no classes of this target then.
  void let_run(std::optional<std::uint64_t> unloaded);
  // Before each command on a target that runs on: what was read for the last one is out of date.
  void refresh();
  // A collection has moved objects: only threads and their groups keep their ids. References in frames lead nowhere.
  void follow_objects();
  bool objects_have_moved() const { return moved_; }
  // Looks whether classes were unloaded since the last time, past what was read before. If so, those that can be
  // unloaded are no classes of this target any more.
  enum class Unloading { kNone, kSome, kUnknown };  // kUnknown: the JVM has told before, and cannot be read now
  Unloading drop_unloaded_classes();
  bool tells_of_unloading() const { return unloaded_.has_value(); }
  // Whether a class that was there still is.
  bool has(const LoadedClass& type) const { return !runs_ || classes_.is_there(type); }

  // Its class; null if there is no object.
  const LoadedClass* type_of(Address object);
  // The same of an address that may be anything: it must lie in the heap too.
  const LoadedClass* type_of_anything(Address object);
  const LoadedClass* string_class();
  // Ids and values as the client gets them.
  void write_object(PacketWriter& out, Address object);  // with its tag; null: an object with id 0
  void write_unavailable(PacketWriter& out, char type, std::string_view why);
  void write_text(PacketWriter& out, std::string text);  // a string of our own
  // A variable, or a part of an object that was taken apart. `type`: its descriptor.
  void write_local(PacketWriter& out, const coreinspect::Frame& frame, const Result<coreinspect::LocalValue>& value,
                   const std::string& type);
  // Null for what is none, or is not described.
  const ApartObject* apart(Id id);
  // The value at an address that has the type of that descriptor, with its tag.
  void write_value_at(PacketWriter& out, Address at, char type);
  // The walk over the heap; opened when first asked for.
  Result<coreinspect::HeapAccess*> heap();
  // A walk over the heap has ended. Its faults are what counts and lists of objects lack; kept are those of the worst
  // walk, of a target that runs on until refresh().
  void note_walk(const coreinspect::WalkTotals& totals);
  std::vector<std::string> walk_faults() const { return coreinspect::walk_faults(worst_walk_); }
  void use_heap(std::unique_ptr<coreinspect::HeapAccess> heap) { heap_ = std::move(heap); }

 private:
  coreinspect::Inspection& inspection_;
  const WorldOptions options_;
  ClassIndex classes_;
  ThreadIndex threads_;
  ObjectIds ids_;
  bool can_be_in(const LoadedClass& type, const std::string& declared);
  void write_apart(PacketWriter& out, const coreinspect::Frame& frame, std::uint32_t apart, const std::string& type);

  coreinspect::FrameLocals locals_;
  std::map<Id, ApartObject> apart_;
  std::unique_ptr<coreinspect::HeapAccess> heap_;
  coreinspect::WalkTotals worst_walk_;
  std::optional<std::vector<coreinspect::AddressRange>> regions_;  // by address
  struct ThreadIds {
    Id thread = 0;
    std::vector<Id> groups;  // innermost first
  };
  const LoadedClass* string_ = nullptr;
  bool runs_ = false, moved_ = false;
  std::vector<ThreadIds> thread_ids_;              // of the snapshot's threads, if the target runs on
  std::optional<std::uint64_t> unloaded_;          // classes, until the last look; nothing without counters
  std::set<const coreinspect::Frame*> unsettled_;  // of virtual threads whose frames are in the heap, which runs on
};

}  // namespace jtrace::debug
