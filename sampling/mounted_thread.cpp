#include "sampling/mounted_thread.h"

#include <algorithm>
#include <cstring>

namespace jtrace::sampling {
namespace {

using target::Address;

// ContinuationEntry::_cont, after _parent (continuationEntry.hpp of JDK 21 to 27; no other build than product has more
// before it). vmStructs does not have it.
constexpr Address kContinuationInEntry = 8;
// The entry ends some words below the frame of Continuation.run: its own size, the saved frame pointer, the return
// address. In words.
constexpr Address kLeastDistance = 6, kMostDistance = 16, kWord = 8;

std::optional<std::uint64_t> word_in(std::span<const std::byte> stack, Address start, Address at) {
  std::uint64_t word = 0;
  if (at < start || at - start > stack.size() || stack.size() - (at - start) < sizeof word) return std::nullopt;
  std::memcpy(&word, stack.data() + (at - start), sizeof word);
  return word;
}

// The class that captured the thread for the continuation has it in a field of its own.
std::optional<MountedThread> thread_of(const coreinspect::ObjectModel& objects, Address continuation) {
  const auto target = objects.reference(continuation, "target");
  if (!target || *target == 0) return std::nullopt;
  const auto thread = objects.reference(*target, "val$vthread");
  if (!thread || *thread == 0) return std::nullopt;
  const auto back = objects.reference(*thread, "cont");
  if (!back || *back != continuation) return std::nullopt;
  const auto name = objects.text_field(*thread, "name");
  const auto id = objects.value<std::int64_t>(*thread, "tid");
  if (!name || !id) return std::nullopt;
  return MountedThread{.name = *name, .id = *id};
}

std::optional<std::size_t> find(const coreinspect::Walk& walk, const char* method) {
  for (std::size_t i = 0; i < walk.frames.size(); ++i)
    if (coreinspect::is_of_continuation(walk.frames[i].method, method)) return i;
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> virtual_frames(const coreinspect::Walk& walk) {
  const auto in_chunks = std::find_if(walk.frames.begin(), walk.frames.end(), coreinspect::are_in_chunks);
  if (in_chunks != walk.frames.end()) return in_chunks - walk.frames.begin();
  const auto enter = find(walk, "enter");
  return enter ? std::optional(*enter + 1) : std::nullopt;
}

std::optional<MountedThread> mounted_thread(const coreinspect::ObjectModel& objects, const coreinspect::Walk& walk,
                                            Address start, std::span<const std::byte> stack) {
  const auto run = find(walk, "run");
  if (!run) return std::nullopt;
  for (Address distance = kLeastDistance; distance <= kMostDistance; ++distance) {
    const auto raw = word_in(stack, start, walk.frames[*run].sp - distance * kWord + kContinuationInEntry);
    if (!raw || *raw == 0 || *raw % kWord != 0) continue;
    const Address continuation = objects.from_stack(*raw);
    if (const auto thread = continuation == 0 ? std::nullopt : thread_of(objects, continuation)) return thread;
  }
  return std::nullopt;
}

}  // namespace jtrace::sampling
