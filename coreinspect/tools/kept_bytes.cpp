#include "coreinspect/tools/kept_bytes.h"

#include <algorithm>
#include <cstring>

#include "target/copy_plan.h"

namespace jtrace::coreinspect {

KeptBytes::KeptBytes(target::ProcessCopy& copy) : copy_(copy), marks_(copy.memory().size() / 64 + 1) {
  const std::byte* const base = copy.memory().data();
  const auto& ranges = copy.ranges();
  for (const target::CoreRange& range : ranges) {
    Address at = range.start;
    for (const auto& bytes : range.same_as ? ranges[*range.same_as].bytes : range.bytes) {
      if (copy.is_of_memory(bytes))
        pieces_.push_back({at, at + bytes.size(), static_cast<std::uint64_t>(bytes.data() - base)});
      at += bytes.size();
    }
  }
  std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.start < b.start; });
}

template <class Visit>
void KeptBytes::each_piece(Address start, std::uint64_t size, Visit&& visit) const {
  auto next = std::upper_bound(pieces_.begin(), pieces_.end(), start,
                               [](Address at, const Piece& piece) { return at < piece.end; });
  for (const Address end = start + size; next != pieces_.end() && next->start < end; ++next) {
    const Address from = std::max(start, next->start), to = std::min(end, next->end);
    visit(from, to - from, next->offset + (from - next->start));
  }
}

void KeptBytes::mark(Address start, std::uint64_t size, bool kept) {
  each_piece(start, size,
             [&](Address, std::uint64_t count, std::uint64_t offset) { mark_copied(offset, count, kept); });
}

void KeptBytes::mark_copied(std::uint64_t offset, std::uint64_t size, bool kept) {
  for (const std::uint64_t end = offset + size; offset < end;) {
    const std::uint64_t bit = offset % 64, count = std::min(64 - bit, end - offset);
    const std::uint64_t mask = (count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1) << bit;
    std::uint64_t& word = marks_[offset / 64];
    word = kept ? word | mask : word & ~mask;
    offset += count;
  }
}

void KeptBytes::filter(Address start, std::uint64_t size, const std::function<unsigned(std::uint64_t word)>& visit) {
  drop(start, size);
  const Address first = (start + 7) & ~Address{7};
  if (first + 8 > start + size) return;
  each_piece(first, start + size - first, [&](Address, std::uint64_t count, std::uint64_t offset) {
    for (std::uint64_t at = 0; at + 8 <= count; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, copy_.memory().data() + offset + at, sizeof word);
      const unsigned halves = word == 0 ? 0 : visit(word);
      if (halves & 1) mark_copied(offset + at, 4, true);
      if (halves & 2) mark_copied(offset + at + 4, 4, true);
    }
  });
}

bool KeptBytes::is_expected(const target::CoreRange& range) const {
  return std::any_of(expected_.begin(), expected_.end(),
                     [&](const Piece& each) { return each.start < range.end && range.start < each.end; });
}

void KeptBytes::apply() {
  std::byte* const memory = copy_.memory().data();
  const std::uint64_t size = copy_.memory().size();
  for (std::uint64_t i = 0; i < marks_.size() && i * 64 < size; ++i) {
    if (marks_[i] == ~std::uint64_t{0}) continue;
    const std::uint64_t count = std::min<std::uint64_t>(64, size - i * 64);
    if (marks_[i] == 0) {
      std::memset(memory + i * 64, 0, count);
      continue;
    }
    for (std::uint64_t k = 0; k < count; ++k)
      if ((marks_[i] >> k & 1) == 0) memory[i * 64 + k] = std::byte{0};
  }
  const auto is_dropped = [&](std::span<const std::byte> bytes) {
    if (!copy_.is_of_memory(bytes)) return bytes.data() == nullptr || bytes[0] == std::byte{0};
    const auto offset = static_cast<std::uint64_t>(bytes.data() - memory);
    for (std::uint64_t at = offset; at < offset + bytes.size(); at += 64)
      if (marks_[at / 64] != 0) return false;
    return true;
  };
  std::vector<char> is_needed(copy_.ranges().size(), 0);
  for (const target::CoreRange& range : copy_.ranges())
    if (range.same_as) is_needed[*range.same_as] = 1;
  for (std::size_t i = 0; i < copy_.ranges().size(); ++i) {
    const auto& bytes = copy_.ranges()[i].bytes;
    const bool of_memory = std::any_of(bytes.begin(), bytes.end(), [&](auto each) { return copy_.is_of_memory(each); });
    const bool of_file = std::any_of(bytes.begin(), bytes.end(), [&](auto each) {
      return !copy_.is_of_memory(each) && each.data() != target::CopyPlan::zeros().data();
    });
    if (of_memory && !of_file && is_needed[i] == 0 && std::all_of(bytes.begin(), bytes.end(), is_dropped))
      copy_.drop(i, is_expected(copy_.ranges()[i]));
  }
}

}  // namespace jtrace::coreinspect
