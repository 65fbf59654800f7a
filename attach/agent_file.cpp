#include "attach/agent_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "target/isa.h"
#include "target/jvm_discovery.h"

namespace jtrace::attach {
namespace {

constexpr std::uint64_t kSaneTable = 64u << 20;  // bytes of a symbol or string table; libjvm.so has about 1 MiB

Error agent_error(std::string text, std::string_view path, std::string help = {}) {
  Error error{.category = ErrorCategory::kAgent, .text = std::move(text), .path = std::string(path)};
  error.help = std::move(help);
  return error;
}

template <class Entry>
Result<std::vector<Entry>> read_table(const target::MemoryReader& file, std::uint64_t offset, std::uint64_t size) {
  if (size > kSaneTable) return fail(ErrorCategory::kMalformed, "a table of the ELF file is too large");
  std::vector<Entry> entries(size / sizeof(Entry));
  JTRACE_RETURN_IF_ERROR(file.read_exactly(offset, std::as_writable_bytes(std::span(entries))));
  return entries;
}

std::string_view string_at(const std::vector<char>& table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest(table.data() + offset, table.size() - offset);
  return rest.substr(0, rest.find('\0'));
}

// The section table with number `index`, with its string table.
struct Linked {
  const Elf64_Shdr* table = nullptr;
  std::vector<char> strings;
};
Result<Linked> linked_section(const target::MemoryReader& file, const std::vector<Elf64_Shdr>& sections,
                              std::uint32_t type) {
  Linked linked;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != type || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    JTRACE_ASSIGN_OR_RETURN(linked.strings, read_table<char>(file, strings.sh_offset, strings.sh_size));
    linked.table = &section;
    return linked;
  }
  return linked;
}

Result<> read_sections(const target::MemoryReader& file, const Elf64_Ehdr& header, ElfFacts& facts) {
  if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr)) return {};
  JTRACE_ASSIGN_OR_RETURN(
      const auto sections,
      read_table<Elf64_Shdr>(file, header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr)));
  JTRACE_ASSIGN_OR_RETURN(const Linked symbols, linked_section(file, sections, SHT_DYNSYM));
  if (symbols.table) {
    facts.symbols_known = true;
    JTRACE_ASSIGN_OR_RETURN(const auto entries,
                            read_table<Elf64_Sym>(file, symbols.table->sh_offset, symbols.table->sh_size));
    for (const Elf64_Sym& symbol : entries)
      if (const auto name = string_at(symbols.strings, symbol.st_name);
          symbol.st_shndx != SHN_UNDEF && name.starts_with("Agent_"))
        facts.exported.emplace_back(name);
  }
  JTRACE_ASSIGN_OR_RETURN(const Linked dynamic, linked_section(file, sections, SHT_DYNAMIC));
  if (!dynamic.table) return {};
  JTRACE_ASSIGN_OR_RETURN(const auto entries,
                          read_table<Elf64_Dyn>(file, dynamic.table->sh_offset, dynamic.table->sh_size));
  for (const Elf64_Dyn& entry : entries)
    if (entry.d_tag == DT_NEEDED) facts.needed.emplace_back(string_at(dynamic.strings, entry.d_un.d_val));
  return {};
}

bool exists_inside(const target::Process& process, std::string_view path) {
  return process.open_in_root(path, O_PATH).has_value();
}

// glibc and musl give their loaders different names. A library that needs the loader of the other one does not load,
// unless a compatibility package is installed.
std::string libc_objection(const ElfFacts& agent, const target::Process& process,
                           const std::vector<target::Mapping>& mappings) {
  const bool musl = std::any_of(mappings.begin(), mappings.end(), [](const target::Mapping& m) {
    return m.file_name().starts_with("ld-musl-") || m.file_name().starts_with("libc.musl-");
  });
  for (const std::string& library : agent.needed) {
    const bool for_musl = library.starts_with("libc.musl-");
    const bool for_glibc = library.starts_with("ld-linux");  // musl itself provides libc.so.6 and its parts
    if ((musl && for_glibc && !exists_inside(process, "/lib/" + library) &&
         !exists_inside(process, "/lib64/" + library)) ||
        (!musl && for_musl && !exists_inside(process, "/lib/" + library)))
      return std::string("it is built for ") + (for_musl ? "musl" : "glibc") + " (needs " + library +
             "), the JVM runs on " + (musl ? "musl" : "glibc");
  }
  return {};
}

Result<> check_bytes(const target::Process& process, const target::MemoryReader& file, std::string_view name) {
  const auto agent = read_elf_facts(file);
  if (!agent) return fail(agent_error("the library cannot be loaded: " + agent.error().text, name));
  JTRACE_ASSIGN_OR_RETURN(const auto mappings, process.maps());
  const target::Mapping* libjvm = target::find_libjvm(mappings);
  if (!libjvm) return {};
  std::string why;
  if (const auto libjvm_file = process.open_mapped(*libjvm))
    if (const auto jvm = read_elf_facts(FileBytes(libjvm_file->get()))) why = objection_to(*agent, *jvm);
  if (why.empty()) why = libc_objection(*agent, process, mappings);
  if (!why.empty()) return fail(agent_error("the library cannot be loaded: " + why, name));
  return {};
}

}  // namespace

Result<std::size_t> FileBytes::read_some(target::Address address, std::span<std::byte> out) const {
  const ssize_t count = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(address));
  if (count > 0) return static_cast<std::size_t>(count);
  Error error{.category = ErrorCategory::kMalformed, .text = "the file is cut short", .errnum = count < 0 ? errno : 0};
  error.address = address;
  return fail(std::move(error));
}

Result<ElfFacts> read_elf_facts(const target::MemoryReader& file) {
  unsigned char ident[EI_NIDENT] = {};
  const auto had = file.read_exactly(0, std::as_writable_bytes(std::span(ident)));
  if (!had || std::memcmp(ident, ELFMAG, SELFMAG) != 0) return fail(ErrorCategory::kMalformed, "not an ELF file");
  ElfFacts facts;
  facts.elf_class = ident[EI_CLASS];
  facts.encoding = ident[EI_DATA];
  if (facts.encoding != ELFDATA2LSB) return facts;
  // e_type and e_machine are at the same offset in both classes.
  JTRACE_ASSIGN_OR_RETURN(facts.type, file.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_type)));
  JTRACE_ASSIGN_OR_RETURN(facts.machine, file.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_machine)));
  if (facts.elf_class != ELFCLASS64) return facts;
  JTRACE_ASSIGN_OR_RETURN(const auto header, file.read<Elf64_Ehdr>(0));
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return fail(ErrorCategory::kMalformed, "it has no program headers");
  JTRACE_ASSIGN_OR_RETURN(
      const auto segments,
      read_table<Elf64_Phdr>(file, header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr)));
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_GNU_STACK) facts.executable_stack = (segment.p_flags & PF_X) != 0;
  JTRACE_RETURN_IF_ERROR(read_sections(file, header, facts));
  return facts;
}

std::string objection_to(const ElfFacts& agent, const ElfFacts& jvm) {
  if (agent.elf_class != jvm.elf_class)
    return std::string("it is ") + (agent.elf_class == ELFCLASS64 ? "64" : "32") + "-bit, the JVM is " +
           (jvm.elf_class == ELFCLASS64 ? "64" : "32") + "-bit";
  if (agent.encoding != jvm.encoding) return "it has another byte order than the JVM";
  if (agent.machine != jvm.machine)
    return "it is for " + target::machine_name(agent.machine) + ", the JVM for " + target::machine_name(jvm.machine);
  if (agent.type != ET_DYN) return "it is not a shared library";
  if (agent.executable_stack) return "it asks for an executable stack, which would remove the JVM's stack guards";
  const auto is_entry = [](const std::string& name) { return name.starts_with("Agent_OnAttach"); };
  if (agent.symbols_known && std::none_of(agent.exported.begin(), agent.exported.end(), is_entry))
    return "Agent_OnAttach is not among its exported functions";
  return {};
}

Result<> check_agent_file(const target::Process& process, const std::string& path) {
  auto file = process.open_in_root(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file) {
    const bool ours = ::access(path.c_str(), R_OK) == 0;
    if (file.error().errnum == ENOENT && ours)
      return fail(agent_error("the library is here, but not in the JVM's file system", file.error().path,
                              "--deliver copies it there temporarily"));
    return fail(agent_error(std::string("the JVM cannot open the library: ") + std::strerror(file.error().errnum),
                            file.error().path));
  }
  struct stat facts {};
  struct statfs system {};
  if (::fstat(file->get(), &facts) != 0 || !S_ISREG(facts.st_mode))
    return fail(agent_error("the library is not a regular file", path));
  if (::fstatfs(file->get(), &system) == 0 && (static_cast<unsigned long>(system.f_flags) & ST_NOEXEC) != 0)
    return fail(agent_error("the library is on a mount that is noexec for the JVM", path,
                            "--deliver copies it to a place that is not noexec"));
  return check_bytes(process, FileBytes(file->get()), path);
}

Result<> check_agent_bytes(const target::Process& process, const target::MemoryReader& file, std::string_view name) {
  return check_bytes(process, file, name);
}

}  // namespace jtrace::attach
