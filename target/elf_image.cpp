#include "target/elf_image.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>

#include "base/file.h"

namespace jtrace::target {
namespace {

Error malformed(const std::string& path, const std::string& what) {
  const int number = ::elf_errno();
  const char* why = number != 0 ? ::elf_errmsg(number) : nullptr;
  return {.category = ErrorCategory::kMalformed, .text = what + (why ? std::string(": ") + why : ""), .path = path};
}

}  // namespace

void ElfImage::EndElf::operator()(Elf* elf) const { ::elf_end(elf); }

Result<ElfImage> ElfImage::open(const std::string& path) {
  JTRACE_ASSIGN_OR_RETURN(UniqueFd fd, open_file(path, O_RDONLY | O_NONBLOCK));
  return from_fd(std::move(fd), path);
}

Result<ElfImage> ElfImage::from_fd(UniqueFd fd, std::string path) {
  ::elf_version(EV_CURRENT);
  ElfImage image;
  image.path_ = std::move(path);
  image.fd_ = std::move(fd);
  image.elf_.reset(::elf_begin(image.fd_.get(), ELF_C_READ_MMAP, nullptr));
  GElf_Ehdr header{};
  if (!image.elf_ || ::elf_kind(image.elf_.get()) != ELF_K_ELF || !::gelf_getehdr(image.elf_.get(), &header))
    return fail(malformed(image.path_, "not an ELF file"));
  const auto isa = isa_of_machine(header.e_machine);
  if (!isa || ::gelf_getclass(image.elf_.get()) != ELFCLASS64)
    return fail(malformed(image.path_,
                          "not a 64-bit ELF file of x86-64 or AArch64 but one of " + machine_name(header.e_machine)));
  image.isa_ = *isa;
  std::size_t count = 0;
  if (::elf_getphdrnum(image.elf_.get(), &count) != 0) return fail(malformed(image.path_, "no program headers"));
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr from{};
    if (!::gelf_getphdr(image.elf_.get(), static_cast<int>(i), &from)) break;
    if (from.p_type == PT_LOAD)
      image.segments_.push_back({from.p_vaddr, from.p_offset, from.p_filesz, from.p_memsz, from.p_flags});
  }
  image.read_build_id();
  return image;
}

void ElfImage::read_build_id() {
  std::size_t count = 0;
  if (::elf_getphdrnum(elf_.get(), &count) != 0) return;
  for (std::size_t i = 0; i < count && build_id_.empty(); ++i) {
    GElf_Phdr segment{};
    if (!::gelf_getphdr(elf_.get(), static_cast<int>(i), &segment) || segment.p_type != PT_NOTE) continue;
    Elf_Data* data = ::elf_getdata_rawchunk(elf_.get(), static_cast<std::int64_t>(segment.p_offset), segment.p_filesz,
                                            segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    if (!data) continue;
    GElf_Nhdr note{};
    std::size_t name = 0, content = 0;
    for (std::size_t at = 0; (at = ::gelf_getnote(data, at, &note, &name, &content)) > 0;) {
      const auto* bytes = static_cast<const unsigned char*>(data->d_buf);
      if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || std::memcmp(bytes + name, "GNU", 4) != 0) continue;
      for (std::size_t k = 0; k < note.n_descsz; ++k) {
        build_id_ += "0123456789abcdef"[bytes[content + k] >> 4];
        build_id_ += "0123456789abcdef"[bytes[content + k] & 15];
      }
      break;
    }
  }
}

FunctionStarts ElfImage::read_function_starts() const {
  std::size_t count = 0;
  if (::elf_getphdrnum(elf_.get(), &count) != 0) return {};
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment{};
    if (!::gelf_getphdr(elf_.get(), static_cast<int>(i), &segment) || segment.p_type != PT_GNU_EH_FRAME) continue;
    const Elf_Data* data =
        ::elf_getdata_rawchunk(elf_.get(), static_cast<std::int64_t>(segment.p_offset), segment.p_filesz, ELF_T_BYTE);
    if (data) return {{static_cast<const std::byte*>(data->d_buf), data->d_size}, segment.p_vaddr};
  }
  return {};
}

std::optional<Address> ElfImage::function_start(Address vaddr) const {
  if (!function_starts_) function_starts_ = read_function_starts();
  return function_starts_->at_or_below(vaddr);
}

std::string ElfImage::debug_link() const {
  std::size_t names = 0;
  if (::elf_getshdrstrndx(elf_.get(), &names) != 0) return {};
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf_.get(), section));) {
    GElf_Shdr header{};
    if (!::gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS) continue;
    const char* name = ::elf_strptr(elf_.get(), names, header.sh_name);
    if (!name || std::strcmp(name, ".gnu_debuglink") != 0) continue;
    const Elf_Data* data = ::elf_getdata(section, nullptr);
    if (!data || !data->d_buf) return {};
    const auto* text = static_cast<const char*>(data->d_buf);
    return {text, ::strnlen(text, data->d_size)};
  }
  return {};
}

bool ElfImage::has_symbol_table() const {
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf_.get(), section));) {
    GElf_Shdr header{};
    if (::gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB) return true;
  }
  return false;
}

void ElfImage::add_symbols(unsigned section_type) const {
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf_.get(), section));) {
    GElf_Shdr header{};
    if (!::gelf_getshdr(section, &header) || header.sh_type != section_type || header.sh_entsize == 0) continue;
    Elf_Data* data = ::elf_getdata(section, nullptr);
    if (!data) continue;
    const std::size_t count = data->d_size / header.sh_entsize;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Sym symbol{};
      if (!::gelf_getsym(data, static_cast<int>(i), &symbol)) break;
      const unsigned type = GELF_ST_TYPE(symbol.st_info);
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0 || (type != STT_FUNC && type != STT_OBJECT)) continue;
      if (const char* name = ::elf_strptr(elf_.get(), header.sh_link, symbol.st_name))
        symbols_.push_back({name, symbol.st_value, symbol.st_size, type == STT_FUNC});
    }
  }
}

const std::vector<ElfSymbol>& ElfImage::symbols() const {
  if (symbols_read_) return symbols_;
  symbols_read_ = true;
  add_symbols(SHT_SYMTAB);
  if (symbols_.empty()) add_symbols(SHT_DYNSYM);
  std::stable_sort(symbols_.begin(), symbols_.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  return symbols_;
}

const ElfSymbol* ElfImage::symbol_at(Address vaddr) const {
  const auto& all = symbols();
  auto next = std::upper_bound(all.begin(), all.end(), vaddr, [](Address at, const auto& s) { return at < s.value; });
  // A symbol may be inside a larger one: looks at a few symbols before it too.
  for (int steps = 0; steps < 16 && next != all.begin(); ++steps)
    if (--next; vaddr - next->value < next->size) return &*next;
  return nullptr;
}

Result<Address> ElfImage::vaddr_of_offset(std::uint64_t offset) const {
  for (const ImageSegment& segment : segments_)
    if (offset >= segment.file_offset && offset - segment.file_offset < segment.file_size)
      return segment.vaddr + (offset - segment.file_offset);
  return fail(ErrorCategory::kMalformed, path_ + ": no segment holds file offset " + std::to_string(offset));
}

}  // namespace jtrace::target
