#include "agent/methods/callout_code.h"

#include <algorithm>

#include "agent/methods/call_counts.h"
#include "agent/methods/callout_assembler.h"
#include "agent/methods/slow_callouts.h"
#include "trace/record/agent_classes.h"
#include "trace/record/layout.h"

namespace jtrace::agent {
namespace {

constexpr WritingCallout kEachCall[] = {{CalloutMethod::kEnter, record::RecordKind::kMethodEntry},
                                        {CalloutMethod::kExit, record::RecordKind::kMethodExit},
                                        {CalloutMethod::kLeave, record::RecordKind::kMethodUnwind},
                                        {CalloutMethod::kReceived, record::RecordKind::kEntryOf},
                                        {CalloutMethod::kConstructed, record::RecordKind::kReceiver},
                                        {CalloutMethod::kCalled, record::RecordKind::kCall},
                                        {CalloutMethod::kReturned, record::RecordKind::kReturn},
                                        {CalloutMethod::kBegin, record::RecordKind::kFrameBegin},
                                        {CalloutMethod::kEnd, record::RecordKind::kFrameEnd},
                                        {CalloutMethod::kHandled, record::RecordKind::kHandler}};

// Whether the class has the method for rewritten code.
constexpr bool is_made(CalloutCalls calls, CalloutMethod wanted) {
#define CALLOUT_NATIVE(method, function) \
  if (wanted == CalloutMethod::method) return true;
#define OWN_NATIVE(id, name, descriptor, function)
#include "agent/methods/callout_natives.def"
#undef CALLOUT_NATIVE
#undef OWN_NATIVE
  if (wanted == CalloutMethod::kLine || wanted == CalloutMethod::kCount) return true;
  if (calls == CalloutCalls::kSlow) {
    for (const WritingCallout& each : kSlowEnds)
      if (each.method == wanted) return true;
    return wanted == kSlowBegin || wanted == kSlowReceivers[0] || wanted == kSlowReceivers[1];
  }
  for (const WritingCallout& each : kEachCall)
    if (each.method == wanted) return true;
  return false;
}
template <CalloutCalls kCalls>
constexpr bool kIsWhole = classfile::has_methods_of(callout_options(kCalls),
                                                    [](CalloutMethod method) { return is_made(kCalls, method); });
static_assert(kIsWhole<CalloutCalls::kEach> && kIsWhole<CalloutCalls::kSlow>);

// Emits the methods of the class.
class Maker : public SlowCallouts {
 public:
  using SlowCallouts::SlowCallouts;

  classfile::Bytes make() {
    begin();
    if (style_.calls == CalloutCalls::kSlow) {
      add_slow_callouts();
    } else {
      for (const WritingCallout& each : kEachCall) add_callout(each.method, each.kind);
    }
    add_callout(CalloutMethod::kLine, record::RecordKind::kLine);
    add_count();
    return made_.finish();
  }

 private:
  void add_callout(CalloutMethod method, record::RecordKind kind) {
    const Arguments arguments = arguments_of(method);
    CodeBuilder code(made_.pool());
    const std::uint32_t size = record::size_of(kind, style_.cpu_time);
    if (arguments == kObject) identify(code, kind);
    const Local thread = thread_ids(code);
    take_cpu_time(code);
    find_chunk(code);
    const Misses misses = unless_it_has_room(code, size);
    const std::size_t write = code.bytes().size();
    write_record(code, kind, arguments, size);
    land(code, misses);
    take_chunk(code, thread);
    code.jump_back(classfile::kGoto, write);
    add_method(method, code);
  }

  // The chunk that the table has for the carrier.
  void find_chunk(CodeBuilder& code) {
    code.op2(kGetstatic, field_);
    code.op(kAconstNull);
    code.push_long(area_.table_address());
    code.op1(kLload, kCarrier);
    code.push_long(CalloutArea::kEntries - 1);
    code.op(kLand);
    code.op(kIconst3);
    code.op(kLshl);
    code.op(kLadd);
    code.op2(kInvokevirtual, get_long_);
    code.push_long(area_.base());
    code.op(kLadd);
    code.op1(kLstore, kHeader);
  }

  // Jumps that are taken if the chunk is another thread's or is full.
  struct Misses {
    std::size_t not_mine, switched, full;
  };
  Misses unless_it_has_room(CodeBuilder& code, std::uint32_t size) {
    const std::size_t not_mine = unless_same(code, offsetof(record::ChunkHeader, carrier), kCarrier);
    std::size_t switched = 0;
    if (facts_.virtual_threads) switched = unless_same(code, offsetof(record::ChunkHeader, current), kThread);
    load(code, kHeader, offsetof(record::ChunkHeader, committed));
    code.op(classfile::kDup2);
    code.op1(kLstore, kCommitted);
    code.push_long(facts_.chunk_size - size + 1);
    code.op(kLcmp);
    return {not_mine, switched, code.jump(kIfge)};
  }
  void land(CodeBuilder& code, const Misses& misses) {
    code.land(misses.not_mine);
    if (facts_.virtual_threads) code.land(misses.switched);
    code.land(misses.full);
  }

  void write_record(CodeBuilder& code, record::RecordKind kind, Arguments arguments, std::uint32_t size) {
    load(code, kHeader, offsetof(record::ChunkHeader, address));
    code.op(classfile::kDup2);
    code.op1(kLstore, kPlace);
    // The trace may end between any two of these instructions. Then the header reads as zeros
    // (unmap_pool() in agent_session.cpp), and there is no place to write.
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
  }

  // Asks the agent for a chunk with room; returns if no trace is running, or if there is none.
  void take_chunk(CodeBuilder& code, Local thread) {
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
    add_method(CalloutMethod::kCount, code);
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

  // Writes the first 8 bytes of the record: header_word() with the number and, in the flags, the line.
  void store_word(CodeBuilder& code, record::RecordKind kind, Arguments arguments, std::uint32_t slots) {
    push_address(code, kPlace, 0);
    code.op1(classfile::kIload, arguments == kNumber ? 0 : 1);
    code.op(kI2l);
    code.op1(classfile::kBipush, record::kNumberShift);
    code.op(kLshl);
    code.push_long(record::header_word(kind, static_cast<std::uint8_t>(slots)));
    code.op(kLor);
    if (arguments == kLine) {
      code.op1(classfile::kIload, 0);
      code.op(kI2l);
      code.op1(classfile::kBipush, record::kFlagsShift);
      code.op(kLshl);
      code.op(kLor);
    }
    code.op2(kInvokevirtual, put_long_);
  }
};

}  // namespace

// The number is the class's version. What a method writes, and where, is compiled into it.
std::string_view callout_class_name(CalloutStyle style) {
  static constexpr std::string_view kNames[] = {
      "java/lang/JTraceProbes11",        "java/lang/JTracePreciseProbes11",
      "java/lang/JTraceSlowProbes11",    "java/lang/JTracePreciseSlowProbes11",
      "java/lang/JTraceCpuProbes11",     "java/lang/JTracePreciseCpuProbes11",
      "java/lang/JTraceSlowCpuProbes11", "java/lang/JTracePreciseSlowCpuProbes11"};
  static_assert(std::all_of(std::begin(kNames), std::end(kNames),
                            [](std::string_view name) { return name.starts_with(trace::record::kAgentClassPrefix); }));
  return kNames[(style.time == CalloutTime::kPrecise ? 1 : 0) + (style.calls == CalloutCalls::kSlow ? 2 : 0) +
                (style.cpu_time ? 4 : 0)];
}

classfile::Bytes make_callout_class(CalloutStyle style, const CalloutClassFacts& facts, const CalloutArea& area) {
  return Maker(style, facts, area).make();
}

}  // namespace jtrace::agent
