// ProducerStates: which thread runs on each producer of records (a virtual
// thread on a carrier), and which producers are losing events. One thread.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "trace/record/event_record.h"

namespace jtrace::session {

class ProducerStates {
 public:
  struct State {
    std::uint64_t thread = 0;
    bool is_virtual = false;
    bool is_carrier = false;  // has run virtual ones
    // Unless another record follows: it loses events since then (monotonic), of that thread.
    std::uint64_t loses_from = 0;
    std::uint64_t loses_of = 0;
  };

  // The next records are this producer's.
  void select(std::uint32_t producer) { current_ = &states_[producer]; }
  // Of the current producer.
  std::uint64_t thread() const { return current_ != nullptr ? current_->thread : 0; }
  bool is_virtual() const { return current_ != nullptr && current_->is_virtual; }

  // Updates the states. False if the record has no other effect.
  bool take(const trace::record::RecordHeader& header) {
    using trace::record::RecordKind;
    if (header.kind == RecordKind::kThreadSwitch) {
      if (current_ == nullptr) return false;
      const auto& to = reinterpret_cast<const trace::record::ThreadRecord&>(header);
      current_->thread = to.thread;
      current_->is_virtual = (header.flags & trace::record::kIsVirtual) != 0;
      current_->is_carrier = current_->is_carrier || current_->is_virtual;
      if (to.lost_until == 0) return false;
    }
    if (header.kind == RecordKind::kGap && (header.flags & trace::record::kGapBegins) != 0) {
      const auto& gap = reinterpret_cast<const trace::record::GapRecord&>(header);
      if (current_ != nullptr) current_->loses_from = gap.from;
      if (current_ != nullptr) current_->loses_of = gap.thread;
      return false;
    }
    if (current_ != nullptr) current_->loses_from = 0;
    return true;
  }

  const std::unordered_map<std::uint32_t, State>& all() const { return states_; }

 private:
  std::unordered_map<std::uint32_t, State> states_;
  State* current_ = nullptr;
};

}  // namespace jtrace::session
