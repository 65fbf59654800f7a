#include "agent/methods/probe_code.h"

#include "agent/classfile/class_builder.h"
#include "agent/classfile/probe_methods.h"
#include "trace/record/record_kinds.h"

namespace jtrace::agent {
namespace {

using classfile::ClassBuilder;
using classfile::CodeBuilder;
using classfile::ProbeMethod;

// Opcodes that only this file uses (JVMS 6.5).
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
constexpr unsigned kPublicStatic = 0x0009;
constexpr unsigned kPrivateStatic = 0x000a;

// The native methods that the generated code calls.
enum class OwnNative {
#define PROBE_NATIVE(method, function)
#define OWN_NATIVE(id, name, descriptor, function) id,
#include "agent/methods/probe_natives.def"
#undef PROBE_NATIVE
#undef OWN_NATIVE
};
struct NativeText {
  const char* name;
  const char* descriptor;
};
constexpr NativeText kOwnNatives[] = {
#define PROBE_NATIVE(method, function)
#define OWN_NATIVE(id, name, descriptor, function) {name, descriptor},
#include "agent/methods/probe_natives.def"
#undef PROBE_NATIVE
#undef OWN_NATIVE
};

// Emits the methods of the class.
class Maker {
 public:
  Maker(ProbeStyle style, const ProbeClassFacts& facts, const ProbeArea& area)
      : style_(style), facts_(facts), area_(area), made_(probe_class_name(style), "java/lang/Object") {
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
    enter_ = own(classfile::text_of(ProbeMethod::kEnter).name, classfile::text_of(ProbeMethod::kEnter).descriptor);
    received_ = own(OwnNative::kReceived);
    cpu_time_ = own(OwnNative::kCpuTime);
    const std::uint16_t thread = pool.klass("java/lang/Thread");
    current_ = pool.method(thread, "currentThread", "()Ljava/lang/Thread;");
    if (facts.virtual_threads) carrier_ = pool.method(thread, "currentCarrierThread", "()Ljava/lang/Thread;");
    if (style.time == ProbeTime::kPrecise) nano_time_ = pool.method(pool.klass("java/lang/System"), "nanoTime", "()J");
    force_inline_ =
        facts.internal_unsafe ? "Ljdk/internal/vm/annotation/ForceInline;" : "Ljava/lang/invoke/ForceInline;";
  }

  classfile::Bytes make() {
    CodeBuilder initializer(made_.pool());
    initializer.op2(classfile::kInvokestatic, get_unsafe_);
    initializer.op2(kPutstatic, field_);
    initializer.push_long(reinterpret_cast<std::uint64_t>(&area_));
    initializer.op2(kPutstatic, area_field_);
    initializer.op(classfile::kReturn);
    made_.add_method(0x0008, "<clinit>", "()V", 2, 0, initializer);
    add_natives();
    if (style_.calls == ProbeCalls::kSlow) {
      add_push();
      add_receiver(ProbeMethod::kReceived, true);
      add_receiver(ProbeMethod::kConstructed, false);
      add_pop(ProbeMethod::kExit, record::RecordKind::kMethodExit);
      add_pop(ProbeMethod::kLeave, record::RecordKind::kMethodUnwind);
    } else {
      add_probe(ProbeMethod::kEnter, record::RecordKind::kMethodEntry);
      add_probe(ProbeMethod::kExit, record::RecordKind::kMethodExit);
      add_probe(ProbeMethod::kLeave, record::RecordKind::kMethodUnwind);
      add_probe(ProbeMethod::kReceived, record::RecordKind::kEntryOf);
      add_probe(ProbeMethod::kConstructed, record::RecordKind::kReceiver);
      add_probe(ProbeMethod::kCalled, record::RecordKind::kCall);
      add_probe(ProbeMethod::kReturned, record::RecordKind::kReturn);
      add_probe(ProbeMethod::kBegin, record::RecordKind::kFrameBegin);
      add_probe(ProbeMethod::kEnd, record::RecordKind::kFrameEnd);
      add_probe(ProbeMethod::kHandled, record::RecordKind::kHandler);
    }
    add_probe(ProbeMethod::kLine, record::RecordKind::kLine);
    add_count();
    return made_.finish();
  }

 private:
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
  // The arguments of a probe.
  enum Arguments {
    kNumber,  // the method
    kLine,    // line, method
    kObject,  // receiver, method
  };

  static constexpr Arguments arguments_of(ProbeMethod method) {
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
#define PROBE_NATIVE(method, function)                                          \
  made_.add_native(kPublicStatic, classfile::text_of(ProbeMethod::method).name, \
                   classfile::text_of(ProbeMethod::method).descriptor);
#define OWN_NATIVE(id, name, descriptor, function) made_.add_native(kPrivateStatic, name, descriptor);
#include "agent/methods/probe_natives.def"
#undef PROBE_NATIVE
#undef OWN_NATIVE
  }
  void add_method(ProbeMethod method, const CodeBuilder& code) {
    const classfile::ProbeMethodText& text = classfile::text_of(method);
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

  void add_probe(ProbeMethod method, record::RecordKind kind) {
    const Arguments arguments = arguments_of(method);
    CodeBuilder code(made_.pool());
    const std::uint32_t size = record::size_of(kind, style_.cpu_time);
    if (arguments == kObject) identify(code, kind);
    const Local thread = thread_ids(code);
    take_cpu_time(code);
    // The thread's chunk.
    code.op2(kGetstatic, field_);
    code.op(kAconstNull);
    code.push_long(area_.table_address());
    code.op1(kLload, kCarrier);
    code.push_long(ProbeArea::kEntries - 1);
    code.op(kLand);
    code.op(kIconst3);
    code.op(kLshl);
    code.op(kLadd);
    code.op2(kInvokevirtual, get_long_);
    code.push_long(area_.base());
    code.op(kLadd);
    code.op1(kLstore, kHeader);
    const std::size_t not_mine = unless_same(code, offsetof(record::ChunkHeader, carrier), kCarrier);
    std::size_t switched = 0;
    if (facts_.virtual_threads) switched = unless_same(code, offsetof(record::ChunkHeader, current), kThread);
    load(code, kHeader, offsetof(record::ChunkHeader, committed));
    code.op(classfile::kDup2);
    code.op1(kLstore, kCommitted);
    code.push_long(facts_.chunk_size - size + 1);
    code.op(kLcmp);
    const std::size_t full = code.jump(kIfge);

    const std::size_t write = code.bytes().size();
    load(code, kHeader, offsetof(record::ChunkHeader, address));
    code.op(classfile::kDup2);
    code.op1(kLstore, kPlace);
    // The trace may end between any two of these instructions. Then the header reads as zeros
    // (AgentSession::unmap_pool), and there is no place to write.
    return_if_zero(code);
    code.op1(kLload, kPlace);
    code.op1(kLload, kCommitted);
    code.op(kLadd);
    code.op1(kLstore, kPlace);
    store_word(code, kind, arguments, size / record::kSlotSize);
    store_time(code);
    if (arguments == kObject) store_long(code, offsetof(record::ReceiverRecord, object), kObjectId);
    if (style_.cpu_time) store_long(code, offsetof(record::CpuTimeRecord, cpu_time), kCpuTime);
    push_address(code, kHeader, offsetof(record::ChunkHeader, committed));
    code.op1(kLload, kCommitted);
    code.push_long(size);
    code.op(kLadd);
    code.op2(kInvokevirtual, put_release_);
    code.op(classfile::kReturn);

    code.land(not_mine);
    if (facts_.virtual_threads) code.land(switched);
    code.land(full);
    // No trace is running: there is nothing to ask.
    load_at(code, area_.switch_address());
    return_if_zero(code);
    code.op1(kLload, kCarrier);
    code.op1(kLload, thread);
    code.op2(classfile::kInvokestatic, slow_);
    code.op(classfile::kDup2);
    code.op1(kLstore, kHeader);
    return_if_zero(code);
    load(code, kHeader, offsetof(record::ChunkHeader, committed));
    code.op1(kLstore, kCommitted);
    code.jump_back(classfile::kGoto, write);
    add_method(method, code);
  }

  // Adds one to the method's counter (call_counts.h): in the thread's own block if it has one, otherwise in the block
  // that threads share. If the thread's entry is still free, it asks for a block.
  void add_count() {
    CodeBuilder code(made_.pool());
    thread_id(code, facts_.virtual_threads ? carrier_ : current_, kCarrier);
    find_entry(code, area_.counts().entries_address(), CallCounts::kEntries, kCarrier);
    const std::size_t not_mine = unless_same(code, offsetof(CallCounts::Entry, owner), kCarrier);
    load(code, kHeader, offsetof(CallCounts::Entry, block));
    add_counter_offset(code);
    code.op1(kLstore, kPlace);
    push_address(code, kPlace, 0);
    load(code, kPlace, 0);
    code.op(kLconst1);
    code.op(kLadd);
    code.op2(kInvokevirtual, put_long_);
    code.op(classfile::kReturn);

    code.land(not_mine);
    load_at(code, area_.counts().shared_address());
    code.op(classfile::kDup2);
    code.op1(kLstore, kPlace);
    return_if_zero(code);
    push_address(code, kPlace, 0);
    add_counter_offset(code);
    code.op(kLconst1);
    code.op2(kInvokevirtual, get_and_add_);
    code.op(kPop2);
    load(code, kHeader, offsetof(CallCounts::Entry, owner));
    code.op(kLconst0);
    code.op(kLcmp);
    const std::size_t has_owner = code.jump(kIfne);
    code.op1(kLload, kCarrier);
    code.op2(classfile::kInvokestatic, uncounted_);
    code.land(has_owner);
    code.op(classfile::kReturn);
    add_method(ProbeMethod::kCount, code);
  }
  // Adds the offset of the method's counter to the block's address on the operand stack.
  void add_counter_offset(CodeBuilder& code) {
    code.op1(classfile::kIload, 0);
    code.op(kI2l);
    code.push_long(CallCounts::kMethods - 1);
    code.op(kLand);
    code.op(kIconst3);
    code.op(kLshl);
    code.op(kLadd);
  }

  // Writes the first 8 bytes of the record: kind, slots, flags (the line), number (event_record.h), in little endian,
  // which is how the machine lays out RecordHeader.
  void store_word(CodeBuilder& code, record::RecordKind kind, Arguments arguments, std::uint32_t slots) {
    push_address(code, kPlace, 0);
    code.op1(classfile::kIload, arguments == kNumber ? 0 : 1);
    code.op(kI2l);
    code.op1(classfile::kBipush, 32);
    code.op(kLshl);
    code.push_long(static_cast<std::uint64_t>(kind) | slots << 8);
    code.op(kLor);
    if (arguments == kLine) {
      code.op1(classfile::kIload, 0);
      code.op(kI2l);
      code.op1(classfile::kBipush, 16);
      code.op(kLshl);
      code.op(kLor);
    }
    code.op2(kInvokevirtual, put_long_);
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
    if (style_.time == ProbeTime::kPrecise) code.op2(classfile::kInvokestatic, nano_time_);
    else load_at(code, area_.clock_address());
  }

  // The slow probes. kHeader holds the thread's entry, then its stack; kCommitted the depth; kPlace a frame.
  static constexpr Local kStack = kHeader;
  static constexpr Local kDepth = kCommitted;

  void find_frame(CodeBuilder& code) {
    code.op1(kLload, kStack);
    code.push_long(offsetof(OpenCalls::Stack, frames));
    code.op(kLadd);
    code.op1(kLload, kDepth);
    static_assert(sizeof(OpenCalls::Frame) == 1u << 5);
    code.op(kIconst5);
    code.op(kLshl);
    code.op(kLadd);
    code.op1(kLstore, kPlace);
  }
  void store_depth(CodeBuilder& code) {
    push_address(code, kStack, 0);
    code.op1(kLload, kDepth);
    code.op2(kInvokevirtual, put_long_);
  }
  void add_to_depth(CodeBuilder& code, unsigned operation) {
    code.op1(kLload, kDepth);
    code.op(kLconst1);
    code.op(operation);
    code.op1(kLstore, kDepth);
  }
  std::size_t unless_deep(CodeBuilder& code) {  // returns the jump that is taken if the frame does not fit on the stack
    code.op1(kLload, kDepth);
    code.push_long(OpenCalls::kFrames);
    code.op(kLcmp);
    return code.jump(kIfge);
  }

  // A call begins: pushes its method and the time on the thread's stack.
  void add_push() {
    CodeBuilder code(made_.pool());
    const Local thread = thread_ids(code);
    take_cpu_time(code);
    find_entry(code, area_.open_calls().entries_address(), OpenCalls::kEntries, thread);
    const std::size_t not_mine = unless_same(code, offsetof(OpenCalls::Entry, owner), thread);
    load(code, kHeader, offsetof(OpenCalls::Entry, stack));
    code.op1(kLstore, kStack);
    const std::size_t push = code.bytes().size();
    load(code, kStack, offsetof(OpenCalls::Stack, depth));
    code.op1(kLstore, kDepth);
    const std::size_t deep = unless_deep(code);
    find_frame(code);
    push_address(code, kPlace, 0);
    code.op1(classfile::kIload, 0);
    code.op(kI2l);
    code.op2(kInvokevirtual, put_long_);
    store_time(code);
    push_address(code, kPlace, offsetof(OpenCalls::Frame, object));
    code.op(kLconst0);
    code.op2(kInvokevirtual, put_long_);
    if (style_.cpu_time) store_long(code, offsetof(OpenCalls::Frame, cpu_time), kCpuTime);
    const std::size_t count = code.bytes().size();
    add_to_depth(code, kLadd);
    store_depth(code);
    code.op(classfile::kReturn);

    // Calls that do not fit on the stack are only counted. Each 1024th asks again for room.
    static_assert((OpenCalls::kFrames & 1023) == 1023);
    code.land(deep);
    code.op1(kLload, kDepth);
    code.push_long(1023);
    code.op(kLand);
    code.push_long(1023);
    code.op(kLcmp);
    code.jump_back(kIfne, count);
    code.op1(kLload, kCarrier);
    code.op1(kLload, thread);
    code.op2(classfile::kInvokestatic, opened_);
    code.op(kLconst0);
    code.op(kLcmp);
    code.jump_back(classfile::kIfeq, count);
    code.jump_back(classfile::kGoto, push);

    code.land(not_mine);
    load_at(code, area_.switch_address());
    return_if_zero(code);
    code.op1(kLload, kCarrier);
    code.op1(kLload, thread);
    code.op2(classfile::kInvokestatic, opened_);
    code.op(classfile::kDup2);
    code.op1(kLstore, kStack);
    return_if_zero(code);
    code.jump_back(classfile::kGoto, push);
    add_method(ProbeMethod::kEnter, code);
  }

  // The receiver of a call that begins, or of a constructor that has just initialized its object. Native code stores it
  // in the call's frame.
  void add_receiver(ProbeMethod method, bool enters) {
    CodeBuilder code(made_.pool());
    if (enters) {
      code.op1(classfile::kIload, 1);
      code.op2(classfile::kInvokestatic, enter_);
    }
    load_at(code, area_.switch_address());
    return_if_zero(code);
    const Local thread = thread_ids(code);
    code.op(classfile::kAload0);
    code.op1(classfile::kIload, 1);
    code.op(classfile::kIconst0 + (enters ? 0u : 1u));
    code.op1(kLload, thread);
    code.op2(classfile::kInvokestatic, received_);
    code.op(classfile::kReturn);
    add_method(method, code);
  }

  // A call ends: pops it. If it took long, or is not the innermost one, native code handles it.
  void add_pop(ProbeMethod method, record::RecordKind kind) {
    CodeBuilder code(made_.pool());
    const Local thread = thread_ids(code);
    find_entry(code, area_.open_calls().entries_address(), OpenCalls::kEntries, thread);
    const std::size_t not_mine = unless_same(code, offsetof(OpenCalls::Entry, owner), thread);
    load(code, kHeader, offsetof(OpenCalls::Entry, stack));
    code.op1(kLstore, kStack);
    load(code, kStack, offsetof(OpenCalls::Stack, depth));
    code.op(classfile::kDup2);
    code.op1(kLstore, kDepth);
    return_if_zero(code);
    add_to_depth(code, kLsub);
    const std::size_t deep = unless_deep(code);
    find_frame(code);
    load(code, kPlace, offsetof(OpenCalls::Frame, method));
    code.op1(classfile::kIload, 0);
    code.op(kI2l);
    code.op(kLcmp);
    const std::size_t other = code.jump(kIfne);
    push_time(code);
    load(code, kPlace, offsetof(OpenCalls::Frame, start));
    code.op(kLsub);
    load_at(code, area_.open_calls().slower_than_address());
    code.op(kLcmp);
    const std::size_t late = code.jump(kIfge);
    code.land(deep);
    store_depth(code);
    if (facts_.virtual_threads) add_idle(code);
    code.land(not_mine);
    code.op(classfile::kReturn);

    code.land(other);
    code.land(late);
    code.op1(classfile::kIload, 0);
    code.op1(classfile::kBipush, static_cast<unsigned>(kind));
    code.op2(classfile::kInvokestatic, ended_);
    code.op(classfile::kReturn);
    add_method(method, code);
  }
  // A virtual thread without open calls gives its stack back, because there may be many virtual threads.
  void add_idle(CodeBuilder& code) {
    code.op1(kLload, kDepth);
    code.op(kLconst0);
    code.op(kLcmp);
    const std::size_t is_busy = code.jump(kIfne);
    code.op1(kLload, kCarrier);
    code.op1(kLload, kThread);
    code.op(kLcmp);
    const std::size_t is_virtual = code.jump(kIfne);
    code.op(classfile::kReturn);
    code.land(is_virtual);
    code.op1(kLload, kThread);
    code.op2(classfile::kInvokestatic, idle_);
    code.land(is_busy);
  }

  ProbeStyle style_;
  const ProbeClassFacts& facts_;
  const ProbeArea& area_;
  ClassBuilder made_;
  std::uint16_t get_unsafe_ = 0, get_long_ = 0, put_long_ = 0, put_release_ = 0, field_ = 0, area_field_ = 0, slow_ = 0,
                current_ = 0, carrier_ = 0, nano_time_ = 0, get_and_add_ = 0, uncounted_ = 0, opened_ = 0, ended_ = 0,
                idle_ = 0, identify_ = 0, enter_ = 0, received_ = 0, cpu_time_ = 0;
  std::string_view force_inline_;
};

}  // namespace

// The number is the class's version. What a method writes, and where, is compiled into it.
std::string_view probe_class_name(ProbeStyle style) {
  static constexpr std::string_view kNames[] = {
      "java/lang/JTraceProbes10",        "java/lang/JTracePreciseProbes10",
      "java/lang/JTraceSlowProbes10",    "java/lang/JTracePreciseSlowProbes10",
      "java/lang/JTraceCpuProbes10",     "java/lang/JTracePreciseCpuProbes10",
      "java/lang/JTraceSlowCpuProbes10", "java/lang/JTracePreciseSlowCpuProbes10"};
  return kNames[(style.time == ProbeTime::kPrecise ? 1 : 0) + (style.calls == ProbeCalls::kSlow ? 2 : 0) +
                (style.cpu_time ? 4 : 0)];
}

classfile::Bytes make_probe_class(ProbeStyle style, const ProbeClassFacts& facts, const ProbeArea& area) {
  return Maker(style, facts, area).make();
}

}  // namespace jtrace::agent
