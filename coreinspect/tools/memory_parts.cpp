#include "coreinspect/tools/memory_parts.h"

#include <algorithm>

namespace jtrace::coreinspect {
namespace {

constexpr Address kPage = 4096;

constexpr std::array<MemoryPartText, kMemoryParts> kTexts = {{
    {"Java heap, used", "the JVM's tables"},
    {"Java heap, committed and not used", "the JVM's tables, rights of the mappings"},
    {"Java heap, reserved", "the JVM's tables, rights of the mappings"},
    {"metaspace", "addresses of classes and methods"},
    {"compressed class space", "addresses of classes"},
    {"code cache", "the JVM's tables"},
    {"thread stacks, Java", "the JVM's tables"},
    {"thread stacks, others", "stack pointers, guard pages"},
    {"card table", "the JVM's tables"},
    {"collector's and other structures", "addresses in the JVM's own data"},
    {"CDS archive", "name of the file, the JVM's tables"},
    {"malloc, main heap", "name of the mapping"},
    {"malloc, arenas", "headers of glibc"},
    {"malloc, large blocks", "headers of glibc"},
    {"shared libraries", "names of files"},
    {"mapped files", "names of files"},
    {"hsperfdata", "name of the file"},
    {"reserved, not accessible", "rights of the mappings"},
    {"other mappings of the kernel", "name of the mapping"},
    {"not attributed", ""},
}};

}  // namespace

const MemoryPartText& text_of(MemoryPart part) { return kTexts[static_cast<std::size_t>(part)]; }

void PartMap::add(Address start, Address end, MemoryPart part) {
  Address at = start & ~(kPage - 1);
  if (end > ~kPage) return;
  end = (end + kPage - 1) & ~(kPage - 1);
  auto next = ranges_.upper_bound(at);
  if (next != ranges_.begin()) at = std::max(at, std::prev(next)->second.end);
  while (at < end) {
    const Address free_end = next == ranges_.end() ? end : std::min(end, next->first);
    if (free_end > at) {
      const auto before = next == ranges_.begin() ? ranges_.end() : std::prev(next);
      if (before != ranges_.end() && before->second.end == at && before->second.part == part)
        before->second.end = free_end;
      else ranges_.emplace_hint(next, at, Range{free_end, part});
    }
    if (next == ranges_.end()) return;
    at = std::max(at, next->second.end);
    ++next;
  }
}

bool PartMap::has(Address at) const {
  const auto next = ranges_.upper_bound(at);
  return next != ranges_.begin() && at < std::prev(next)->second.end;
}

void PartMap::visit(Address start, Address end, MemoryPart otherwise,
                    const std::function<void(Address, Address, MemoryPart)>& visitor) const {
  auto next = ranges_.upper_bound(start);
  if (next != ranges_.begin() && std::prev(next)->second.end > start) --next;
  for (Address at = start; at < end;) {
    if (next == ranges_.end() || next->first >= end) return visitor(at, end, otherwise);
    if (next->first > at) visitor(at, next->first, otherwise);
    at = std::max(at, next->first);
    const Address part_end = std::min(end, next->second.end);
    visitor(at, part_end, next->second.part);
    at = part_end;
    ++next;
  }
}

bool is_anonymous(const target::Mapping& mapping) {
  return !mapping.shared && mapping.inode == 0 && (mapping.path.empty() || mapping.path.starts_with("[anon:"));
}

MemoryPart part_of_mapping(const target::MappedPages& pages, bool library) {
  const target::Mapping& mapping = pages.mapping;
  if (is_anonymous(mapping))
    return mapping.readable || mapping.writable || pages.rss > 0 ? MemoryPart::kUnknown : MemoryPart::kReserved;
  if (mapping.path == "[heap]") return MemoryPart::kMainArena;
  if (mapping.path.starts_with("[stack")) return MemoryPart::kOtherStacks;
  if (mapping.path.starts_with('[')) return MemoryPart::kOther;
  if (mapping.path.ends_with(".jsa")) return MemoryPart::kArchive;
  if (mapping.path.find("/hsperfdata_") != mapping.path.npos) return MemoryPart::kCounters;
  return library ? MemoryPart::kLibraries : MemoryPart::kFiles;
}

}  // namespace jtrace::coreinspect
