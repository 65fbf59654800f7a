// MadeUpVm: a JVM that consists of what a test writes (tables, flags and words of memory), opened as a core.
//
// A test writes the structures that a rule reads, at offsets and addresses of its own, and opens the Vm over them. So
// rules of coreinspect are tested without a JDK. Addresses from 0x1000000 on are free for the test.
#pragma once

#include <elf.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coreinspect/vm/vm.h"
#include "target/target.h"
#include "tests/testlib/must.h"
#include "tests/unit/coreinspect/types/vmstructs_image.h"
#include "tests/unit/target/core_builder.h"

namespace jtrace::test {

class MadeUpVm {
 public:
  using Address = target::Address;

  // `release`: as in Abstract_VM_Version: "17.0.1+12", "25.402-b06" for JDK 8.
  explicit MadeUpVm(std::string release)
      : release_(std::move(release)), is_8_(release_.find("-b") != std::string::npos) {
    variable("Abstract_VM_Version", "_s_vm_release", string(release_));
  }

  // Add a row to the tables: an instance field, a static one with its value, the size of a type, a constant.
  void field(std::string_view type, std::string_view name, std::uint64_t offset, std::string_view text = "int") {
    image_.field(type, name, text, false, offset);
  }
  Address variable(std::string_view type, std::string_view name, std::uint64_t value) {
    const Address at = take(variables_, 8);
    image_.field(type, name, "int", true, at);
    put(at, value);
    return at;
  }
  void type(std::string_view name, std::uint64_t size) { image_.type(name, "", size); }
  void constant(std::string_view name, std::int32_t value) { image_.int_constant(name, value); }
  void flag(std::string_view name, bool value) { flags_.push_back({std::string(name), "bool", value ? 1u : 0u}); }
  void flag(std::string_view name, std::uint64_t value) { flags_.push_back({std::string(name), "uintx", value}); }

  // Write memory. Pages that were not written do not exist.
  template <class T>
  void put(Address at, const T& value) {
    put_bytes(at, std::as_bytes(std::span(&value, 1)));
  }
  void word(Address at, std::uint64_t value) { put(at, value); }
  void words(Address at, const std::vector<std::uint64_t>& values) { put_bytes(at, std::as_bytes(std::span(values))); }
  void put_bytes(Address at, std::span<const std::byte> bytes) {
    for (std::byte byte : bytes) {
      pages_[at / kPage][at % kPage] = byte;
      ++at;
    }
  }
  // Allocates a C string.
  Address string(std::string_view text) {
    const Address at = take(strings_, text.size() + 1);
    put_bytes(at, std::as_bytes(std::span(text)));
    put(at + text.size(), std::byte{0});
    return at;
  }

  // The Vm over all of this. Memory that is written later is in the next Vm that is opened; tables are not.
  const coreinspect::Vm& open() {
    if (!vm_) {
      write_flags();
      image_.build();
    }
    const std::vector<std::byte> libjvm = libjvm_image();
    CoreBuilder core;
    core.machine(isa).process(1, "java").thread(1, 0, 0);
    core.files({{kLibjvm, kLibjvm + (libjvm.size() + kPage - 1) / kPage * kPage, 0, "/made/up/libjvm.so"}});
    core.segment(VmStructsImage::kBase, image_.bytes());
    add_pages(core);
    core.segment(kLibjvm, libjvm);
    // A place without files: everything is in the core.
    const target::CoreFileOptions nowhere{.sysroot = "/nonexistent", .libjvm = {}};
    target_ = must(target::Target::of_core(must(target::CoreFile::from_bytes(core.build())), nowhere));
    vm_ = must(coreinspect::Vm::open(*target_));
    return *vm_;
  }
  // The Vm that was opened last.
  const coreinspect::Vm& opened() const { return *vm_; }

  target::Isa isa = target::Isa::kX86_64;  // of the process

 private:
  static constexpr Address kPage = 4096;
  static constexpr Address kLibjvm = 0x7f0000000000;
  struct Flag {
    std::string name, type;
    std::uint64_t value;
  };

  static Address take(Address& next, std::size_t size) { return std::exchange(next, (next + size + 7) / 8 * 8); }
  // JVMFlag (Flag in JDK 8): _name, _addr, _flags, _type; _type is a text before JDK 16 and a number later.
  void write_flags() {
    const std::string type = is_8_ ? "Flag" : "JVMFlag";
    const Address table = 0x800000;
    this->type(type, 32);
    field(type, "_name", 0);
    field(type, "_addr", 8);
    field(type, "_flags", 16);
    field(type, "_type", 24);
    const bool has_numbers = !is_8_ && release_.substr(0, 2) >= "16";
    for (std::size_t i = 0; i < flags_.size(); ++i) {
      const Address at = table + i * 32;
      const Address value = take(variables_, 8);
      put(value, flags_[i].value);
      words(at, {string(flags_[i].name), value, 0,
                 has_numbers ? (flags_[i].type == "bool" ? 0u : 4u) : string(flags_[i].type)});
    }
    variable(type, "flags", table);
    variable(type, "numFlags", flags_.size());
  }
  // One segment for each run of pages.
  void add_pages(CoreBuilder& core) const {
    for (auto page = pages_.begin(); page != pages_.end();) {
      const Address start = page->first * kPage;
      std::vector<std::byte> bytes;
      for (; page != pages_.end() && page->first * kPage == start + bytes.size(); ++page)
        bytes.insert(bytes.end(), page->second.begin(), page->second.end());
      core.segment(start, bytes);
    }
  }
  // An ELF image that exports the symbols of the tables: header, two program headers, dynamic section, hash, symbols.
  std::vector<std::byte> libjvm_image() const {
    std::string names(1, '\0');
    std::vector<Elf64_Sym> symbols(1);
    for (const auto& [name, address] : image_.symbols()) {
      Elf64_Sym symbol{};
      symbol.st_name = static_cast<Elf64_Word>(names.size());
      symbol.st_shndx = 1;
      symbol.st_value = address - kLibjvm;
      symbols.push_back(symbol);
      names += name + '\0';
    }
    const std::uint64_t dynamic_at = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
    const std::uint64_t hash_at = dynamic_at + 4 * sizeof(Elf64_Dyn);
    const std::uint64_t symbols_at = hash_at + 8, names_at = symbols_at + symbols.size() * sizeof(Elf64_Sym);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = target::traits_of(isa).machine;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 2;
    std::array<Elf64_Phdr, 2> segments{};
    segments[0].p_type = PT_LOAD;
    segments[0].p_memsz = segments[0].p_filesz = names_at + names.size();
    segments[1].p_type = PT_DYNAMIC;
    segments[1].p_vaddr = dynamic_at;
    segments[1].p_memsz = 4 * sizeof(Elf64_Dyn);
    std::array<Elf64_Dyn, 4> dynamic{};
    const std::pair<Elf64_Sxword, std::uint64_t> parts[] = {
        {DT_HASH, hash_at}, {DT_SYMTAB, symbols_at}, {DT_STRTAB, names_at}};
    for (std::size_t i = 0; i < 3; ++i) {
      dynamic[i].d_tag = parts[i].first;
      dynamic[i].d_un.d_ptr = kLibjvm + parts[i].second;
    }
    const std::array<std::uint32_t, 2> hash{1, static_cast<std::uint32_t>(symbols.size())};
    std::vector<std::byte> bytes;
    const auto append = [&bytes](auto part) { bytes.insert(bytes.end(), part.begin(), part.end()); };
    append(std::as_bytes(std::span(&header, 1)));
    append(std::as_bytes(std::span(segments)));
    append(std::as_bytes(std::span(dynamic)));
    append(std::as_bytes(std::span(hash)));
    append(std::as_bytes(std::span(symbols)));
    append(std::as_bytes(std::span(names)));
    return bytes;
  }

  VmStructsImage image_;
  std::string release_;
  bool is_8_;
  Address variables_ = 0x200000, strings_ = 0x400000;
  std::vector<Flag> flags_;
  std::map<Address, std::array<std::byte, kPage>> pages_;
  std::unique_ptr<target::Target> target_;
  std::unique_ptr<coreinspect::Vm> vm_;
};

}  // namespace jtrace::test
