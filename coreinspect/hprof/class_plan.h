// ClassPlans: the records of each class in a heap dump, and how its instances are written: the fields in the order of
// the dump with their offsets in an object.
//
// Ownership: borrows the access; keeps what it has read. Threads: add() one at a time; find() from any once all
// classes are added. A class whose fields cannot be read is written without them and counted.
#pragma once

#include <unordered_map>
#include <vector>

#include "coreinspect/gc/heap_access.h"
#include "coreinspect/hprof/hprof_writer.h"

namespace jtrace::coreinspect {

struct FieldPlan {
  std::uint32_t offset = 0;
  std::uint8_t type = 2;
  bool redacted = false;  // written as 0
};

struct ClassPlan {
  Address klass = 0;
  Address mirror = 0;                // its identifier
  std::string name;                  // internal: "java/lang/String", "[I"
  std::uint32_t serial = 0;          // 1, 2, ...
  std::vector<FieldPlan> fields;     // its own, then its superclasses'
  std::uint32_t instance_bytes = 0;  // of the fields as they are written
  std::uint32_t injected_bytes = 0;  // of the fields that the VM adds, which are not written
};

// An Object[] with the string constants and call sites of the class; perhaps nothing else refers to them. 0 if it has
// none.
Address resolved_references(const Inspection& inspection, Address klass);

class ClassPlans {
 public:
  // `redacted`: without contents (redaction.h).
  explicit ClassPlans(const HeapAccess& access, bool redacted = false)
      : access_(access), inspection_(access.inspection()), redacted_(redacted) {}

  bool redacted() const { return redacted_; }

  // Adds the class and its superclasses; does nothing for a class that was added before.
  void add(Address klass);
  const ClassPlan* find(Address klass) const {
    const auto found = plans_.find(klass);
    return found == plans_.end() ? nullptr : &found->second;
  }
  const std::vector<Address>& order() const { return order_; }
  // UTF8 and LOAD_CLASS records of all.
  Result<> write_names(HprofWriter& writer) const;
  // CLASS_DUMP sub-record of one.
  void append_dump(const ClassPlan& plan, HprofWriter& writer, HprofBuffer& out) const;
  std::size_t broken() const { return broken_; }

 private:
  std::uint32_t injected_bytes(Address klass) const;
  void append_statics(const ClassPlan& plan, HprofWriter& writer, HprofBuffer& out) const;
  Address mirror_field(const ClassPlan& plan, std::string_view name) const;

  const HeapAccess& access_;
  const Inspection& inspection_;
  const bool redacted_;
  std::unordered_map<Address, ClassPlan> plans_;
  std::vector<Address> order_;
  std::size_t broken_ = 0;
};

}  // namespace jtrace::coreinspect
