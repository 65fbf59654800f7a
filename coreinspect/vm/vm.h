// Vm: one HotSpot in a target: its tables, version and flags, and reads of its structures by field name.
//
// The root of everything in coreinspect; uses no statics, no vtables, no debug information. Ownership: borrows the
// target, which must outlive it. Threads: one at a time (it caches pages of a live process). Errors: kNotAttachable
// (libjvm.so without tables, or not initialized), kMalformed, those of the memory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coreinspect/types/cached_memory.h"
#include "coreinspect/types/type_database.h"
#include "coreinspect/vm/jdk_quirks.h"
#include "target/target.h"

namespace jtrace::coreinspect {

// kMalformed: the target's memory at `at` is not what the tables promise.
Error malformed(std::string text, target::Address at);

struct VmFlag {
  std::string name;
  std::string type;  // "bool", "uintx", "ccstr"
  std::string value;
  int origin = 0;               // JVMFlagOrigin: 0 default, 1 command line, ...
  target::Address address = 0;  // of the variable
  std::string_view origin_name() const;
  // Its value is free text, not a number or a boolean.
  bool is_text() const { return type == "ccstr" || type == "ccstrlist"; }
};

class Vm {
 public:
  static Result<std::unique_ptr<Vm>> open(const target::Target& target);

  const target::Target& target() const { return target_; }
  const target::MemoryReader& memory() const { return *memory_; }
  // Outside of the heap there are references to objects here: HeapAccessOptions::roots.
  void note_root(Address start, std::uint64_t size = 8) const {
    if (cached_memory()) cached_memory()->note(start, size);
  }
  CachedMemory* cached_memory() const { return cached_.get(); }  // null for a core
  const TypeDatabase& types() const { return types_; }
  const JdkQuirks& quirks() const { return quirks_; }

  const std::string& release() const { return release_; }  // "17.0.15+6-Debian-1deb12u1", "25.504-b01" (8)
  int feature() const { return feature_; }                 // 8, 11, 17, ...
  std::string internal_info() const;                       // the banner of -Xinternalversion

  const std::vector<VmFlag>& flags() const { return flags_; }
  const VmFlag* flag(std::string_view name) const;
  bool flag_is_true(std::string_view name) const;
  std::string_view collector() const;  // "G1", "Serial", "Parallel", "Z", "Shenandoah", "Epsilon", "CMS", "unknown"
  std::string collector_text() const;  // the same as people call it: "ZGC", "Shenandoah"
  bool moves_while_running() const;    // the collector moves objects between its pauses too (ZGC, Shenandoah)

  // Notes on what this version does not support, or what failed a check; one line each.
  const std::vector<std::string>& warnings() const { return warnings_; }
  void warn(std::string text) { warnings_.push_back(std::move(text)); }

  // Values of fields by the name in the tables. A missing field is kMalformed with its name.
  template <class T>
  Result<T> read_field(Address object, std::string_view type, std::string_view name) const {
    const auto offset = types_.offset(type, name);
    if (!offset) return fail(no_field(type, name));
    return memory_->read<T>(object + *offset);
  }
  Result<Address> read_pointer(Address object, std::string_view type, std::string_view name) const {
    return read_field<Address>(object, type, name);
  }
  template <class T>
  Result<T> read_static(std::string_view type, std::string_view name) const {
    const auto variable = types_.variable(type, name);
    if (!variable) return fail(no_field(type, name));
    return memory_->read<T>(*variable);
  }
  Result<std::string> read_static_text(std::string_view type, std::string_view name) const;
  static Error no_field(std::string_view type, std::string_view name);

 private:
  explicit Vm(const target::Target& target);
  Result<> read_identity();
  Result<> read_flags();
  Result<VmFlag> read_flag(Address at, std::string_view type_name) const;
  Result<std::string> flag_value(Address at, std::string_view type) const;

  const target::Target& target_;
  std::unique_ptr<CachedMemory> cached_;
  const target::MemoryReader* memory_;
  TypeDatabase types_;
  JdkQuirks quirks_;
  std::string release_;
  int feature_ = 0;
  std::vector<VmFlag> flags_;
  std::vector<std::string> warnings_;
};

}  // namespace jtrace::coreinspect
