#include "coreinspect/unwind/stack_chunks.h"

#include <algorithm>
#include <span>

namespace jtrace::coreinspect {
namespace {

constexpr int kMaxChunks = 10'000;
constexpr Address kWord = 8;
constexpr int kInVm = 6;  // _thread_in_vm (globalDefinitions.hpp); odd: on the way from there
// The collector has rewritten the chunk's references (stackChunkOop.hpp: FLAG_GC_MODE, FLAG_HAS_BITMAP). With
// Shenandoah it does so without compressing them, and has no bitmap then.
constexpr std::uint8_t kGcMode = 1 << 3, kHasBitmap = 1 << 4;
// ContinuationEntry::_cont, the word after _parent (continuationEntry.hpp): the first or the second field.
constexpr Address kFirstContinuation = 1, kLastContinuation = 3;

Address in_area(const StackChunk& chunk, std::int32_t words) {
  return chunk.begin + static_cast<Address>(words) * kWord;
}

Result<JavaWalker::Segment> walk_chunk(const ObjectModel& objects, const JavaWalker& walker, const StackChunk& chunk) {
  if (chunk.sp >= chunk.bottom) return JavaWalker::Segment();  // its frames went back to a stack
  const Vm& vm = objects.classes().vm();
  FrameStart start{.pc = vm.target().code_address(chunk.pc), .sp = chunk.sp};
  JTRACE_ASSIGN_OR_RETURN(start.fp, vm.memory().read<Address>(chunk.sp - 2 * kWord));
  return walker.segment({chunk.begin, chunk.bottom, true, chunk.oops}, walker.from_chunk(start));
}

// In Continuation.doYield the VM copies the frames of the stack to the chunk.
bool is_in_yield(std::span<const Frame> frames) {
  return std::any_of(frames.begin(), frames.end(),
                     [](const Frame& frame) { return is_of_continuation(frame.method, "doYield"); });
}

}  // namespace

Result<Address> first_chunk(const ObjectModel& objects, Address continuation) {
  return objects.reference(continuation, "tail");
}

// Where frames begin and end: stackChunkOop.inline.hpp.
Result<StackChunk> read_stack_chunk(const ObjectModel& objects, Address object) {
  JTRACE_ASSIGN_OR_RETURN(const Address klass, objects.klass_of(object));
  JTRACE_ASSIGN_OR_RETURN(const auto helper, objects.classes().layout_helper(klass));
  JTRACE_ASSIGN_OR_RETURN(const auto sp, objects.value<std::int32_t>(object, "sp"));
  JTRACE_ASSIGN_OR_RETURN(const auto size, objects.value<std::int32_t>(object, "size"));
  StackChunk chunk{.object = object};
  JTRACE_ASSIGN_OR_RETURN(chunk.pc, objects.value<std::uint64_t>(object, "pc"));
  auto bottom = objects.value<std::int32_t>(object, "bottom");  // 22 and later
  if (!bottom) {
    JTRACE_ASSIGN_OR_RETURN(const auto arguments, objects.value<std::int32_t>(object, "argsize"));
    bottom = size - arguments;
  }
  if (helper <= 0 || sp < 0 || size < 0 || *bottom < 0 || *bottom > size)
    return fail(ErrorCategory::kMalformed, "an impossible stack chunk");
  chunk.begin = object + (static_cast<std::uint32_t>(helper) & ~7u);
  chunk.end = in_area(chunk, size);
  chunk.sp = in_area(chunk, std::min(sp, *bottom));
  chunk.bottom = in_area(chunk, *bottom);
  JTRACE_ASSIGN_OR_RETURN(chunk.parent, objects.reference(object, "parent"));
  const auto flags = objects.value<std::uint8_t>(object, "flags");
  const std::uint8_t rewritten = objects.reference_size() == 4 ? kHasBitmap : kGcMode;
  if (flags && (*flags & rewritten) != 0) chunk.oops = objects.rewritten();
  return chunk;
}

std::optional<Address> continuation_of_entry(const ObjectModel& objects, Address entry) {
  for (Address i = kFirstContinuation; i < kLastContinuation; ++i) {
    const auto raw = objects.classes().vm().memory().read<Address>(entry + i * kWord);
    const Address continuation = raw && *raw % kWord == 0 ? objects.from_stack(*raw) : 0;
    if (continuation == 0) continue;
    if (objects.reference(continuation, "target") && objects.reference(continuation, "tail")) return continuation;
  }
  return std::nullopt;
}

void walk_chunks(const ObjectModel& objects, const JavaWalker& walker, Address continuation, Walk& walk) {
  auto next = first_chunk(objects, continuation);
  for (int count = 0; next && *next != 0 && count < kMaxChunks; ++count) {
    const auto chunk = read_stack_chunk(objects, *next);
    auto part = chunk ? walk_chunk(objects, walker, *chunk) : fail(chunk.error());
    if (!part) {
      walk.stopped = part.error().message();
      return;
    }
    walk.frames.insert(walk.frames.end(), part->frames.begin(), part->frames.end());
    if (walk.stopped = std::move(part->stopped); !walk.stopped.empty()) return;
    next = chunk->parent;
  }
  if (!next) walk.stopped = next.error().message();
}

void join_chunks(const ObjectModel& objects, const JavaWalker& walker, int vm_state, const std::set<Address>* copied,
                 Walk& walk) {
  const auto place = std::find_if(walk.frames.begin(), walk.frames.end(), are_in_chunks);
  if (place == walk.frames.end()) return;
  Walk part;
  if ((vm_state & ~1) == kInVm || is_in_yield({walk.frames.begin(), place})) {
    part.stopped = "the virtual thread was perhaps being parked: its frames in the heap are not whole";
  } else {
    const auto continuation = continuation_of_entry(objects, place->sp);
    const bool known = continuation && (copied == nullptr || copied->contains(*continuation));
    if (known) walk_chunks(objects, walker, *continuation, part);
    if (!known || part.frames.empty()) part.stopped = "the frames of a virtual thread in the heap are not found";
  }
  if (part.incomplete() && !walk.incomplete()) walk.stopped = part.stopped;
  const auto at = part.incomplete() ? place : walk.frames.erase(place);
  walk.frames.insert(at, std::make_move_iterator(part.frames.begin()), std::make_move_iterator(part.frames.end()));
}

}  // namespace jtrace::coreinspect
