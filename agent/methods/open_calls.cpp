#include "agent/methods/open_calls.h"

#include <algorithm>

#include "agent/anonymous_memory.h"

namespace jtrace::agent {
namespace {

OpenCalls::Stack* stack_at(std::uint64_t address) { return reinterpret_cast<OpenCalls::Stack*>(address); }

}  // namespace

bool OpenCalls::make() {
  entries_ = static_cast<Entry*>(anonymous_memory(kEntries * sizeof(Entry)));
  stacks_ = static_cast<std::atomic<std::uint64_t>*>(anonymous_memory(kMostStacks * sizeof(std::uint64_t)));
  constructors_ = static_cast<std::atomic<std::uint64_t>*>(anonymous_memory(kNumbers / 8));
  synchronized_ = static_cast<std::atomic<std::uint64_t>*>(anonymous_memory(kNumbers / 8));
  if (entries_ == nullptr || stacks_ == nullptr || constructors_ == nullptr || synchronized_ == nullptr) return false;
  // A thread whose java.lang.Thread is still being created makes calls before it has a threadId. Its id is 0, and it
  // gets no stack.
  entries_[0].owner.store(~0ull, std::memory_order_seq_cst);
  return true;
}

void OpenCalls::note_constructor(std::uint32_t number) {
  set_bit(constructors_, number);
  has_constructors_.store(true, std::memory_order_relaxed);
}

bool OpenCalls::has_open_constructor(const Stack& stack) const {
  const std::uint64_t used = stack.used();
  return std::any_of(stack.frames, stack.frames + used, [this](const Frame& each) { return may_be_left(each); });
}

std::vector<std::uint32_t> OpenCalls::open_among(const Stack& stack, std::span<const std::uint32_t> methods) {
  std::vector<std::uint32_t> open;
  for (std::uint64_t at = 0; at < stack.used(); ++at) open.push_back(stack.frames[at].number());
  std::sort(open.begin(), open.end());
  std::vector<std::uint32_t> found;
  for (const std::uint32_t method : methods)
    if (std::binary_search(open.begin(), open.end(), method)) found.push_back(method);
  return found;
}

void OpenCalls::start(std::uint64_t slower_than, std::uint64_t longest_from) {
  forget();
  slower_than_ = slower_than;
  longest_from_ = longest_from;
  longest_.store(0, std::memory_order_relaxed);
}

void OpenCalls::forget() {
  for (std::uint64_t i = 0; i < kEntries; ++i) {
    const std::uint64_t owner = entries_[i].owner.load(std::memory_order_relaxed);
    if (owner != 0 && owner != ~0ull) release(owner);
  }
}

OpenCalls::Stack* OpenCalls::claim(std::uint64_t thread) {
  Entry& entry = entries_[thread & (kEntries - 1)];
  if (entry.owner.load(std::memory_order_acquire) != 0) return nullptr;  // belongs to another thread until that ends
  // checked at each call of a thread without a stack
  if (in_use_.load(std::memory_order_relaxed) >= kMostStacks) return nullptr;
  Stack* found = nullptr;
  const std::uint32_t made = made_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < made && found == nullptr; ++i) {
    Stack* each = stack_at(stacks_[i].load(std::memory_order_acquire));
    std::uint64_t nobody = 0;
    if (each != nullptr && each->owner.load(std::memory_order_relaxed) == 0 &&
        each->owner.compare_exchange_strong(nobody, thread))
      found = each;
  }
  if (found == nullptr && made < kMostStacks) {
    found = static_cast<Stack*>(anonymous_memory(sizeof(Stack)));
    if (found == nullptr) return nullptr;
    found->owner.store(thread, std::memory_order_relaxed);
    const std::uint32_t place = made_.fetch_add(1);
    if (place >= kMostStacks) {
      made_.store(kMostStacks);
      munmap(found, sizeof(Stack));
      return nullptr;
    }
    stacks_[place].store(reinterpret_cast<std::uint64_t>(found), std::memory_order_release);
  }
  if (found == nullptr) return nullptr;
  in_use_.fetch_add(1, std::memory_order_relaxed);
  found->depth = 0;
  found->threshold = passed_from();
  found->wait_since = found->wait_until = found->wait_at = 0;
  found->values.clear();
  // Two threads whose ids collide may both be here. `stack` belongs to this thread only after it has stored `owner`.
  std::uint64_t nobody = 0;
  if (!entry.owner.compare_exchange_strong(nobody, ~0ull)) {
    give_back(*found);
    return nullptr;
  }
  entry.stack.store(reinterpret_cast<std::uint64_t>(found), std::memory_order_relaxed);
  entry.owner.store(thread, std::memory_order_release);
  return found;
}

void OpenCalls::begin_wait(Stack& stack, std::uint64_t now) {
  settle_wait(stack);
  stack.wait_since = now;
  stack.wait_at = stack.depth + 1;
}

// Until the call has ended, each exit that may be its is passed on: its duration has the wait too.
void OpenCalls::end_wait(Stack& stack, std::uint64_t now) {
  if (stack.wait_since == 0 || stack.wait_until != 0) return;
  stack.wait_until = now;
  stack.threshold = passed_from() - std::min(passed_from(), now - stack.wait_since);
}

void OpenCalls::settle_wait(Stack& stack) {
  // How far the times of the wait's end and of the call's begin may lie apart: the coarse clock is late by a
  // millisecond, and the thread may lose its processor between them.
  constexpr std::uint64_t kLate = 2'000'000, kLost = 5'000'000;
  if (stack.wait_until != 0 && stack.wait_at <= stack.used()) {
    Frame& frame = stack.frames[stack.wait_at - 1];
    const bool is_its = has_bit(synchronized_, frame.number()) && frame.start + kLate >= stack.wait_until &&
                        frame.start <= stack.wait_until + kLost;
    if (is_its && !frame.is_written()) {
      frame.start = std::min(frame.start, stack.wait_since);
      frame.set_exact_start();
    }
  }
  stack.wait_since = stack.wait_until = 0;
  stack.threshold = passed_from();
}

OpenCalls::Stack* OpenCalls::find(std::uint64_t thread) {
  const Entry& entry = entries_[thread & (kEntries - 1)];
  if (entry.owner.load(std::memory_order_acquire) != thread) return nullptr;
  return stack_at(entry.stack.load(std::memory_order_relaxed));
}

void OpenCalls::release(std::uint64_t thread) {
  Entry& entry = entries_[thread & (kEntries - 1)];
  Stack* stack = find(thread);
  std::uint64_t mine = thread;
  if (stack == nullptr || !entry.owner.compare_exchange_strong(mine, 0)) return;
  give_back(*stack);
}

void OpenCalls::give_back(Stack& stack) {
  stack.owner.store(0, std::memory_order_release);
  in_use_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace jtrace::agent
