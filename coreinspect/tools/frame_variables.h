// FrameVariables: the local variables of the frames of a snapshot, as text.
//
// The variables are those of the method's LocalVariableTable; of a method without one the arguments, by their slots. A
// value that is not known has the reason instead. Of a live JVM references count only as long as no collection has
// moved objects since the stop: settle(). Borrows the inspection. Threads: one at a time.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "coreinspect/gc/heap_layout.h"
#include "coreinspect/tools/secrets.h"
#include "coreinspect/tools/thread_snapshot.h"
#include "coreinspect/unwind/frame_locals.h"

namespace jtrace::coreinspect {

struct FrameVariable {
  std::string name;       // of an element "[3]"; "slot 3" where the class has no name
  std::string type;       // as Java writes it
  std::string value;      // numbers; strings in quotes; other objects as class@address; null
  std::string readable;   // what text shows in place of `value`: of strings and chars with escapes, as Java's
                          // source has them; of constants, boxes and the like what they are; sizes
  std::uint32_t cut = 0;  // of a string that is shown in part: how many characters it has
  std::string missing;    // why there is no value; "" if there is one
  bool refers = false;    // the value is a reference to an object of the heap
  bool masked = false;    // the value is a secret, and not shown
  bool apart = false;     // an object that the compiler has taken apart: `parts`
  std::vector<FrameVariable> parts;  // its fields or elements
  // Of an object of a core, unless its class is the JDK's: its first fields, as text.
  std::vector<std::pair<std::string, std::string>> fields;
};

class FrameVariables {
 public:
  FrameVariables(const Inspection& inspection, bool show_secrets);

  // Reads those of all Java frames of a walk. `headers`: of the stop, or null.
  void add(const Walk& walk, const HeadersAtStop* headers);
  // To be called when all are read: why objects may be elsewhere by now; "" if they are not. Returns how many values
  // are not known for that.
  std::size_t settle(const std::string& why);
  // Null for a frame that was not added, or is none of Java.
  const std::vector<FrameVariable>* of(const Frame& frame) const;
  void append_text(std::string& out, const Frame& frame) const;
  void write(JsonWriter& json, const Frame& frame) const;
  std::size_t masked() const;  // values that are shown, but for their text

 private:
  std::vector<FrameVariable> read(const Frame& frame);
  FrameVariable variable(const Frame& frame, std::string name, const std::string& type, const Result<LocalValue>& value,
                         int depth);
  void put_object(FrameVariable& variable, Address object, const std::string& type);
  void put_readable(FrameVariable& variable, Address object);
  void put_fields(FrameVariable& variable, Address object, Address klass);
  // `characters`: how many the whole string has.
  void put_text(FrameVariable& variable, std::string text, std::uint32_t characters);
  struct Text {
    std::string text;
    std::uint32_t characters = 0;  // of the whole
  };
  std::optional<Text> text_of(const TakenApart& string) const;
  void put_apart(FrameVariable& variable, const Frame& frame, std::uint32_t id, int depth);
  bool can_be_in(Address klass, const std::string& declared) const;
  bool is_in_heap(Address object) const;

  const Inspection& inspection_;
  const FrameLocals locals_;
  const HeadersAtStop* headers_ = nullptr;
  SecretMask mask_;
  std::map<const Frame*, std::vector<FrameVariable>> frames_;
  std::vector<AddressRange> regions_;  // of the heap; empty: not known
};

}  // namespace jtrace::coreinspect
