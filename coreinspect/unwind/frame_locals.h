// FrameLocals: values of the local variables of Java frames, slot by slot.
//
// Interpreted frames: MachineRules and templateInterpreterGenerator of 8 to 27. Compiled ones: as their debug
// information says (stackValue.cpp, deoptimization.cpp), where it describes the very place at which the frame is. A
// slot has no type of its own: the caller names it, by the LocalVariableTable of the method. What is not known to be
// right is not given: then the error's text says why. Borrows the models. Threads: one at a time.
#pragma once

#include <map>
#include <optional>
#include <tuple>

#include "coreinspect/unwind/java_walker.h"

namespace jtrace::coreinspect {

struct LocalValue {
  std::uint64_t bits = 0;  // the low bytes are the value; of a reference the address, 0 for null
  // A reference to an object that the compiler has taken apart: FrameLocals::taken_apart() of the same frame.
  std::optional<std::uint32_t> apart;
};

// An object that is not in the heap, because the compiler keeps its fields where it keeps variables.
struct TakenApart {
  Address klass = 0;
  struct Part {
    JavaField field;  // of an array: `signature` alone, the element's
    Result<LocalValue> value;
  };
  std::vector<Part> parts;  // all fields but static and injected ones, or all elements
};

class FrameLocals {
 public:
  // `code`: null if it cannot be read; then compiled frames have no variables.
  FrameLocals(const ObjectModel& objects, const CodeCache* code)
      : objects_(objects), vm_(objects.classes().vm()), code_(code) {}

  // `type`: the first letter of the variable's descriptor. Of long and double `slot` is the first of the two.
  Result<LocalValue> value(const Frame& frame, std::uint32_t slot, char type) const;
  Result<TakenApart> taken_apart(const Frame& frame, std::uint32_t id) const;
  // For a target that runs on: reads the debug information and the constants of this frame's code now. Later they may
  // be gone. What value() gives is then of now, as far as the frame's own memory is; references are those of now.
  void keep(const Frame& frame);

 private:
  struct Scope {
    CodeBlob blob;
    ScopeVariables variables;
    // Of one that is kept: constants by their index, and the classes of the objects, by id.
    bool is_kept = false;
    std::map<std::int64_t, std::uint64_t> constants = {};
    std::map<std::uint32_t, Address> klasses = {};
  };
  Result<LocalValue> interpreted(const Frame& frame, std::uint32_t slot, char type) const;
  Result<LocalValue> compiled(const Frame& frame, std::uint32_t slot, char type) const;
  Result<Address> locals_of(const Frame& frame) const;
  Result<const Scope*> scope_of(const Frame& frame) const;
  Result<Scope> read_scope(const Frame& frame) const;
  void keep_constant(Scope& scope, const ScopeValue& value) const;
  Result<Address> klass_of(const Scope& scope, const ScopeObject& object) const;
  Result<LocalValue> resolve(const Frame& frame, const Scope& scope, const ScopeValue& value, char type) const;
  Result<LocalValue> object(const Frame& frame, const Scope& scope, std::uint32_t id) const;
  Result<std::uint64_t> word_of(const Frame& frame, const ScopeValue& value) const;
  Result<std::uint64_t> constant(const Scope& scope, std::int64_t index) const;
  Address reference_in(const Frame& frame, std::uint64_t word) const;
  Result<std::vector<JavaField>> fields_in_order(Address klass) const;

  const ObjectModel& objects_;
  const Vm& vm_;
  const CodeCache* code_;
  // Of the frame that was asked for last: one after the other, all variables of a frame are.
  mutable Address known_pc_ = 0;
  mutable FrameScope known_place_;
  mutable Scope known_;
  using Place = std::tuple<Address, std::uint32_t, std::uint32_t>;  // pc, locals, objects
  std::map<Place, Scope> kept_;
};

}  // namespace jtrace::coreinspect
