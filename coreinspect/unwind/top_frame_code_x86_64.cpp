#include "coreinspect/unwind/top_frame_code_x86_64.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace jtrace::coreinspect::x86_64 {
namespace {

using Code = std::span<const std::uint8_t>;

constexpr std::uint8_t kPushRbp = 0x55, kPopRbp = 0x5d, kLeave = 0xc9, kRet = 0xc3, kRetPop = 0xc2;
constexpr std::size_t kMostMargin = 16;  // bytes between the sub of a frame and its size: return address, saved rbp

bool begins_with(Code code, std::initializer_list<std::uint8_t> bytes) {
  return code.size() >= bytes.size() && std::equal(bytes.begin(), bytes.end(), code.begin());
}
Code after(Code code, std::size_t count) { return code.size() < count ? Code() : code.subspan(count); }

// cmp rsp, [r15 + poll]; ja stub (17 and later).
Code without_compare(Code code) {
  if (begins_with(code, {0x49, 0x3b, 0xa7})) return after(code, 7);
  if (begins_with(code, {0x49, 0x3b, 0x67})) return after(code, 4);
  return code;
}
Code without_jump(Code code) {
  if (begins_with(code, {0x0f, 0x87})) return after(code, 6);
  if (begins_with(code, {0x77})) return after(code, 2);
  return code;
}
// mov r10, [r15 + page] or a constant; test [r10], eax (9 to 16), or test eax, [rip + page] (8).
Code without_touch(Code code) {
  if (begins_with(code, {0x4d, 0x8b, 0x97})) code = after(code, 7);
  else if (begins_with(code, {0x4d, 0x8b, 0x57})) code = after(code, 4);
  else if (begins_with(code, {0x49, 0xba})) code = after(code, 10);
  if (begins_with(code, {0x41, 0x85, 0x02})) return after(code, 3);
  if (begins_with(code, {0x85, 0x05})) return after(code, 6);
  return code;
}

// A poll, or the rest of one, and ret.
bool returns(Code code) {
  code = without_touch(without_jump(without_compare(code)));
  return !code.empty() && (code[0] == kRet || code[0] == kRetPop);
}

// sub rsp, N: its length and N; 0 for another instruction.
struct Sub {
  std::size_t length = 0;
  std::uint64_t size = 0;
};
Sub sub_rsp(Code code) {
  if (begins_with(code, {0x48, 0x83, 0xec}) && code.size() >= 4) return {4, code[3]};
  if (!begins_with(code, {0x48, 0x81, 0xec}) || code.size() < 7) return {};
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) size |= std::uint64_t{code[3 + i]} << (8 * i);
  return {7, size};
}

bool is_store_of_rbp(Code code) {  // mov [rsp + N], rbp
  return begins_with(code, {0x48, 0x89, 0x6c, 0x24}) || begins_with(code, {0x48, 0x89, 0xac, 0x24});
}
std::size_t length_of_mov_rbp_rsp(Code code) {
  return begins_with(code, {0x48, 0x8b, 0xec}) || begins_with(code, {0x48, 0x89, 0xe5}) ? 3 : 0;
}

// The value of the last bytes of `code`, which has as many.
template <typename T>
T read_at_end(Code code) {
  T value{};
  std::memcpy(&value, code.data() + code.size() - sizeof value, sizeof value);
  return value;
}
// Takes an instruction off the end, if it is that.
bool take_end(Code& code, std::uint64_t& pc, Code instruction) {
  if (code.size() < instruction.size() || !std::ranges::equal(code.last(instruction.size()), instruction)) return false;
  code = code.first(code.size() - instruction.size());
  pc -= instruction.size();
  return true;
}
// Whether it ends in these bytes and `count` more.
bool has_before(Code code, Code bytes, std::size_t count) {
  return code.size() >= bytes.size() + count &&
         std::ranges::equal(code.last(bytes.size() + count).first(bytes.size()), bytes);
}

}  // namespace

bool is_enter(Code code) { return !code.empty() && code[0] == kPushRbp && length_of_mov_rbp_rsp(after(code, 1)) != 0; }

FrameStep step_of_end(Code code) {
  if (returns(code)) return FrameStep::kOnTop;
  if (begins_with(code, {kPopRbp}) && returns(after(code, 1))) return FrameStep::kPushed;
  if (begins_with(code, {kLeave})) return FrameStep::kLeaving;
  return FrameStep::kWhole;
}

FrameStep step_of_begin(Code before, Code rest, std::uint64_t frame_bytes) {
  // Searches backwards from the pc for the sub that reserves the frame; it has nearly the size of the frame.
  for (std::size_t at = before.size(); at-- > 0;) {
    const Sub sub = sub_rsp(before.subspan(at));
    if (sub.length == 0 || sub.size > frame_bytes || frame_bytes - sub.size > kMostMargin) continue;
    const bool pushed = at >= 1 && (before[at - 1] == kPushRbp || (at >= 4 && is_enter(before.subspan(at - 4))));
    return !pushed && is_store_of_rbp(rest) ? FrameStep::kReserved : FrameStep::kWhole;
  }
  const Code next = after(rest, length_of_mov_rbp_rsp(rest));
  const bool builds = sub_rsp(next).length != 0;
  const bool pushed = !before.empty() && before.back() == kPushRbp;
  const bool entered = before.size() >= 4 && is_enter(before.last(4));
  return builds && (pushed || entered) ? FrameStep::kPushed : FrameStep::kOnTop;
}

// call rel32, call of a register, call through memory (Intel SDM, FF /2).
bool ends_in_call(Code before) {
  const auto from_end = [&](std::size_t count) { return before.size() < count ? 0 : before[before.size() - count]; };
  if (from_end(5) == 0xe8) return true;
  if (from_end(2) == 0xff && (from_end(1) & 0xf8) == 0xd0) return true;
  for (const std::size_t length : std::initializer_list<std::size_t>{2, 3, 4, 6, 7})
    if (from_end(length) == 0xff && (from_end(length - 1) & 0x38) == 0x10 && from_end(length - 1) < 0xc0) return true;
  return false;
}

std::optional<std::uint64_t> target_of_call(Code before, std::uint64_t pc) {
  static constexpr std::uint8_t kCallR10[] = {0x41, 0xff, 0xd2}, kVzeroupper[] = {0xc5, 0xf8, 0x77};
  static constexpr std::uint8_t kMovR10[] = {0x49, 0xba}, kLeaR10[] = {0x4c, 0x8d, 0x15};  // + 8 and + 4 bytes
  const auto relative = [&]() -> std::uint64_t {
    return pc + static_cast<std::uint64_t>(std::int64_t{read_at_end<std::int32_t>(before)});
  };
  if (before.size() >= 5 && before[before.size() - 5] == 0xe8) return relative();
  if (!take_end(before, pc, kCallR10)) return std::nullopt;
  take_end(before, pc, kVzeroupper);
  if (has_before(before, kMovR10, sizeof(std::uint64_t))) return read_at_end<std::uint64_t>(before);
  if (has_before(before, kLeaR10, sizeof(std::int32_t))) return relative();
  return std::nullopt;
}

}  // namespace jtrace::coreinspect::x86_64
