// ElfImage: an ELF file on disk, read by libelf: segments, build id, symbols.
//
// An address has a name only if it is inside a symbol's size. Symbols come from .dynsym and .symtab, which are read at
// the first use. Errors: kNotFound, kPermission (open), kMalformed. Ownership: owns the descriptor. Threads: one at a
// time (libelf has caches).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "target/function_starts.h"
#include "target/isa.h"
#include "target/loaded_image.h"

struct Elf;

namespace jtrace::target {

struct ElfSymbol {
  std::string_view name;  // valid as long as the image
  Address value = 0;      // as in the file: without the bias
  std::uint64_t size = 0;
  bool is_function = false;
};

class ElfImage {
 public:
  static Result<ElfImage> open(const std::string& path);
  static Result<ElfImage> from_fd(UniqueFd fd, std::string path);

  const std::string& path() const { return path_; }
  Isa isa() const { return isa_; }
  const std::string& build_id() const { return build_id_; }  // lower case hex; "" if it has none
  // The file name in .gnu_debuglink; "" if there is none.
  std::string debug_link() const;
  bool has_symbol_table() const;  // has .symtab: is not stripped
  const std::vector<ImageSegment>& segments() const { return segments_; }
  // Ordered by address, without undefined symbols and those of size 0; all of several at one address.
  const std::vector<ElfSymbol>& symbols() const;
  // The symbol that covers `vaddr`, or null.
  const ElfSymbol* symbol_at(Address vaddr) const;
  // Where the function at `vaddr` begins, by its unwind information (function_starts.h); none: there is no such
  // information.
  std::optional<Address> function_start(Address vaddr) const;
  // The vaddr of a file offset, if a segment contains it.
  Result<Address> vaddr_of_offset(std::uint64_t offset) const;

 private:
  struct EndElf {
    void operator()(Elf* elf) const;
  };
  ElfImage() = default;
  void read_build_id();
  void add_symbols(unsigned section_type) const;
  FunctionStarts read_function_starts() const;

  std::string path_;
  UniqueFd fd_;
  std::unique_ptr<Elf, EndElf> elf_;
  std::string build_id_;
  Isa isa_ = kNativeIsa;
  std::vector<ImageSegment> segments_;
  mutable std::vector<ElfSymbol> symbols_;
  mutable bool symbols_read_ = false;
  mutable std::optional<FunctionStarts> function_starts_;
};

}  // namespace jtrace::target
