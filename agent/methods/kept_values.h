// KeptValues: arguments and results of a thread's open calls, with --slower-than. Whether they are wanted is known when
// the call ends. Values of primitives and the beginnings of strings are kept as they were, an object by its id. Nothing
// is held that would keep the collector from freeing it.
//
// A value belongs to a place in the stack of open calls (open_calls.h), that is to a depth and the method there. Values
// of ended calls are dropped when a value comes for their place or a lower one, because the fast exits of the callouts
// do not call this class. The room is fixed, in memory that is never unmapped; values that find no room are left out.
// One thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "trace/record/event_record.h"

namespace jtrace::agent {

namespace record = trace::record;

class KeptValues {
 public:
  struct Value {
    std::uint64_t bits;  // as in ValueRecord; unused for a string
    std::uint32_t method;
    std::uint32_t length;  // chars of the whole string
    std::uint16_t depth;
    std::uint16_t text_start;
    std::uint16_t text_size;
    std::uint8_t position;
    std::uint8_t kind;  // ValueKind

    bool is_result() const { return position == record::kResultPosition; }
  };
  static constexpr std::uint32_t kMostValues = 512;
  static constexpr std::uint32_t kTextRoom = 20u << 10;

  // Adds a value of the call at `depth`. The first argument drops what earlier calls left there, a result the previous
  // result. False if there is no room.
  bool keep(Value value, std::string_view text) {
    drop_superseded(value);
    if (count_ == kMostValues || text_used_ + text.size() > kTextRoom) return false;
    value.text_start = static_cast<std::uint16_t>(text_used_);
    value.text_size = static_cast<std::uint16_t>(text.size());
    std::memcpy(texts_ + text_used_, text.data(), text.size());
    text_used_ += static_cast<std::uint32_t>(text.size());
    values_[count_++] = value;
    return true;
  }
  // visit(value, text) for each argument of the call, or its result, in their order.
  template <class Visit>
  void for_each(std::uint64_t depth, std::uint32_t method, bool results, Visit visit) const {
    for (std::uint32_t i = 0; i < count_; ++i) {
      const Value& each = values_[i];
      if (each.depth == depth && each.method == method && each.is_result() == results)
        visit(each, std::string_view(texts_ + each.text_start, each.text_size));
    }
  }
  // visit(objId) for each object among the values of the calls up to that depth. On any thread; a value that the owner
  // is just adding may be missing.
  template <class Visit>
  void for_each_object(std::uint64_t depth, Visit visit) const {
    const std::uint32_t count = __atomic_load_n(&count_, __ATOMIC_ACQUIRE);
    for (std::uint32_t i = 0; i < count && i < kMostValues; ++i) {
      const Value& each = values_[i];
      if (each.depth < depth && each.kind == static_cast<std::uint8_t>(record::ValueKind::kObject)) visit(each.bits);
    }
  }
  void clear() { count_ = text_used_ = 0; }

 private:
  void drop_superseded(const Value& next) {
    while (count_ > 0 && is_over(values_[count_ - 1], next)) text_used_ = values_[--count_].text_start;
  }
  static bool is_over(const Value& kept, const Value& next) {
    if (kept.depth != next.depth) return kept.depth > next.depth;
    return kept.is_result() || kept.method != next.method || next.position == 0;
  }

  std::uint32_t count_ = 0;
  std::uint32_t text_used_ = 0;
  Value values_[kMostValues];
  char texts_[kTextRoom];
};

}  // namespace jtrace::agent
