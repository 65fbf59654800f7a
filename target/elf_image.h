// ElfImage: an ELF file on disk, by libelf: segments, build id, symbols.
//
// Names are given only for addresses that lie inside a symbol's size. Symbols come from .dynsym and .symtab, which are
// read when first asked for. Errors: kNotFound, kPermission (open), kMalformed. Ownership: owns the descriptor.
// Threads: one at a time (libelf caches).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "target/loaded_image.h"

struct Elf;

namespace jtrace::target {

struct ElfSymbol {
  std::string_view name;  // lives as long as the image
  Address value = 0;      // as the file has it: without a bias
  std::uint64_t size = 0;
  bool is_function = false;
};

class ElfImage {
 public:
  static Result<ElfImage> open(const std::string& path);
  static Result<ElfImage> from_fd(UniqueFd fd, std::string path);

  const std::string& path() const { return path_; }
  const std::string& build_id() const { return build_id_; }  // lower case hex; "" where there is none
  // The file name in .gnu_debuglink; "" where there is none.
  std::string debug_link() const;
  bool has_symbol_table() const;  // .symtab: not stripped
  const std::vector<ImageSegment>& segments() const { return segments_; }
  // By address, those of size 0 and the undefined ones left out; of several at one address all.
  const std::vector<ElfSymbol>& symbols() const;
  // The symbol whose size covers `vaddr`, or null.
  const ElfSymbol* symbol_at(Address vaddr) const;
  // The vaddr of a file offset, where a segment holds it.
  Result<Address> vaddr_of_offset(std::uint64_t offset) const;

 private:
  struct EndElf {
    void operator()(Elf* elf) const;
  };
  ElfImage() = default;
  void read_build_id();
  void add_symbols(unsigned section_type) const;

  std::string path_;
  UniqueFd fd_;
  std::unique_ptr<Elf, EndElf> elf_;
  std::string build_id_;
  std::vector<ImageSegment> segments_;
  mutable std::vector<ElfSymbol> symbols_;
  mutable bool symbols_read_ = false;
};

}  // namespace jtrace::target
