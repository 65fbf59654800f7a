#include "coreinspect/graph/hprof_stream.h"

#include <algorithm>

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kLongestName = 32, kHeaderRest = 12;  // as HprofFile reads it: id size and time
constexpr std::uint64_t kRecordHead = 9, kLengthAt = 5;       // tag, time, length
constexpr std::uint8_t kOldHeapDump = 0x0c, kLastOld = 0x0e;

bool is_known(std::uint8_t tag) {
  return tag <= kLastOld || tag == static_cast<std::uint8_t>(HprofTag::kHeapDumpSegment) ||
         tag == static_cast<std::uint8_t>(HprofTag::kHeapDumpEnd);
}

}  // namespace

bool HprofStream::is_kept() const { return state_ != State::kOver && (state_ != State::kBody || is_known(tag_)); }

// How many of the bytes belong together, at least one.
std::size_t HprofStream::next(std::string_view bytes) {
  if (state_ == State::kName) return next_of_name(bytes);
  if (state_ == State::kHead) return next_of_head(bytes);
  if (state_ == State::kOver) return bytes.size();
  const std::size_t count = std::min<std::uint64_t>(bytes.size(), left_);
  left_ -= count;
  if (left_ > 0) return count;
  if (state_ == State::kTail) state_ = State::kOver;
  else begin_head();
  return count;
}

// The name of the format ends in a 0.
std::size_t HprofStream::next_of_name(std::string_view bytes) {
  const std::size_t zero = bytes.substr(0, kLongestName + 1 - place_).find('\0');
  if (zero == bytes.npos && place_ + bytes.size() <= kLongestName) return bytes.size();
  go_to(State::kHeader, kHeaderRest);
  return zero == bytes.npos ? kLongestName + 1 - place_ : zero + 1;
}

void HprofStream::begin_head() {
  go_to(State::kHead, kRecordHead);
  length_ = 0;
}

std::size_t HprofStream::next_of_head(std::string_view bytes) {
  const auto byte = static_cast<std::uint8_t>(bytes.front());
  if (left_ == kRecordHead) {
    tag_ = byte;
    if (tag_ == 0 || bytes.front() == HprofFile::kMagic.front()) {  // no record, but what HprofFile ends at
      go_to(State::kTail, kTail);
      return next(bytes);
    }
  }
  if (kRecordHead - left_ >= kLengthAt) length_ = length_ << 8 | byte;
  if (--left_ == 0) begin_body();
  return 1;
}

// A whole heap in one record may be longer than its length can say: all that comes is of it then.
void HprofStream::begin_body() {
  if (tag_ == kOldHeapDump) length_ = ~0ull;
  if (length_ == 0) return begin_head();
  go_to(State::kBody, length_);
}

}  // namespace jtrace::coreinspect
