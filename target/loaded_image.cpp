#include "target/loaded_image.h"

#include <elf.h>

#include <algorithm>
#include <span>

#include "base/bytes.h"

namespace jtrace::target {
namespace {

constexpr std::size_t kMaxHeaders = 512;
constexpr std::uint64_t kMaxNotes = 64u << 10;
constexpr std::uint32_t kMaxChain = 1u << 20;

Error malformed(std::string text, Address at) {
  Error error{.category = ErrorCategory::kMalformed, .text = std::move(text)};
  error.address = at;
  return error;
}

std::string hex_of(std::span<const std::byte> bytes) {
  std::string text;
  for (std::byte byte : bytes) {
    text += "0123456789abcdef"[std::to_integer<unsigned>(byte >> 4)];
    text += "0123456789abcdef"[std::to_integer<unsigned>(byte & std::byte{15})];
  }
  return text;
}

}  // namespace

Result<LoadedImage> LoadedImage::read(const MemoryReader& memory, Address base) {
  LoadedImage image(memory, base);
  JTRACE_RETURN_IF_ERROR(image.read_headers());
  return image;
}

Address LoadedImage::end() const {
  Address end = base_;
  for (const ImageSegment& segment : segments_) end = std::max(end, bias_ + segment.vaddr + segment.memory_size);
  return end;
}

Result<> LoadedImage::read_headers() {
  JTRACE_ASSIGN_OR_RETURN(const auto header, memory_->read<Elf64_Ehdr>(base_));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMaxHeaders)
    return fail(malformed("no 64-bit ELF image", base_));
  machine_ = header.e_machine;
  std::vector<Elf64_Phdr> table(header.e_phnum);
  JTRACE_RETURN_IF_ERROR(memory_->read_exactly(base_ + header.e_phoff, std::as_writable_bytes(std::span(table))));
  for (const Elf64_Phdr& from : table)
    if (from.p_type == PT_LOAD)
      segments_.push_back({from.p_vaddr, from.p_offset, from.p_filesz, from.p_memsz, from.p_flags});
  if (segments_.empty()) return fail(malformed("an ELF image without segments", base_));
  bias_ = base_ - (segments_.front().vaddr - segments_.front().file_offset);
  for (const Elf64_Phdr& from : table) {
    // Not every core contains these: symbols and build id are read later, and may then be missing.
    if (from.p_type == PT_GNU_EH_FRAME) eh_frame_header_ = bias_ + from.p_vaddr;
    if (from.p_type == PT_DYNAMIC) (void)read_dynamic(bias_ + from.p_vaddr, from.p_memsz);
    if (from.p_type == PT_NOTE && build_id_.empty()) (void)read_build_id(bias_ + from.p_vaddr, from.p_memsz);
  }
  return {};
}

Result<> LoadedImage::read_dynamic(Address at, std::uint64_t size) {
  const Address end = at + std::min<std::uint64_t>(size, 64u << 10);
  for (; at + sizeof(Elf64_Dyn) <= end; at += sizeof(Elf64_Dyn)) {
    JTRACE_ASSIGN_OR_RETURN(const auto entry, memory_->read<Elf64_Dyn>(at));
    // glibc's dynamic loader has added the bias already, musl's has not.
    const Address value = entry.d_un.d_ptr >= bias_ ? entry.d_un.d_ptr : entry.d_un.d_ptr + bias_;
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_SYMTAB) symbols_ = value;
    if (entry.d_tag == DT_STRTAB) strings_ = value;
    if (entry.d_tag == DT_GNU_HASH) gnu_hash_ = value;
    if (entry.d_tag == DT_HASH) sysv_hash_ = value;
  }
  return {};
}

Result<> LoadedImage::read_build_id(Address at, std::uint64_t size) {
  std::vector<std::byte> notes(std::min(size, kMaxNotes));
  JTRACE_RETURN_IF_ERROR(memory_->read_exactly(at, notes));
  ByteReader reader(notes);
  while (reader.remaining() >= sizeof(Elf64_Nhdr)) {
    const auto name_size = reader.read<std::uint32_t>();
    const auto content_size = reader.read<std::uint32_t>();
    const auto type = reader.read<std::uint32_t>();
    const auto name = reader.read_text((std::size_t{name_size} + 3) & ~std::size_t{3});
    const auto content = reader.read_bytes((std::size_t{content_size} + 3) & ~std::size_t{3});
    if (reader.failed()) break;
    if (type == NT_GNU_BUILD_ID && name.starts_with("GNU")) {
      build_id_ = hex_of(content.first(content_size));
      return {};
    }
  }
  return {};
}

Result<std::optional<Address>> LoadedImage::symbol_at_index(std::uint32_t index, std::string_view name) const {
  JTRACE_ASSIGN_OR_RETURN(const auto symbol, memory_->read<Elf64_Sym>(symbols_ + index * sizeof(Elf64_Sym)));
  if (symbol.st_shndx == SHN_UNDEF) return std::optional<Address>();
  JTRACE_ASSIGN_OR_RETURN(const std::string found, memory_->read_cstring(strings_ + symbol.st_name, 4096));
  if (found != name) return std::optional<Address>();
  return std::optional<Address>(bias_ + symbol.st_value);
}

Result<std::optional<Address>> LoadedImage::find_by_gnu_hash(std::string_view name) const {
  std::uint32_t hash = 5381;
  for (char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  struct Header {
    std::uint32_t buckets, first_symbol, bloom_words, bloom_shift;
  };
  JTRACE_ASSIGN_OR_RETURN(const auto header, memory_->read<Header>(gnu_hash_));
  if (header.buckets == 0) return std::optional<Address>();
  const Address buckets = gnu_hash_ + sizeof header + Address{header.bloom_words} * 8;
  const Address chains = buckets + Address{header.buckets} * 4;
  JTRACE_ASSIGN_OR_RETURN(std::uint32_t index, memory_->read<std::uint32_t>(buckets + hash % header.buckets * 4));
  if (index < header.first_symbol) return std::optional<Address>();
  for (std::uint32_t steps = 0; steps < kMaxChain; ++steps, ++index) {
    JTRACE_ASSIGN_OR_RETURN(const auto chain,
                            memory_->read<std::uint32_t>(chains + Address{index - header.first_symbol} * 4));
    if ((chain | 1) == (hash | 1)) {
      JTRACE_ASSIGN_OR_RETURN(const auto found, symbol_at_index(index, name));
      if (found) return found;
    }
    if ((chain & 1) != 0) break;
  }
  return std::optional<Address>();
}

Result<std::optional<Address>> LoadedImage::find_by_sysv_hash(std::string_view name) const {
  JTRACE_ASSIGN_OR_RETURN(const auto count, memory_->read<std::uint32_t>(sysv_hash_ + 4));
  for (std::uint32_t index = 1; index < std::min(count, kMaxChain); ++index) {
    JTRACE_ASSIGN_OR_RETURN(const auto found, symbol_at_index(index, name));
    if (found) return found;
  }
  return std::optional<Address>();
}

Result<Address> LoadedImage::find_exported(std::string_view name) const {
  std::optional<Address> found;
  if (symbols_ != 0 && strings_ != 0) {
    JTRACE_ASSIGN_OR_RETURN(found, gnu_hash_ != 0    ? find_by_gnu_hash(name)
                                   : sysv_hash_ != 0 ? find_by_sysv_hash(name)
                                                     : Result<std::optional<Address>>(std::nullopt));
  }
  if (found) return *found;
  Error error = malformed("no exported symbol " + std::string(name) + " in the ELF image", base_);
  error.category = ErrorCategory::kNotAttachable;
  return fail(std::move(error));
}

}  // namespace jtrace::target
