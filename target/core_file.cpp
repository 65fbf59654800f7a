#include "target/core_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "base/bytes.h"
#include "base/file.h"
#include "target/core_writer.h"
#include "target/isa_aarch64.h"
#include "target/unpack.h"

namespace jtrace::target {
namespace {

constexpr std::uint32_t kNoteFile = 0x46494c45;     // NT_FILE
constexpr std::uint32_t kNoteSiginfo = 0x53494749;  // NT_SIGINFO
constexpr std::size_t kMaxSegments = 4u << 20;
constexpr std::uint64_t kAddressSpaceBit = 1ull
                                           << 55;  // distinguishes user addresses from the kernel's; never a signature

// The part of `bytes` from `offset` on, at most `size`.
std::span<const std::byte> clipped(std::span<const std::byte> bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset >= bytes.size()) return {};
  return bytes.subspan(offset, std::min<std::uint64_t>(size, bytes.size() - offset));
}

template <class T>
bool copy_at(std::span<const std::byte> bytes, std::uint64_t offset, T& value) {
  const auto part = clipped(bytes, offset, sizeof(T));
  if (part.size() < sizeof(T)) return false;
  std::memcpy(&value, part.data(), sizeof(T));
  return true;
}

std::uint64_t nanoseconds(const auto& time) {
  return (static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec)) * 1000;
}

std::string text_of(const char* text, std::size_t limit) { return {text, ::strnlen(text, limit)}; }

std::string_view chars_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

constexpr const char* kReadable = "; only cores of 64-bit x86-64 and AArch64 processes are read";

// The machine's place in the header is the same in files of 32 bits.
std::string machine_at(std::span<const std::byte> bytes) {
  Elf32_Half machine = 0;
  copy_at(bytes, offsetof(Elf32_Ehdr, e_machine), machine);
  return machine_name(machine);
}

bool is_own(std::span<const std::byte> name) { return chars_of(name).starts_with(OwnCoreNote::kName); }

Error not_a_core(const std::string& path, std::string why, std::string help = {}) {
  return {.category = ErrorCategory::kNotAttachable, .text = std::move(why), .path = path, .help = std::move(help)};
}

Result<> check_magic(std::span<const std::byte> bytes, const std::string& path) {
  const auto packed = [&](const char* format, const char* tool) {
    return fail(not_a_core(path, std::string("this is ") + format + " compressed file, not an ELF core",
                           std::string("unpack it first: ") + tool));
  };
  switch (packing_of(bytes)) {
    case Packing::kZstd: return packed("a zstd", "zstd -d");
    case Packing::kLz4: return packed("an lz4", "lz4 -d");
    case Packing::kGzip: return packed("a gzip", "gzip -d");
    case Packing::kXz: return packed("an xz", "xz -d");
    case Packing::kNone: break;
  }
  if (bytes.size() < 4 || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    return fail(not_a_core(path, "this is not an ELF core",
                           "expected a core; inspect and heap also accept a heap dump, inspect and diagnose a bundle"));
  return {};
}

}  // namespace

CoreFile::Bytes& CoreFile::Bytes::operator=(Bytes&& other) noexcept {
  if (this == &other) return *this;
  if (mapped_) ::munmap(const_cast<std::byte*>(view_.data()), view_.size());
  owned_ = std::move(other.owned_);
  mapped_ = std::exchange(other.mapped_, false);
  view_ = std::exchange(other.view_, {});
  return *this;
}

CoreFile::Bytes::~Bytes() {
  if (mapped_) ::munmap(const_cast<std::byte*>(view_.data()), view_.size());
}

CoreFile::Bytes CoreFile::Bytes::copy(std::span<const std::byte> bytes) {
  Bytes result;
  result.owned_.assign(bytes.begin(), bytes.end());
  result.view_ = result.owned_;
  return result;
}

CoreFile::Bytes CoreFile::Bytes::view(std::span<const std::byte> bytes) {
  Bytes result;
  result.view_ = bytes;
  return result;
}

// Compressed cores are decompressed into a file, which is mapped.
Result<CoreFile::Bytes> CoreFile::Bytes::map(const std::string& path) {
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd fd, open_file(path, O_RDONLY | O_NONBLOCK));
  JTRACE_ASSIGN_OR_RETURN(Bytes file, map(fd.get(), path));
  const Packing packing = packing_of(file.get());
  if (packing != Packing::kZstd && packing != Packing::kLz4) return file;
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd unpacked, unpack(file.get(), packing, path));
  return map(unpacked.get(), path);
}

Result<CoreFile::Bytes> CoreFile::Bytes::map(int fd, const std::string& path) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return fail(system_error("cannot read the size of", path));
  if (!S_ISREG(facts.st_mode)) return fail(not_a_core(path, "this is not a regular file, so not a core"));
  Bytes result;
  if (facts.st_size == 0) return result;
  const auto size = static_cast<std::size_t>(facts.st_size);
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED) return fail(system_error("cannot map", path));
  result.view_ = {static_cast<const std::byte*>(at), size};
  result.mapped_ = true;
  return result;
}

Result<CoreFile> CoreFile::open(const std::string& path) {
  CoreFile core;
  core.path_ = path;
  JTRACE_ASSIGN_OR_RETURN(core.bytes_, Bytes::map(path));
  JTRACE_RETURN_IF_ERROR(core.parse());
  return core;
}

Result<CoreFile> CoreFile::from_bytes(std::span<const std::byte> bytes, std::string name) {
  CoreFile core;
  core.path_ = std::move(name);
  core.bytes_ = Bytes::copy(bytes);
  JTRACE_RETURN_IF_ERROR(core.parse());
  return core;
}

Result<CoreFile> CoreFile::of_view(std::span<const std::byte> bytes, std::string name) {
  CoreFile core;
  core.path_ = std::move(name);
  core.bytes_ = Bytes::view(bytes);
  JTRACE_RETURN_IF_ERROR(core.parse());
  return core;
}

Result<> CoreFile::parse() {
  JTRACE_RETURN_IF_ERROR(check_magic(bytes_.get(), path_));
  JTRACE_RETURN_IF_ERROR(parse_headers());
  std::sort(segments_.begin(), segments_.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  std::sort(files_.begin(), files_.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  if (segments_.empty()) return fail(not_a_core(path_, "this core has no memory in it"));
  return {};
}

Result<> CoreFile::parse_headers() {
  const auto bytes = bytes_.get();
  Elf64_Ehdr header{};
  if (bytes.size() > EI_CLASS && bytes[EI_CLASS] == std::byte{ELFCLASS32})
    return fail(not_a_core(path_, "this is a 32-bit ELF file of " + machine_at(bytes) + kReadable));
  if (!copy_at(bytes, 0, header))
    return fail(ErrorCategory::kMalformed,
                path_ + ": the ELF header is cut off after " + std::to_string(bytes.size()) + " bytes");
  const auto isa = isa_of_machine(header.e_machine);
  if (!isa || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return fail(not_a_core(path_, "this is a" + std::string(isa ? " big-endian" : "n") + " ELF file of " +
                                      machine_name(header.e_machine) + kReadable));
  isa_ = *isa;
  signature_bits_ = traits_of(isa_).signature_bits;
  if (header.e_type != ET_CORE)
    return fail(not_a_core(path_, "this is an ELF file but not a core (e_type " + std::to_string(header.e_type) + ")"));
  std::uint64_t count = header.e_phnum;
  if (count == PN_XNUM) {  // more than 65534: the count is in the first section header
    Elf64_Shdr first{};
    if (!copy_at(bytes, header.e_shoff, first))
      return fail(ErrorCategory::kMalformed, path_ + ": the number of segments is cut off");
    count = first.sh_info;
  }
  if (header.e_phentsize != sizeof(Elf64_Phdr) || count > kMaxSegments)
    return fail(ErrorCategory::kMalformed, path_ + ": impossible program headers");
  const auto table = clipped(bytes, header.e_phoff, count * sizeof(Elf64_Phdr));
  if (table.size() < count * sizeof(Elf64_Phdr))
    return fail(ErrorCategory::kMalformed, path_ + ": cut off within the program headers: expected " +
                                               std::to_string(header.e_phoff + count * sizeof(Elf64_Phdr)) +
                                               " bytes, have " + std::to_string(bytes.size()));
  expected_size_ = bytes.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    Elf64_Phdr segment{};
    copy_at(table, i * sizeof segment, segment);
    if (segment.p_type == PT_LOAD) add_segment(&segment);
    if (segment.p_type == PT_NOTE) add_notes(segment.p_offset, segment.p_filesz);
  }
  return {};
}

void CoreFile::add_segment(const void* header) {
  const auto& from = *static_cast<const Elf64_Phdr*>(header);
  if (from.p_memsz == 0 || from.p_vaddr + from.p_memsz < from.p_vaddr) return;
  CoreSegment segment;
  segment.start = from.p_vaddr;
  segment.memory_size = from.p_memsz;
  segment.file_offset = from.p_offset;
  segment.file_size = std::min(from.p_filesz, from.p_memsz);
  segment.present = clipped(bytes_.get(), from.p_offset, segment.file_size).size();
  segment.readable = (from.p_flags & PF_R) != 0;
  segment.writable = (from.p_flags & PF_W) != 0;
  segment.executable = (from.p_flags & PF_X) != 0;
  missing_bytes_ += segment.file_size - segment.present;
  if (from.p_offset + segment.file_size > from.p_offset)
    expected_size_ = std::max(expected_size_, from.p_offset + segment.file_size);
  segments_.push_back(segment);
}

void CoreFile::add_notes(std::uint64_t offset, std::uint64_t size) {
  const auto notes = clipped(bytes_.get(), offset, size);
  missing_note_bytes_ += size - notes.size();
  if (offset + size > offset) expected_size_ = std::max(expected_size_, offset + size);
  parse_notes(notes);
}

void CoreFile::parse_notes(std::span<const std::byte> notes) {
  ByteReader reader(notes);
  const auto padded = [](std::uint32_t size) { return (std::size_t{size} + 3) & ~std::size_t{3}; };
  while (reader.remaining() >= sizeof(Elf64_Nhdr)) {
    const auto name_size = reader.read<std::uint32_t>();
    const auto content_size = reader.read<std::uint32_t>();
    const auto type = reader.read<std::uint32_t>();
    const auto name = reader.read_bytes(std::min(padded(name_size), reader.remaining()));
    const auto content = reader.read_bytes(content_size);
    if (reader.failed()) return;
    if (is_own(name)) own_notes_.emplace(type, chars_of(content));
    else parse_note(type, content);
    reader.skip(std::min(padded(content_size) - content_size, reader.remaining()));
  }
}

const std::string* CoreFile::own_note(std::uint32_t type) const {
  const auto found = own_notes_.find(type);
  return found == own_notes_.end() ? nullptr : &found->second;
}

std::optional<std::uint64_t> CoreFile::auxiliary(std::uint64_t key) const {
  for (const auto& [each, value] : auxv_)
    if (each == key) return value;
  return std::nullopt;
}

void CoreFile::parse_note(std::uint32_t type, std::span<const std::byte> content) {
  if (type == NT_PRSTATUS) {
    parse_thread_note(content);
  } else if (type == NT_FPREGSET || type == NT_X86_XSTATE) {  // of the thread before; the second has all of the first
    if (!vector_sets_.empty()) vector_sets_.back() = content;
  } else if (type == aarch64::kNotePacMask && isa_ == Isa::kAarch64) {
    ByteReader reader(content);
    (void)reader.read<std::uint64_t>();  // of pointers to data
    const auto code = reader.read<std::uint64_t>();
    if (!reader.failed()) signature_bits_ = code & ~kAddressSpaceBit;
  } else if (elf_prpsinfo info{}; type == NT_PRPSINFO && copy_at(content, 0, info)) {
    pid_ = info.pr_pid;
    uid_ = info.pr_uid;
    program_ = text_of(info.pr_fname, sizeof info.pr_fname);
    arguments_ = text_of(info.pr_psargs, sizeof info.pr_psargs);
  } else if (type == NT_AUXV) {
    ByteReader reader(content);
    while (reader.remaining() >= 16) {
      const auto key = reader.read<std::uint64_t>();
      auxv_.emplace_back(key, reader.read<std::uint64_t>());
    }
  } else if (type == kNoteFile) {
    parse_file_note(content);
  } else if (type == kNoteSiginfo && !signal_) {
    parse_signal_note(content);
  }
}

// Up to the registers, elf_prstatus is the same on all machines.
void CoreFile::parse_thread_note(std::span<const std::byte> content) {
  const IsaTraits& traits = traits_of(isa_);
  elf_prstatus status{};
  if (content.size() < traits.prstatus_size) return;
  std::memcpy(&status, content.data(), offsetof(elf_prstatus, pr_reg));
  ThreadRegisters thread{.registers = {.words = {}, .isa = isa_}};
  thread.tid = status.pr_pid;
  thread.signal = status.pr_cursig;
  thread.cpu_ns = nanoseconds(status.pr_utime) + nanoseconds(status.pr_stime);
  std::memcpy(thread.registers.words.data(), content.data() + offsetof(elf_prstatus, pr_reg),
              traits.register_words * 8);
  threads_.push_back(thread);
  vector_sets_.emplace_back();
}

void CoreFile::parse_file_note(std::span<const std::byte> content) {
  has_file_note_ = true;
  ByteReader reader(content);
  const auto count = reader.read<std::uint64_t>();
  const auto page_size = reader.read<std::uint64_t>();
  if (count > content.size() / 24) return;
  for (std::uint64_t i = 0; i < count; ++i) {
    CoreMappedFile file;
    file.start = reader.read<std::uint64_t>();
    file.end = reader.read<std::uint64_t>();
    file.offset = reader.read<std::uint64_t>() * page_size;
    files_.push_back(std::move(file));
  }
  std::string_view names = reader.read_text(reader.remaining());
  for (CoreMappedFile& file : files_) {
    const std::size_t end = names.find('\0');
    file.path = names.substr(0, end);
    names.remove_prefix(end == names.npos ? names.size() : end + 1);
  }
  std::erase_if(files_, [](const auto& file) { return file.end <= file.start || file.path.empty(); });
}

void CoreFile::parse_signal_note(std::span<const std::byte> content) {
  siginfo_t info{};
  if (!copy_at(content, 0, info) || info.si_signo == 0) return;
  CoreSignal signal{.number = info.si_signo, .code = info.si_code, .fault = {}, .sent_by = {}};
  const bool by_kernel = info.si_code > 0;
  const bool faults = info.si_signo == SIGSEGV || info.si_signo == SIGBUS || info.si_signo == SIGILL ||
                      info.si_signo == SIGFPE || info.si_signo == SIGTRAP;
  if (by_kernel && faults) signal.fault = reinterpret_cast<Address>(info.si_addr);
  if (!by_kernel) signal.sent_by = info.si_pid;
  signal_ = signal;
}

}  // namespace jtrace::target
