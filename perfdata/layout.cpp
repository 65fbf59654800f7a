#include "perfdata/layout.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unordered_set>

#include "base/bytes.h"
#include "base/strings.h"

namespace jtrace::perfdata {
namespace {

template <class T>
T load(const std::byte* from, std::endian order) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return order == std::endian::native ? value : byte_swapped(value);
}

auto malformed(std::string text) { return fail(ErrorCategory::kMalformed, std::move(text)); }

std::string text_of(std::string_view what, std::int64_t number) { return std::string(what) + std::to_string(number); }

}  // namespace

std::string_view units_name(std::uint8_t units) {
  static constexpr std::string_view kNames[] = {"None", "Bytes", "Ticks", "Events", "String", "Hertz"};
  return units >= 1 && units <= std::size(kNames) ? kNames[units - 1] : "Unknown";
}

std::string_view variability_name(std::uint8_t variability) {
  static constexpr std::string_view kNames[] = {"Constant", "Monotonic", "Variable"};
  return variability >= 1 && variability <= std::size(kNames) ? kNames[variability - 1] : "Unknown";
}

Result<Prologue> parse_prologue(std::span<const std::byte> bytes) {
  if (bytes.size() < kPrologueSize)
    return malformed("truncated: " + std::to_string(bytes.size()) + " bytes, the prologue needs " +
                     std::to_string(kPrologueSize));
  const auto magic = load<std::uint32_t>(bytes.data(), std::endian::big);
  if (magic != kMagic) {
    char digits[16];
    std::snprintf(digits, sizeof digits, "%08x", magic);
    return malformed(std::string("not hsperfdata (magic ") + digits + (magic == 0 ? "), or still being created" : ")"));
  }
  const auto byte_at = [&](std::size_t offset) { return std::to_integer<std::uint8_t>(bytes[offset]); };
  Prologue prologue;
  const std::uint8_t order = byte_at(kByteOrderOffset);
  if (order > 1) return malformed(text_of("corrupt prologue: byte order ", order));
  prologue.byte_order = order == 1 ? std::endian::little : std::endian::big;
  prologue.major = byte_at(kMajorOffset);
  prologue.minor = byte_at(kMinorOffset);
  if (prologue.major != 2)
    return malformed("format " + std::to_string(prologue.major) + "." + std::to_string(prologue.minor) +
                     " is not supported (only 2.x is)");
  prologue.accessible = byte_at(kAccessibleOffset) != 0;
  const auto word = [&](std::size_t offset) { return load<std::int32_t>(bytes.data() + offset, prologue.byte_order); };
  const std::int32_t used = word(kUsedOffset);
  const std::int32_t entry_offset = word(kEntryOffsetOffset);
  const std::int32_t entry_count = word(kEntryCountOffset);
  if (used < static_cast<std::int32_t>(kPrologueSize) || static_cast<std::size_t>(used) > kMaxRegionSize)
    return malformed(text_of("corrupt prologue: used ", used));
  if (entry_offset < static_cast<std::int32_t>(kPrologueSize) || entry_offset % 4 != 0 || entry_offset > used)
    return malformed(text_of("corrupt prologue: entry offset ", entry_offset));
  if (entry_count < 0) return malformed(text_of("corrupt prologue: number of entries ", entry_count));
  prologue.used = static_cast<std::uint32_t>(used);
  prologue.overflow = static_cast<std::uint32_t>(word(kOverflowOffset));
  prologue.modification_ns = load<std::int64_t>(bytes.data() + kModificationOffset, prologue.byte_order);
  prologue.entry_offset = static_cast<std::uint32_t>(entry_offset);
  prologue.entry_count = static_cast<std::uint32_t>(entry_count);
  return prologue;
}

class LayoutParser {
 public:
  LayoutParser(std::span<const std::byte> bytes, const ParseOptions& options) : bytes_(bytes), options_(options) {}

  Result<Layout> parse() {
    JTRACE_ASSIGN_OR_RETURN(layout_.prologue_, parse_prologue(bytes_));
    const Prologue& prologue = layout_.prologue_;
    end_ = std::min<std::size_t>(prologue.used, bytes_.size());
    if (prologue.used > bytes_.size() && !options_.partial) {
      // Reported together with the entry at which the walk ends: first walk the intact part.
      walk();
      return malformed("truncated at entry " + std::to_string(index_) + " of " + std::to_string(prologue.entry_count) +
                       ": has " + std::to_string(bytes_.size()) + " of " + std::to_string(prologue.used) + " bytes");
    }
    walk();
    keep_names();
    if (!corrupt_.empty()) {
      if (!options_.partial) return malformed(corrupt_);
      layout_.incomplete_ = corrupt_;
    } else if (end_ < prologue.used) {
      layout_.incomplete_ =
          "truncated at entry " + std::to_string(index_) + " of " + std::to_string(prologue.entry_count);
    }
    return std::move(layout_);
  }

 private:
  void walk() {
    const Prologue& prologue = layout_.prologue_;
    const std::size_t possible = (end_ - std::min<std::size_t>(end_, prologue.entry_offset)) / kEntryHeaderSize;
    layout_.counters_.reserve(std::min<std::size_t>(prologue.entry_count, possible));
    std::size_t offset = prologue.entry_offset;
    for (; index_ < prologue.entry_count; ++index_) {
      if (offset == prologue.used) {  // declared but missing
        layout_.warnings_.push_back(counted(index_, "entry", "entries") + " found, " +
                                    std::to_string(prologue.entry_count) + " declared");
        return;
      }
      const std::size_t length = read_entry(offset);
      if (length == 0) return;
      offset += length;
    }
  }

  // Length of the entry at `offset`, or 0 if the walk ends (corrupt_ or incomplete_ has the reason).
  std::size_t read_entry(std::size_t offset) {
    const std::size_t room = end_ - std::min(end_, offset);
    if (room < kEntryHeaderSize) return bad(offset, "header does not fit into ", static_cast<std::int64_t>(room));
    const std::byte* entry = bytes_.data() + offset;
    const std::endian order = layout_.prologue_.byte_order;
    const auto word = [&](std::size_t at) { return load<std::int32_t>(entry + at, order); };
    const std::int32_t length = word(0), name_offset = word(4), vector_length = word(8), data_offset = word(16);
    // PerfMemory::alloc raises num_entries before PerfData::create_entry fills the header in.
    if (length == 0 || data_offset == 0) {
      layout_.incomplete_ = "stops at entry " + std::to_string(index_) + " of " +
                            std::to_string(layout_.prologue_.entry_count) + " declared: not filled in yet";
      return 0;
    }
    const auto size = static_cast<std::size_t>(length);
    if (length < static_cast<std::int32_t>(kEntryHeaderSize) || size > room) return bad(offset, "length ", length);
    if (name_offset < static_cast<std::int32_t>(kEntryHeaderSize) || name_offset >= length)
      return bad(offset, "name offset ", name_offset);
    if (vector_length < 0 || vector_length > length) return bad(offset, "vector length ", vector_length);
    const auto* name = reinterpret_cast<const char*>(entry) + name_offset;
    const void* nul = std::memchr(name, 0, size - static_cast<std::size_t>(name_offset));
    if (nul == nullptr) return bad(offset, "name without an end at offset ", name_offset);
    if (data_offset < 0 || data_offset >= length) return bad(offset, "data beyond its length, at ", data_offset);

    Counter counter;
    counter.type = static_cast<char>(entry[12]);
    counter.flags = std::to_integer<std::uint8_t>(entry[13]);
    counter.units = std::to_integer<std::uint8_t>(entry[14]);
    counter.variability = std::to_integer<std::uint8_t>(entry[15]);
    counter.entry_offset = static_cast<std::uint32_t>(offset);
    counter.entry_length = static_cast<std::uint32_t>(length);
    counter.vector_length = static_cast<std::uint32_t>(vector_length);
    counter.value_offset = static_cast<std::uint32_t>(offset) + static_cast<std::uint32_t>(data_offset);
    counter.name = {name, static_cast<std::size_t>(static_cast<const char*>(nul) - name)};
    const auto data_room = static_cast<std::uint32_t>(length - data_offset);
    if (!set_kind(counter, data_room)) return bad(offset, "data beyond its length, at ", data_offset);
    layout_.counters_.push_back(counter);
    return size;
  }

  bool set_kind(Counter& counter, std::uint32_t data_room) {
    const bool text = counter.units == static_cast<std::uint8_t>(Units::kString);
    if (counter.type == 'J' && counter.vector_length == 0) {
      counter.kind = ValueKind::kLong;
      counter.value_size = 8;
    } else if (counter.type == 'B' && counter.vector_length > 0) {
      counter.kind = text ? ValueKind::kText : ValueKind::kRaw;
      counter.value_size = counter.vector_length;
    } else {
      counter.kind = ValueKind::kRaw;
      counter.value_size = data_room;
    }
    if (counter.value_size > data_room) return false;
    const bool known = counter.kind != ValueKind::kRaw && counter.units >= 1 && counter.units <= 6 &&
                       counter.variability >= 1 && counter.variability <= 3;
    if (!known) warn_unknown(counter);
    return true;
  }

  void warn_unknown(const Counter& counter) {
    constexpr std::size_t kMaxWarnings = 16;  // a hostile file may hold a million of them
    if (layout_.warnings_.size() >= kMaxWarnings) return;
    layout_.warnings_.push_back(
        "entry " + std::to_string(index_) + " at offset " + std::to_string(counter.entry_offset) + ": type " +
        std::to_string(static_cast<unsigned char>(counter.type)) + ", units " + std::to_string(counter.units) +
        ", variability " + std::to_string(counter.variability) + " are not HotSpot's");
  }

  std::size_t bad(std::size_t offset, std::string_view what, std::int64_t number) {
    corrupt_ = "corrupt entry " + std::to_string(index_) + " at offset " + std::to_string(offset) + ": " +
               text_of(what, number);
    return 0;
  }

  // During the walk the names are views into the region's bytes, which belong to the caller.
  void keep_names() {
    std::size_t size = 0;
    for (const Counter& counter : layout_.counters_) size += counter.name.size();
    layout_.names_ = std::make_unique<char[]>(size);
    char* at = layout_.names_.get();
    for (Counter& counter : layout_.counters_) {
      std::memcpy(at, counter.name.data(), counter.name.size());
      counter.name = {at, counter.name.size()};
      at += counter.name.size();
    }
  }

  std::span<const std::byte> bytes_;
  ParseOptions options_;
  Layout layout_;
  std::size_t end_ = 0;
  std::uint32_t index_ = 0;
  std::string corrupt_;
};

Result<Layout> Layout::parse(std::span<const std::byte> bytes, const ParseOptions& options) {
  return LayoutParser(bytes, options).parse();
}

bool Layout::describes(std::span<const std::byte> bytes) const {
  const auto prologue = parse_prologue(bytes);
  if (!complete() || !warnings_.empty() || !prologue || !same_entries(*prologue, prologue_)) return false;
  return prologue->used <= bytes.size() && std::all_of(counters_.begin(), counters_.end(), [&](const Counter& counter) {
           const std::byte* entry = bytes.data() + counter.entry_offset;
           const auto word = [&](std::size_t at) { return load<std::uint32_t>(entry + at, prologue_.byte_order); };
           const std::uint8_t kinds[] = {static_cast<std::uint8_t>(counter.type), counter.flags, counter.units,
                                         counter.variability};
           const std::uint32_t name_offset = word(4);
           return word(0) == counter.entry_length && word(8) == counter.vector_length &&
                  word(16) == counter.value_offset - counter.entry_offset &&
                  std::memcmp(entry + 12, kinds, sizeof kinds) == 0 && name_offset < counter.entry_length &&
                  counter.name.size() < counter.entry_length - name_offset &&
                  std::memcmp(entry + name_offset, counter.name.data(), counter.name.size()) == 0 &&
                  entry[name_offset + counter.name.size()] == std::byte{0};
         });
}

const Counter* Layout::find(std::string_view name) const {
  for (auto counter = counters_.rbegin(); counter != counters_.rend(); ++counter)
    if (counter->name == name) return &*counter;
  return nullptr;
}

std::vector<std::string_view> duplicate_names(const Layout& layout) {
  std::unordered_set<std::string_view> seen;
  std::vector<std::string_view> twice;
  for (const Counter& counter : layout.counters())
    if (!seen.insert(counter.name).second) twice.push_back(counter.name);
  std::sort(twice.begin(), twice.end());
  twice.erase(std::unique(twice.begin(), twice.end()), twice.end());
  return twice;
}

}  // namespace jtrace::perfdata
