// FrameReferences: the objects to which the frames of a thread refer.
//
// A compiled frame at a call or at a poll refers to what its oop map names. All else is searched: every word (with
// compressed references, each half of one) that could be a reference counts, of
// - interpreted frames,
// - compiled frames elsewhere: a thread that runs was stopped at any instruction,
// - frames that were read while the thread ran,
// - registers that a stub has saved for the frame, and arguments that no frame has taken yet,
// - native frames of a thread that runs in Java, and what lies beyond the frames of a stack that cannot be read to the
//   end.
//
// A frame also keeps the class of its method, and the constants in its code: one frame has them for all.
//
// A walk over the heap keeps of these what is the address of an object. Borrows access and code. Threads: one at a
// time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "coreinspect/gc/heap_access.h"
#include "coreinspect/unwind/java_walker.h"

namespace jtrace::coreinspect {

struct FrameReference {
  Address object = 0;
  std::uint32_t frame = 0;  // index among the frames that have a method; 0 too if there are none
};

class FrameReferences {
 public:
  FrameReferences(const HeapAccess& access, const CodeCache* code);

  struct Stack {
    Address stack_base = 0;                              // its end; 0: the frames are in the heap
    const target::ThreadRegisters* registers = nullptr;  // of a thread that runs in Java
  };
  // Of all frames of a walk.
  std::vector<FrameReference> of(const Walk& walk, const Stack& stack);
  // Whether an address can be one of an object.
  bool in_heap(Address at) const { return at >= low_ && at < high_ && at % 8 == 0; }

 private:
  using OopMap = std::optional<std::vector<OopPlace>>;  // nothing: the place has none

  void add_registers(const target::ThreadRegisters& thread);
  void add_word(std::uint64_t word, bool narrow);
  void add_code(const Frame& frame);
  void add_interpreted(const Frame& frame);
  void add_compiled(const Walk& walk, std::size_t at);
  bool has_taken_arguments(const Walk& walk, std::size_t at) const;
  void search_around(const Walk& walk, const Stack& stack);
  const OopMap& oop_map_at(Address pc);
  const OopMap& oop_map_of(const Frame& frame);
  bool is_saved(const OopPlace& place) const;  // by the stub that the frame has called
  bool add_mapped(const Frame& frame, const std::vector<OopPlace>& map);
  bool add_place(const Frame& frame, const OopPlace& place);
  void search_compiled(const Frame& frame);
  void search(Address start, Address end, bool narrow);
  void search_all(Address start, Address end);
  bool add_wide(std::uint64_t raw);
  bool add_narrow(std::uint32_t narrow);
  bool add(Address object);
  Result<Address> slot(Address fp, int words) const;

  const HeapAccess& access_;
  const ObjectModel& objects_;
  const Vm& vm_;
  const CodeCache* code_;
  Address low_ = UINT64_MAX, high_ = 0;    // of the used heap
  std::map<Address, OopMap> maps_;         // by pc
  std::set<Address> holders_, code_seen_;  // classes and compiled methods whose own references are in already
  std::vector<FrameReference> found_;
  std::set<std::pair<std::uint32_t, Address>> known_;  // frames and objects of found_
  // Of the frame that is being read.
  std::uint32_t frame_ = 0;
  FrameOops oops_ = FrameOops::kPlain;
  bool is_mapped_ = true;  // the last compiled frame, by its oop map
};

}  // namespace jtrace::coreinspect
