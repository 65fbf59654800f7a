// CoreBuilder: small ELF cores without a process, for unit tests and fuzzing. Header only.
#pragma once

#include <elf.h>
#include <sys/procfs.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "target/registers.h"

namespace jtrace::test {

class CoreBuilder {
 public:
  struct Segment {
    std::uint64_t start = 0;
    std::vector<std::byte> bytes;
    std::uint64_t memory_size = 0;  // at least bytes.size()
  };

  CoreBuilder& segment(std::uint64_t start, std::span<const std::byte> bytes, std::uint64_t memory_size = 0) {
    segments_.push_back({start, {bytes.begin(), bytes.end()}, std::max<std::uint64_t>(memory_size, bytes.size())});
    return *this;
  }
  CoreBuilder& segment(std::uint64_t start, std::string_view text, std::uint64_t memory_size = 0) {
    return segment(start, std::as_bytes(std::span(text)), memory_size);
  }
  CoreBuilder& thread(int tid, std::uint64_t pc, std::uint64_t sp) {
    return thread(tid, target::Registers::at(isa_, pc, sp));
  }
  CoreBuilder& thread(int tid, const target::Registers& registers) {
    elf_prstatus status{};
    status.pr_pid = tid;
    status.pr_cursig = SIGSEGV;
    status.pr_utime.tv_sec = 1;
    const target::IsaTraits& traits = target::traits_of(isa_);
    std::vector<std::byte> content(traits.prstatus_size);
    constexpr std::size_t kRegisters = offsetof(elf_prstatus, pr_reg);
    std::memcpy(content.data(), &status, kRegisters);
    std::memcpy(content.data() + kRegisters, registers.words.data(), traits.register_words * 8);
    return note(NT_PRSTATUS, content.data(), content.size());
  }
  // The machine of the process; before its threads. x86-64 if it is not said.
  CoreBuilder& machine(target::Isa isa) {
    isa_ = isa;
    return *this;
  }
  CoreBuilder& process(int pid, std::string_view name) {
    elf_prpsinfo info{};
    info.pr_pid = pid;
    std::memcpy(info.pr_fname, name.data(), std::min(name.size(), sizeof info.pr_fname));
    return note(NT_PRPSINFO, &info, sizeof info);
  }
  CoreBuilder& fault(int signal, std::uint64_t address) {
    siginfo_t info{};
    info.si_signo = signal;
    info.si_code = SEGV_MAPERR;
    info.si_addr = reinterpret_cast<void*>(address);
    return note(0x53494749, &info, sizeof info);
  }
  // Ranges of one NT_FILE note; offsets in units of `page_size`.
  struct File {
    std::uint64_t start, end, page_offset;
    std::string path;
  };
  CoreBuilder& files(const std::vector<File>& files, std::uint64_t page_size = 4096) {
    std::vector<std::uint64_t> words{files.size(), page_size};
    std::string names;
    for (const File& file : files) {
      words.insert(words.end(), {file.start, file.end, file.page_offset});
      names += file.path + '\0';
    }
    std::string content(reinterpret_cast<const char*>(words.data()), words.size() * 8);
    content += names;
    return note(0x46494c45, content.data(), content.size());
  }
  CoreBuilder& note(std::uint32_t type, const void* content, std::size_t size) {
    const std::uint32_t head[3] = {5, static_cast<std::uint32_t>(size), type};
    notes_.append(reinterpret_cast<const char*>(head), sizeof head).append("CORE\0\0\0\0", 8);
    notes_.append(static_cast<const char*>(content), size).append((4 - size % 4) % 4, '\0');
    return *this;
  }
  // As gdb does: segments at offsets that are not multiples of the page size.
  CoreBuilder& unaligned() {
    padding_ = 7;
    return *this;
  }
  // As gdb does: the notes after the segments.
  CoreBuilder& notes_last() {
    notes_last_ = true;
    return *this;
  }
  // The number of segments is in section header 0, as with more than 65534 of them.
  CoreBuilder& extended_numbering() {
    extended_ = true;
    return *this;
  }

  std::vector<std::byte> build() const {
    const std::size_t count = segments_.size() + 1;
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_CORE;
    header.e_machine = target::traits_of(isa_).machine;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = static_cast<Elf64_Half>(count);
    const std::size_t start = sizeof header + count * sizeof(Elf64_Phdr);
    std::string tail = notes_last_ ? "" : notes_;
    std::string table;
    const auto add = [&](std::uint32_t type, std::uint64_t vaddr, std::uint64_t offset, std::uint64_t file_size,
                         std::uint64_t memory_size) {
      Elf64_Phdr entry{};
      entry.p_type = type;
      entry.p_flags = PF_R | PF_W;
      entry.p_vaddr = vaddr;
      entry.p_offset = offset;
      entry.p_filesz = file_size;
      entry.p_memsz = memory_size;
      table.append(reinterpret_cast<const char*>(&entry), sizeof entry);
    };
    std::size_t notes_at = start;
    if (notes_last_)
      for (const Segment& segment : segments_) notes_at += padding_ + segment.bytes.size();
    add(PT_NOTE, 0, notes_at, notes_.size(), 0);
    for (const Segment& segment : segments_) {
      tail.append(padding_, '\xee');
      add(PT_LOAD, segment.start, start + tail.size(), segment.bytes.size(), segment.memory_size);
      tail.append(reinterpret_cast<const char*>(segment.bytes.data()), segment.bytes.size());
    }
    if (notes_last_) tail += notes_;
    if (extended_) {
      header.e_phnum = PN_XNUM;
      header.e_shoff = start + tail.size();
      header.e_shentsize = sizeof(Elf64_Shdr);
      Elf64_Shdr first{};
      first.sh_info = static_cast<Elf64_Word>(count);
      tail.append(reinterpret_cast<const char*>(&first), sizeof first);
    }
    std::string all(reinterpret_cast<const char*>(&header), sizeof header);
    all += table + tail;
    const auto bytes = std::as_bytes(std::span(all));
    return {bytes.begin(), bytes.end()};
  }

 private:
  std::vector<Segment> segments_;
  std::string notes_;
  target::Isa isa_ = target::Isa::kX86_64;
  std::size_t padding_ = 0;
  bool extended_ = false;
  bool notes_last_ = false;
};

}  // namespace jtrace::test
