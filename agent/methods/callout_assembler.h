// CalloutAssembler: the class that callouts call, while it is made: its constants, its native methods, and the
// sequences of instructions that its methods share. callout_code.cpp and slow_callouts.h add the methods. No JVM; one
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/classfile/callout_methods.h"
#include "agent/classfile/class_builder.h"
#include "agent/methods/callout_area.h"
#include "agent/methods/callout_code.h"
#include "trace/record/record_kinds.h"

namespace jtrace::agent {

using classfile::CalloutMethod;
using classfile::CodeBuilder;

// A method of the class that writes a record, and the record's kind.
struct WritingCallout {
  CalloutMethod method;
  record::RecordKind kind;
};

class CalloutAssembler {
 public:
  CalloutAssembler(CalloutStyle style, const CalloutClassFacts& facts, const CalloutArea& area)
      : style_(style), facts_(facts), area_(area), made_(callout_class_name(style), "java/lang/Object") {
    const std::string_view unsafe_name = facts.internal_unsafe ? "jdk/internal/misc/Unsafe" : "sun/misc/Unsafe";
    classfile::ConstantPool& pool = made_.pool();
    const std::uint16_t unsafe = pool.klass(unsafe_name);
    const std::string_view unsafe_type = facts.internal_unsafe ? "Ljdk/internal/misc/Unsafe;" : "Lsun/misc/Unsafe;";
    get_unsafe_ = pool.method(unsafe, "getUnsafe",
                              facts.internal_unsafe ? "()Ljdk/internal/misc/Unsafe;" : "()Lsun/misc/Unsafe;");
    get_long_ = pool.method(unsafe, "getLong", "(Ljava/lang/Object;J)J");
    put_long_ = pool.method(unsafe, "putLong", "(Ljava/lang/Object;JJ)V");
    put_release_ =
        pool.method(unsafe, facts.internal_unsafe ? "putLongRelease" : "putOrderedLong", "(Ljava/lang/Object;JJ)V");
    made_.add_field(0x001a, "U", unsafe_type);  // private static final
    field_ = pool.field(made_.this_class(), "U", unsafe_type);
    made_.add_field(0x001a, kAreaField, "J");
    area_field_ = pool.field(made_.this_class(), kAreaField, "J");
    get_and_add_ = pool.method(unsafe, "getAndAddLong", "(Ljava/lang/Object;JJ)J");
    slow_ = own(OwnNative::kSlow);
    uncounted_ = own(OwnNative::kUncounted);
    opened_ = own(OwnNative::kOpened);
    ended_ = own(OwnNative::kEnded);
    idle_ = own(OwnNative::kIdle);
    identify_ = own(OwnNative::kIdentify);
    enter_ = own(classfile::text_of(CalloutMethod::kEnter).name, classfile::text_of(CalloutMethod::kEnter).descriptor);
    received_ = own(OwnNative::kReceived);
    cpu_time_ = own(OwnNative::kCpuTime);
    const std::uint16_t thread = pool.klass("java/lang/Thread");
    current_ = pool.method(thread, "currentThread", "()Ljava/lang/Thread;");
    if (facts.virtual_threads) carrier_ = pool.method(thread, "currentCarrierThread", "()Ljava/lang/Thread;");
    if (style.time == CalloutTime::kPrecise)
      nano_time_ = pool.method(pool.klass("java/lang/System"), "nanoTime", "()J");
    force_inline_ =
        facts.internal_unsafe ? "Ljdk/internal/vm/annotation/ForceInline;" : "Ljava/lang/invoke/ForceInline;";
  }
  CalloutAssembler(const CalloutAssembler&) = delete;
  CalloutAssembler& operator=(const CalloutAssembler&) = delete;

 protected:
  // Opcodes that only these classes use (JVMS 6.5).
  enum : unsigned {
    kAconstNull = 1,
    kIconst3 = 6,
    kIconst4 = 7,
    kIconst5 = 8,
    kLconst0 = 9,
    kLconst1 = 10,
    kLload = 22,
    kLstore = 55,
    kLadd = 97,
    kLsub = 101,
    kLshl = 121,
    kLand = 127,
    kLor = 129,
    kI2l = 133,
    kLcmp = 148,
    kIfge = 156,
    kIfne = 154,
    kPop2 = 88,
    kGetstatic = 178,
    kPutstatic = 179,
    kInvokevirtual = 182,
  };
  static constexpr unsigned kPublicStatic = 0x0009;
  static constexpr unsigned kPrivateStatic = 0x000a;

  // The native methods that the generated code calls.
  enum class OwnNative {
#define CALLOUT_NATIVE(method, function)
#define OWN_NATIVE(id, name, descriptor, function) id,
#include "agent/methods/callout_natives.def"
#undef CALLOUT_NATIVE
#undef OWN_NATIVE
  };
  struct NativeText {
    const char* name;
    const char* descriptor;
  };
  static constexpr NativeText kOwnNatives[] = {
#define CALLOUT_NATIVE(method, function)
#define OWN_NATIVE(id, name, descriptor, function) {name, descriptor},
#include "agent/methods/callout_natives.def"
#undef CALLOUT_NATIVE
#undef OWN_NATIVE
  };

  // The first methods of the class file.
  void begin() {
    CodeBuilder initializer(made_.pool());
    initializer.op2(classfile::kInvokestatic, get_unsafe_);
    initializer.op2(kPutstatic, field_);
    initializer.push_long(reinterpret_cast<std::uint64_t>(&area_));
    initializer.op2(kPutstatic, area_field_);
    initializer.op(classfile::kReturn);
    made_.add_method(0x0008, "<clinit>", "()V", 2, 0, initializer);
    add_natives();
  }

  // Locals: the arguments (line or object, number) in 0 and 1, then these longs.
  enum Local : unsigned {
    kCarrier = 2,
    kThread = 4,
    kHeader = 6,
    kCommitted = 8,
    kPlace = 10,
    kObjectId = 12,
    kCpuTime = 14,
    kLocals = 16
  };
  // The arguments of a callout.
  enum Arguments {
    kNumber,  // the method
    kLine,    // line, method
    kObject,  // receiver, method
  };

  static constexpr Arguments arguments_of(CalloutMethod method) {
    if (classfile::takes(method, classfile::kTakesObject)) return kObject;
    return classfile::takes(method, classfile::kTakesLine) ? kLine : kNumber;
  }

  std::uint16_t own(const char* name, const char* descriptor) {
    return made_.pool().method(made_.this_class(), name, descriptor);
  }
  std::uint16_t own(OwnNative native) {
    const NativeText& text = kOwnNatives[static_cast<std::size_t>(native)];
    return own(text.name, text.descriptor);
  }
  void add_natives() {
#define CALLOUT_NATIVE(method, function)                                          \
  made_.add_native(kPublicStatic, classfile::text_of(CalloutMethod::method).name, \
                   classfile::text_of(CalloutMethod::method).descriptor);
#define OWN_NATIVE(id, name, descriptor, function) made_.add_native(kPrivateStatic, name, descriptor);
#include "agent/methods/callout_natives.def"
#undef CALLOUT_NATIVE
#undef OWN_NATIVE
  }
  void add_method(CalloutMethod method, const CodeBuilder& code) {
    const classfile::CalloutMethodText& text = classfile::text_of(method);
    made_.add_method(kPublicStatic, text.name, text.descriptor, 12, kLocals, code, force_inline_);
  }

  // The base (null) and the address + offset that Unsafe takes.
  void push_address(CodeBuilder& code, Local address, std::uint64_t offset) {
    code.op2(kGetstatic, field_);
    code.op(kAconstNull);
    code.op1(kLload, address);
    if (offset == 0) return;
    code.push_long(offset);
    code.op(kLadd);
  }
  void load(CodeBuilder& code, Local address, std::uint64_t offset) {  // getLong(null, address + offset)
    push_address(code, address, offset);
    code.op2(kInvokevirtual, get_long_);
  }
  void load_at(CodeBuilder& code, std::uint64_t address) {  // getLong(null, address)
    code.op2(kGetstatic, field_);
    code.op(kAconstNull);
    code.push_long(address);
    code.op2(kInvokevirtual, get_long_);
  }
  // Pops a long.
  void return_if_zero(CodeBuilder& code) {
    code.op(kLconst0);
    code.op(kLcmp);
    const std::size_t goes_on = code.jump(kIfne);
    code.op(classfile::kReturn);
    code.land(goes_on);
  }
  void thread_id(CodeBuilder& code, std::uint16_t getter, Local into) {
    code.op2(kGetstatic, field_);
    code.op2(classfile::kInvokestatic, getter);
    code.push_long(facts_.thread_id_offset);
    code.op2(kInvokevirtual, get_long_);
    code.op1(kLstore, into);
  }
  // Compares a field of the chunk's header with a local; returns the jump that is taken if they differ.
  std::size_t unless_same(CodeBuilder& code, std::uint64_t offset, Local local) {
    load(code, kHeader, offset);
    code.op1(kLload, local);
    code.op(kLcmp);
    return code.jump(kIfne);
  }

  // Loads the ids of the carrier and of the thread that runs on it; returns the local of the latter.
  Local thread_ids(CodeBuilder& code) {
    thread_id(code, facts_.virtual_threads ? carrier_ : current_, kCarrier);
    if (!facts_.virtual_threads) return kCarrier;
    thread_id(code, current_, kThread);
    return kThread;
  }
  // Stores the address of a thread's 16-byte entry in a table into kHeader.
  void find_entry(CodeBuilder& code, std::uint64_t table, std::uint64_t entries, Local thread) {
    code.push_long(table);
    code.op1(kLload, thread);
    code.push_long(entries - 1);
    code.op(kLand);
    code.op(kIconst4);
    code.op(kLshl);
    code.op(kLadd);
    code.op1(kLstore, kHeader);
  }

  // Gets the objId of the receiver by a native call, only while a trace is running.
  void identify(CodeBuilder& code, record::RecordKind kind) {
    load_at(code, area_.switch_address());
    return_if_zero(code);
    code.op(classfile::kAload0);
    code.op(classfile::kIconst0 + (kind == record::RecordKind::kReceiver ? 1u : 0u));
    code.op2(classfile::kInvokestatic, identify_);
    code.op1(kLstore, kObjectId);
  }

  // Gets the processor time of the thread by a native call, only while a trace is running. For a virtual thread it is
  // 0, because the kernel does not know the thread.
  void take_cpu_time(CodeBuilder& code) {
    if (!style_.cpu_time) return;
    load_at(code, area_.switch_address());
    return_if_zero(code);
    code.op(kLconst0);
    code.op1(kLstore, kCpuTime);
    std::size_t is_virtual = 0;
    if (facts_.virtual_threads) {
      code.op1(kLload, kCarrier);
      code.op1(kLload, kThread);
      code.op(kLcmp);
      is_virtual = code.jump(kIfne);
    }
    code.op2(classfile::kInvokestatic, cpu_time_);
    code.op1(kLstore, kCpuTime);
    if (facts_.virtual_threads) code.land(is_virtual);
  }

  void store_time(CodeBuilder& code) {
    push_address(code, kPlace, 8);
    push_time(code);
    code.op2(kInvokevirtual, put_long_);
  }
  void store_long(CodeBuilder& code, std::uint64_t offset, Local value) {  // of the record
    push_address(code, kPlace, offset);
    code.op1(kLload, value);
    code.op2(kInvokevirtual, put_long_);
  }
  void push_time(CodeBuilder& code) {
    if (style_.time == CalloutTime::kPrecise) code.op2(classfile::kInvokestatic, nano_time_);
    else load_at(code, area_.clock_address());
  }

  CalloutStyle style_;
  const CalloutClassFacts& facts_;
  const CalloutArea& area_;
  classfile::ClassBuilder made_;
  std::uint16_t get_unsafe_ = 0, get_long_ = 0, put_long_ = 0, put_release_ = 0, field_ = 0, area_field_ = 0, slow_ = 0,
                current_ = 0, carrier_ = 0, nano_time_ = 0, get_and_add_ = 0, uncounted_ = 0, opened_ = 0, ended_ = 0,
                idle_ = 0, identify_ = 0, enter_ = 0, received_ = 0, cpu_time_ = 0;
  std::string_view force_inline_;
};

}  // namespace jtrace::agent
