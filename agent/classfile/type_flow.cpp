#include "agent/classfile/type_flow.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace jtrace::agent::classfile {
namespace {

constexpr std::size_t kMostKept = std::size_t{1} << 22;  // places in all states: 16 MiB

// Opcodes that only this file uses (JVMS 6.5).
enum : std::uint8_t {
  kLdcOp = 18,
  kAaload = 50,
  kLastStore = 58,
  kLastShortLoad = 45,
  kLastLoad = 25,
  kSwap = 95,
  kGetstatic = 178,
  kPutfield = 181,
  kCheckcast = 192,
  kIinc = 132,
};

// What an instruction pops and pushes: I J F D, A a reference, N null. Null pointer: handled by a rule of its own.
// clang-format off
constexpr const char* kEffects[202] = {
    ">", ">N", ">I", ">I", ">I", ">I", ">I", ">I", ">I", ">J", ">J", ">F", ">F", ">F", ">D", ">D",  // 0
    ">I", ">I", nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,             // 16: ldc, loads
    nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,       // 26
    nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,       // 36
    "AI>I", "AI>J", "AI>F", "AI>D", nullptr, "AI>I", "AI>I", "AI>I",                                // 46: from arrays
    nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,       // 54: stores
    nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,       // 64
    nullptr, nullptr, nullptr, nullptr, nullptr,                                                    // 74
    "AII>", "AIJ>", "AIF>", "AID>", "AIA>", "AII>", "AII>", "AII>",                                 // 79: into arrays
    nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,                // 87: pop to swap
    "II>I", "JJ>J", "FF>F", "DD>D", "II>I", "JJ>J", "FF>F", "DD>D", "II>I", "JJ>J", "FF>F", "DD>D", // 96: add, sub, mul
    "II>I", "JJ>J", "FF>F", "DD>D", "II>I", "JJ>J", "FF>F", "DD>D", "I>I", "J>J", "F>F", "D>D",     // 108: div, rem, neg
    "II>I", "JI>J", "II>I", "JI>J", "II>I", "JI>J",                                                 // 120: shifts
    "II>I", "JJ>J", "II>I", "JJ>J", "II>I", "JJ>J", ">",                                            // 126: and, or, xor, iinc
    "I>J", "I>F", "I>D", "J>I", "J>F", "J>D", "F>I", "F>J", "F>D", "D>I", "D>J", "D>F",             // 133: conversions
    "I>I", "I>I", "I>I", "JJ>I", "FF>I", "FF>I", "DD>I", "DD>I",                                    // 145: i2b to dcmpg
    "I>", "I>", "I>", "I>", "I>", "I>", "II>", "II>", "II>", "II>", "II>", "II>", "AA>", "AA>",     // 153: ifs
    ">", nullptr, nullptr, "I>", "I>",                                                              // 167: goto, jsr, ret, switches
    "I>", "J>", "F>", "D>", "A>", ">",                                                              // 172: returns
    nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,                // 178: fields, calls
    nullptr, nullptr, nullptr, "A>I", "A>", nullptr, "A>I", "A>", "A>", nullptr, nullptr,           // 187: new to multianewarray
    "A>", "A>", ">", nullptr,                                                                       // 198: ifnull, ifnonnull, goto_w, jsr_w
};
// clang-format on

// By iload + kind, istore + kind.
constexpr Type kKinds[] = {kTypeInt, kTypeLong, kTypeFloat, kTypeDouble, kTypeObject};

Type kind_of(char letter) {
  switch (letter) {
    case 'I': return kTypeInt;
    case 'J': return kTypeLong;
    case 'F': return kTypeFloat;
    case 'D': return kTypeDouble;
    case 'N': return kTypeNull;
    default: return kTypeObject;
  }
}

void trim(std::vector<Type>& locals) {
  while (!locals.empty() && locals.back() == kTypeTop) locals.pop_back();
}

}  // namespace

// --- the flow --------------------------------------------------------------------------------------------------------

bool TypeFlow::run(const Method& method, const MethodCode& code) {
  code_ = &code;
  const std::size_t count = code.instructions().size();
  starts_block_.assign(count, false);
  reached_.assign(count, false);
  queued_.assign(count, false);
  queue_.clear();
  state_at_.assign(count, kNoState);
  states_.clear();
  kept_ = 0;
  if (!find_block_starts() || !set_start(method)) return false;
  load(start_);
  if (!flow_to(0)) return false;
  while (!queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    const std::uint32_t next = queue_.back();
    queue_.pop_back();
    queued_[next] = false;
    load(states_[state_at_[next]]);
    if (!run_block(next)) return false;
  }
  return true;
}

// Where handlers begin and end to be in charge a block starts too: within a block they are the same.
bool TypeFlow::find_block_starts() {
  const std::vector<Instruction>& all = code_->instructions();
  for (const Instruction& each : all)
    if (!code_->for_each_target(each, [&](std::uint32_t target) { start_block_at(target); })) return false;
  for (const MethodCode::Handler& handler : code_->handlers()) {
    start_block_at(code_->index_at(handler.start));
    start_block_at(code_->index_at(handler.target));
    if (const std::uint32_t end = code_->index_at(handler.end); end < all.size()) start_block_at(end);
  }
  return true;
}

bool TypeFlow::set_start(const Method& method) {
  start_ = {};
  if ((method.access & kAccStatic) == 0)
    start_.locals.push_back(method.is_constructor() && klass_.name() != "java/lang/Object"
                                ? Type{kTypeUninitializedThis}
                                : types_.this_class());
  std::string_view text = method.descriptor;
  if (text.empty() || text.front() != '(') return false;
  text.remove_prefix(1);
  while (!text.empty() && text.front() != ')') {
    const Type type = types_.of_descriptor(text);
    if (type == kTypeTop) return false;
    start_.locals.push_back(type);
    if (is_wide_type(type)) start_.locals.push_back(kTypeSecond);
  }
  return start_.locals.size() <= code_->max_locals();
}

void TypeFlow::load(const Frame& frame) {
  locals_ = frame.locals;
  locals_.resize(code_->max_locals(), kTypeTop);
  stack_ = frame.stack;
}

bool TypeFlow::run_block(std::uint32_t first) {
  const std::vector<Instruction>& all = code_->instructions();
  locals_changed_ = true;  // the handlers have not seen these locals yet
  for (std::uint32_t i = first;; ++i) {
    const Instruction& each = all[i];
    reached_[i] = true;
    if (locals_changed_ && !flow_to_handlers(each)) return false;
    locals_changed_ = initialized_ = false;
    if (!step(each)) return false;
    // An exception of the constructor finds what it initialized as the code after it does (so the JVM checks it).
    if (initialized_ && !flow_to_handlers(each)) return false;
    bool flows = true;
    code_->for_each_target(each, [&](std::uint32_t target) { flows = flow_to(target) && flows; });
    if (!flows) return false;
    if (MethodCode::ends_flow(each)) return true;
    if (i + 1 == all.size()) return false;
    if (starts_block_[i + 1]) return flow_to(i + 1);
  }
}

bool TypeFlow::flow_to_handlers(const Instruction& at) {
  for (const MethodCode::Handler& handler : code_->handlers()) {
    if (at.old_pc < handler.start || at.old_pc >= handler.end) continue;
    const Type caught = handler.type == 0 ? types_.object("java/lang/Throwable") : types_.of_class(handler.type);
    if (caught == kTypeTop || !flow_to(code_->index_at(handler.target), {caught})) return false;
  }
  return true;
}

bool TypeFlow::flow_to(std::uint32_t index) { return flow_to(index, stack_); }

bool TypeFlow::flow_to(std::uint32_t index, const std::vector<Type>& stack) {
  bool changed = false;
  if (state_at_[index] == kNoState) {
    state_at_[index] = static_cast<std::uint32_t>(states_.size());
    states_.push_back({locals_, stack});
    trim(states_.back().locals);
    kept_ += states_.back().locals.size() + stack.size();
    if (kept_ > kMostKept) return false;
    changed = true;
  } else {
    Frame& state = states_[state_at_[index]];
    if (state.stack.size() != stack.size() || !merge_into(state.stack, stack, changed)) return false;
    merge_into(state.locals, locals_, changed);
    trim(state.locals);
  }
  if (!changed || queued_[index]) return true;
  queued_[index] = true;
  queue_.push_back(index);
  std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
  return true;
}

// False: a merged type cannot be used, which is allowed for locals and not for the stack.
bool TypeFlow::merge_into(std::vector<Type>& into, const std::vector<Type>& from, bool& changed) {
  bool usable = true;
  for (std::size_t i = 0; i < into.size(); ++i) {
    const Type merged = types_.merge(into[i], from[i]);
    usable = usable && merged != kTypeTop;
    if (merged == into[i]) continue;
    into[i] = merged;
    changed = true;
    // Half of a long is nothing.
    if (merged == kTypeTop && i + 1 < into.size() && into[i + 1] == kTypeSecond) into[i + 1] = kTypeTop;
    if (merged == kTypeTop && i > 0 && is_wide_type(into[i - 1])) into[i - 1] = kTypeTop;
  }
  return usable;
}

// --- the stack and the locals ----------------------------------------------------------------------------------------

void TypeFlow::push(Type type) {
  stack_.push_back(type);
  if (is_wide_type(type)) stack_.push_back(kTypeSecond);
}

bool TypeFlow::pop(Type kind) {
  if (is_wide_type(kind)) {
    if (stack_.empty() || stack_.back() != kTypeSecond) return false;
    stack_.pop_back();
  }
  if (stack_.empty()) return false;
  const Type top = stack_.back();
  stack_.pop_back();
  return kind == kTypeObject ? is_reference(top) : top == kind;
}

bool TypeFlow::pop_reference(Type& type) {
  if (stack_.empty()) return false;
  type = stack_.back();
  stack_.pop_back();
  return is_reference(type);
}

bool TypeFlow::load_local(Type kind, std::uint32_t local) {
  if (local >= locals_.size()) return false;
  const Type type = locals_[local];
  if (kind == kTypeObject ? !is_reference(type) : type != kind) return false;
  push(type);
  return true;
}

bool TypeFlow::store_local(Type kind, std::uint32_t local) {
  if (std::size_t{local} + (is_wide_type(kind) ? 1 : 0) >= locals_.size()) return false;
  if (kind != kTypeObject) {
    if (!pop(kind)) return false;
    set_local(local, kind);
    if (is_wide_type(kind)) set_local(local + 1, kTypeSecond);
  } else {
    Type type = kTypeTop;
    if (!pop_reference(type)) return false;
    set_local(local, type);
  }
  locals_changed_ = true;
  return true;
}

void TypeFlow::set_local(std::uint32_t local, Type type) {
  if (locals_[local] == kTypeSecond && type != kTypeSecond) locals_[local - 1] = kTypeTop;
  if (is_wide_type(locals_[local]) && local + 1 < locals_.size()) locals_[local + 1] = kTypeTop;
  locals_[local] = type;
}

// --- instructions ----------------------------------------------------------------------------------------------------

bool TypeFlow::apply(const char* effect) {
  const char* arrow = std::strchr(effect, '>');
  for (const char* each = arrow; each != effect; --each)
    if (!pop(kind_of(each[-1]))) return false;
  for (const char* each = arrow + 1; *each != '\0'; ++each) push(kind_of(*each));
  return true;
}

bool TypeFlow::step(const Instruction& each) {
  const std::uint8_t op = each.op;
  const std::uint8_t* at = &code_->code()[each.old_pc];
  if (op < std::size(kEffects) && kEffects[op] != nullptr) return apply(kEffects[op]);
  if (op == kLdcOp) return step_constant(at[1], false);
  if (op == kLdcW || op == kLdc2W) return step_constant(u2_at(at + 1), op == kLdc2W);
  if (op >= kIload && op <= kLastLoad) return load_local(kKinds[op - kIload], at[1]);
  if (op >= kIload0 && op <= kLastShortLoad) return load_local(kKinds[(op - kIload0) / 4], (op - kIload0) % 4u);
  if (op >= kIstore && op <= kLastStore) return store_local(kKinds[op - kIstore], at[1]);
  if (op >= kIstore0 && op <= kLastShortStore) return store_local(kKinds[(op - kIstore0) / 4], (op - kIstore0) % 4u);
  if (op >= kPop && op <= kSwap) return step_stack(op);
  if (op >= kGetstatic && op <= kPutfield) return step_field(each);
  if (op >= kInvokevirtual && op <= kInvokedynamic) return step_invoke(each);
  if (op == kWide) return step_wide(each);
  return step_new(each);
}

bool TypeFlow::step_constant(std::uint16_t index, bool is_wide) {
  Type type = kTypeTop;
  switch (klass_.tag(index)) {
    case kTagInteger: type = kTypeInt; break;
    case kTagFloat: type = kTypeFloat; break;
    case kTagLong: type = kTypeLong; break;
    case kTagDouble: type = kTypeDouble; break;
    case kTagString: type = types_.object("java/lang/String"); break;
    case kTagClass: type = types_.object("java/lang/Class"); break;
    case kTagMethodHandle: type = types_.object("java/lang/invoke/MethodHandle"); break;
    case kTagMethodType: type = types_.object("java/lang/invoke/MethodType"); break;
    case kTagDynamic: {
      std::string_view text = klass_.reference(index).descriptor;
      type = types_.of_descriptor(text);
      break;
    }
    default: break;
  }
  if (type == kTypeTop || is_wide_type(type) != is_wide) return false;
  push(type);
  return true;
}

bool TypeFlow::step_wide(const Instruction& each) {
  const std::uint8_t* at = &code_->code()[each.old_pc];
  if (at[1] >= kIload && at[1] <= kLastLoad) return load_local(kKinds[at[1] - kIload], u2_at(at + 2));
  if (at[1] >= kIstore && at[1] <= kLastStore) return store_local(kKinds[at[1] - kIstore], u2_at(at + 2));
  return at[1] == kIinc;
}

// pop, pop2, dup..., swap: places are moved, whatever they hold (JVMS 6.5).
bool TypeFlow::step_stack(std::uint8_t op) {
  struct Rule {
    std::uint8_t taken;
    const char* put;  // places that are put back, 1 the topmost that was taken
  };
  static constexpr Rule kRules[] = {{1, ""},     {2, ""},      {1, "11"},     {2, "121"}, {3, "1321"},
                                    {2, "2121"}, {3, "21321"}, {4, "214321"}, {2, "12"}};
  const Rule& rule = kRules[op - kPop];
  if (stack_.size() < rule.taken) return false;
  Type taken[4] = {};
  for (std::size_t i = 0; i < rule.taken; ++i) {
    taken[i] = stack_.back();
    stack_.pop_back();
  }
  for (const char* each = rule.put; *each != '\0'; ++each) stack_.push_back(taken[*each - '1']);
  return true;
}

bool TypeFlow::step_field(const Instruction& each) {
  std::string_view text = klass_.reference(u2_at(&code_->code()[each.old_pc + 1])).descriptor;
  const Type type = types_.of_descriptor(text);
  if (type == kTypeTop) return false;
  const bool is_put = (each.op - kGetstatic) % 2 == 1;
  const bool has_receiver = each.op >= kGetstatic + 2;
  if (is_put && !pop(tag_of(type))) return false;
  if (has_receiver && !pop(kTypeObject)) return false;
  if (!is_put) push(type);
  return true;
}

bool TypeFlow::step_invoke(const Instruction& each) {
  const ClassFile::Reference callee = klass_.reference(u2_at(&code_->code()[each.old_pc + 1]));
  std::string_view text = callee.descriptor;
  if (text.empty() || text.front() != '(') return false;
  text.remove_prefix(1);
  TypeTag arguments[256];
  std::size_t count = 0;
  while (!text.empty() && text.front() != ')') {
    const Type type = types_.of_descriptor(text);
    if (type == kTypeTop || count == std::size(arguments)) return false;
    arguments[count++] = tag_of(type);
  }
  if (text.empty()) return false;
  while (count > 0)
    if (!pop(arguments[--count])) return false;
  if (each.op != kInvokestatic && each.op != kInvokedynamic) {
    Type receiver = kTypeTop;
    if (!pop_reference(receiver)) return false;
    if (callee.name == "<init>" && !initialize(receiver)) return false;
  }
  text.remove_prefix(1);
  if (text == "V") return true;
  const Type result = types_.of_descriptor(text);
  if (result == kTypeTop) return false;
  push(result);
  return true;
}

// What a constructor was called on is an object from here on, wherever it lies.
bool TypeFlow::initialize(Type what) {
  Type made = types_.this_class();
  if (tag_of(what) == kTypeUninitialized) made = types_.of_class(u2_at(&code_->code()[payload_of(what) + 1]));
  else if (what != kTypeUninitializedThis) return false;
  std::replace(locals_.begin(), locals_.end(), what, made);
  std::replace(stack_.begin(), stack_.end(), what, made);
  initialized_ = true;
  return true;
}

bool TypeFlow::step_new(const Instruction& each) {
  const std::uint8_t* at = &code_->code()[each.old_pc];
  Type type = kTypeTop;
  switch (each.op) {
    case kAaload:
      if (!pop(kTypeInt) || !pop_reference(type)) return false;
      type = types_.element_of(type);
      break;
    case kNew:
      if (types_.of_class(u2_at(at + 1)) == kTypeTop) return false;
      type = uninitialized_at(each.old_pc);
      // An object that this instruction made in an earlier turn and that is not initialized cannot be used any more.
      if (std::find(stack_.begin(), stack_.end(), type) != stack_.end()) return false;
      std::replace(locals_.begin(), locals_.end(), type, Type{kTypeTop});
      locals_changed_ = true;
      break;
    case kNewarray: {
      static constexpr const char* kArrays[] = {"[Z", "[C", "[F", "[D", "[B", "[S", "[I", "[J"};
      if (!pop(kTypeInt) || at[1] < 4 || at[1] > 11) return false;
      type = types_.object(kArrays[at[1] - 4]);
      break;
    }
    case kAnewarray:
      if (!pop(kTypeInt)) return false;
      type = types_.array_of_class(u2_at(at + 1));
      break;
    case kMultianewarray:
      for (unsigned i = at[3]; i > 0; --i)
        if (!pop(kTypeInt)) return false;
      type = types_.of_class(u2_at(at + 1));
      break;
    case kCheckcast:
      if (!pop(kTypeObject)) return false;
      type = types_.of_class(u2_at(at + 1));
      break;
    default: return false;  // jsr, ret: no class file with frames may have them
  }
  if (type == kTypeTop) return false;
  push(type);
  return true;
}

}  // namespace jtrace::agent::classfile
