// Inspection: one opened target with every model of it.
//
// Ownership: owns the target and all models of it. Threads: one at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coreinspect/code/code_cache.h"
#include "coreinspect/oops/object_model.h"
#include "coreinspect/runtime/java_threads.h"
#include "coreinspect/runtime/method_model.h"
#include "target/target.h"

namespace jtrace::coreinspect {

// The java.util.concurrent locks that had an owner when the heap was searched for them (tools/owned_locks.h).
struct KnownLocks {
  std::uint64_t collections = 0;  // read_collections() at that time: a later collection may have moved them
  std::vector<Address> objects;
  std::string why;  // why some may be missing; "" if none are
};

class Inspection {
 public:
  // Errors: those of Vm::open. A JVM that fails the self-test is opened too; healthy() has the reason.
  static Result<std::unique_ptr<Inspection>> open(std::unique_ptr<target::Target> target);

  const target::Target& target() const { return *target_; }
  // As Target::read_mappings_again().
  Result<> read_mappings_again() { return target_->read_mappings_again(); }
  const Vm& vm() const { return *vm_; }
  const ClassModel& classes() const { return *classes_; }
  const ObjectModel& objects() const { return *objects_; }
  const MethodModel& methods() const { return *methods_; }
  // An error if the code cache of this JVM cannot be read.
  Result<const CodeCache*> code() const;
  // Whether objects of this JVM can be read: the result of the self-test.
  const Result<>& healthy() const { return healthy_; }
  // True for a core whose JVM died during a collection: objects may be only partly moved.
  bool died_in_gc() const { return died_in_gc_; }
  // Whether a stop-the-world collection is running; for a live target as of the VM's cached memory.
  bool collection_is_active() const;
  // The same for a live target at this moment: discards the VM's cached memory.
  bool collects_now() const;
  // So that the heap is not searched again; nothing by default.
  void set_known_locks(KnownLocks locks) { known_locks_ = std::move(locks); }
  const std::optional<KnownLocks>& known_locks() const { return known_locks_; }
  // What is missing from every answer about this target; one line each.
  std::vector<std::string> missing() const;

 private:
  Inspection() = default;

  std::unique_ptr<target::Target> target_;
  std::unique_ptr<Vm> vm_;
  std::unique_ptr<ClassModel> classes_;
  std::unique_ptr<ObjectModel> objects_;
  std::unique_ptr<MethodModel> methods_;
  mutable std::optional<Result<CodeCache>> code_;
  Result<> healthy_;
  bool died_in_gc_ = false;
  std::optional<KnownLocks> known_locks_;
};

}  // namespace jtrace::coreinspect
