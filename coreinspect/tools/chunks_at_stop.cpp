#include "coreinspect/tools/chunks_at_stop.h"

#include <cstring>

#include "coreinspect/unwind/stack_chunks.h"

namespace jtrace::coreinspect {
namespace {

constexpr Address kMostOfChunks = 1u << 20;  // bytes, of one continuation: as of a stack
constexpr Address kContinuationSize = 128;   // of a jdk.internal.vm.Continuation, at least, if its class is not known
constexpr Address kAlignment = 16, kMostSteps = 4;
constexpr int kMaxChunks = 1000;

// What is copied beyond the object would be old memory of another one.
Address size_of_continuation(const Inspection& inspection, Address continuation) {
  const auto klass = inspection.objects().klass_of(continuation);
  if (!klass) return kContinuationSize;
  const auto helper = inspection.classes().layout_helper(*klass);
  if (!helper || *helper <= 0) return kContinuationSize;
  return static_cast<Address>(*helper & ~7);
}

}  // namespace

ChunksAtStop::ChunksAtStop(const Inspection& inspection)
    : inspection_(inspection), entry_field_(inspection.vm().types().offset("JavaThread", "_cont_entry")) {
  if (const auto code = inspection.code()) stubs_ = (*code)->heap_of_stubs();
}

std::optional<ContinuationAtStop> ChunksAtStop::of_entry(Address entry) const {
  const ObjectModel& objects = inspection_.objects();
  const auto continuation = continuation_of_entry(objects, entry);
  if (!continuation) return std::nullopt;
  ContinuationAtStop found{
      .object = *continuation,
      .ranges = {{*continuation, *continuation + size_of_continuation(inspection_, *continuation)}}};
  auto next = first_chunk(objects, *continuation);
  Address total = 0;
  for (int i = 0; next && *next != 0 && i < kMaxChunks && total < kMostOfChunks; ++i) {
    const auto chunk = read_stack_chunk(objects, *next);
    if (!chunk || chunk->end < chunk->object || chunk->end - chunk->object > kMostOfChunks) return std::nullopt;
    found.ranges.emplace_back(chunk->object, chunk->end);
    total += chunk->end - chunk->object;
    next = chunk->parent;
  }
  return next && *next == 0 ? std::optional(std::move(found)) : std::nullopt;  // all of them, or none
}

// Which threads are carriers is not asked: one that schedules the end of a park says that it runs itself.
std::optional<ContinuationAtStop> ChunksAtStop::of_stack(Address start, std::span<const std::byte> bytes) const {
  const auto code = inspection_.code();
  if (!code || !stubs_) return std::nullopt;
  for (std::size_t at = 0; at + sizeof(Address) <= bytes.size(); at += sizeof(Address)) {
    Address word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if (word < stubs_->low || word >= stubs_->high || (*code)->in_interpreter(word)) continue;
    const auto blob = (*code)->find(word);
    if (!blob || !*blob || !(*blob)->is_continuation_stubs()) continue;
    const Address first = (start + at + sizeof word + kAlignment - 1) & ~(kAlignment - 1);
    for (Address i = 0; i < kMostSteps; ++i)
      if (auto found = of_entry(first + i * kAlignment)) return found;
  }
  return std::nullopt;
}

}  // namespace jtrace::coreinspect
