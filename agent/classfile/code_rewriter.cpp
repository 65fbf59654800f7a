#include "agent/classfile/code_rewriter.h"

#include <algorithm>
#include <utility>

#include "agent/classfile/frame_forms.h"
#include "agent/classfile/frame_types.h"

namespace jtrace::agent::classfile {
namespace {

constexpr std::uint32_t kMaxCode = 65535;  // JVMS 4.7.3: code_length is less than 65536

// Value types as loads and returns number them: iload + type, ireturn + type.
enum : std::uint32_t { kIntValue = 0, kLongValue = 1, kFloatValue = 2, kDoubleValue = 3, kReferenceValue = 4 };

std::uint32_t value_type(char descriptor) {
  switch (descriptor) {
    case 'J': return kLongValue;
    case 'F': return kFloatValue;
    case 'D': return kDoubleValue;
    case 'L':
    case '[': return kReferenceValue;
    default: return kIntValue;
  }
}

}  // namespace

// --- reading ---------------------------------------------------------------------------------------------------------

bool CodeRewriter::read(const Method& method) {
  method_ = &method;
  if (!source_.read(klass_, method)) return false;
  code_ = source_.code();
  return find_tables();
}

bool CodeRewriter::find_tables() {
  line_tables_.clear();
  local_tables_.clear();
  stack_map_ = {};
  for (const Attribute& attribute : source_.attributes()) {
    const bool is_lines = attribute.name == "LineNumberTable";
    const bool is_locals = attribute.name == "LocalVariableTable" || attribute.name == "LocalVariableTypeTable";
    if (is_lines || is_locals) {
      const std::size_t count = attribute.size < 2 ? 0 : u2_at(&klass_.bytes()[attribute.data]);
      if (attribute.size != 2 + count * (is_lines ? 4 : 10)) return false;
      (is_lines ? line_tables_ : local_tables_).push_back(attribute);
    } else if (attribute.name == "StackMapTable") {
      stack_map_ = attribute;
    }
    // Other attributes (type annotations, tables of old compilers) do not matter to the JVM and are dropped, because
    // their places would be wrong.
  }
  return true;
}

// --- probes ----------------------------------------------------------------------------------------------------------

void CodeRewriter::push_short(Bytes& out, std::uint32_t value) {
  if (value <= 5) return put1(out, kIconst0 + value);
  if (value <= 127) {
    put1(out, kBipush);
    return put1(out, value);
  }
  put1(out, kSipush);
  put2(out, value);
}

// A large number is computed from a constant that other methods of the class use too. The JVM keeps every constant that
// a class ever had in its constant pool and reuses only equal ones. With a constant for each number (numbers differ
// from trace to trace), each attach added a constant for every method of the class, until the pool was full.
void CodeRewriter::push(Bytes& out, std::uint32_t value) {
  const std::uint32_t low = value & kLongestShort;
  if (value == low) return push_short(out, value);
  if (high_.index == 0 || high_.value != value - low) high_ = {value - low, pool_.integer(value - low)};
  put1(out, kLdcW);
  put2(out, high_.index);
  if (low == 0) return;
  push_short(out, low);
  put1(out, kIor);
}

void CodeRewriter::call(Bytes& out, ProbeMethod method) {
  if (constants_.owner == 0) constants_.owner = pool_.klass(helper_);
  std::uint16_t& constant = constants_.methods[static_cast<std::size_t>(method)];
  if (constant == 0) constant = pool_.method(constants_.owner, text_of(method).name, text_of(method).descriptor);
  put1(out, kInvokestatic);
  put2(out, constant);
}

template <ProbeMethod kMethod>
void CodeRewriter::number_probe(Bytes& out) {
  static_assert(takes(kMethod, kTakesNumber));
  push(out, number_);
  call(out, kMethod);
}

void CodeRewriter::exit_probe(Bytes& out, std::uint32_t wanted) {
  if ((wanted & kProbeExit) != 0) number_probe<ProbeMethod::kExit>(out);
  else if ((wanted & kProbeFrames) != 0) number_probe<ProbeMethod::kEnd>(out);
}

// What a call refers to, if the call gets probes; otherwise nullptr.
CodeRewriter::Callee* CodeRewriter::callee_of(const Instruction& each) {
  if (each.op < kInvokevirtual || each.op > kInvokedynamic) return nullptr;
  const std::uint16_t index = u2_at(&code_[each.old_pc + 1]);
  Callee* found = nullptr;
  if (each.op != kInvokedynamic && index < klass_.constant_count()) {
    if (callees_.empty()) callees_.resize(klass_.constant_count());
    found = &callees_[index];
    if (!std::exchange(found->is_asked, true)) {
      const ClassFile::Reference named = klass_.method_reference(index);
      if (callee_numbers_.number != nullptr && !named.name.empty())
        found->number = callee_numbers_.number(callee_numbers_.context, named, each.op == kInvokestatic);
    }
  }
  if (found != nullptr && found->number != 0) return found;
  ++unseen_calls_;
  return nullptr;
}

template <ProbeMethod kMethod>
void CodeRewriter::call_probe(Bytes& out, const Callee& callee) {
  static_assert(takes(kMethod, kTakesNumber));
  push(out, callee.number);
  call(out, kMethod);
}

// Expects the object on top of the stack.
template <ProbeMethod kMethod>
void CodeRewriter::object_probe(Bytes& out) {
  static_assert(takes(kMethod, kTakesObject));
  put1(out, kDup);
  push(out, number_);
  call(out, kMethod);
}

// Expects the exception on top of the stack. A line that needs a constant of its own is not told: constants are scarce
// (push()).
template <ProbeMethod kMethod>
void CodeRewriter::exception_probe(Bytes& out, std::uint32_t instruction) {
  const std::uint32_t line = line_at(instruction);
  put1(out, kDup);
  push_short(out, line <= kLongestShort ? line : 0);
  push(out, number_);
  call(out, kMethod);
}

// Expects the time on top of the stack.
void CodeRewriter::parking_probe(Bytes& out) {
  put1(out, kDup2);
  push(out, number_);
  call(out, ProbeMethod::kParking);
}

template <ProbeMethod kMethod>
void CodeRewriter::receiver_probe(Bytes& out) {
  static_assert(takes(kMethod, kTakesObject));
  put1(out, kAload0);
  push(out, number_);
  call(out, kMethod);
}

void CodeRewriter::entry_probe(Bytes& out, bool with_receiver) {
  if (!with_receiver || (method_->access & kAccStatic) != 0 || method_->is_constructor())
    return number_probe<ProbeMethod::kEnter>(out);
  receiver_probe<ProbeMethod::kReceived>(out);
}

// The isArray codes of primitive types are those of newarray (JVMS 6.5).
void CodeRewriter::allocation_probe(Bytes& out, std::uint32_t instruction, bool with_site) {
  if (!with_site) return object_probe<ProbeMethod::kAllocated>(out);
  constexpr std::uint8_t kArrayOfObjects = 2;
  const Instruction& each = instructions_[instruction];
  Site made{.line = static_cast<std::uint16_t>(line_at(instruction))};
  if (each.op == kNewarray) made.code = static_cast<std::uint8_t>(code_[each.old_pc + 1]);
  if (each.op == kAnewarray || each.op == kMultianewarray) made.code = kArrayOfObjects;
  if (each.op == kMultianewarray) made.dimensions = static_cast<std::uint8_t>(code_[each.old_pc + 3]);
  const std::uint32_t site = made.bits();
  put1(out, kDup);
  if (site <= kLongestShort) {
    push_short(out, site);
  } else {  // the same in each trace
    put1(out, kLdcW);
    put2(out, pool_.integer(site));
  }
  push(out, number_);
  call(out, ProbeMethod::kMade);
}

void CodeRewriter::value_probe(Bytes& out, std::uint32_t type, std::uint32_t position) {
  push(out, position);
  push(out, number_);
  call(out, value_method(type));
}

// The locals that hold the arguments at the start (JVMS 2.6.1).
void CodeRewriter::argument_probes() {
  std::uint32_t slot = (method_->access & kAccStatic) != 0 ? 0 : 1;
  std::uint32_t position = 0;
  const std::string_view descriptor = method_->descriptor;
  for (std::size_t i = 1; i < descriptor.size() && descriptor[i] != ')'; ++i, ++position) {
    const std::uint32_t type = value_type(descriptor[i]);
    while (i < descriptor.size() && descriptor[i] == '[') ++i;
    if (i < descriptor.size() && descriptor[i] == 'L') i = descriptor.find(';', i);
    if (i >= descriptor.size()) return;
    if (slot > 0xff) put1(prologue_, kWide);
    put1(prologue_, kIload + type);
    if (slot > 0xff) put2(prologue_, slot);
    else put1(prologue_, slot);
    value_probe(prologue_, type, position);
    slot += type == kLongValue || type == kDoubleValue ? 2 : 1;
  }
}

void CodeRewriter::plan_probes(std::uint32_t number, std::uint32_t wanted) {
  number_ = number;
  find_places(wanted);
  const std::vector<std::uint8_t> is_handler = find_handler_starts(wanted);
  plan_prologue(wanted);
  probes_.clear();
  const auto count = static_cast<std::uint32_t>(instructions_.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    Instruction& each = instructions_[i];
    const bool parks = (wanted & kProbeParks) != 0 && each.op == kInvokevirtual &&
                       is_park(klass_.method_reference(u2_at(&code_[each.old_pc + 1])));
    Callee* const callee = (wanted & kProbeCalls) != 0 ? callee_of(each) : nullptr;
    each.before = static_cast<std::uint32_t>(probes_.size());
    plan_before(i, wanted, !is_handler.empty() && is_handler[i] != 0);
    if (parks) parking_probe(probes_);
    if (callee != nullptr) call_probe<ProbeMethod::kCalled>(probes_, *callee);
    each.before_size = static_cast<std::uint32_t>(probes_.size()) - each.before;
    each.after = static_cast<std::uint32_t>(probes_.size());
    if (callee != nullptr) call_probe<ProbeMethod::kReturned>(probes_, *callee);
    if (parks) call(probes_, ProbeMethod::kParked);
    plan_after(i, wanted);
    each.after_size = static_cast<std::uint32_t>(probes_.size()) - each.after;
  }
  find_restarts();
  plan_handlers(wanted);
}

void CodeRewriter::find_places(std::uint32_t wanted) {
  const bool has_values = (wanted & (kProbeArguments | kProbeResult)) != 0;
  const bool has_sites = (wanted & kProbeSites) != 0;
  const bool has_exceptions = (wanted & (kProbeThrow | kProbeCatch)) != 0;
  extra_stack_ = has_values ? 4 : has_sites || has_exceptions || (wanted & kProbeParks) != 0 ? 3 : 2;
  if (number_ > kLongestShort) ++extra_stack_;  // push() of a large number takes two
  lines_.clear();
  if ((wanted & kProbeLine) != 0 || has_sites || has_exceptions) find_lines();
  news_.assign((wanted & kProbeNew) != 0 ? instructions_.size() : 0, kNoInstruction);
  unseen_news_ = 0;
  unseen_calls_ = 0;
  if ((wanted & kProbeNew) != 0) find_news();
  find_super_call();
}

std::vector<std::uint8_t> CodeRewriter::find_handler_starts(std::uint32_t wanted) {
  std::vector<std::uint8_t> starts;
  if ((wanted & (kProbeCatch | kProbeFrames)) == 0) return starts;
  starts.assign(instructions_.size(), 0);
  for (const MethodCode::Handler& handler : handlers_)
    if (const std::uint32_t at = source_.index_at(handler.target); at < starts.size()) starts[at] = 1;
  return starts;
}

void CodeRewriter::plan_prologue(std::uint32_t wanted) {
  prologue_.clear();
  epilogue_.clear();
  if ((wanted & kProbeCount) != 0) number_probe<ProbeMethod::kCount>(prologue_);
  if ((wanted & kProbeArguments) != 0) argument_probes();
  if ((wanted & kProbeEntry) != 0) entry_probe(prologue_, (wanted & kProbeReceiver) != 0);
  else if ((wanted & kProbeFrames) != 0) number_probe<ProbeMethod::kBegin>(prologue_);
}

void CodeRewriter::plan_before(std::uint32_t i, std::uint32_t wanted, bool starts_handler) {
  Instruction& each = instructions_[i];
  if (starts_handler) {
    if ((wanted & kProbeCatch) != 0) exception_probe<ProbeMethod::kCaught>(probes_, i);
    else number_probe<ProbeMethod::kHandled>(probes_);
  }
  if ((wanted & kProbeLine) != 0 && lines_[i] != 0) {
    push(probes_, lines_[i] - 1);
    push(probes_, number_);
    call(probes_, ProbeMethod::kLine);
  }
  if (each.op == kAthrow && (wanted & kProbeThrow) != 0) exception_probe<ProbeMethod::kThrown>(probes_, i);
  if (is_return(each.op) && each.op != kReturn && (wanted & kProbeResult) != 0) {
    const std::uint32_t type = each.op - kIreturn;
    put1(probes_, type == kLongValue || type == kDoubleValue ? kDup2 : kDup);
    value_probe(probes_, type, kResultValue);
  }
  const auto exit_at = static_cast<std::uint32_t>(probes_.size());
  if (is_return(each.op)) exit_probe(probes_, wanted);
  each.exit_size = static_cast<std::uint32_t>(probes_.size()) - exit_at;
}

void CodeRewriter::plan_after(std::uint32_t i, std::uint32_t wanted) {
  const std::uint32_t op = instructions_[i].op;
  const bool has_sites = (wanted & kProbeSites) != 0;
  const bool is_array = op == kNewarray || op == kAnewarray || op == kMultianewarray;
  if (is_array && (wanted & kProbeArrays) != 0) allocation_probe(probes_, i, has_sites);
  if (!news_.empty() && news_[i] != kNoInstruction) allocation_probe(probes_, news_[i], has_sites);
  if (i == super_call_ && (wanted & kProbeConstructed) != 0) receiver_probe<ProbeMethod::kConstructed>(probes_);
}

// A handler of any exception that covers itself, as compilers make for synchronized blocks: if a probe at its start
// failed (on a full stack every call fails), it would run itself again for ever. What such a probe throws is handled
// after it, by the handler's own code.
void CodeRewriter::find_restarts() {
  restarts_.clear();
  if (klass_.major() >= kFirstWithFrames && stack_map_.start == 0) return;
  for (const MethodCode::Handler& handler : handlers_) {
    if (handler.type != 0 || handler.target < handler.start || handler.target >= handler.end) continue;
    const std::uint32_t at = source_.index_at(handler.target);
    if (at < instructions_.size() && instructions_[at].before_size != 0 && !is_restart(at)) restarts_.push_back(at);
  }
}

bool CodeRewriter::is_restart(std::uint32_t instruction) const {
  return std::find(restarts_.begin(), restarts_.end(), instruction) != restarts_.end();
}

void CodeRewriter::find_lines() {
  lines_.assign(instructions_.size(), 0);
  for (const Attribute& table : line_tables_) {
    Reader reader(klass_.bytes().first(table.data + table.size), table.data);
    const std::uint16_t entries = reader.u2();
    for (std::uint32_t i = 0; i < entries && !reader.failed(); ++i) {
      const std::uint16_t pc = reader.u2();
      const std::uint16_t line = reader.u2();
      if (pc < code_.size() && source_.index_at(pc) != kNoInstruction) lines_[source_.index_at(pc)] = line + 1u;
    }
  }
}

// 0 if it is not known.
std::uint32_t CodeRewriter::line_at(std::uint32_t instruction) const {
  for (std::uint32_t i = instruction + 1; i > 0; --i)
    if (lines_[i - 1] != 0) return lines_[i - 1] - 1;
  return 0;
}

// `new X; dup; arguments; invokespecial X.<init>`: finds the innermost new of that class that is not completed. Pairs
// that do not nest in this way get no probes.
void CodeRewriter::find_news() {
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < instructions_.size(); ++i) {
    const Instruction& each = instructions_[i];
    if (each.op == kNew) {
      open.push_back(i);
      ++unseen_news_;
    }
    if (each.op != kInvokespecial || open.empty()) continue;
    const ClassFile::Reference callee = klass_.method_reference(u2_at(&code_[each.old_pc + 1]));
    if (callee.name != "<init>") continue;
    const std::uint32_t made = open.back();
    if (klass_.class_name(u2_at(&code_[instructions_[made].old_pc + 1])) != callee.owner) continue;
    open.pop_back();
    if (made + 1 >= instructions_.size() || instructions_[made + 1].op != kDup) continue;
    news_[i] = made;
    --unseen_news_;
  }
}

// The invokespecial by which a constructor calls another constructor of its class or superclass: the one that completes
// no new. None if that is ambiguous, or if the frames disagree.
void CodeRewriter::find_super_call() {
  super_call_ = kNoInstruction;
  if (!method_->is_constructor()) return;
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < instructions_.size(); ++i) {
    const Instruction& each = instructions_[i];
    if (each.op == kNew) open.push_back(i);
    if (each.op != kInvokespecial) continue;
    const ClassFile::Reference callee = klass_.method_reference(u2_at(&code_[each.old_pc + 1]));
    if (callee.name != "<init>") continue;
    const bool completes =
        !open.empty() && klass_.class_name(u2_at(&code_[instructions_[open.back()].old_pc + 1])) == callee.owner;
    if (completes) {
      open.pop_back();
      continue;
    }
    const bool is_ours = callee.owner == klass_.name() || callee.owner == klass_.super_name();
    if (!open.empty() || !is_ours || super_call_ != kNoInstruction) {
      super_call_ = kNoInstruction;
      return;
    }
    super_call_ = i;
  }
  if (super_call_ != kNoInstruction && !frames_allow_split()) super_call_ = kNoInstruction;
}

// True if the frames agree: `this` is uninitialized before the super call and initialized after it, and nothing is
// stored into local 0.
bool CodeRewriter::frames_allow_split() const {
  const std::uint32_t split = instructions_[super_call_].old_pc;
  for (const Instruction& each : instructions_) {
    const bool stores = (each.op == kAstore && code_[each.old_pc + 1] == 0) || each.op == kAstore0 ||
                        (each.op == kWide && code_[each.old_pc + 1] == kAstore && u2_at(&code_[each.old_pc + 2]) == 0);
    if (stores) return false;
  }
  if (stack_map_.start == 0) return true;
  Reader reader(klass_.bytes().first(stack_map_.data + stack_map_.size), stack_map_.data);
  const std::uint16_t count = reader.u2();
  std::int64_t pc = -1;
  bool uninitialized = true;
  const auto skip_type = [&] {
    const std::uint8_t tag = reader.u1();
    if (tag == kTypeObject || tag == kTypeUninitialized) reader.skip(2);
    return tag;
  };
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    const std::uint8_t tag = reader.u1();
    pc += (has_own_distance(tag) ? own_distance(tag) : reader.u2()) + 1;
    for (unsigned k = has_one_item(tag) ? 1 : added_locals(tag); k > 0; --k) skip_type();
    if (tag == kFull) {
      const std::uint16_t locals = reader.u2();
      uninitialized = false;
      for (std::uint32_t k = 0; k < locals && !reader.failed(); ++k)
        if (skip_type() == kTypeUninitializedThis && k == 0) uninitialized = true;
      const std::uint16_t stack = reader.u2();
      for (std::uint32_t k = 0; k < stack && !reader.failed(); ++k) skip_type();
    }
    if (uninitialized != (pc <= split)) return false;
  }
  return !reader.failed();
}

// The exit by exception is code after the method's own code. In a constructor it covers only the code after the super
// call. No handler may cover the call itself, because the frame of a handler cannot describe `this` both before and
// after initialization (HotSpot checks both). For an exception from the super call, or from code before it, jtrace
// finds the exit when the caller goes on.
void CodeRewriter::plan_handlers(std::uint32_t wanted) {
  guards_ = (wanted & (kProbeExit | kProbeThrow | kProbeFrames)) != 0;
  open_start_ = false;
  if (!guards_) return;
  if (klass_.major() >= kFirstWithFrames) {
    if (constants_.throwable == 0) constants_.throwable = pool_.klass("java/lang/Throwable");
    if (stack_map_.start == 0 && constants_.stack_map_table == 0)
      constants_.stack_map_table = pool_.utf8("StackMapTable");
  }
  if (method_->is_constructor() && klass_.name() != "java/lang/Object") {
    open_start_ = true;
    guards_ = super_call_ != kNoInstruction;
    if (!guards_) return;
  }
  if ((wanted & kProbeThrow) != 0) object_probe<ProbeMethod::kUnwound>(epilogue_);
  else if ((wanted & kProbeExit) != 0) number_probe<ProbeMethod::kLeave>(epilogue_);
  else number_probe<ProbeMethod::kEnd>(epilogue_);
  put1(epilogue_, kAthrow);
}

// --- layout ----------------------------------------------------------------------------------------------------------

std::uint32_t CodeRewriter::new_length(const Instruction& each) const {
  if (each.widened) return 5;
  if (!is_switch(each.op)) return each.length;
  return each.length - (3 - each.old_pc % 4) + (3 - each.place % 4);
}

Outcome CodeRewriter::lay_out() {
  for (bool changed = true; changed;) {
    auto place = static_cast<std::uint32_t>(prologue_.size());
    for (Instruction& each : instructions_) {
      each.label = place;
      each.place = place + each.before_size;
      place = each.place + new_length(each) + each.after_size;
    }
    code_end_ = place;
    changed = false;
    for (Instruction& each : instructions_) {
      if (!is_short_jump(each.op) || each.widened) continue;
      const std::int64_t distance = std::int64_t{instructions_[each.target].label} - each.place;
      if (distance == static_cast<std::int16_t>(distance)) continue;
      if (each.op != kGoto && each.op != kJsr) return Outcome::kJumpTooFar;
      each.widened = true;
      changed = true;
    }
  }
  return code_end_ + epilogue_.size() > kMaxCode ? Outcome::kTooLarge : Outcome::kRewritten;
}

// --- writing ---------------------------------------------------------------------------------------------------------

Outcome CodeRewriter::rewrite(const Method& method, std::uint32_t number, std::uint32_t wanted, Bytes& out) {
  if (!read(method)) return Outcome::kMalformed;
  plan_probes(number, wanted);
  if (const Outcome outcome = lay_out(); outcome != Outcome::kRewritten) return outcome;

  const std::size_t start = out.size();
  put_bytes(out, &klass_.bytes()[method.code.start], 2);  // the name
  put4(out, 0);
  const std::uint32_t most_stack =
      source_.max_stack() + extra_stack_ + ((wanted & (kProbeThrow | kProbeCatch)) != 0 ? 1u : 0u);
  put2(out, most_stack > 0xffff ? 0xffff : most_stack);
  put2(out, source_.max_locals());
  put4(out, code_end_ + static_cast<std::uint32_t>(epilogue_.size()));
  write_code(out);
  write_exception_table(out);

  const std::size_t attributes_at = out.size();
  put2(out, 0);
  unsigned attributes = 0;
  for (const Attribute& table : line_tables_) {
    write_lines(out, table);
    ++attributes;
  }
  for (const Attribute& table : local_tables_) {
    write_locals(out, table);
    ++attributes;
  }
  if (stack_map_.start != 0 || (guards_ && klass_.major() >= kFirstWithFrames)) {
    if (!write_stack_map(out)) {
      out.resize(start);
      return Outcome::kMalformed;
    }
    ++attributes;
  }
  set2(out, attributes_at, attributes);
  set4(out, start + 2, static_cast<std::uint32_t>(out.size() - start - 6));
  return Outcome::kRewritten;
}

// Runs of instructions that have no probes and do not jump are copied together.
void CodeRewriter::write_code(Bytes& out) const {
  put_bytes(out, prologue_.data(), prologue_.size());
  std::size_t copied = 0;  // the original code is written up to here
  const auto copy_to = [&](std::size_t pc) {
    put_bytes(out, code_.data() + copied, pc - copied);
    copied = pc;
  };
  for (const Instruction& each : instructions_) {
    if (each.before_size != 0) {
      copy_to(each.old_pc);
      put_bytes(out, probes_.data() + each.before, each.before_size);
    }
    if (has_distance(each.op)) {
      copy_to(each.old_pc);
      write_jump(out, each);
      copied = each.old_pc + each.length;
    }
    if (each.after_size != 0) {
      copy_to(each.old_pc + each.length);
      put_bytes(out, probes_.data() + each.after, each.after_size);
    }
  }
  copy_to(code_.size());
  put_bytes(out, epilogue_.data(), epilogue_.size());
}

void CodeRewriter::write_jump(Bytes& out, const Instruction& each) const {
  if (is_switch(each.op)) return write_switch(out, each);
  const std::uint32_t distance = instructions_[each.target].label - each.place;
  if (is_short_jump(each.op) && !each.widened) {
    put1(out, each.op);
    put2(out, distance & 0xffff);
    return;
  }
  put1(out, each.op + (each.op == kGoto ? kGotoW - kGoto : each.op == kJsr ? kJsrW - kJsr : 0u));
  put4(out, distance);
}

// The default and the targets are relative to the instruction. An invalid target becomes a jump to the instruction
// itself, which the JVM's own check refuses as it would have refused the original.
void CodeRewriter::write_switch(Bytes& out, const Instruction& each) const {
  const auto target = [&](std::size_t at) {
    const std::int64_t old_target = std::int64_t{each.old_pc} + s4_at(&code_[at]);
    const bool valid = old_target >= 0 && old_target < static_cast<std::int64_t>(code_.size()) &&
                       source_.index_at(static_cast<std::uint32_t>(old_target)) != kNoInstruction;
    const std::uint32_t index = valid ? source_.index_at(static_cast<std::uint32_t>(old_target)) : 0;
    put4(out, instructions_[index].label - each.place);
  };
  put1(out, each.op);
  for (std::uint32_t k = 3 - each.place % 4; k > 0; --k) put1(out, 0);
  const std::size_t body = each.old_pc + 1 + (3 - each.old_pc % 4);
  const std::size_t end = each.old_pc + each.length;
  target(body);
  if (each.op == kTableswitch) {
    put_bytes(out, &code_[body + 4], 8);
    for (std::size_t at = body + 12; at < end; at += 4) target(at);
    return;
  }
  put_bytes(out, &code_[body + 4], 4);
  for (std::size_t at = body + 8; at < end; at += 8) {
    put_bytes(out, &code_[at], 4);
    target(at + 4);
  }
}

// One entry for each stretch of code between an exit's probe and its return: an exception there is no exit by
// exception.
void CodeRewriter::cover(std::uint32_t from, std::uint32_t to, Bytes& out) const {
  if (from >= to) return;
  put2(out, from);
  put2(out, to);
  put2(out, code_end_);
  put2(out, 0);
}

void CodeRewriter::write_exception_table(Bytes& out) const {
  const std::size_t count_at = out.size();
  put2(out, 0);
  for (const std::uint32_t each : restarts_) {  // these come first, because the first entry that covers a place counts
    put2(out, instructions_[each].label);
    put2(out, instructions_[each].place);
    put2(out, instructions_[each].place);
    put2(out, 0);
  }
  for (const MethodCode::Handler& handler : handlers_) {
    put2(out, instructions_[source_.index_at(handler.start)].label);
    put2(out, handler.end == code_.size() ? code_end_ : instructions_[source_.index_at(handler.end)].label);
    put2(out, instructions_[source_.index_at(handler.target)].label);
    put2(out, handler.type);
  }
  auto from = static_cast<std::uint32_t>(prologue_.size());
  if (guards_) {
    if (super_call_ != kNoInstruction) from = instructions_[super_call_].place + instructions_[super_call_].length;
    for (const Instruction& each : instructions_) {
      if (each.exit_size == 0 || each.place < from) continue;
      cover(from, each.place - each.exit_size, out);
      from = each.place + new_length(each);
    }
    cover(from, code_end_, out);
  }
  set2(out, count_at, static_cast<unsigned>((out.size() - count_at - 2) / 8));
}

}  // namespace jtrace::agent::classfile
