#include "coreinspect/oops/z_forwarding.h"

#include <algorithm>
#include <bit>
#include <set>

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kMaxEntries = 1u << 21;  // twice the number of the smallest objects in a medium page
// ZObjectAlignmentSmallShift, -MediumShift, -LargeShift of JDK 11, by ZPage::_type.
constexpr std::array<std::uint64_t, 3> kShiftsOf11 = {3, 12, 21};
constexpr std::uint64_t kMaxHeapObject = 262144;  // size of a ZHeap in bytes, which is searched
constexpr std::uint64_t kSizeOf21To27 = 184;      // of a ZForwarding; JDK 27 no longer exports its _ref_count
constexpr std::uint32_t kRefCountOf21To27 = 136;

// ZHash::uint32_to_uint32.
std::uint32_t hash_of(std::uint32_t key) {
  key = ~key + (key << 15);
  key ^= key >> 12;
  key += key << 2;
  key ^= key >> 4;
  key *= 2057;
  return key ^ key >> 16;
}

}  // namespace

ZForwardings::ZForwardings(const ZVm& z) : z_(z) {
  const auto heap = z.heap(), page_table = z.page_table();
  if (!heap || !page_table) return;
  pages_ = z.pages().value_or(ZVm::GranuleTable{});
  if (z.of_11()) {
    if (vm().types().has("ZPage", "_forwarding") && vm().types().has("ZForwardingTable", "_table"))
      tables_[0] = tables_[1] = pages_;
  } else if (const auto table = vm().types().offset(z.type("Heap"), "_forwarding_table"))
    tables_[0] = tables_[1] = z.granule_map(*heap + *table).value_or(ZVm::GranuleTable{});
  else find_generations(*heap, *page_table);
}

// ZGeneration begins with its number, the page allocator, the page table and its ZForwardingTable, whose map has the
// size of the page table's.
void ZForwardings::find_generations(Address heap, Address page_table) {
  const auto size = vm().types().size_of("ZHeap");
  const auto allocator = vm().types().offset("ZHeap", "_page_allocator");
  if (!size || *size > kMaxHeapObject || !allocator) return;
  std::vector<Address> words(*size / 8);
  if (!vm().memory().read_exactly(heap, std::as_writable_bytes(std::span(words)))) return;
  for (std::size_t i = 0; i + 4 < words.size(); ++i) {
    const std::uint64_t id = words[i] & 0xff;
    if (words[i + 1] != heap + *allocator || words[i + 2] != page_table || id > 1) continue;
    if (words[i + 3] != 0 && words[i + 3] <= pages_.count && words[i + 4] % 8 == 0)
      tables_[id] = {words[i + 4], words[i + 3]};
  }
}

std::optional<ZForwardings::Forwarding> ZForwardings::find(Generation generation, std::uint64_t offset) const {
  const Address at = tables_[static_cast<std::size_t>(generation)].entry(vm(), offset);
  if (at == 0) return std::nullopt;
  const auto forwarding = read(at);
  if (!forwarding || offset - forwarding->start >= forwarding->size) return std::nullopt;
  return forwarding;
}

// ZPageTableEntry is the address of the page; bit 0: its objects are being or were moved.
std::optional<ZForwardings::Forwarding> ZForwardings::read_of_11(Address entry) const {
  const Address page = ZVm::page_of(entry);
  const auto& types = vm().types();
  const auto own = types.offset("ZPage", "_forwarding"), table = types.offset("ZForwardingTable", "_table"),
             memory = types.offset("ZPage", "_virtual");
  if (entry == page || page == 0 || !own || !table || !memory) return std::nullopt;
  const auto type = vm().read_field<std::uint8_t>(page, "ZPage", "_type");
  const auto range = z_.range(page + *memory);
  const auto entries = vm().memory().read<Address>(page + *own + *table);
  const auto length = vm().read_field<std::uint64_t>(page + *own, "ZForwardingTable", "_size");
  if (!type || *type >= kShiftsOf11.size() || !range || !entries || *entries == 0 || !length) return std::nullopt;
  if (*length > kMaxEntries || !std::has_single_bit(*length)) return std::nullopt;
  return Forwarding{.page = page,
                    .entries = *entries,
                    .start = range->start,
                    .size = range->size,
                    .shift = kShiftsOf11[*type],
                    .length = *length};
}

std::optional<ZForwardings::Forwarding> ZForwardings::read_later(Address forwarding) const {
  const std::string type = z_.type("Forwarding");
  const auto& types = vm().types();
  const auto virtual_memory = types.offset(type, "_virtual"), entries = types.offset(type, "_entries");
  const auto whole = types.size_of(type);
  if (!virtual_memory || !entries || !whole || *whole < *entries + 16) return std::nullopt;
  auto users = types.offset(type, "_ref_count");
  if (!users && *whole == kSizeOf21To27) users = kRefCountOf21To27;
  if (!users) return std::nullopt;
  const auto range = z_.range(forwarding + *virtual_memory);
  const auto shift = vm().read_field<std::uint64_t>(forwarding, type, "_object_alignment_shift");
  const auto length = vm().memory().read<std::uint64_t>(forwarding + *entries);
  const auto page = vm().memory().read<Address>(forwarding + *entries + 8);  // _page follows _entries
  const auto count = vm().memory().read<std::int32_t>(forwarding + *users);
  if (!range || !shift || !length || !page || !count) return std::nullopt;
  if (*length > kMaxEntries || !std::has_single_bit(*length) || *shift > 63) return std::nullopt;
  return Forwarding{.page = *page,
                    .entries = forwarding + *whole,  // ZAttachedArray
                    .start = range->start,
                    .size = range->size,
                    .shift = *shift,
                    .length = *length,
                    .users = *count};
}

// Bit 0: populated, 1 to 45: the new offset, 46 to 63: index of the object in the page. JDK 11: 0 to 41 and 42 to 63,
// all ones for no entry.
ZForwardings::Entry ZForwardings::decode(std::uint64_t entry) const {
  if (z_.of_11()) return {entry != ~0ull, entry >> 42, entry & ((1ull << 42) - 1)};
  return {(entry & 1) != 0, entry >> 46, entry >> 1 & ((1ull << 45) - 1)};
}

std::optional<std::uint64_t> ZForwardings::look_up(const Forwarding& in, std::uint64_t offset) const {
  const std::uint64_t index = (offset - in.start) >> in.shift;
  std::uint64_t at = hash_of(static_cast<std::uint32_t>(index)) & (in.length - 1);
  for (std::uint64_t i = 0; i < in.length; ++i, at = (at + 1) & (in.length - 1)) {
    const auto word = vm().memory().read<std::uint64_t>(in.entries + at * 8);
    if (!word) return std::nullopt;
    const Entry entry = decode(*word);
    if (!entry.populated) return std::nullopt;
    if (entry.from_index == index) return entry.to;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ZForwardings::moved_to(Generation generation, std::uint64_t offset) const {
  const auto forwarding = find(generation, offset);
  return forwarding ? look_up(*forwarding, offset) : std::nullopt;
}

std::optional<std::uint64_t> ZForwardings::moved_from_page(std::uint64_t offset) const {
  const Address now = page_at(offset);
  for (const Generation generation : {Generation::kYoung, Generation::kOld}) {
    const auto forwarding = find(generation, offset);
    if (!forwarding) continue;
    if (now != 0 && now != forwarding->page) continue;  // another page with other objects has taken its place
    const auto to = look_up(*forwarding, offset);
    if (to && (now == 0 || forwarding->users != 0 || was_allocated_later(*to, now, generation))) return to;
  }
  return std::nullopt;
}

std::vector<std::uint64_t> ZForwardings::new_places(std::uint64_t offset) const {
  std::vector<std::uint64_t> places;
  for (const Generation generation : {Generation::kYoung, Generation::kOld})
    if (const auto to = moved_to(generation, offset); to && *to != offset) places.push_back(*to);
  return places;
}

Address ZForwardings::page_at(std::uint64_t offset) const { return ZVm::page_of(pages_.entry(vm(), offset)); }

// ZPage::_generation_id (JDK 21 and later) follows _type, _seqnum_other follows _seqnum. JDK 11 does not export
// _seqnum: it follows _type, _pinned and _numa_id.
std::optional<std::uint32_t> ZForwardings::cycle_of(Address page, Generation generation) const {
  const auto type = vm().types().offset(z_.type("Page"), "_type");
  auto number = vm().types().offset(z_.type("Page"), "_seqnum");
  if (type && z_.of_11()) number = *type + 4;
  if (page == 0 || !type || !number) return std::nullopt;
  const auto own =
      z_.generational() ? vm().memory().read<Generation>(page + *type + 1) : Result<Generation>(generation);
  if (!own) return std::nullopt;
  const auto cycle = vm().memory().read<std::uint32_t>(page + *number + (*own == generation ? 0 : 4));
  return cycle ? std::optional(*cycle) : std::nullopt;
}

bool ZForwardings::was_allocated_later(std::uint64_t offset, Address page, Generation generation) const {
  const auto cycle = cycle_of(page_at(offset), generation), before = cycle_of(page, generation);
  return cycle && before && *cycle > *before;
}

bool ZForwardings::any_was_allocated_later(std::span<const std::uint64_t> words, Address page,
                                           Generation generation) const {
  std::set<std::uint64_t> granules;  // few: each is searched once
  return std::any_of(words.begin(), words.end(), [&](std::uint64_t word) {
    const Entry entry = decode(word);
    return entry.populated && granules.insert(entry.to >> ZVm::kGranuleShift).second &&
           was_allocated_later(entry.to, page, generation);
  });
}

std::optional<ZForwardings::Emptied> ZForwardings::emptied(Address page, std::uint64_t offset) const {
  for (const Generation generation : {Generation::kYoung, Generation::kOld}) {
    const auto forwarding = find(generation, offset);
    if (!forwarding || forwarding->page != page) continue;
    std::vector<std::uint64_t> words(forwarding->length);
    if (!vm().memory().read_exactly(forwarding->entries, std::as_writable_bytes(std::span(words)))) continue;
    // Without users all objects were copied. The page is about to be freed, or a later page has taken its ZPage. The
    // ZGC of JDK 11 uses a page that it has freed again, with its old table, until the next cycle.
    if (forwarding->users == 0 && !any_was_allocated_later(words, page, generation)) continue;
    Emptied found;
    for (const std::uint64_t word : words) {
      const Entry entry = decode(word);
      const std::uint64_t from = forwarding->start + (entry.from_index << forwarding->shift);
      if (!entry.populated || entry.to == from) continue;
      if (entry.to - forwarding->start < forwarding->size) found.in_place = true;
      found.copied.push_back(from);
      found.copies.push_back(entry.to);
    }
    std::sort(found.copied.begin(), found.copied.end());
    return found;
  }
  return std::nullopt;
}

void ZForwardings::keep(CachedMemory& memory) const {
  if (!known()) return;
  keep_table(tables_[0], memory);
  if (tables_[1].map != tables_[0].map) keep_table(tables_[1], memory);
}

void ZForwardings::keep_table(const ZVm::GranuleTable& table, CachedMemory& memory) const {
  Address last = 0;
  table.visit(vm(), [&](Address at, std::span<const Address> entries) {
    if (std::all_of(entries.begin(), entries.end(), [](Address each) { return each == 0; })) return;
    const auto bytes = std::as_bytes(entries);
    memory.overlay(at, {bytes.begin(), bytes.end()});
    for (const Address each : entries) {
      if (each == 0 || each == last) continue;  // a page of several granules
      last = each;
      keep_forwarding(each, memory);
    }
  });
}

void ZForwardings::keep_forwarding(Address entry, CachedMemory& memory) const {
  const auto forwarding = read(entry);
  if (!forwarding) return;
  const auto copy = [&](Address start, Address end) {
    std::vector<std::byte> bytes(end - start);
    if (vm().memory().read_exactly(start, bytes)) memory.overlay(start, std::move(bytes));
  };
  const Address end = forwarding->entries + forwarding->length * 8;
  if (!z_.of_11()) return copy(entry, end);
  copy(forwarding->entries, end);
  copy(forwarding->page, forwarding->page + vm().types().offset("ZPage", "_forwarding").value_or(0) +
                             vm().types().size_of("ZForwardingTable").value_or(16));
}

}  // namespace jtrace::coreinspect
