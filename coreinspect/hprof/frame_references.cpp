#include "coreinspect/hprof/frame_references.h"

#include <algorithm>
#include <array>
#include <set>

#include "coreinspect/oops/java_collections.h"
#include "coreinspect/runtime/descriptor.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kMaxFrameBytes = 1u << 20;
constexpr std::uint64_t kMaxLocals = 65536;  // JVMS 4.11

Address words_from(Address fp, int words) { return fp + static_cast<Address>(static_cast<std::int64_t>(words) * 8); }

// The stubs that find out which method a call leads to have its arguments, on the stack too, which are in no map of the
// caller (RuntimeStub::caller_must_gc_arguments; SharedRuntime::generate_stubs); so have adapters, and the barrier at
// the entry of a method (StubRoutines).
bool has_arguments_of_caller(const Frame& stub) {
  constexpr std::array<std::string_view, 5> kNames = {"resolve", "wrong_method", "ic_miss", "adapters", "StubRoutines"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view name) { return stub.name.find(name) != std::string::npos; });
}

}  // namespace

FrameReferences::FrameReferences(const HeapAccess& access, const CodeCache* code)
    : access_(access), objects_(access.inspection().objects()), vm_(access.inspection().vm()), code_(code) {
  for (const HeapRegion& region : access.layout().regions)
    if (region.used() > 0) {
      low_ = std::min(low_, region.start);
      high_ = std::max(high_, region.top);
    }
}

std::vector<FrameReference> FrameReferences::of(const Walk& walk, const Stack& stack) {
  found_.clear();
  known_.clear();
  frame_ = 0;
  is_mapped_ = true;
  std::uint32_t next = 0;
  std::set<Address> done;  // inlined frames share the stack of the frame that they are inlined into
  for (std::size_t i = 0; i < walk.frames.size(); ++i) {
    const Frame& frame = walk.frames[i];
    if (!frame.method) continue;
    frame_ = next++;
    add_code(frame);
    if (!done.insert(frame.sp).second) continue;
    if (frame.kind == FrameKind::kInterpreted) add_interpreted(frame);
    else add_compiled(walk, i);
  }
  oops_ = FrameOops::kPlain;
  search_around(walk, stack);
  return std::move(found_);
}

// Inside and outside of the frames: frame_ is the outermost one.
void FrameReferences::search_around(const Walk& walk, const Stack& stack) {
  const auto is_java = [](const Frame& frame) { return frame.method != nullptr; };
  const auto innermost = std::find_if(walk.frames.begin(), walk.frames.end(), is_java);
  const auto outermost =
      std::find_if(walk.frames.rbegin(), walk.frames.rend(), [](const Frame& frame) { return !frame.in_chunk; });
  const Address top = stack.registers != nullptr ? stack.registers->registers.sp() : 0;
  if (walk.incomplete() && stack.stack_base != 0) {
    const Address known = outermost == walk.frames.rend() ? top : outermost->sp;
    if (known != 0) search_all(known, stack.stack_base);
  }
  if (stack.registers == nullptr) return;
  frame_ = 0;
  if (innermost != walk.frames.end()) search_all(top, innermost->sp);
  if (innermost != walk.frames.end() || walk.incomplete()) add_registers(*stack.registers);
}

// The registers of a thread that runs in Java belong to its innermost frame.
void FrameReferences::add_registers(const target::ThreadRegisters& thread) {
  const target::IsaTraits& traits = thread.registers.traits();
  const bool narrow = access_.shape().compressed_oops;
  for (std::size_t i = traits.first_general; i <= traits.last_general; ++i) add_word(thread.registers.words[i], narrow);
  for (const std::uint64_t word : access_.vectors(thread.tid)) add_word(word, narrow);
}

void FrameReferences::add_word(std::uint64_t word, bool narrow) {
  add_wide(word);
  if (!narrow) return;
  add_narrow(static_cast<std::uint32_t>(word));
  add_narrow(static_cast<std::uint32_t>(word >> 32));
}

// Of a class that its loader does not hold any more, or whose loader nothing holds, and of code that is out of date.
void FrameReferences::add_code(const Frame& frame) {
  oops_ = FrameOops::kPlain;
  if (holders_.insert(frame.method->holder).second)
    if (const auto mirror = mirror_of(objects_, frame.method->holder)) add(*mirror);
  if (frame.kind == FrameKind::kInterpreted || code_ == nullptr) return;
  const auto blob = code_->find(frame.pc);
  if (!blob || !*blob || !(*blob)->is_nmethod() || !code_seen_.insert((*blob)->address).second) return;
  if (const auto constants = code_->constant_oops(**blob)) search(constants->first, constants->second, false);
}

Result<Address> FrameReferences::slot(Address fp, int words) const {
  return vm_.memory().read<Address>(words_from(fp, words));
}

// Its locals, upwards from the caller's stack, and its expression stack.
void FrameReferences::add_interpreted(const Frame& frame) {
  // In a stack chunk the collector may have compressed the references.
  const bool narrow = frame.in_chunk && access_.shape().compressed_oops;
  oops_ = frame.oops;
  const auto locals = slot(frame.fp, vm_.quirks().machine.bcp + 1);
  const std::uint64_t words = std::max(frame.method->max_locals, argument_words(*frame.method));  // native: no locals
  const std::uint64_t count = std::min(words, kMaxLocals);
  if (locals && count > 0) {
    // An address up to 17, later words from fp.
    const auto distance = static_cast<std::int64_t>(*locals);
    const Address first =
        distance > -(1 << 20) && distance < (1 << 20) ? frame.fp + static_cast<Address>(distance * 8) : *locals;
    search(first - (count - 1) * 8, first + 8, narrow);
  }
  search(frame.sp, words_from(frame.fp, vm_.quirks().machine.initial_sp), narrow);
}

// What it has called has its arguments where its own map, or frame, says. Otherwise they are still in this frame.
bool FrameReferences::has_taken_arguments(const Walk& walk, std::size_t at) const {
  if (at == 0) return true;
  const Frame& callee = walk.frames[at - 1];
  if (callee.kind == FrameKind::kCompiled || callee.kind == FrameKind::kInlined) return is_mapped_;
  return callee.kind != FrameKind::kStub || !has_arguments_of_caller(callee);
}

const FrameReferences::OopMap& FrameReferences::oop_map_at(Address pc) {
  const auto [known, is_new] = maps_.try_emplace(pc);
  if (!is_new || code_ == nullptr) return known->second;
  const auto blob = code_->find(pc);
  if (!blob || !*blob) return known->second;
  if (auto map = code_->oop_map(**blob, pc)) known->second = std::move(*map);
  return known->second;
}

// A frame of code that is no longer valid returns to a handler: its map is that of the place to which it returned
// before.
const FrameReferences::OopMap& FrameReferences::oop_map_of(const Frame& frame) {
  const OopMap& map = oop_map_at(frame.pc);
  const auto blob = map || code_ == nullptr ? Result<std::optional<CodeBlob>>() : code_->find(frame.pc);
  if (!blob || !*blob || !code_->is_deopt_return(**blob, frame.pc)) return map;
  const auto original = code_->original_pc(**blob, frame.unextended_sp);
  return original ? oop_map_at(*original) : map;
}

bool FrameReferences::is_saved(const OopPlace& place) const {
  return place.in_register && place.number != vm_.quirks().machine.frame_pointer_vmreg;
}

void FrameReferences::add_compiled(const Walk& walk, std::size_t at) {
  const Frame& frame = walk.frames[at];
  oops_ = frame.oops;
  const bool has_taken = has_taken_arguments(walk, at);
  const Frame* stub = at > 0 && walk.frames[at - 1].kind == FrameKind::kStub ? &walk.frames[at - 1] : nullptr;
  static const OopMap kNone;
  const OopMap& map = frame.scope.at_call && !access_.runs() ? oop_map_of(frame) : kNone;
  const bool has_saved =
      map && std::any_of(map->begin(), map->end(), [&](const OopPlace& each) { return is_saved(each); });
  // What the stub of a poll has saved may be the value that the method is about to return: in no map. So are arguments.
  if (stub != nullptr && (frame.scope.registers != 0 || !has_taken || has_saved))
    search(stub->sp, frame.sp, access_.shape().compressed_oops);
  is_mapped_ = map && add_mapped(frame, *map) && (stub != nullptr || !has_saved);
  if (!is_mapped_ || !has_taken) search_compiled(frame);
}

// False if what is there is no reference: the map was misread, or is one of other code.
bool FrameReferences::add_mapped(const Frame& frame, const std::vector<OopPlace>& map) {
  bool fits = true;
  for (const OopPlace& place : map)
    if (!is_saved(place)) fits = add_place(frame, place) && fits;
  return fits;
}

bool FrameReferences::add_place(const Frame& frame, const OopPlace& place) {
  std::uint64_t word = frame.fp;
  if (!place.in_register) {
    word = 0;
    const auto room = std::as_writable_bytes(std::span(&word, 1)).first(place.narrow ? 4 : 8);
    if (!vm_.memory().read_exactly(frame.unextended_sp + place.number, room)) return false;
  }
  if (place.narrow || frame.oops == FrameOops::kNarrow) {
    const auto narrow = static_cast<std::uint32_t>(word);
    return narrow == 0 || add_narrow(narrow);
  }
  return word == 0 || word == objects_.narrow_base() || add_wide(word);
}

void FrameReferences::search_compiled(const Frame& frame) {
  add_wide(frame.fp);  // the one register that compiled code preserves over calls
  if (access_.shape().compressed_oops) add_narrow(static_cast<std::uint32_t>(frame.fp));
  const auto blob = code_ ? code_->find(frame.pc) : Result<std::optional<CodeBlob>>();
  if (!blob || !*blob) return;
  search(frame.sp, frame.sp + std::uint64_t{(*blob)->frame_size} * 8, access_.shape().compressed_oops);
}

void FrameReferences::search(Address start, Address end, bool narrow) {
  if (end <= start || end - start > kMaxFrameBytes || start % 8 != 0) return;
  std::vector<std::uint64_t> words((end - start) / 8);
  if (!vm_.memory().read_exactly(start, std::as_writable_bytes(std::span(words)))) return;
  for (const std::uint64_t word : words) add_word(word, narrow);
}

// In pieces: one that cannot be read does not cost the others.
void FrameReferences::search_all(Address start, Address end) {
  constexpr Address kPiece = 64u << 10;
  for (Address at = start; at < end; at += kPiece)
    search(at, std::min(end, at + kPiece), access_.shape().compressed_oops);
}

// True if one of its meanings is an address within the heap.
bool FrameReferences::add_wide(std::uint64_t raw) {
  bool any = false;
  if (raw != 0)
    for (const Address object : objects_.all_from_stack(raw)) any = add(object) || any;
  if (oops_ == FrameOops::kColoured) any = add(objects_.from_root(raw)) || any;
  return any;
}

bool FrameReferences::add_narrow(std::uint32_t narrow) { return add(objects_.from_narrow(narrow)); }

bool FrameReferences::add(Address object) {
  if (!in_heap(object)) return false;
  object = access_.place_of(object);
  if (known_.emplace(frame_, object).second) found_.push_back({object, frame_});
  return true;
}

}  // namespace jtrace::coreinspect
