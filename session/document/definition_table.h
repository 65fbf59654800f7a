// DefinitionTable: what events refer to by id. It writes a definition once in a document, before its first use and
// after everything that it refers to itself. Something that the agent had no room to define gets a definition with only
// its id.
//
// Memory: definitions are kept until the thread, class or object ends. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "session/document/id_set.h"
#include "session/document/partial_document.h"
#include "trace/access_flags.h"
#include "trace/event_emitter.h"
#include "trace/record/definition_reader.h"

namespace jtrace::session {

class DefinitionTable {
 public:
  // `emitter`: borrowed. `anchor` makes wall times of the records' monotonic ones.
  DefinitionTable(trace::EventEmitter& emitter, const ClockAnchor& anchor) : emitter_(emitter), anchor_(anchor) {}

  // Takes threads, classes, methods, objects and stacks; ignores other kinds.
  void add(trace::record::Definition definition);

  // Writes the definition unless it is written already. `time` (monotonic, ns) is used if its own is not known; id 0
  // means none. need_thread() is for an event of the thread itself, which has therefore been active.
  Result<> need_thread(std::uint64_t id, std::uint64_t time) {
    if (id == 0) return {};
    acted_threads_.insert(id);
    return written_threads_.insert(id) ? write_thread(id, time) : Result<>();
  }
  // The same without an event: with its state at the start of the trace, if it has done nothing since.
  Result<> announce_thread(std::uint64_t id, std::uint64_t time);
  // An event of the thread came that the document may leave out.
  void note_acted(std::uint64_t thread) { acted_threads_.insert(thread); }
  // The trace has the begins of threads: others are written with a note.
  void expect_thread_begins() { has_thread_begins_ = true; }
  // Events may be missing: the states of threads at the start of the trace may be over.
  void forget_thread_states() { thread_states_last_ = false; }
  Result<> need_class(std::uint64_t id, std::uint64_t time);
  Result<> need_method(std::uint64_t id, std::uint64_t time);
  // All methods of a class that is unloaded: their counts come later, and then nothing may refer to the class.
  Result<> need_methods_of(std::uint64_t class_id, std::uint64_t time);
  Result<> need_object(std::uint64_t id, std::uint64_t time) {
    return id == 0 || !written_objects_.insert(id) ? Result<>() : write_object(id, time);
  }
  // The text of a stack, innermost frame first: "java/util/HashMap.resize:704;Main.run:12;..."; without ":line" if it
  // is not known, ":native" for native methods. Its methods are written first. "" for an unknown stack.
  Result<std::string_view> context(std::uint64_t stack, std::uint64_t time);
  // The same for the site of an allocation (ObjAllocRecord).
  Result<std::string_view> context_of_site(std::uint64_t site, std::uint64_t time);

  // The method that a callee's number stands for; the number itself if that is not known.
  std::uint64_t stands_for(std::uint64_t method) const {
    const auto found = stand_for_.find(method);
    return found == stand_for_.end() ? method : found->second;
  }
  // A callout that an earlier trace left in a frame that still ran: methodIds grow from trace to trace.
  bool is_of_earlier_trace(std::uint64_t method) const { return method < least_method_; }
  // Of a method: its class's id (0: not known), and the source file of that class.
  std::uint64_t class_of(std::uint64_t method) const {
    const auto found = methods_.find(method);
    return found == methods_.end() ? 0 : found->second.class_id;
  }
  // The name of an object's class, internal form; "" if it is not known.
  std::string_view class_name_of_object(std::uint64_t object) const;
  bool has_method(std::uint64_t method) const { return methods_.contains(method); }
  std::size_t methods() const { return methods_.size(); }
  bool is_static(std::uint64_t method) const {
    const auto found = methods_.find(method);
    return found != methods_.end() && (found->second.access & trace::kStatic) != 0;
  }
  bool is_constructor(std::uint64_t method) const {
    const auto found = methods_.find(method);
    return found != methods_.end() && found->second.name == "<init>";
  }
  // Whether the second constructor may call the first one as super() or this(): of its superclass, or of its class.
  bool may_be_constructed_by(std::uint64_t callee, std::uint64_t caller) const {
    const auto upper = classes_.find(class_of(callee)), lower = classes_.find(class_of(caller));
    if (upper == classes_.end() || lower == classes_.end()) return false;
    return upper == lower || upper->second.name == lower->second.fields.superclass;
  }
  std::string_view signature_of(std::uint64_t method) const {
    const auto found = methods_.find(method);
    return found == methods_.end() ? std::string_view() : std::string_view(found->second.signature);
  }
  std::string_view source_of(std::uint64_t method) const {
    const auto found = classes_.find(class_of(method));
    return found == classes_.end() ? std::string_view() : std::string_view(found->second.fields.source);
  }

  bool has_thread(std::uint64_t id) const { return written_threads_.contains(id); }
  bool has_class(std::uint64_t id) const { return written_classes_.contains(id) && !ended_classes_.contains(id); }
  bool has_object(std::uint64_t id) const { return written_objects_.contains(id) && !ended_objects_.contains(id); }
  // Defined by its objAlloc. `keep`: its end will come; a later document may need it.
  void allocated(std::uint64_t id, const trace::record::ObjectDefinition& object, bool keep) {
    written_objects_.insert(id);
    if (keep && objects_.size() < kMostAllocated) objects_.try_emplace(id, object);
  }

  // From here on the document must not refer to the class.
  void note_unloaded(std::uint64_t class_id) { ended_classes_.insert(class_id); }
  // Ended: not needed again. Ids are never used twice, so they stay marked as written.
  void forget_thread(std::uint64_t id) { threads_.erase(id); }
  void forget_class(std::uint64_t id) {
    classes_.erase(id);
    methods_of_.erase(id);
  }
  void forget_object(std::uint64_t id) { objects_.erase(id); }

  // A document that is continued has these definitions; those of things that have ended are no longer needed.
  void mark_written(const PartialDocument& document);
  // A new document: nothing is written yet.
  void restart();
  // Writes the threads that have started by `time` and not ended, unless they are written already.
  Result<> write_live_threads(std::uint64_t time);
  // Definitions that were made up, because the agent had no room for them.
  std::uint64_t made_up() const { return made_up_; }

 private:
  struct Thread {
    std::uint64_t time;
    trace::record::ThreadDefinition fields;
  };
  struct Class {
    std::uint64_t time;
    trace::record::ClassDefinition fields;
    std::string name;  // internal form
  };
  struct Stack {
    trace::record::StackDefinition fields;
    std::string text;
  };
  Result<> write_thread(std::uint64_t id, std::uint64_t time);
  Result<> write_thread_start(std::uint64_t id, std::uint64_t time);
  Result<> write_thread_met(std::uint64_t id);
  Result<> write_object(std::uint64_t id, std::uint64_t time);
  Result<> write_class(std::uint64_t id, const Class& made, std::uint64_t time);
  Result<> write_method(std::uint64_t id, const trace::record::MethodDefinition& method);
  bool is_named_only(std::uint64_t class_id) const {
    const auto found = classes_.find(class_id);
    return found != classes_.end() && (found->second.fields.flags & trace::record::kClassNamed) != 0;
  }
  // If there are more objects, further ones have only an id in a document that begins later: limits the memory (some
  // 100 MB).
  static constexpr std::size_t kMostAllocated = 1u << 20;

  std::string frame_text(const trace::record::StackFrame& frame) const;
  trace::Time wall(std::uint64_t monotonic) const { return trace::Time(anchor_.wall_of(monotonic)); }

  trace::EventEmitter& emitter_;
  ClockAnchor anchor_;
  std::unordered_map<std::uint64_t, Thread> threads_;
  std::unordered_map<std::uint64_t, Class> classes_;
  std::unordered_map<std::uint64_t, trace::record::MethodDefinition> methods_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> methods_of_;  // by class
  std::unordered_map<std::uint64_t, std::uint64_t> stand_for_;
  std::unordered_map<std::uint64_t, trace::record::ObjectDefinition> objects_;
  std::unordered_map<std::uint64_t, Stack> stacks_;
  std::unordered_map<std::uint64_t, std::string> sites_;  // texts
  IdSet ended_objects_;                                   // by mark_written()
  IdSet ended_classes_;                                   // in this document
  IdSet written_threads_, written_classes_, written_methods_, written_objects_;
  IdSet acted_threads_;  // of which an event has come
  bool thread_states_last_ = true;
  bool has_thread_begins_ = false;
  std::uint64_t made_up_ = 0;
  std::uint64_t least_method_ = 0;  // that was defined; 0: none yet
};

}  // namespace jtrace::session
