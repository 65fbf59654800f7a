// CodeRewriter: inserts callouts into one Code attribute (class_rewriter.h). Keeps its tables from method to method, so
// that a class needs few allocations. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/classfile/callout_methods.h"
#include "agent/classfile/class_rewriter.h"
#include "agent/classfile/constant_pool.h"
#include "agent/classfile/handler_use.h"
#include "agent/classfile/method_code.h"

namespace jtrace::agent::classfile {

// Indices of the constants that callouts need; 0: not made yet.
struct CalloutConstants {
  std::uint16_t owner = 0;
  std::uint16_t methods[kCalloutMethodCount] = {};
  std::uint16_t throwable = 0;        // class java/lang/Throwable
  std::uint16_t stack_map_table = 0;  // "StackMapTable"
};

class CodeRewriter {
 public:
  static constexpr std::uint32_t kLongestShort = 0x7fff;  // sipush

  CodeRewriter(const ClassFile& klass, std::string_view helper, CalleeNumbers callees, ConstantPool& pool)
      : klass_(klass), helper_(helper), callee_numbers_(callees), pool_(pool) {}

  // Appends the attribute with the callouts `wanted` to `out`, header included. If the result is not kRewritten,
  // nothing was appended.
  Outcome rewrite(const Method& method, std::uint32_t number, std::uint32_t wanted, Bytes& out);
  // After rewrite(): it was a constructor; no handler covers the call of super().
  bool open_start() const { return open_start_; }
  // After rewrite() with kCalloutNew: the number of `new` instructions without a callout.
  std::uint32_t unseen_news() const { return unseen_news_; }
  // After rewrite() with kCalloutCalls: the number of calls without callouts.
  std::uint32_t unseen_calls() const { return unseen_calls_; }

 private:
  // JVMS 4.10: class files from this version on are verified by frames.
  static constexpr std::uint16_t kFirstWithFrames = 50;

  bool read(const Method& method);
  bool find_tables();
  void plan_callouts(std::uint32_t number, std::uint32_t wanted);
  // Finds lines, new instructions and the call of the super constructor, as far as the wanted callouts need them.
  void find_places(std::uint32_t wanted);
  // By instruction: whether a handler starts there; empty if no callout needs it.
  std::vector<std::uint8_t> find_handler_starts(std::uint32_t wanted);
  void plan_prologue(std::uint32_t wanted);
  void plan_before(std::uint32_t instruction, std::uint32_t wanted, bool starts_handler);
  void plan_after(std::uint32_t instruction, std::uint32_t wanted);
  void plan_handlers(std::uint32_t wanted);
  void find_restarts();
  bool is_restart(std::uint32_t instruction) const;
  void find_lines();
  std::uint32_t line_at(std::uint32_t instruction) const;
  void find_super_call();
  void find_news();
  bool frames_allow_split() const;
  bool overwrites_this(const Instruction& each, bool any) const;
  Outcome lay_out();
  std::uint32_t new_length(const Instruction& each) const;
  void write_code(Bytes& out) const;
  void write_jump(Bytes& out, const Instruction& each) const;
  void write_switch(Bytes& out, const Instruction& each) const;
  void write_exception_table(Bytes& out) const;
  void cover(std::uint32_t from, std::uint32_t to, std::uint32_t handler, Bytes& out) const;
  // The length of the handlers' code.
  std::uint32_t handlers_size() const { return static_cast<std::uint32_t>(epilogue_.size()) * (splits_ ? 2u : 1u); }
  void write_handler_frames(std::int64_t last, Bytes& out) const;
  bool write_stack_map(Bytes& out) const;
  bool copy_frames(Reader& reader, std::uint32_t& count, std::int64_t& last, Bytes& out) const;
  bool copy_frame(Reader& reader, std::uint8_t tag, std::uint32_t delta, std::size_t& item, Bytes& out) const;
  bool copy_type(Reader& reader, Bytes& out) const;
  void write_lines(Bytes& out, const Attribute& table) const;
  void write_locals(Bytes& out, const Attribute& table) const;
  std::uint32_t table_pc(std::uint32_t old_pc) const;

  void push(Bytes& out, std::uint32_t value);
  static void push_short(Bytes& out, std::uint32_t value);
  // From -0x8000 to kLongestShort.
  static void push_signed(Bytes& out, std::int32_t value);
  void call(Bytes& out, CalloutMethod method);
  void entry_callout(Bytes& out, bool with_receiver);
  template <CalloutMethod kMethod>
  void object_callout(Bytes& out);
  void exception_callout(Bytes& out, CalloutMethod method, std::int32_t argument);
  void thrown_callout(Bytes& out, std::uint32_t instruction);
  void caught_callout(Bytes& out, std::uint32_t instruction);
  template <CalloutMethod kMethod>
  void receiver_callout(Bytes& out);
  void allocation_callout(Bytes& out, std::uint32_t instruction, bool with_site);
  void argument_callouts();
  void value_callout(Bytes& out, std::uint32_t type, std::uint32_t position);
  template <CalloutMethod kMethod>
  void number_callout(Bytes& out, std::uint32_t number);
  template <CalloutMethod kMethod>
  void number_callout(Bytes& out);
  void parking_callout(Bytes& out);
  void exit_callout(Bytes& out, std::uint32_t wanted);
  struct Callee {
    std::uint32_t number = 0;  // 0: it has none
    bool is_asked = false;
  };
  Callee* callee_of(const Instruction& each);

  const ClassFile& klass_;
  std::string_view helper_;
  CalleeNumbers callee_numbers_;
  ConstantPool& pool_;
  CalloutConstants constants_;
  std::vector<Callee> callees_;  // by constant of the class
  struct {
    std::uint32_t value = 0;
    std::uint16_t index = 0;  // 0: none was made
  } high_;                    // of the numbers that do not fit in sipush, which are close to each other

  // Of the current method.
  const Method* method_ = nullptr;
  std::uint32_t number_ = 0;
  MethodCode source_;
  ByteView code_;  // of source_, as are the next two
  std::vector<Instruction>& instructions_ = source_.instructions();
  const std::vector<MethodCode::Handler>& handlers_ = source_.handlers();
  std::vector<Attribute> line_tables_;
  std::vector<Attribute> local_tables_;
  Attribute stack_map_;
  HandlerUses handler_uses_;
  Bytes callouts_;
  Bytes prologue_;
  Bytes epilogue_;                    // the code of a handler of jtrace
  std::vector<std::uint32_t> lines_;  // by instruction: line that starts there, plus 1; empty if no callout needs it
  std::vector<std::uint32_t> news_;   // by instruction: the new that its invokespecial completes
  // Instructions: handlers that are started again after their callouts if these fail.
  std::vector<std::uint32_t> restarts_;
  std::uint32_t extra_stack_ = 0;
  std::uint32_t code_end_ = 0;  // new place after the last original instruction
  std::uint32_t super_call_ = kNoInstruction;
  bool guards_ = false;  // a handler of jtrace sees exceptions that leave
  bool splits_ = false;  // a constructor: a second handler, after the first, sees those that leave before super()
  bool open_start_ = false;
  std::uint32_t unseen_news_ = 0;
  std::uint32_t unseen_calls_ = 0;
};

}  // namespace jtrace::agent::classfile
