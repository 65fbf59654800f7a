// LoadedImage: an ELF file in the memory of a target: exported symbols, build id, load bias.
//
// It is read only through the MemoryReader, so that stripped, deleted or foreign files are readable too; only the first
// page and the tables of the dynamic section are needed. Constants: elf.h. DT_GNU_HASH as in glibc's dl-lookup.c.
// Errors: those of the memory; kMalformed. Ownership: borrows the memory. Threads: const functions from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "target/memory_reader.h"

namespace jtrace::target {

struct ImageSegment {  // a PT_LOAD
  Address vaddr = 0;   // as in the file: without the bias
  std::uint64_t file_offset = 0, file_size = 0, memory_size = 0;
  std::uint32_t flags = 0;  // PF_R, PF_W, PF_X
};

class LoadedImage {
 public:
  // `base`: the address at which file offset 0 is mapped.
  static Result<LoadedImage> read(const MemoryReader& memory, Address base);

  Address base() const { return base_; }
  Address bias() const { return bias_; }                     // address = p_vaddr + bias
  std::uint16_t machine() const { return machine_; }         // e_machine
  const std::string& build_id() const { return build_id_; }  // lower case hex; "" if it has none
  const std::vector<ImageSegment>& segments() const { return segments_; }
  Address end() const;  // first address after the last segment
  // PT_GNU_EH_FRAME: the index of its unwind information (LSB, "Exception Frames"); 0 if there is none.
  Address eh_frame_header() const { return eh_frame_header_; }

  // Address in the target of an exported symbol (the first of that name, of any version). kNotAttachable: it has none.
  Result<Address> find_exported(std::string_view name) const;

 private:
  LoadedImage(const MemoryReader& memory, Address base) : memory_(&memory), base_(base) {}
  Result<> read_headers();
  Result<> read_dynamic(Address at, std::uint64_t size);
  Result<> read_build_id(Address at, std::uint64_t size);
  Result<std::optional<Address>> symbol_at_index(std::uint32_t index, std::string_view name) const;
  Result<std::optional<Address>> find_by_gnu_hash(std::string_view name) const;
  Result<std::optional<Address>> find_by_sysv_hash(std::string_view name) const;

  const MemoryReader* memory_;
  Address base_;
  Address bias_ = 0;
  std::uint16_t machine_ = 0;
  std::string build_id_;
  std::vector<ImageSegment> segments_;
  Address eh_frame_header_ = 0;
  Address symbols_ = 0, strings_ = 0, gnu_hash_ = 0, sysv_hash_ = 0;
};

}  // namespace jtrace::target
