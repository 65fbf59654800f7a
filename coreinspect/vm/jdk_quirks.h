// What depends on the JDK version and is not in vmStructs: all of it is in this file.
//
// The users of each rule check it (Vm::self_test, the walkers' checks), so that an unknown version is detected and not
// misread. Word: 8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coreinspect/vm/machine_rules_aarch64.h"
#include "coreinspect/vm/machine_rules_x86_64.h"
#include "target/isa.h"

namespace jtrace::coreinspect {

struct JdkQuirks {
  // Of the target's machine (machine_rules_x86_64.h, machine_rules_aarch64.h).
  MachineRules machine;
  // UNSIGNED5 without zero bytes (since a version between 17 and 21): low limit 191, and each byte has 1 added.
  bool unsigned5_excludes_zero = false;
  // ObjectValue: a byte that says whether something refers to it comes before its class (debugInfo.cpp; JDK-8287061,
  // JDK 22).
  bool scope_objects_have_root = false;
  // The order in which ObjectValue has the fields (frame_locals.cpp). Seen in 8 to 21, and in 25 and 27.
  enum class FieldOrder : std::uint8_t { kByOffset, kUnknown, kDeclared };
  FieldOrder scope_field_order = FieldOrder::kByOffset;
  // ConstMethod::_flags: bit 0 has line numbers in all of 8 to 27 (constMethod.hpp, constMethodFlags.hpp).
  std::uint32_t const_method_has_linenumbers = 1;
  // Byte of CodeHeap::_segmap for a free segment (heap.hpp).
  std::uint8_t free_segment = 0xff;
  // JVMFlag::_type: C strings up to 11, numbers from 17.
  bool flag_type_is_text = false;
  // ObjectMonitor::_object has no type in the tables: an oop up to 11, a WeakHandle from 17 on (objectMonitor.hpp).
  bool untyped_roots_are_handles = true;
  // Method is native (JVM_ACC_NATIVE, jvm_constants.h).
  std::uint32_t access_native = 0x0100;
  std::uint32_t access_static = 0x0008;

  // RecordComponent: which of its u2 fields is the generic signature (recordComponent.hpp). It comes after name,
  // descriptor and (up to 21, no more in 25) the number of attributes.
  std::size_t record_generic_signature_word = 3;

  // Where the ZGC of JDK 11 has its mark stacks (ZMarkStackSpaceStart, zGlobals_linux_*.hpp); 0: anywhere.
  std::uint64_t z_mark_stacks = 0;

  // The slot of VM_Operation::type() in the vtables of operations, to name one without symbols; -1: not known
  // (vm_operations.hpp).
  int vm_operation_type_slot = -1;

  // A thread that has arrived at a safepoint waits for the Safepoint_lock, and its state is "in the VM" meanwhile
  // (SafepointSynchronize::block; before "Faster safepoints", JDK-8203469, JDK 13).
  bool arrived_thread_is_in_vm = false;

  // While a full collection runs, the bytecode pointers of interpreted frames are indices (frame::gc_prologue).
  bool full_collection_has_bcis = false;

  static JdkQuirks of(int feature, bool has_fieldinfo_stream, target::Isa isa = target::kNativeIsa) {
    JdkQuirks quirks;
    quirks.machine = isa == target::Isa::kAarch64 ? aarch64::machine_rules(feature) : x86_64::machine_rules(feature);
    quirks.unsigned5_excludes_zero = has_fieldinfo_stream;
    quirks.scope_objects_have_root = feature >= 22;
    quirks.full_collection_has_bcis = feature < 9;
    quirks.scope_field_order = feature < 22   ? FieldOrder::kByOffset
                               : feature < 25 ? FieldOrder::kUnknown
                                              : FieldOrder::kDeclared;
    quirks.untyped_roots_are_handles = feature >= 16;
    quirks.record_generic_signature_word = feature < 22 ? 3 : 2;
    quirks.flag_type_is_text = feature < 16;
    quirks.z_mark_stacks = feature == 11 ? 0x150000000000 : 0;
    quirks.arrived_thread_is_in_vm = feature < 13;
    quirks.vm_operation_type_slot = feature < 9 ? 6 : -1;
    return quirks;
  }
};

// Offsets in InstanceKlass that vmStructs does not have: 0 if there is none (instanceKlass.hpp). They follow from
// exported neighbours: _inner_classes and _source_debug_extension, _itable_len and _static_oop_field_count.
struct NestOffsets {
  std::uint64_t host_index = 0, members = 0, permitted = 0, record = 0;
  bool known = true;  // false: the layout of this version is not known

  static NestOffsets of(int feature, std::uint64_t inner, std::uint64_t extension, std::uint64_t itable_length,
                        std::uint64_t static_oop_count) {
    if (feature < 11) return {};
    NestOffsets offsets{.members = inner + 8};
    if (feature == 11 && extension == inner + 32) {
      offsets.host_index = inner + 16;
    } else if (feature >= 17 && extension == inner + 40 && static_oop_count == itable_length + 8) {
      offsets.host_index = itable_length + 4;
      offsets.permitted = inner + 24;
      offsets.record = inner + 32;
    } else {
      return {.known = false};
    }
    return offsets;
  }
};

}  // namespace jtrace::coreinspect
