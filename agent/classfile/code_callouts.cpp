// CodeRewriter: the code of the callouts, and their places.
#include <algorithm>
#include <utility>

#include "agent/classfile/code_rewriter.h"

namespace jtrace::agent::classfile {
namespace {

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

void CodeRewriter::push_short(Bytes& out, std::uint32_t value) {
  if (value <= 5) return put1(out, kIconst0 + value);
  if (value <= 127) {
    put1(out, kBipush);
    return put1(out, value);
  }
  put1(out, kSipush);
  put2(out, value);
}

void CodeRewriter::push_signed(Bytes& out, std::int32_t value) {
  if (value >= 0) return push_short(out, static_cast<std::uint32_t>(value));
  put1(out, kSipush);
  put2(out, static_cast<std::uint32_t>(value) & 0xffff);
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

void CodeRewriter::call(Bytes& out, CalloutMethod method) {
  if (constants_.owner == 0) constants_.owner = pool_.klass(helper_);
  std::uint16_t& constant = constants_.methods[static_cast<std::size_t>(method)];
  if (constant == 0) constant = pool_.method(constants_.owner, text_of(method).name, text_of(method).descriptor);
  put1(out, kInvokestatic);
  put2(out, constant);
}

template <CalloutMethod kMethod>
void CodeRewriter::number_callout(Bytes& out, std::uint32_t number) {
  static_assert(takes(kMethod, kTakesNumber));
  push(out, number);
  call(out, kMethod);
}

// With the number of the method itself.
template <CalloutMethod kMethod>
void CodeRewriter::number_callout(Bytes& out) {
  number_callout<kMethod>(out, number_);
}

void CodeRewriter::exit_callout(Bytes& out, std::uint32_t wanted) {
  if ((wanted & kCalloutExit) != 0) number_callout<CalloutMethod::kExit>(out);
  else if ((wanted & kCalloutFrames) != 0) number_callout<CalloutMethod::kEnd>(out);
}

// What a call refers to, if the call gets callouts; otherwise nullptr.
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

// Expects the object on top of the stack.
template <CalloutMethod kMethod>
void CodeRewriter::object_callout(Bytes& out) {
  static_assert(takes(kMethod, kTakesObject));
  put1(out, kDup);
  push(out, number_);
  call(out, kMethod);
}

// Expects the exception on top of the stack. A line number that needs a constant of its own is left out,
// because constants are scarce (push()).
void CodeRewriter::exception_callout(Bytes& out, CalloutMethod method, std::int32_t argument) {
  put1(out, kDup);
  push_signed(out, argument);
  push(out, number_);
  call(out, method);
}

void CodeRewriter::thrown_callout(Bytes& out, std::uint32_t instruction) {
  const std::uint32_t line = line_at(instruction);
  exception_callout(out, CalloutMethod::kThrown, static_cast<std::int32_t>(line <= kLongestShort ? line : 0));
}

void CodeRewriter::caught_callout(Bytes& out, std::uint32_t instruction) {
  exception_callout(out, CalloutMethod::kCaught,
                    caught_argument(line_at(instruction), handler_uses_.of(source_, instruction)));
}

// Expects the time on top of the stack.
void CodeRewriter::parking_callout(Bytes& out) {
  put1(out, kDup2);
  push(out, number_);
  call(out, CalloutMethod::kParking);
}

template <CalloutMethod kMethod>
void CodeRewriter::receiver_callout(Bytes& out) {
  static_assert(takes(kMethod, kTakesObject));
  put1(out, kAload0);
  push(out, number_);
  call(out, kMethod);
}

void CodeRewriter::entry_callout(Bytes& out, bool with_receiver) {
  if (!with_receiver || (method_->access & kAccStatic) != 0 || method_->is_constructor())
    return number_callout<CalloutMethod::kEnter>(out);
  receiver_callout<CalloutMethod::kReceived>(out);
}

// The isArray codes of primitive types are those of newarray (JVMS 6.5).
void CodeRewriter::allocation_callout(Bytes& out, std::uint32_t instruction, bool with_site) {
  if (!with_site) return object_callout<CalloutMethod::kAllocated>(out);
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
  call(out, CalloutMethod::kMade);
}

void CodeRewriter::value_callout(Bytes& out, std::uint32_t type, std::uint32_t position) {
  push(out, position);
  push(out, number_);
  call(out, value_method(type));
}

// The locals that hold the arguments at the start (JVMS 2.6.1).
void CodeRewriter::argument_callouts() {
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
    value_callout(prologue_, type, position);
    slot += type == kLongValue || type == kDoubleValue ? 2 : 1;
  }
}

void CodeRewriter::plan_callouts(std::uint32_t number, std::uint32_t wanted) {
  number_ = number;
  find_places(wanted);
  const std::vector<std::uint8_t> is_handler = find_handler_starts(wanted);
  plan_prologue(wanted);
  callouts_.clear();
  handler_uses_.begin_method();
  // Most instructions get no callout: that is tested here, without a call.
  const bool has_lines = (wanted & kCalloutLine) != 0;
  const bool may_follow = (wanted & (kCalloutArrays | kCalloutNew | kCalloutConstructed)) != 0;
  const auto count = static_cast<std::uint32_t>(instructions_.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    Instruction& each = instructions_[i];
    const bool parks = (wanted & kCalloutParks) != 0 && each.op == kInvokevirtual &&
                       is_park(klass_.method_reference(u2_at(&code_[each.old_pc + 1])));
    Callee* const callee = (wanted & kCalloutCalls) != 0 ? callee_of(each) : nullptr;
    each.before = static_cast<std::uint32_t>(callouts_.size());
    each.exit_size = 0;
    const bool starts_handler = !is_handler.empty() && is_handler[i] != 0;
    if (starts_handler || has_lines || each.op == kAthrow || is_return(each.op)) plan_before(i, wanted, starts_handler);
    if (parks) parking_callout(callouts_);
    if (callee != nullptr) number_callout<CalloutMethod::kCalled>(callouts_, callee->number);
    each.before_size = static_cast<std::uint32_t>(callouts_.size()) - each.before;
    each.after = static_cast<std::uint32_t>(callouts_.size());
    if (callee != nullptr) number_callout<CalloutMethod::kReturned>(callouts_, callee->number);
    if (parks) call(callouts_, CalloutMethod::kParked);
    if (may_follow) plan_after(i, wanted);
    each.after_size = static_cast<std::uint32_t>(callouts_.size()) - each.after;
  }
  find_restarts();
  plan_handlers(wanted);
}

void CodeRewriter::find_places(std::uint32_t wanted) {
  const bool has_values = (wanted & (kCalloutArguments | kCalloutResult)) != 0;
  const bool has_sites = (wanted & kCalloutSites) != 0;
  const bool has_exceptions = (wanted & (kCalloutThrow | kCalloutCatch)) != 0;
  extra_stack_ = has_values ? 4 : has_sites || has_exceptions || (wanted & kCalloutParks) != 0 ? 3 : 2;
  if (number_ > kLongestShort) ++extra_stack_;  // push() of a large number takes two
  lines_.clear();
  if ((wanted & kCalloutLine) != 0 || has_sites || has_exceptions) find_lines();
  news_.assign((wanted & kCalloutNew) != 0 ? instructions_.size() : 0, kNoInstruction);
  unseen_news_ = 0;
  unseen_calls_ = 0;
  if ((wanted & kCalloutNew) != 0) find_news();
  find_super_call();
}

std::vector<std::uint8_t> CodeRewriter::find_handler_starts(std::uint32_t wanted) {
  std::vector<std::uint8_t> starts;
  if ((wanted & (kCalloutCatch | kCalloutFrames)) == 0) return starts;
  starts.assign(instructions_.size(), 0);
  for (const MethodCode::Handler& handler : handlers_)
    if (const std::uint32_t at = source_.index_at(handler.target); at < starts.size()) starts[at] = 1;
  return starts;
}

void CodeRewriter::plan_prologue(std::uint32_t wanted) {
  prologue_.clear();
  epilogue_.clear();
  if ((wanted & kCalloutCount) != 0) number_callout<CalloutMethod::kCount>(prologue_);
  if ((wanted & kCalloutArguments) != 0) argument_callouts();
  if ((wanted & kCalloutEntry) != 0) entry_callout(prologue_, (wanted & kCalloutReceiver) != 0);
  else if ((wanted & kCalloutFrames) != 0) number_callout<CalloutMethod::kBegin>(prologue_);
}

void CodeRewriter::plan_before(std::uint32_t i, std::uint32_t wanted, bool starts_handler) {
  Instruction& each = instructions_[i];
  if (starts_handler) {
    if ((wanted & kCalloutCatch) != 0) caught_callout(callouts_, i);
    else number_callout<CalloutMethod::kHandled>(callouts_);
  }
  if ((wanted & kCalloutLine) != 0 && lines_[i] != 0) {
    push(callouts_, lines_[i] - 1);
    push(callouts_, number_);
    call(callouts_, CalloutMethod::kLine);
  }
  if (each.op == kAthrow && (wanted & kCalloutThrow) != 0) thrown_callout(callouts_, i);
  if (is_return(each.op) && each.op != kReturn && (wanted & kCalloutResult) != 0) {
    const std::uint32_t type = each.op - kIreturn;
    put1(callouts_, type == kLongValue || type == kDoubleValue ? kDup2 : kDup);
    value_callout(callouts_, type, kResultValue);
  }
  const auto exit_at = static_cast<std::uint32_t>(callouts_.size());
  if (is_return(each.op)) exit_callout(callouts_, wanted);
  each.exit_size = static_cast<std::uint32_t>(callouts_.size()) - exit_at;
}

void CodeRewriter::plan_after(std::uint32_t i, std::uint32_t wanted) {
  const std::uint32_t op = instructions_[i].op;
  const bool has_sites = (wanted & kCalloutSites) != 0;
  const bool is_array = op == kNewarray || op == kAnewarray || op == kMultianewarray;
  if (is_array && (wanted & kCalloutArrays) != 0) allocation_callout(callouts_, i, has_sites);
  if (!news_.empty() && news_[i] != kNoInstruction) allocation_callout(callouts_, news_[i], has_sites);
  if (i == super_call_ && (wanted & kCalloutConstructed) != 0) receiver_callout<CalloutMethod::kConstructed>(callouts_);
}

// A handler of any exception that covers itself, as compilers make for synchronized blocks: if a callout at its start
// failed (on a full stack every call fails), it would run itself again for ever. What such a callout throws is handled
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

// The exit by exception is code after the method's own code. In a constructor it is there twice, for the code before
// the super call and for the code after it, because `this` is of another type. No handler may cover the call itself:
// its frame cannot describe `this` both before and after initialization (HotSpot checks both). For an exception from
// the super call jtrace finds the exit when the caller continues.
void CodeRewriter::plan_handlers(std::uint32_t wanted) {
  guards_ = (wanted & (kCalloutExit | kCalloutThrow | kCalloutFrames)) != 0;
  open_start_ = false;
  splits_ = false;
  if (!guards_) return;
  if (klass_.major() >= kFirstWithFrames) {
    if (constants_.throwable == 0) constants_.throwable = pool_.klass("java/lang/Throwable");
    if (stack_map_.start == 0 && constants_.stack_map_table == 0)
      constants_.stack_map_table = pool_.utf8("StackMapTable");
  }
  if (method_->is_constructor() && klass_.name() != "java/lang/Object") {
    open_start_ = true;
    guards_ = splits_ = super_call_ != kNoInstruction;
    if (!guards_) return;
  }
  if ((wanted & kCalloutThrow) != 0) object_callout<CalloutMethod::kUnwound>(epilogue_);
  else if ((wanted & kCalloutExit) != 0) number_callout<CalloutMethod::kLeave>(epilogue_);
  else number_callout<CalloutMethod::kEnd>(epilogue_);
  put1(epilogue_, kAthrow);
}

}  // namespace jtrace::agent::classfile
