// KeptBytes: which bytes of a copied process stay in a redacted core, by the addresses that the process had.
//
// Memory that is mapped several times has several addresses and one copy. Borrows the copy. Threads: keep() and
// filter() of different bytes from several, because the marks of 64 bytes share a word: callers give each thread ranges
// that begin at multiples of 64, or use one thread.
#pragma once

#include <functional>
#include <vector>

#include "target/process_copy.h"

namespace jtrace::coreinspect {

using target::Address;

class KeptBytes {
 public:
  explicit KeptBytes(target::ProcessCopy& copy);

  void keep(Address start, std::uint64_t size) { mark(start, size, true); }
  void drop(Address start, std::uint64_t size) { mark(start, size, false); }
  // Visits the words of [start, start + size) that were copied; keeps the halves for which visit returns 1 (the low
  // one), 2, or 3 (both), and drops the others.
  void filter(Address start, std::uint64_t size, const std::function<unsigned(std::uint64_t word)>& visit);
  // What of [start, end) is not kept is zeros in the core, and not missing.
  void expect(Address start, Address end) { expected_.push_back({start, end, 0}); }
  // Zeros what is not kept. Ranges of the copy of which nothing is kept are zeros or missing.
  void apply();

 private:
  struct Piece {
    Address start = 0, end = 0;
    std::uint64_t offset = 0;  // in the copy's memory
  };
  void mark(Address start, std::uint64_t size, bool kept);
  void mark_copied(std::uint64_t offset, std::uint64_t size, bool kept);
  template <class Visit>
  void each_piece(Address start, std::uint64_t size, Visit&& visit) const;

  target::ProcessCopy& copy_;
  bool is_expected(const target::CoreRange& range) const;

  std::vector<Piece> pieces_;  // by address
  std::vector<Piece> expected_;
  std::vector<std::uint64_t> marks_;  // a bit for each byte of the copy's memory
};

}  // namespace jtrace::coreinspect
