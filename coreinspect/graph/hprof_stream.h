// HprofStream: which bytes of a heap dump are worth keeping, where they come one after the other, out of a compressed
// file: those of the header and of records of a known kind, and a little of what follows the last record.
//
// A small file can be unpacked into very many bytes that are no records at all. Pure. Threads: one at a time.
#pragma once

#include <cstdint>
#include <string_view>

#include "coreinspect/graph/hprof_file.h"

namespace jtrace::coreinspect {

class HprofStream {
 public:
  static constexpr std::uint64_t kTail = 1u << 16;  // kept after the last record: HprofFile says what it is

  // The next bytes, of which keep(place, bytes) gets those to be kept, with their place in the dump.
  template <class Keep>
  void feed(std::string_view bytes, Keep&& keep) {
    while (!bytes.empty()) {
      const bool kept = is_kept();
      const std::string_view part = bytes.substr(0, next(bytes));
      if (kept) keep(place_, part);
      place_ += part.size();
      bytes.remove_prefix(part.size());
    }
  }
  std::uint64_t size() const { return place_; }
  // Everything that is kept was fed: what comes now is not part of the dump.
  bool is_over() const { return state_ == State::kOver; }

 private:
  enum class State : std::uint8_t { kName, kHeader, kHead, kBody, kTail, kOver };

  bool is_kept() const;
  std::size_t next(std::string_view bytes);
  std::size_t next_of_name(std::string_view bytes);
  std::size_t next_of_head(std::string_view bytes);
  void begin_head();
  void begin_body();
  void go_to(State state, std::uint64_t left) {
    state_ = state;
    left_ = left;
  }

  State state_ = State::kName;
  std::uint64_t place_ = 0, left_ = 0;  // left_: bytes until the next state
  std::uint8_t tag_ = 0;
  std::uint64_t length_ = 0;
};

}  // namespace jtrace::coreinspect
