// OpenCalls: the open calls of each thread, for --slower-than. The callout at an entry pushes the method and the time,
// the callout at an exit pops them (callout_code.h). Native code is called only for an exit that comes late or does not
// match. A caller runs longer than the methods it calls, so all callers of a slow call are slow too (and those of one
// that is written for --longest-from take as long as it). Their entries are written just before the callee's, so the
// calls of each thread nest.
//
// A constructor that an exception of super() leaves stays open until its caller ends, because no callout sees it. If
// the caller is not traced, a look at the thread's real stack finds it (left_constructors.h).
//
// The entry callout of a synchronized method runs when its thread has the monitor. The wait before it belongs to the
// call: where it was noted, the call begins with it.
//
// Each thread has a stack; virtual threads have their own. Receivers and arguments are kept by id: no reference keeps
// them alive (late_frees.h). A part of CalloutArea: memory that is never unmapped.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "agent/methods/kept_values.h"
#include "base/raise.h"

namespace jtrace::agent {

class OpenCalls {
 public:
  static constexpr std::uint64_t kEntries = 1u << 16;  // threads by threadId modulo this
  static constexpr std::uint32_t kFrames = 16383;      // deeper calls are not measured
  static constexpr std::uint32_t kMostStacks = 4096;   // 560 KiB of addresses each, memory where it is touched

  struct Entry {
    std::atomic<std::uint64_t> owner;  // threadId, 0: free; a thread without a stack has no entry
    std::atomic<std::uint64_t> stack;  // address
  };
  struct Frame {
    std::uint64_t method;  // number, which a callout stores; then also kWritten, kLeft, kExactStart
    std::uint64_t start;
    std::uint64_t object;    // objId of the receiver, with --objects; 0: none, or unknown
    std::uint64_t cpu_time;  // of the thread when the call began, with --cpu-time; 0: unknown

    std::uint32_t number() const { return static_cast<std::uint32_t>(method); }
    bool is_written() const { return (method & kWritten) != 0; }  // its entry is in the trace
    bool has_left() const { return (method & kLeft) != 0; }       // it has ended: no exit matches it
    void set_written() { method |= kWritten; }
    void set_left() { method |= kLeft; }
    bool has_exact_start() const { return (method & kExactStart) != 0; }  // not of the coarse clock
    void set_exact_start() { method |= kExactStart; }

   private:
    static constexpr std::uint64_t kWritten = 1ull << 32;
    static constexpr std::uint64_t kLeft = 1ull << 33;
    static constexpr std::uint64_t kExactStart = 1ull << 34;
  };
  static constexpr std::uint64_t kNumbers = 1u << 24;  // methods are noted by their number modulo this
  // Used only by its thread, except `owner`.
  struct Stack {
    std::uint64_t depth;      // may exceed kFrames
    std::uint64_t next_look;  // when full: next read of the real stack (left_constructors.h)
    // ns: the callout passes an exit on if its call took as long: passed_from(), or less after a wait for a monitor.
    std::uint64_t threshold;
    std::uint64_t wait_since, wait_until;  // the last such wait, monotonic ns; 0: none, or it is not over
    std::uint64_t wait_at;                 // the position of the call whose wait it may be
    std::atomic<std::uint64_t> owner;
    Frame frames[kFrames];
    KeptValues values;  // of these calls, if they are wanted

    // Number of frames in use.
    std::uint64_t used() const {
      const std::uint64_t calls = __atomic_load_n(&depth, __ATOMIC_RELAXED);
      return calls < kFrames ? calls : kFrames;
    }
    // Position of the innermost call of the method, from 1; 0 if it is not open.
    std::uint64_t find(std::uint32_t method) const {
      std::uint64_t at = used();
      while (at > 0 && (frames[at - 1].has_left() || frames[at - 1].number() != method)) --at;
      return at;
    }
    // The calls from that position on have ended and are written. (Other threads that read the stack see them until
    // now.)
    void leave(std::uint64_t at) {
      while (at > 1 && frames[at - 2].has_left()) --at;
      __atomic_store_n(&depth, at - 1, __ATOMIC_RELEASE);
    }
  };

  // Starts with no open calls. In ns; `longest_from` 0: only calls of slower_than are written, however long the others.
  void start(std::uint64_t slower_than, std::uint64_t longest_from = 0);
  // Threads no longer find their stacks; open calls are forgotten.
  void forget();
  // An empty stack for the calling thread; nullptr if there is none.
  Stack* claim(std::uint64_t thread);
  // The stack of the thread; nullptr if it has none.
  Stack* find(std::uint64_t thread);
  // The thread ends, or is a virtual thread without open calls.
  void release(std::uint64_t thread);
  // Whether a call is written that took `duration`, and surely `least` (of which the coarse clock may know less): it is
  // slow, or the longest of those that are not. Any thread.
  bool is_wanted(std::uint64_t duration, std::uint64_t least) const {
    return is_slow(duration) ||
           (longest_from_ != 0 && duration >= longest_from_ && least > longest_.load(std::memory_order_relaxed));
  }
  bool is_slow(std::uint64_t duration) const { return duration >= slower_than_; }
  // Such a call was written. A slow one says nothing about the others.
  void note_longest(std::uint64_t least) { raise_to(longest_, least); }
  bool keeps_longest() const { return longest_from_ != 0; }

  // A wait for a monitor of the calling thread, which has this stack, begins or is over.
  void begin_wait(Stack& stack, std::uint64_t now);
  void end_wait(Stack& stack, std::uint64_t now);
  // Gives the last wait to the call that it belongs to, if that has begun.
  void settle_wait(Stack& stack);
  // The method with that number is synchronized.
  void note_synchronized(std::uint32_t number) { set_bit(synchronized_, number); }

  // The method with that number is a constructor that may be left without a callout.
  void note_constructor(std::uint32_t number);
  bool is_constructor(std::uint64_t number) const { return has_bit(constructors_, number); }
  bool has_constructors() const { return has_constructors_.load(std::memory_order_relaxed); }
  bool has_open_constructor(const Stack& stack) const;
  // The thread is in these constructors and in no others (innermost first, including those entered before the trace).
  // Calls visit(frame, end) for each open one that was left, from the innermost on, before it is removed. It had ended
  // when the open call above it began: `end`; 0: there is none. A written one below a written call waits until that
  // ends.
  template <class Visit>
  void drop_left(Stack& stack, std::span<const std::uint32_t> inside, Visit visit) {
    const std::vector<std::uint32_t> real = open_among(stack, inside);
    std::size_t next = 0;
    std::uint64_t end = 0;
    bool is_within_written = false;
    for (std::uint64_t at = stack.used(); at > 0; --at) {
      Frame& frame = stack.frames[at - 1];
      if (frame.has_left()) continue;
      const bool is_real = next < real.size() && real[next] == frame.number();
      if (!may_be_left(frame) || is_real) {
        next += is_real ? 1 : 0;
        end = frame.start;
        is_within_written = is_within_written || frame.is_written();
        continue;
      }
      if (frame.is_written() && is_within_written) continue;
      visit(frame, end);
      __atomic_store_n(&frame.object, 0, __ATOMIC_RELAXED);
      frame.set_left();
    }
    const std::uint64_t used = stack.used();
    if (used > 0 && stack.frames[used - 1].has_left()) stack.leave(used);
  }

  // visit(objId) for each object that an open call has as receiver or argument. On any thread, while the others run.
  template <class Visit>
  void for_each_object(Visit visit) const {
    const std::uint32_t made = made_.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < made && i < kMostStacks; ++i) {
      const auto* stack = reinterpret_cast<const Stack*>(stacks_[i].load(std::memory_order_acquire));
      if (stack == nullptr || stack->owner.load(std::memory_order_relaxed) == 0) continue;
      const std::uint64_t used = stack->used();
      for (std::uint64_t at = 0; at < used; ++at)
        if (const std::uint64_t object = __atomic_load_n(&stack->frames[at].object, __ATOMIC_RELAXED)) visit(object);
      stack->values.for_each_object(used, visit);
    }
  }

  // For the callouts.
  std::uint64_t entries_address() const { return reinterpret_cast<std::uint64_t>(entries_); }

  // The table; set when the area is made.
  bool make();

 private:
  Entry* entries_ = nullptr;
  std::atomic<std::uint64_t>* stacks_ = nullptr;  // addresses, kMostStacks
  std::atomic<std::uint32_t> made_{0};            // number of stacks made
  std::atomic<std::uint32_t> in_use_{0};          // number of stacks in use
  std::uint64_t slower_than_ = 0;
  std::uint64_t longest_from_ = 0;
  std::atomic<std::uint64_t> longest_{0};  // what the longest call that is not slow took at least; with longest_from_
  std::atomic<std::uint64_t>* constructors_ = nullptr;  // bits, by number
  std::atomic<bool> has_constructors_{false};
  std::atomic<std::uint64_t>* synchronized_ = nullptr;  // bits, by number

  static bool has_bit(const std::atomic<std::uint64_t>* bits, std::uint64_t number) {
    const std::uint64_t bit = number % kNumbers;
    return (bits[bit / 64].load(std::memory_order_relaxed) >> bit % 64 & 1) != 0;
  }
  static void set_bit(std::atomic<std::uint64_t>* bits, std::uint64_t number) {
    const std::uint64_t bit = number % kNumbers;
    bits[bit / 64].fetch_or(1ull << bit % 64, std::memory_order_relaxed);
  }

  std::uint64_t passed_from() const {
    return longest_from_ == 0 ? slower_than_ : std::min(slower_than_, longest_from_);
  }
  bool may_be_left(const Frame& frame) const { return !frame.has_left() && is_constructor(frame.number()); }
  void give_back(Stack& stack);
  static std::vector<std::uint32_t> open_among(const Stack& stack, std::span<const std::uint32_t> methods);
};

}  // namespace jtrace::agent
