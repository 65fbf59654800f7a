#include "target/core_writer.h"

#include <elf.h>
#include <sys/procfs.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "target/native_registers.h"

namespace jtrace::target {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint32_t kNoteFile = 0x46494c45;  // NT_FILE
constexpr std::size_t kMaxZeroRanges = 1024;     // more of them make the block of zeros larger
constexpr std::uint64_t kMinZeroBlock = 256u << 10, kMaxZeroBlock = 64u << 20;

std::uint64_t round_up(std::uint64_t size) { return (size + kPage - 1) / kPage * kPage; }

template <class T>
std::string_view text_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// Names and contents are padded to four bytes (elf(5), "Notes").
void add_note(std::string& notes, std::uint32_t type, std::string_view content, std::string_view name = "CORE") {
  const Elf64_Nhdr head{static_cast<Elf64_Word>(name.size() + 1), static_cast<Elf64_Word>(content.size()), type};
  notes.append(text_of(head)).append(name).append(4 - name.size() % 4, '\0');
  notes.append(content).append((4 - content.size() % 4) % 4, '\0');
}

void copy_text(char* to, std::size_t room, const std::string& text) {
  std::memcpy(to, text.data(), std::min(text.size(), room - 1));
}

std::string process_note(const CoreProcess& process) {
  elf_prpsinfo info{};
  constexpr std::string_view kStates = "RSDTZW";  // fs/binfmt_elf.c
  const std::size_t state = kStates.find(process.state);
  info.pr_state = static_cast<char>(state == kStates.npos ? 0 : state);
  info.pr_sname = process.state;
  info.pr_zomb = process.state == 'Z';
  info.pr_uid = process.uid;
  info.pr_gid = process.gid;
  info.pr_pid = process.pid;
  info.pr_ppid = process.parent;
  info.pr_pgrp = process.group;
  info.pr_sid = process.session;
  copy_text(info.pr_fname, sizeof info.pr_fname, process.program);
  copy_text(info.pr_psargs, sizeof info.pr_psargs, process.arguments);
  return std::string(text_of(info));
}

template <class Time>
void set_time(Time& time, std::uint64_t nanoseconds) {
  time.tv_sec = static_cast<decltype(time.tv_sec)>(nanoseconds / 1'000'000'000);
  time.tv_usec = static_cast<decltype(time.tv_usec)>(nanoseconds / 1000 % 1'000'000);
}

std::string thread_note(const CoreProcess& process, const CoreThread& thread) {
  elf_prstatus status{};
  status.pr_info.si_signo = thread.registers.signal;
  status.pr_cursig = static_cast<short>(thread.registers.signal);
  status.pr_pid = thread.registers.tid;
  status.pr_ppid = process.parent;
  status.pr_pgrp = process.group;
  status.pr_sid = process.session;
  set_time(status.pr_utime, thread.user_ns);
  set_time(status.pr_stime, thread.system_ns);
  static_assert(sizeof status.pr_reg <= sizeof thread.registers.registers.words);
  std::memcpy(&status.pr_reg, thread.registers.registers.words.data(), sizeof status.pr_reg);
  status.pr_fpvalid = !thread.floats.empty();
  return std::string(text_of(status));
}

std::string_view chars_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string file_note(const std::vector<Mapping>& mappings) {
  std::vector<std::uint64_t> words{0, kPage};
  std::string names;
  for (const Mapping& each : mappings) {
    if (!each.path.starts_with('/')) continue;
    ++words[0];
    words.insert(words.end(), {each.start, each.end, each.offset / kPage});
    names += each.path + '\0';
  }
  return std::string(reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]) + names;
}

// In the kernel's order: what belongs to the process comes after its first thread.
std::string notes_of(const CoreProcess& process) {
  std::string notes;
  for (std::size_t i = 0; i < process.threads.size(); ++i) {
    const CoreThread& thread = process.threads[i];
    add_note(notes, NT_PRSTATUS, thread_note(process, thread));
    if (i == 0) {
      add_note(notes, NT_PRPSINFO, process_note(process));
      add_note(notes, NT_AUXV, process.auxiliary);
      add_note(notes, kNoteFile, file_note(process.mappings));
    }
    if (!thread.floats.empty()) add_note(notes, NT_FPREGSET, chars_of(thread.floats));
    if (kVectorsNote != 0 && !thread.vectors.empty()) add_note(notes, kVectorsNote, chars_of(thread.vectors), "LINUX");
  }
  for (const OwnCoreNote& note : process.own_notes) add_note(notes, note.type, note.text, OwnCoreNote::kName);
  return notes;
}

// The block of zeros is as large as is needed for not too many headers.
std::uint64_t zero_block_for(std::span<const CoreRange> ranges) {
  std::uint64_t zeros = 0, longest = 0;
  for (const CoreRange& range : ranges) {
    if (!range.zeros) continue;
    zeros += range.size();
    longest = std::max(longest, range.size());
  }
  if (zeros == 0) return 0;
  const std::uint64_t wanted = std::clamp(zeros / kMaxZeroRanges, kMinZeroBlock, kMaxZeroBlock);
  return std::min(std::bit_ceil(wanted), round_up(longest));
}

class Encoder {
 public:
  Encoder(const CoreProcess& process, std::span<const CoreRange> ranges, const WriteBytes& write)
      : ranges_(ranges), write_(write), notes_(notes_of(process)), zero_block_(zero_block_for(ranges)) {}

  Result<std::uint64_t> encode() {
    plan();
    JTRACE_RETURN_IF_ERROR(write_headers());
    JTRACE_RETURN_IF_ERROR(put(notes_));
    if (many()) JTRACE_RETURN_IF_ERROR(write_count());
    JTRACE_RETURN_IF_ERROR(put_zeros(data_at_ - written_));
    JTRACE_RETURN_IF_ERROR(put_zeros(zero_block_));
    for (const CoreRange& range : ranges_)
      for (const auto& bytes : range.bytes)
        JTRACE_RETURN_IF_ERROR(put({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    return written_;
  }

 private:
  // Where the headers lie depends on their number, so they are counted first.
  void plan() {
    headers_.resize(1);
    for (const CoreRange& range : ranges_) plan_range(range);
    const std::uint64_t notes_at = sizeof(Elf64_Ehdr) + headers_.size() * sizeof(Elf64_Phdr);
    headers_[0] = {.p_type = PT_NOTE, .p_offset = notes_at, .p_filesz = notes_.size(), .p_align = 4};
    section_at_ = (notes_at + notes_.size() + 7) / 8 * 8;
    data_at_ = round_up(section_at_ + (many() ? sizeof(Elf64_Shdr) : 0));
    for (std::size_t i = 1; i < headers_.size(); ++i) headers_[i].p_offset += data_at_;
  }

  void plan_range(const CoreRange& range) {
    if (range.zeros) {
      for (Address at = range.start; at < range.end; at += zero_block_)
        add_header(range, at, std::min(zero_block_, range.end - at), 0, true);
      offsets_.push_back(0);
      return;
    }
    const std::uint64_t offset = range.same_as ? offsets_[*range.same_as] : data_;
    const bool stored = range.same_as || !range.bytes.empty();
    add_header(range, range.start, range.size(), offset + zero_block_, stored);
    offsets_.push_back(offset);
    if (!range.bytes.empty()) data_ += range.size();
  }

  void add_header(const CoreRange& range, Address start, std::uint64_t size, std::uint64_t offset, bool stored) {
    const Elf64_Word flags =
        (range.readable ? PF_R : 0u) | (range.writable ? PF_W : 0u) | (range.executable ? PF_X : 0u);
    headers_.push_back({.p_type = PT_LOAD,
                        .p_flags = flags,
                        .p_offset = offset,
                        .p_vaddr = start,
                        .p_filesz = stored ? size : 0,
                        .p_memsz = size,
                        .p_align = kPage});
  }

  // More headers than e_phnum can count: the number is in section header 0 (elf(5), PN_XNUM).
  bool many() const { return headers_.size() >= PN_XNUM; }

  Result<> write_headers() {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_CORE;
    header.e_machine = traits_of(kNativeIsa).machine;
    header.e_version = EV_CURRENT;
    header.e_phoff = sizeof header;
    header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = many() ? PN_XNUM : static_cast<Elf64_Half>(headers_.size());
    if (many()) {
      header.e_shoff = section_at_;
      header.e_shentsize = sizeof(Elf64_Shdr);
      header.e_shnum = 1;
    }
    JTRACE_RETURN_IF_ERROR(put(text_of(header)));
    return put({reinterpret_cast<const char*>(headers_.data()), headers_.size() * sizeof headers_[0]});
  }

  Result<> write_count() {
    JTRACE_RETURN_IF_ERROR(put_zeros(section_at_ - written_));
    const Elf64_Shdr section{.sh_type = SHT_NULL, .sh_size = 1, .sh_info = static_cast<Elf64_Word>(headers_.size())};
    return put(text_of(section));
  }

  Result<> put(std::string_view bytes) {
    written_ += bytes.size();
    return write_(bytes);
  }

  Result<> put_zeros(std::uint64_t count) {
    static constexpr char kZeros[64 << 10] = {};
    for (; count > 0; count -= std::min<std::uint64_t>(count, sizeof kZeros))
      JTRACE_RETURN_IF_ERROR(put({kZeros, static_cast<std::size_t>(std::min<std::uint64_t>(count, sizeof kZeros))}));
    return {};
  }

  std::span<const CoreRange> ranges_;
  const WriteBytes& write_;
  std::string notes_;
  std::uint64_t zero_block_;  // its size; it comes before all other memory
  std::vector<Elf64_Phdr> headers_;
  std::vector<std::uint64_t> offsets_;  // of the bytes of each range, after the block of zeros
  std::uint64_t data_ = 0;
  std::uint64_t section_at_ = 0, data_at_ = 0, written_ = 0;
};

}  // namespace

Result<std::uint64_t> write_core(const CoreProcess& process, std::span<const CoreRange> ranges,
                                 const WriteBytes& write) {
  return Encoder(process, ranges, write).encode();
}

}  // namespace jtrace::target
