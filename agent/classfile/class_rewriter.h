// rewrite_class: inserts callouts into the code of a class file's methods.
//
// A callout is a call of a static method of the helper class with the method's number. Callouts never change locals,
// and change the operand stack only above its current contents. So frames, tables and handlers are only moved, not
// computed anew. Added are entries at the end of the exception table, with frames that describe no local but an
// uninitialized `this`. Pure functions over bytes; no JVM.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "agent/classfile/callout_methods.h"
#include "agent/classfile/class_file.h"

namespace jtrace::agent::classfile {

inline bool is_park(const ClassFile::Reference& callee) {
  return callee.name == "park" && callee.descriptor == "(ZJ)V" &&
         (callee.owner == "jdk/internal/misc/Unsafe" || callee.owner == "sun/misc/Unsafe");
}

// A site of an allocation, as an argument of a callout.
struct Site {
  std::uint16_t line = 0;       // 0: not known
  std::uint8_t code = 0;        // isArray of the object (trace.dtd: 0, 2, 4..11)
  std::uint8_t dimensions = 0;  // number of dimensions that are made at once (multianewarray; otherwise 0)

  constexpr std::uint32_t bits() const { return line | std::uint32_t{code} << 16 | std::uint32_t{dimensions} << 24; }
  static constexpr Site of(std::uint32_t bits) {
    return {static_cast<std::uint16_t>(bits), static_cast<std::uint8_t>(bits >> 16),
            static_cast<std::uint8_t>(bits >> 24)};
  }
};

enum class Outcome : std::uint8_t {
  kUntouched,  // nothing was asked for
  kRewritten,
  kReduced,     // too large with all callouts: MethodPlan.done has those that were inserted
  kNoCode,      // native or abstract
  kTooLarge,    // beyond 64 KiB of code even with the fewest callouts
  kJumpTooFar,  // a conditional jump would have to go further than 32 KiB
  kMalformed,   // its code is invalid
};
std::string_view to_text(Outcome outcome);

struct MethodPlan {
  std::uint32_t number = 0;    // the argument of its callouts
  std::uint32_t callouts = 0;  // wanted Callout bits
  // Set by rewrite_class():
  std::uint32_t done = 0;  // Callout bits that were inserted
  Outcome outcome = Outcome::kUntouched;
  bool open_start = false;  // a constructor: exceptions of super() that leave it are not seen
  // With kCalloutNew: the number of `new` without a callout, because the code between `new` and constructor is of no
  // known form.
  std::uint32_t unseen_news = 0;
  // With kCalloutCalls: the number of calls without one: invokedynamic, and callees without a number.
  std::uint32_t unseen_calls = 0;
};

// With kCalloutCalls: returns the number of a callee by the reference in an instruction; 0: its calls get no callouts.
struct CalleeNumbers {
  std::uint32_t (*number)(void* context, const ClassFile::Reference& callee, bool is_static) = nullptr;
  void* context = nullptr;
};

enum class ClassOutcome : std::uint8_t {
  kRewritten,
  kUntouched,  // no method has a callout
  kPoolFull,   // more than 65535 constants
  kMalformed,
};

// `plans`: one for each method of the class, in its order. `out` is the new class file if kRewritten is returned.
// `helper`: internal name of the helper class.
ClassOutcome rewrite_class(const ClassFile& klass, std::string_view helper, std::span<MethodPlan> plans, Bytes& out,
                           CalleeNumbers callees = {});

// The least and the greatest line of the method's line table, -1 if it has none.
struct LineRange {
  std::int32_t first = -1;
  std::int32_t last = -1;
};
LineRange line_range(const ClassFile& klass, const Method& method);
// Calls visit(internal name) for each class of the Exceptions attribute.
template <class Visit>
void for_each_exception(const ClassFile& klass, const Method& method, Visit visit) {
  if (method.exceptions.start == 0) return;
  Reader reader(klass.bytes().first(method.exceptions.data + method.exceptions.size), method.exceptions.data);
  const std::uint16_t count = reader.u2();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) visit(klass.class_name(reader.u2()));
}

}  // namespace jtrace::agent::classfile
