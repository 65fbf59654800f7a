#include "coreinspect/unwind/frame_locals.h"

#include <algorithm>
#include <cstring>

#include "coreinspect/runtime/descriptor.h"

namespace jtrace::coreinspect {
namespace {

constexpr Address kWord = 8;
// Of a frame: locals, expressions, monitors (JVMS 4.7.3, 4.11: each is less than 65536 words).
constexpr Address kMaxDistance = 1u << 18;

Error unavailable(std::string why) { return {.category = ErrorCategory::kRefused, .text = std::move(why)}; }

Address slot_at(Address fp, int words) { return fp + static_cast<Address>(static_cast<std::int64_t>(words) * 8); }

// Of the low half of a word only the bytes of the type count: the interpreter extends none.
std::uint64_t cut(std::uint64_t word, char type) {
  switch (type) {
    case 'Z':
    case 'B': return word & 0xff;
    case 'C':
    case 'S': return word & 0xffff;
    case 'I':
    case 'F': return word & 0xffffffff;
    default: return word;
  }
}

constexpr int kMaxSupers = 1000;

// Whether a place of that kind can hold a value of that type. If not, the debug information was misread.
bool fits(const ScopeValue& value, char type) {
  using Kind = ScopeValue::Kind;
  using Type = ScopeValue::Type;
  switch (value.kind) {
    case Kind::kInt: return !is_reference(type) && !is_wide(type);
    case Kind::kWide: return is_wide(type);
    case Kind::kOop:
    case Kind::kObject: return is_reference(type);
    case Kind::kNone: return false;
    case Kind::kStack:
    case Kind::kRegister: break;
  }
  switch (value.type) {
    case Type::kOop:
    case Type::kNarrowOop: return is_reference(type);
    case Type::kLong: return type == 'J';
    case Type::kDouble: return type == 'D';
    case Type::kFloatInDouble: return type == 'F';
    case Type::kNormal: return !is_reference(type) && !is_wide(type);
    case Type::kIntInLong: return !is_reference(type) && !is_wide(type) && type != 'F';
    case Type::kOther: break;
  }
  return false;
}

std::uint64_t narrowed(std::uint64_t bits_of_double) {
  double wide = 0;
  std::memcpy(&wide, &bits_of_double, sizeof wide);
  const auto narrow = static_cast<float>(wide);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &narrow, sizeof bits);
  return bits;
}

}  // namespace

Result<LocalValue> FrameLocals::value(const Frame& frame, std::uint32_t slot, char type) const {
  if (frame.method == nullptr || frame.method->is_native()) return fail(unavailable("a native method"));
  const std::uint32_t last = is_wide(type) ? slot + 1 : slot;
  if (last < slot || last >= frame.method->max_locals) return fail(unavailable("no such variable"));
  return frame.kind == FrameKind::kInterpreted ? interpreted(frame, slot, type) : compiled(frame, slot, type);
}

// The first local is at the highest address. It must not be inside the frame's own fixed part, nor out of its reach.
Result<Address> FrameLocals::locals_of(const Frame& frame) const {
  const auto method = vm_.memory().read<Address>(slot_at(frame.fp, vm_.quirks().machine.method));
  if (!method || *method != frame.method->address) return fail(unavailable("the frame is being made"));
  // The slot after that of the bytecode pointer (MachineRules): an address, from 21 on the distance from fp in words.
  const auto raw = vm_.memory().read<std::uint64_t>(slot_at(frame.fp, vm_.quirks().machine.bcp + 1));
  if (!raw) return fail(unavailable("memory is missing"));
  const Address locals = *raw < kMaxDistance ? frame.fp + *raw * kWord : *raw;
  const Address lowest = frame.fp + kWord + Address{frame.method->max_locals} * kWord;
  if (locals % kWord != 0 || locals < lowest || locals - frame.fp > kMaxDistance * kWord)
    return fail(unavailable("the frame's variables are not where they should be"));
  return locals;
}

Result<LocalValue> FrameLocals::interpreted(const Frame& frame, std::uint32_t slot, char type) const {
  JTRACE_ASSIGN_OR_RETURN(const Address locals, locals_of(frame));
  // A long or double is in the second of its slots, which is at the lower address (Interpreter::local_offset_at).
  const Address at = locals - Address{is_wide(type) ? slot + 1 : slot} * kWord;
  const auto word = vm_.memory().read<std::uint64_t>(at);
  if (!word) return fail(unavailable("memory is missing"));
  if (!is_reference(type)) return LocalValue{.bits = cut(*word, type)};
  return LocalValue{.bits = reference_in(frame, *word)};
}

Address FrameLocals::reference_in(const Frame& frame, std::uint64_t word) const {
  return objects_.from_frame(word, frame.oops);
}

Result<FrameLocals::Scope> FrameLocals::read_scope(const Frame& frame) const {
  if (code_ == nullptr) return fail(unavailable("the code cannot be read"));
  const auto blob = code_->find(frame.pc);
  if (!blob || !*blob) return fail(unavailable("the code is gone"));
  auto variables = code_->variables(**blob, frame.scope.locals, frame.scope.objects);
  if (!variables) return fail(unavailable(variables.error().text));
  return Scope{.blob = **blob, .variables = std::move(*variables)};
}

Result<const FrameLocals::Scope*> FrameLocals::scope_of(const Frame& frame) const {
  const FrameScope& place = frame.scope;
  if (const auto kept = kept_.find({frame.pc, place.locals, place.objects}); kept != kept_.end()) return &kept->second;
  if (frame.pc == known_pc_ && place.locals == known_place_.locals && place.objects == known_place_.objects)
    return &known_;
  JTRACE_ASSIGN_OR_RETURN(known_, read_scope(frame));
  known_pc_ = frame.pc, known_place_ = place;
  return &known_;
}

void FrameLocals::keep_constant(Scope& scope, const ScopeValue& value) const {
  if (value.kind != ScopeValue::Kind::kOop) return;
  if (const auto address = constant(scope, value.number)) scope.constants.emplace(value.number, *address);
}

void FrameLocals::keep(const Frame& frame) {
  if (frame.kind == FrameKind::kInterpreted || !frame.scope.exact || frame.scope.locals == 0) return;
  const Place place{frame.pc, frame.scope.locals, frame.scope.objects};
  if (kept_.contains(place)) return;
  auto read = read_scope(frame);
  if (!read) return;
  Scope scope = std::move(*read);
  for (const ScopeValue& value : scope.variables.locals) keep_constant(scope, value);
  for (const ScopeObject& object : scope.variables.objects) {
    for (const ScopeValue& value : object.values) keep_constant(scope, value);
    keep_constant(scope, object.pointer);
    if (const auto klass = klass_of(scope, object)) scope.klasses.emplace(object.id, *klass);
  }
  scope.is_kept = true;
  kept_.emplace(place, std::move(scope));
}

// Of the two slots of a long or double the second has the value (stackValue.cpp, C1 and C2 on 64-bit machines).
Result<LocalValue> FrameLocals::compiled(const Frame& frame, std::uint32_t slot, char type) const {
  if (!frame.scope.exact) return fail(unavailable("compiled code, between two safepoints"));
  if (frame.scope.locals == 0) return fail(unavailable("optimised out"));
  JTRACE_ASSIGN_OR_RETURN(const Scope* scope, scope_of(frame));
  const std::size_t at = is_wide(type) ? std::size_t{slot} + 1 : slot;
  if (at >= scope->variables.locals.size()) return fail(unavailable("optimised out"));
  return resolve(frame, *scope, scope->variables.locals[at], type);
}

Result<std::uint64_t> FrameLocals::word_of(const Frame& frame, const ScopeValue& value) const {
  Address at = frame.unextended_sp + static_cast<Address>(value.number);
  if (value.kind == ScopeValue::Kind::kRegister) {
    const MachineRules& machine = vm_.quirks().machine;
    if (value.number == machine.frame_pointer_vmreg) return frame.fp;
    const auto saved = frame.scope.registers != 0 ? machine.saved_register(value.number) : std::nullopt;
    if (!saved) return fail(unavailable("in a register that is not known here"));
    at = frame.scope.registers - *saved;
  }
  // What is shorter than a word may be at the end of readable memory.
  const bool half = value.type == ScopeValue::Type::kNormal || value.type == ScopeValue::Type::kNarrowOop;
  std::uint64_t word = 0;
  const auto room = std::as_writable_bytes(std::span(&word, 1)).first(half ? 4 : 8);
  if (!vm_.memory().read_exactly(at, room)) return fail(unavailable("memory is missing"));
  return word;
}

Result<std::uint64_t> FrameLocals::constant(const Scope& scope, std::int64_t index) const {
  if (index == 0) return 0;
  if (scope.is_kept) {
    const auto kept = scope.constants.find(index);
    if (kept == scope.constants.end()) return fail(unavailable("memory is missing"));
    return kept->second;
  }
  const auto slot = code_->constant_oop(scope.blob, static_cast<std::uint32_t>(index));
  const auto raw = slot ? vm_.memory().read<std::uint64_t>(*slot) : Result<std::uint64_t>(fail(slot.error()));
  if (!raw) return fail(unavailable("memory is missing"));
  return objects_.from_stack(*raw);
}

Result<LocalValue> FrameLocals::resolve(const Frame& frame, const Scope& scope, const ScopeValue& value,
                                        char type) const {
  using Kind = ScopeValue::Kind;
  using Type = ScopeValue::Type;
  if (value.kind == Kind::kNone) return fail(unavailable("optimised out"));
  if (!fits(value, type)) return fail(unavailable("no value of its type is there"));
  if (value.kind == Kind::kInt || value.kind == Kind::kWide)
    return LocalValue{.bits = cut(static_cast<std::uint64_t>(value.number), type)};
  if (value.kind == Kind::kObject) return object(frame, scope, static_cast<std::uint32_t>(value.number));
  if (value.kind == Kind::kOop) {
    JTRACE_ASSIGN_OR_RETURN(const std::uint64_t address, constant(scope, value.number));
    return LocalValue{.bits = address};
  }
  JTRACE_ASSIGN_OR_RETURN(const std::uint64_t word, word_of(frame, value));
  if (value.type == Type::kFloatInDouble) return LocalValue{.bits = narrowed(word)};
  if (!is_reference(type)) return LocalValue{.bits = cut(word, type)};
  if (value.type == Type::kNarrowOop) return LocalValue{.bits = objects_.from_narrow(static_cast<std::uint32_t>(word))};
  // A compressed null that was decoded without a test is the base (CompressedOops::is_base).
  if (word == objects_.narrow_base()) return LocalValue{};
  return LocalValue{.bits = reference_in(frame, word)};
}

// A merged object is the one of the path that was taken (ObjectMergeValue::select).
Result<LocalValue> FrameLocals::object(const Frame& frame, const Scope& scope, std::uint32_t id) const {
  const ScopeObject* made = scope.variables.object(id);
  if (made == nullptr) return fail(unavailable("its object is not described"));
  if (!made->merge) return LocalValue{.apart = id};
  JTRACE_ASSIGN_OR_RETURN(const LocalValue selector, resolve(frame, scope, made->selector, 'I'));
  const auto chosen = static_cast<std::int32_t>(selector.bits);
  if (chosen == -1 && made->pointer.kind != ScopeValue::Kind::kObject) return resolve(frame, scope, made->pointer, 'L');
  if (chosen < 0 || static_cast<std::size_t>(chosen) >= made->values.size())
    return fail(unavailable("its object is not described"));
  const ScopeValue& one = made->values[static_cast<std::size_t>(chosen)];
  const ScopeObject* taken = scope.variables.object(static_cast<std::uint32_t>(one.number));
  if (one.kind != ScopeValue::Kind::kObject || taken == nullptr || taken->merge)
    return fail(unavailable("its object is not described"));
  return LocalValue{.apart = taken->id};
}

// Superclasses first, each class's fields as it declares them. Up to a version between 21 and 25 they were then sorted
// by offset, and a class's own fields may lie in gaps between inherited ones (Deoptimization::reassign_fields_by_klass,
// ciInstanceKlass::compute_nonstatic_fields).
Result<std::vector<JavaField>> FrameLocals::fields_in_order(Address klass) const {
  std::vector<Address> supers;
  for (Address at = klass; at != 0;) {
    if (supers.size() == kMaxSupers) return fail(unavailable("its class has no end of superclasses"));
    supers.push_back(at);
    JTRACE_ASSIGN_OR_RETURN(at, objects_.classes().super(at));
  }
  std::vector<JavaField> fields;
  for (auto each = supers.rbegin(); each != supers.rend(); ++each) {
    JTRACE_ASSIGN_OR_RETURN(const auto* declared, objects_.classes().fields(*each));
    for (const JavaField& field : *declared)
      if (!field.is_static() && !field.injected) fields.push_back(field);
  }
  const auto by_offset = [](const JavaField& a, const JavaField& b) { return a.offset < b.offset; };
  using Order = JdkQuirks::FieldOrder;
  const Order order = vm_.quirks().scope_field_order;
  if (order == Order::kUnknown && !std::is_sorted(fields.begin(), fields.end(), by_offset))
    return fail(unavailable("the order of its fields is not known"));
  if (order == Order::kByOffset) std::sort(fields.begin(), fields.end(), by_offset);
  return fields;
}

Result<Address> FrameLocals::klass_of(const Scope& scope, const ScopeObject& object) const {
  if (object.merge || object.klass.kind != ScopeValue::Kind::kOop)
    return fail(unavailable("its object is not described"));
  if (scope.is_kept) {
    const auto kept = scope.klasses.find(object.id);
    if (kept == scope.klasses.end()) return fail(unavailable("its object is not described"));
    return kept->second;
  }
  JTRACE_ASSIGN_OR_RETURN(const std::uint64_t mirror, constant(scope, object.klass.number));
  return objects_.klass_of_mirror(mirror);
}

Result<TakenApart> FrameLocals::taken_apart(const Frame& frame, std::uint32_t id) const {
  JTRACE_ASSIGN_OR_RETURN(const Scope* scope, scope_of(frame));
  const ScopeObject* made = scope->variables.object(id);
  if (made == nullptr) return fail(unavailable("its object is not described"));
  TakenApart object;
  JTRACE_ASSIGN_OR_RETURN(object.klass, klass_of(*scope, *made));
  JTRACE_ASSIGN_OR_RETURN(const std::string name, objects_.classes().internal_name(object.klass));
  std::vector<JavaField> fields;
  if (name.starts_with('[')) {
    JavaField element;
    element.signature = name.substr(1);
    fields.assign(made->values.size() / (is_wide(name[1]) ? 2 : 1), element);
  } else {
    JTRACE_ASSIGN_OR_RETURN(fields, fields_in_order(object.klass));
  }
  // A long or double has two values, of which the second counts.
  std::size_t at = 0;
  for (JavaField& field : fields) {
    const char type = field.signature.front();
    at += is_wide(type) ? 2 : 1;
    if (at > made->values.size()) break;
    auto value = resolve(frame, *scope, made->values[at - 1], type);
    object.parts.push_back({std::move(field), std::move(value)});
  }
  if (at != made->values.size()) return fail(unavailable("its object is not described as its class has it"));
  return object;
}

}  // namespace jtrace::coreinspect
