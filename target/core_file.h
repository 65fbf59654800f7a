// CoreFile: an ELF core of a 64-bit Linux process of any Isa, written by the kernel or by gdb's gcore.
//
// The whole file is mapped (zstd and lz4 are decompressed first, target/unpack.h). Parts beyond its end (a truncated
// core) are left out and counted. Only the notes are copied. Nothing in the file is trusted: offsets and counts are
// checked against its size. The file must not shrink while it is in use. Constants: elf.h (glibc), note layouts:
// sys/procfs.h, NT_FILE: fs/binfmt_elf.c (Linux). Errors: kNotFound, kPermission (open), kNotAttachable (not a core of
// this kind; the message names compressed cores), kMalformed. Ownership: owns the mapping; movable. Threads: const
// functions from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "target/memory_reader.h"
#include "target/registers.h"

namespace jtrace::target {

struct CoreSegment {
  Address start = 0;
  std::uint64_t memory_size = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t file_size = 0;  // bytes the core should have
  std::uint64_t present = 0;    // bytes it has: less than file_size if the core is truncated
  bool readable = false, writable = false, executable = false;
};

struct CoreMappedFile {  // one range of NT_FILE
  Address start = 0;
  Address end = 0;
  std::uint64_t offset = 0;  // bytes
  std::string path;          // in the mount namespace of the process
};

struct CoreSignal {
  int number = 0;
  int code = 0;                  // si_code
  std::optional<Address> fault;  // si_addr, for the signals that have one
  std::optional<pid_t> sent_by;  // si_pid, if a process sent it
};

class CoreFile {
 public:
  static Result<CoreFile> open(const std::string& path);
  // The same for bytes in memory (tests, fuzzing), which are copied.
  static Result<CoreFile> from_bytes(std::span<const std::byte> bytes, std::string name = "core");

  // The same without a copy: `bytes` must outlive the object.
  static Result<CoreFile> of_view(std::span<const std::byte> bytes, std::string name);

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_.get(); }
  const std::vector<CoreSegment>& segments() const { return segments_; }  // by address
  const std::vector<CoreMappedFile>& files() const { return files_; }     // by address
  // In the order of the notes: the first is the thread that crashed (or that gdb had selected).
  const std::vector<ThreadRegisters>& threads() const { return threads_; }
  // Of each of these threads the set of registers with the vector registers; empty if there is none.
  const std::vector<std::span<const std::byte>>& vector_sets() const { return vector_sets_; }
  const std::optional<CoreSignal>& signal() const { return signal_; }
  std::optional<std::uint64_t> auxiliary(std::uint64_t key) const;  // of the vector of getauxval(3): AT_*
  // The text of a note that this program wrote (target/core_writer.h); null if there is none of this type.
  const std::string* own_note(std::uint32_t type) const;
  Isa isa() const { return isa_; }
  // Bits of a return address that are not part of the address but of its signature.
  std::uint64_t signature_bits() const { return signature_bits_; }
  pid_t pid() const { return pid_; }
  uid_t uid() const { return uid_; }
  const std::string& program() const { return program_; }      // pr_fname: at most 15 bytes
  const std::string& arguments() const { return arguments_; }  // pr_psargs: at most 79 bytes

  // Bytes of memory that the headers promise and the file lacks; 0 for a complete core.
  std::uint64_t missing_bytes() const { return missing_bytes_; }
  // Those of notes: threads, mapped files. gdb writes them after the memory, the kernel before it.
  std::uint64_t missing_note_bytes() const { return missing_note_bytes_; }
  std::uint64_t expected_size() const { return expected_size_; }
  bool file_ranges_known() const { return has_file_note_; }

 private:
  // A mapped file, or a copy.
  class Bytes {
   public:
    Bytes() = default;
    Bytes(Bytes&& other) noexcept { *this = std::move(other); }
    Bytes& operator=(Bytes&& other) noexcept;
    ~Bytes();
    static Result<Bytes> map(const std::string& path);
    static Result<Bytes> map(int fd, const std::string& path);
    static Bytes copy(std::span<const std::byte> bytes);
    static Bytes view(std::span<const std::byte> bytes);
    std::span<const std::byte> get() const { return view_; }

   private:
    std::span<const std::byte> view_;
    std::vector<std::byte> owned_;
    bool mapped_ = false;
  };

  CoreFile() = default;
  Result<> parse();
  Result<> parse_headers();
  void add_segment(const void* header);
  void add_notes(std::uint64_t offset, std::uint64_t size);
  void parse_notes(std::span<const std::byte> notes);
  void parse_note(std::uint32_t type, std::span<const std::byte> content);
  void parse_thread_note(std::span<const std::byte> content);
  void parse_file_note(std::span<const std::byte> content);
  void parse_signal_note(std::span<const std::byte> content);

  std::string path_;
  Bytes bytes_;
  std::vector<CoreSegment> segments_;
  std::vector<CoreMappedFile> files_;
  std::vector<ThreadRegisters> threads_;
  std::vector<std::span<const std::byte>> vector_sets_;
  std::optional<CoreSignal> signal_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> auxv_;
  std::map<std::uint32_t, std::string> own_notes_;
  Isa isa_ = kNativeIsa;
  std::uint64_t signature_bits_ = 0;
  pid_t pid_ = 0;
  uid_t uid_ = 0;
  std::string program_, arguments_;
  std::uint64_t missing_bytes_ = 0;
  std::uint64_t missing_note_bytes_ = 0;
  std::uint64_t expected_size_ = 0;
  bool has_file_note_ = false;
};

}  // namespace jtrace::target
