#include "dtrace/probe_image.h"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <memory>

#include "target/isa.h"

namespace jtrace::dtrace {
namespace {

struct ElfEnd {
  void operator()(Elf* elf) const { ::elf_end(elf); }
};
using UniqueElf = std::unique_ptr<Elf, ElfEnd>;

Error malformed(const std::string& path, const std::string& why) {
  Error error{ErrorCategory::kMalformed, "cannot read ELF file: " + why};
  error.path = path;
  return error;
}

Result<UniqueElf> open_elf(int fd, const std::string& path) {
  ::elf_version(EV_CURRENT);
  UniqueElf elf(::elf_begin(fd, ELF_C_READ_MMAP, nullptr));
  GElf_Ehdr header{};
  if (!elf || ::elf_kind(elf.get()) != ELF_K_ELF || ::gelf_getehdr(elf.get(), &header) == nullptr)
    return fail(malformed(path, "it is not an ELF file"));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || !target::isa_of_machine(header.e_machine))
    return fail(malformed(path, "it is for " + target::machine_name(header.e_machine) +
                                    ", probes are read of 64-bit x86-64 and AArch64"));
  return elf;
}

target::Isa isa_of(Elf* elf) {
  GElf_Ehdr header{};
  ::gelf_getehdr(elf, &header);
  return target::isa_of_machine(header.e_machine).value_or(target::kNativeIsa);
}

std::span<const std::byte> contents(Elf_Scn* section) {
  const Elf_Data* data = ::elf_rawdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return {};
  return {static_cast<const std::byte*>(data->d_buf), data->d_size};
}

struct Sections {
  std::span<const std::byte> notes;
  bool has_notes = false;
  std::optional<std::uint64_t> base;  // address of .stapsdt.base
  std::string build_id;
};

std::string build_id_of(std::span<const std::byte> section) {
  if (section.size() < 16) return {};
  std::string text;
  constexpr char kDigits[] = "0123456789abcdef";
  for (const std::byte byte : section.subspan(16)) {  // header and "GNU\0"
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

Sections find_sections(Elf* elf) {
  Sections found;
  std::size_t names = 0;
  if (::elf_getshdrstrndx(elf, &names) != 0) return found;
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header{};
    if (::gelf_getshdr(section, &header) == nullptr) continue;
    const char* raw = ::elf_strptr(elf, names, header.sh_name);
    const std::string_view name = raw != nullptr ? raw : "";
    if (name == ".note.stapsdt") {
      found.notes = contents(section);
      found.has_notes = true;
    } else if (name == ".stapsdt.base") {
      found.base = header.sh_addr;
    } else if (name == ".note.gnu.build-id") {
      found.build_id = build_id_of(contents(section));
    }
  }
  return found;
}

struct Segment {
  std::uint64_t address, offset, file_size;
};

std::vector<Segment> load_segments(Elf* elf) {
  std::vector<Segment> segments;
  std::size_t count = 0;
  if (::elf_getphdrnum(elf, &count) != 0) return segments;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header{};
    if (::gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_LOAD) continue;
    segments.push_back({header.p_vaddr, header.p_offset, header.p_filesz});
  }
  return segments;
}

std::optional<std::uint64_t> file_offset(const std::vector<Segment>& segments, std::uint64_t address) {
  for (const Segment& segment : segments)
    if (address >= segment.address && address - segment.address < segment.file_size)
      return address - segment.address + segment.offset;
  return std::nullopt;
}

}  // namespace

Result<ProbeImage> read_probe_image(int fd, const std::string& path) {
  JTRACE_ASSIGN_OR_RETURN(const UniqueElf elf, open_elf(fd, path));
  const Sections sections = find_sections(elf.get());
  const auto segments = load_segments(elf.get());
  if (segments.empty()) return fail(malformed(path, "it has nothing to load"));
  ProbeImage image{.isa = isa_of(elf.get())};
  image.has_notes = sections.has_notes;
  image.build_id = sections.build_id;
  image.first_address = segments.front().address & ~std::uint64_t{0xfff};
  StapNotes notes = parse_stap_notes(sections.notes);
  image.skipped = notes.skipped;
  for (StapNote& note : notes.notes) {
    // If the file was changed after linking (prelink), everything moved with .stapsdt.base.
    const std::uint64_t moved = sections.base && note.base != 0 ? *sections.base - note.base : 0;
    const auto offset = file_offset(segments, note.location + moved);
    if (!offset) {
      ++image.skipped;
      continue;
    }
    ProbeSite site;
    site.address = note.location + moved;
    site.offset = *offset;
    if (note.semaphore != 0) site.semaphore_offset = file_offset(segments, note.semaphore + moved).value_or(0);
    site.operands = parse_operands(note.arguments, image.isa);
    site.provider = std::move(note.provider);
    site.name = std::move(note.name);
    site.arguments = std::move(note.arguments);
    image.sites.push_back(std::move(site));
  }
  return image;
}

}  // namespace jtrace::dtrace
