#include "coreinspect/oops/z_forwarding.h"

#include <algorithm>
#include <bit>

namespace jtrace::coreinspect {
namespace {

constexpr int kGranuleShift = 21;                // ZGranuleSizeShift
constexpr std::uint64_t kMaxEntries = 1u << 21;  // twice the smallest objects of a medium page
constexpr std::size_t kGranulesAtATime = 4096;
constexpr std::uint64_t kGranulesOf11 = 1u << 21;  // ZPageTable of 11 covers 4 TB
// ZObjectAlignmentSmallShift, -MediumShift, -LargeShift of 11, by ZPage::_type.
constexpr std::array<std::uint64_t, 3> kShiftsOf11 = {3, 12, 21};
constexpr std::uint64_t kMaxHeapObject = 262144;  // bytes of a ZHeap, which are searched
constexpr std::uint64_t kSizeOf21To27 = 184;      // of a ZForwarding, whose _ref_count 27 does not export any more
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

ZForwardings::ZForwardings(const Vm& vm) : vm_(&vm) {
  if (vm.collector() != "Z") return;
  if (vm.types().has("XGlobalsForVMStructs", "_instance_p") && !vm.flag_is_true("ZGenerational")) letter_ = "X";
  const auto collected_heap = vm.read_static<Address>("Universe", "_collectedHeap");
  const auto inner = vm.types().offset(letter_ + "CollectedHeap", "_heap");
  auto page_table = vm.types().offset(letter_ + "Heap", "_page_table");
  of_11_ = vm.types().has("ZPage", "_forwarding") && vm.types().has("ZForwardingTable", "_table");
  if (of_11_) page_table = vm.types().offset("ZHeap", "_pagetable");
  if (!collected_heap || *collected_heap == 0 || !inner || !page_table) return;
  const Address heap = *collected_heap + *inner;
  if (of_11_)
    pages_ = {vm.read_pointer(heap + *page_table, "ZAddressRangeMapForPageTable", "_map").value_or(0), kGranulesOf11};
  if (!vm.types().has(letter_ + "GranuleMapForForwarding", "_map")) return;
  pages_ = table_at(heap + *page_table);
  if (const auto table = vm.types().offset(letter_ + "Heap", "_forwarding_table"))
    tables_[0] = tables_[1] = table_at(heap + *table);
  else find_generations(heap, heap + *page_table);
}

// ZGranuleMap: its size, then the map; ZPageTable and ZForwardingTable have nothing else.
ZForwardings::Table ZForwardings::table_at(Address forwarding_table) const {
  const auto count = vm_->memory().read<std::uint64_t>(forwarding_table);
  const auto map = vm_->read_pointer(forwarding_table, letter_ + "GranuleMapForForwarding", "_map");
  return count && map ? Table{*map, *count} : Table{};
}

// ZGeneration begins with its number, the page allocator, the page table and its ZForwardingTable, whose map is as
// large as the page table's.
void ZForwardings::find_generations(Address heap, Address page_table) {
  const auto size = vm_->types().size_of("ZHeap");
  const auto allocator = vm_->types().offset("ZHeap", "_page_allocator");
  if (!size || *size > kMaxHeapObject || !allocator) return;
  std::vector<Address> words(*size / 8);
  if (!vm_->memory().read_exactly(heap, std::as_writable_bytes(std::span(words)))) return;
  for (std::size_t i = 0; i + 4 < words.size(); ++i) {
    const std::uint64_t id = words[i] & 0xff;
    if (words[i + 1] != heap + *allocator || words[i + 2] != page_table || id > 1) continue;
    if (words[i + 3] != 0 && words[i + 3] <= pages_.count && words[i + 4] % 8 == 0)
      tables_[id] = {words[i + 4], words[i + 3]};
  }
}

std::optional<ZForwardings::Forwarding> ZForwardings::find(Generation generation, std::uint64_t offset) const {
  if (of_11_) return find_of_11(offset);
  const Table& table = tables_[static_cast<std::size_t>(generation)];
  const std::uint64_t granule = offset >> kGranuleShift;
  if (table.map == 0 || granule >= table.count) return std::nullopt;
  const auto at = vm_->memory().read<Address>(table.map + granule * 8);
  if (!at || *at == 0) return std::nullopt;
  const auto forwarding = read(*at);
  if (!forwarding || offset - forwarding->start >= forwarding->size) return std::nullopt;
  return forwarding;
}

// ZPageTableEntry has the address of the page, and in bit 0 whether it is being or was emptied.
std::optional<ZForwardings::Forwarding> ZForwardings::find_of_11(std::uint64_t offset) const {
  const Address entry = page_at(offset), page = entry & ~Address{1};
  const auto& types = vm_->types();
  const auto own = types.offset("ZPage", "_forwarding"), table = types.offset("ZForwardingTable", "_table"),
             memory = types.offset("ZPage", "_virtual");
  if ((entry & 1) == 0 || page == 0 || !own || !table || !memory) return std::nullopt;
  const auto type = vm_->read_field<std::uint8_t>(page, "ZPage", "_type");
  const auto start = vm_->read_field<std::uint64_t>(page + *memory, "ZVirtualMemory", "_start");
  const auto end = vm_->read_field<std::uint64_t>(page + *memory, "ZVirtualMemory", "_end");
  const auto entries = vm_->memory().read<Address>(page + *own + *table);
  const auto length = vm_->read_field<std::uint64_t>(page + *own, "ZForwardingTable", "_size");
  if (!type || *type >= kShiftsOf11.size() || !start || !end || !entries || *entries == 0 || !length)
    return std::nullopt;
  if (*length > kMaxEntries || !std::has_single_bit(*length) || offset - *start >= *end - *start) return std::nullopt;
  return Forwarding{.page = page,
                    .entries = *entries,
                    .start = *start,
                    .size = *end - *start,
                    .shift = kShiftsOf11[*type],
                    .length = *length,
                    .users = 1};
}

std::optional<ZForwardings::Forwarding> ZForwardings::read(Address forwarding) const {
  const std::string type = letter_ + "Forwarding", memory = letter_ + "VirtualMemory";
  const auto& types = vm_->types();
  const auto virtual_memory = types.offset(type, "_virtual"), entries = types.offset(type, "_entries");
  const auto whole = types.size_of(type);
  if (!virtual_memory || !entries || !whole || *whole < *entries + 16) return std::nullopt;
  auto users = types.offset(type, "_ref_count");
  if (!users && *whole == kSizeOf21To27) users = kRefCountOf21To27;
  if (!users) return std::nullopt;
  Forwarding found;
  const auto start = vm_->read_field<std::uint64_t>(forwarding + *virtual_memory, memory, "_start");
  const bool has_end = types.has(memory, "_end");
  const auto end = vm_->read_field<std::uint64_t>(forwarding + *virtual_memory, memory, has_end ? "_end" : "_size");
  const auto shift = vm_->read_field<std::uint64_t>(forwarding, type, "_object_alignment_shift");
  const auto length = vm_->memory().read<std::uint64_t>(forwarding + *entries);
  const auto page = vm_->memory().read<Address>(forwarding + *entries + 8);  // _page comes after _entries
  const auto count = vm_->memory().read<std::int32_t>(forwarding + *users);
  if (!start || !end || !shift || !length || !page || !count) return std::nullopt;
  if (*length > kMaxEntries || !std::has_single_bit(*length) || *shift > 63) return std::nullopt;
  found.page = *page;
  found.entries = forwarding + *whole;  // ZAttachedArray
  found.start = *start;
  found.size = has_end ? *end - *start : *end;
  found.shift = *shift;
  found.length = *length;
  found.users = *count;
  return found;
}

// Bit 0: populated, 1 to 45: offset moved to, 46 to 63: which object of the page. Of 11: 0 to 41 and 42 to 63, all ones
// where there is none.
ZForwardings::Entry ZForwardings::decode(std::uint64_t entry) const {
  if (of_11_) return {entry != ~0ull, entry >> 42, entry & ((1ull << 42) - 1)};
  return {(entry & 1) != 0, entry >> 46, entry >> 1 & ((1ull << 45) - 1)};
}

std::optional<std::uint64_t> ZForwardings::look_up(const Forwarding& in, std::uint64_t offset) const {
  const std::uint64_t index = (offset - in.start) >> in.shift;
  std::uint64_t at = hash_of(static_cast<std::uint32_t>(index)) & (in.length - 1);
  for (std::uint64_t i = 0; i < in.length; ++i, at = (at + 1) & (in.length - 1)) {
    const auto word = vm_->memory().read<std::uint64_t>(in.entries + at * 8);
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

Address ZForwardings::page_at(std::uint64_t offset) const {
  const std::uint64_t granule = offset >> kGranuleShift;
  if (pages_.map == 0 || granule >= pages_.count) return 0;
  return vm_->memory().read<Address>(pages_.map + granule * 8).value_or(0);
}

std::optional<std::uint64_t> ZForwardings::moved_from_page(std::uint64_t offset) const {
  const Address now = page_at(offset);
  for (const Generation generation : {Generation::kYoung, Generation::kOld}) {
    const auto forwarding = find(generation, offset);
    if (!forwarding) continue;
    const bool leaving = now == 0 || (now == forwarding->page && forwarding->users != 0);
    if (!leaving) continue;  // another page has come there: the address is one of its objects
    if (const auto to = look_up(*forwarding, offset)) return to;
  }
  return std::nullopt;
}

std::optional<ZForwardings::Emptied> ZForwardings::emptied(Address page, std::uint64_t offset) const {
  if (of_11_) return std::nullopt;
  for (const Generation generation : {Generation::kYoung, Generation::kOld}) {
    const auto forwarding = find(generation, offset);
    if (!forwarding || forwarding->page != page || forwarding->users == 0) continue;
    std::vector<std::uint64_t> words(forwarding->length);
    if (!vm_->memory().read_exactly(forwarding->entries, std::as_writable_bytes(std::span(words)))) continue;
    Emptied found;
    for (const std::uint64_t word : words) {
      const Entry entry = decode(word);
      const std::uint64_t from = forwarding->start + (entry.from_index << forwarding->shift);
      if (!entry.populated || entry.to == from) continue;
      if (entry.to - forwarding->start < forwarding->size) found.in_place = true;
      found.copied.push_back(from);
    }
    std::sort(found.copied.begin(), found.copied.end());
    return found;
  }
  return std::nullopt;
}

void ZForwardings::keep(CachedMemory& memory) const {
  if (of_11_ || !known()) return;
  keep_table(tables_[0], memory);
  if (tables_[1].map != tables_[0].map) keep_table(tables_[1], memory);
}

void ZForwardings::keep_table(const Table& table, CachedMemory& memory) const {
  const std::uint64_t whole = vm_->types().size_of(letter_ + "Forwarding").value_or(0);
  const auto copy = [&](Address start, std::uint64_t size) {
    std::vector<std::byte> bytes(size);
    if (vm_->memory().read_exactly(start, bytes)) memory.overlay(start, std::move(bytes));
  };
  std::vector<Address> part(kGranulesAtATime);
  Address last = 0;
  for (std::uint64_t done = 0; done < table.count; done += part.size()) {
    const std::span<Address> wanted(part.data(), std::min<std::uint64_t>(part.size(), table.count - done));
    if (!vm_->memory().read_exactly(table.map + done * 8, std::as_writable_bytes(wanted))) continue;
    if (std::all_of(wanted.begin(), wanted.end(), [](Address each) { return each == 0; })) continue;
    const auto bytes = std::as_bytes(wanted);
    memory.overlay(table.map + done * 8, {bytes.begin(), bytes.end()});
    for (const Address each : wanted) {
      if (each == 0 || each == last) continue;  // a page of several granules
      last = each;
      if (const auto forwarding = read(each)) copy(each, whole + forwarding->length * 8);
    }
  }
}

}  // namespace jtrace::coreinspect
