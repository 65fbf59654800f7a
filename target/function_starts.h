// FunctionStarts: where the functions of an ELF file begin, from the search table of its unwind information (LSB,
// "Exception Frames", .eh_frame_hdr). It is there in a stripped file too, which has no symbols.
//
// Borrows the bytes. Any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "target/memory_reader.h"

namespace jtrace::target {

class FunctionStarts {
 public:
  FunctionStarts() = default;
  // `header`: the bytes of .eh_frame_hdr, which begins at `vaddr`. Without a table, or with one of another form than
  // linkers write (signed 4 bytes, relative to the header), there are no functions.
  FunctionStarts(std::span<const std::byte> header, Address vaddr);
  // The begin of the function nearest below `vaddr`, or at it. Code without unwind information belongs to none, which
  // the table alone does not tell.
  std::optional<Address> at_or_below(Address vaddr) const;

 private:
  Address start_of(std::size_t entry) const;

  std::span<const std::byte> table_;  // pairs: the begin of a function, its description
  Address vaddr_ = 0;
};

}  // namespace jtrace::target
