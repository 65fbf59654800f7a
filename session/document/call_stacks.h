// CallStacks: the open calls of each thread, from its entries and exits in order: tickets, depth, and exits without a
// record. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "session/document/call_values.h"

namespace jtrace::session {

enum class CallSide : std::uint8_t {
  kCallee,  // a frame: methodEntry to methodExit
  kCaller,  // methodCall to methodReturn
};

struct OpenCall {
  std::uint32_t number;  // in its records
  CallSide side;
  std::uint64_t method;      // methodId
  std::uint64_t ticket;      // 0: a frame that is not in the document
  std::uint64_t object = 0;  // its receiver's objId; 0: none, or not known
};

class CallStack {
 public:
  explicit CallStack(std::uint64_t thread) : thread_(thread) {}

  std::uint64_t thread() const { return thread_; }
  std::size_t frames() const { return frames_; }
  std::size_t size() const { return calls_.size(); }
  // The call that is entered.
  const OpenCall& enter(std::uint32_t method, std::uint64_t object) {
    ++frames_;
    return calls_.emplace_back(OpenCall{method, CallSide::kCallee, method, ++tickets_, object});
  }
  void enter_unrecorded(std::uint32_t method) {
    ++frames_;
    calls_.emplace_back(OpenCall{method, CallSide::kCallee, method, 0});
  }
  const OpenCall& call(std::uint32_t number, std::uint64_t method) {
    return calls_.emplace_back(OpenCall{number, CallSide::kCaller, method, ++tickets_});
  }
  // A call that is in the part of the document that another builder has written.
  void restore(std::uint64_t method, CallSide side, std::uint64_t ticket) {
    if (side == CallSide::kCallee) ++frames_;
    tickets_ = std::max(tickets_, ticket);
    calls_.emplace_back(OpenCall{static_cast<std::uint32_t>(method), side, method, ticket});
  }
  // The place in the stack of the innermost call with this number; size() if there is none.
  std::size_t find(std::uint32_t number, CallSide side = CallSide::kCallee) const {
    for (std::size_t i = calls_.size(); i > 0; --i)
      if (calls_[i - 1].number == number && calls_[i - 1].side == side) return i - 1;
    return calls_.size();
  }
  // The place of the innermost frame; size() if there is none.
  std::size_t innermost_frame() const {
    for (std::size_t i = calls_.size(); i > 0; --i)
      if (calls_[i - 1].side == CallSide::kCallee) return i - 1;
    return calls_.size();
  }
  OpenCall& at(std::size_t index) { return calls_[index]; }
  const OpenCall& at(std::size_t index) const { return calls_[index]; }
  OpenCall pop() {
    const OpenCall top = calls_.back();
    calls_.pop_back();
    if (top.side == CallSide::kCallee) --frames_;
    return top;
  }
  // The exception that was thrown in the current frame, and not caught or passed on yet; method 0: none.
  struct Thrown {
    std::uint32_t method = 0;
    std::uint64_t handle = 0;
    friend bool operator==(const Thrown&, const Thrown&) = default;
  };
  Thrown thrown;
  // The exception that is leaving a frame of the method; method 0: none.
  struct Leaving {
    std::uint32_t method = 0;
    std::uint64_t object = 0;  // 0: not known
  };
  Leaving leaving;
  // Of a virtual thread: of its last record (monotonic).
  std::uint64_t last_time = 0;

  // The values for the next entry or exit.
  std::vector<CallValue> values;

  // The number of open calls that are in the document.
  std::uint64_t reported() const {
    return static_cast<std::uint64_t>(
        std::count_if(calls_.begin(), calls_.end(), [](const OpenCall& call) { return call.ticket != 0; }));
  }
  // Forgets all open calls; visit(call) is called for each.
  template <class Visit>
  void forget(Visit visit) {
    for (const OpenCall& call : calls_) visit(call);
    calls_.clear();
    frames_ = 0;
    thrown = {};
    leaving = {};
    values.clear();
  }

 private:
  std::uint64_t thread_;
  std::uint64_t tickets_ = 0;
  std::vector<OpenCall> calls_;
  std::size_t frames_ = 0;  // of calls_
};

class CallStacks {
 public:
  CallStack& of(std::uint64_t thread) { return stacks_.try_emplace(thread, thread).first->second; }
  void end(std::uint64_t thread) { stacks_.erase(thread); }
  template <class Visit>
  void forget_all(Visit visit) {
    for (auto& [thread, stack] : stacks_) stack.forget(visit);
  }
  // Virtual threads that are in calls.
  std::vector<std::uint64_t> open_virtual() const {
    std::vector<std::uint64_t> found;
    for (const auto& [thread, stack] : stacks_)
      if (stack.last_time != 0 && stack.size() != 0) found.push_back(thread);
    return found;
  }

 private:
  std::unordered_map<std::uint64_t, CallStack> stacks_;
};

}  // namespace jtrace::session
