#include "coreinspect/graph/hprof_file.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/size_text.h"
#include "base/strings.h"
#include "coreinspect/hprof/redaction.h"
#include "coreinspect/oops/class_model.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kRecordHead = 9;  // tag, time, length
constexpr std::uint8_t kOldHeapDump = 0x0c;
constexpr auto kSegment = static_cast<std::uint8_t>(HprofTag::kHeapDumpSegment);
constexpr std::uint8_t kRootNativeStack = 0x04, kRootThreadBlock = 0x06;

// True for a record with objects: those of jhsdb have another tag than HotSpot's.
bool is_segment(std::uint8_t tag) { return tag == kOldHeapDump || tag == kSegment; }

// What files begin with that are mistaken for heap dumps.
constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
    {"\177ELF", "an ELF file: a core or a program"},
    {"PK\3\4", "a zip archive: unpack it"},
    {std::string_view("\0\22portable heap", 15), "a portable heap dump of OpenJ9 (PHD)"},
};

Result<> check_kind(std::span<const std::byte> bytes, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(bytes.size(), 19));
  const auto refuse = [&](const std::string& why) {
    return fail(Error{.category = ErrorCategory::kMalformed, .text = why, .path = name});
  };
  if (text.empty()) return refuse("the file is empty");
  for (const auto& [begin, kind] : kOthers)
    if (text.starts_with(begin)) return refuse("no heap dump: it is " + std::string(kind));
  if (!HprofFile::recognises(text)) return refuse("no heap dump: it does not begin with \"JAVA PROFILE\"");
  if (text.starts_with("JAVA PROFILE 1.0.3")) return refuse("a heap dump of Android (1.0.3), which has other records");
  return {};
}

}  // namespace

bool HprofRecord::is_segment() const { return coreinspect::is_segment(tag); }

Result<HprofFile> HprofFile::open(UniqueFd file, const std::string& name) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return fail(system_error("cannot look at the heap dump", name));
  HprofFile dump;
  if (const auto size = static_cast<std::size_t>(status.st_size); size > 0) {
    void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (mapped == MAP_FAILED) return fail(system_error("cannot map the heap dump", name));
    dump.bytes_ = dump.mapped_ = {static_cast<const std::byte*>(mapped), size};
    dump.guard_ = MappingGuard(dump.bytes_);
  }
  JTRACE_RETURN_IF_ERROR(dump.read(name));
  return dump;
}

Result<HprofFile> HprofFile::of_view(std::span<const std::byte> bytes, const std::string& name) {
  HprofFile dump;
  dump.bytes_ = bytes;
  JTRACE_RETURN_IF_ERROR(dump.read(name));
  return dump;
}

Result<> HprofFile::read(const std::string& name) {
  JTRACE_ASSIGN_OR_RETURN(head_size_, read_header(name));
  read_records();
  return {};
}

HprofFile::HprofFile(HprofFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})),
      mapped_(std::exchange(other.mapped_, {})),
      guard_(std::move(other.guard_)),
      head_size_(other.head_size_),
      id_size_(other.id_size_),
      millis_(other.millis_),
      texts_(std::move(other.texts_)),
      names_(std::move(other.names_)),
      threads_(std::move(other.threads_)),
      classes_(std::move(other.classes_)),
      roots_(std::move(other.roots_)),
      segments_(std::move(other.segments_)),
      skipped_(other.skipped_),
      second_(other.second_),
      is_open_(other.is_open_),
      is_redacted_(other.is_redacted_),
      kept_fields_(std::move(other.kept_fields_)),
      cut_(std::move(other.cut_)) {}

HprofFile::~HprofFile() {
  guard_ = MappingGuard();
  if (!mapped_.empty()) ::munmap(const_cast<std::byte*>(mapped_.data()), mapped_.size());
}

// The format's name, a 0, the size of ids, the time.
Result<std::uint64_t> HprofFile::read_header(const std::string& name) {
  JTRACE_RETURN_IF_ERROR(check_kind(bytes_, name));
  const auto zero =
      std::find(bytes_.begin(), bytes_.begin() + std::min<std::ptrdiff_t>(32, std::ssize(bytes_)), std::byte{0});
  const auto place = static_cast<std::uint64_t>(zero - bytes_.begin()) + 1;
  if (place + 12 > bytes_.size())
    return fail(Error{.category = ErrorCategory::kMalformed, .text = "the heap dump ends in its header", .path = name});
  id_size_ = static_cast<std::uint32_t>(number(place, 4));
  if (id_size_ != 4 && id_size_ != 8)
    return fail(Error{.category = ErrorCategory::kMalformed,
                      .text = "a heap dump with ids of " + std::to_string(id_size_) + " bytes: 4 or 8 are known",
                      .path = name});
  millis_ = number(place + 4, 8);
  return place + 12;
}

// There is no record 0, and another dump may follow.
bool HprofFile::is_past_end(std::uint64_t place) const {
  const auto rest = bytes_.subspan(place);
  if (rest.size() >= kMagic.size() && std::memcmp(rest.data(), kMagic.data(), kMagic.size()) == 0) return true;
  return rest.front() == std::byte{0};
}

bool HprofFile::next_record(std::uint64_t place, HprofRecord& record) const {
  if (place + kRecordHead > bytes_.size() || is_past_end(place)) return false;
  record = {.tag = static_cast<std::uint8_t>(number(place, 1)), .place = place, .body = place + kRecordHead};
  const std::uint64_t length = number(place + 5, 4), left = bytes_.size() - record.body;
  // One record of a whole heap may be longer than its length can say: to the end then.
  const bool is_whole = record.tag == kOldHeapDump && (length == 0 || (left > 0xffff'ffffull && length < left));
  record.end = record.body + (is_whole ? left : std::min(length, left));
  return true;
}

void HprofFile::read_records() {
  HprofRecord record;
  std::uint64_t end = head_size_;
  for (; next_record(end, record); end = record.end) {
    read_record(record);
    is_open_ = record.tag == kSegment || (is_open_ && record.tag != static_cast<std::uint8_t>(HprofTag::kHeapDumpEnd));
  }
  if (end == bytes_.size()) return;
  const auto rest = bytes_.subspan(end);
  const bool is_zeros = std::all_of(rest.begin(), rest.end(), [](std::byte each) { return each == std::byte{0}; });
  if (is_zeros) return;
  if (rest.front() == std::byte{0}) cut_ = "what follows byte " + std::to_string(end) + " is no record";
  else if (is_past_end(end)) second_ = end;
  else cut_ = "it ends at byte " + std::to_string(bytes_.size()) + ", inside the head of a record";
}

void HprofFile::read_record(const HprofRecord& record) {
  const std::uint64_t body = record.body, length = record.end - body, stated = number(record.place + 5, 4);
  if (is_cut(record)) {
    cut_ = "a record at byte " + std::to_string(record.place) + " has " + std::to_string(stated) +
           " bytes, the file has " + std::to_string(length) + " more";
    if (!is_segment(record.tag)) return;
  }
  if (is_segment(record.tag)) return read_segment(body, record.end);
  switch (static_cast<HprofTag>(record.tag)) {
    case HprofTag::kUtf8:
      if (length < id_size_) break;
      texts_[id(body)] = {body + id_size_, static_cast<std::uint32_t>(length - id_size_)};
      read_mark({reinterpret_cast<const char*>(bytes_.data() + body + id_size_), length - id_size_});
      break;
    case HprofTag::kLoadClass:
      if (length >= 8 + 2ull * id_size_) names_[id(body + 4)] = id(body + 8 + id_size_);
      break;
    default: break;
  }
}

void HprofFile::read_mark(std::string_view text) {
  if (!text.starts_with(kRedactedMark)) return;
  text.remove_prefix(kRedactedMark.size());
  if (!text.empty() && !text.starts_with(kKeptMark)) return;
  is_redacted_ = true;
  if (!text.empty()) kept_fields_ = text.substr(kKeptMark.size());
}

void HprofFile::read_segment(std::uint64_t place, std::uint64_t end) {
  const std::uint64_t start = place;
  while (place < end) {
    const std::uint64_t size = sub_size(place, end);
    if (size == 0) break;
    read_sub(place);
    place += size;
  }
  if (place > start) segments_.push_back({start, place});
  skipped_ += end - place;
}

std::uint64_t HprofFile::sub_size(std::uint64_t place, std::uint64_t end) const {
  const std::uint64_t left = end - place, id = id_size_;
  const auto fits = [&](std::uint64_t size) { return size <= left ? size : 0; };
  const auto array = [&](std::uint64_t head, std::uint64_t count_at, std::uint64_t element) {
    return head > left ? 0 : fits(head + number(place + count_at, 4) * element);
  };
  const auto tag = static_cast<std::uint8_t>(number(place, 1));
  switch (tag) {
    case kRootNativeStack:
    case kRootThreadBlock: return fits(1 + id + 4);
    default: break;
  }
  switch (static_cast<HprofSub>(tag)) {
    case HprofSub::kRootUnknown:
    case HprofSub::kRootStickyClass:
    case HprofSub::kRootMonitorUsed: return fits(1 + id);
    case HprofSub::kRootJniGlobal: return fits(1 + 2 * id);
    case HprofSub::kRootJniLocal:
    case HprofSub::kRootJavaFrame:
    case HprofSub::kRootThreadObject: return fits(1 + id + 8);
    case HprofSub::kClassDump: return class_size(place, end);
    case HprofSub::kInstanceDump: return array(1 + 2 * id + 8, 1 + id + 4 + id, 1);
    case HprofSub::kObjectArrayDump: return array(1 + 2 * id + 8, 1 + id + 4, id);
    case HprofSub::kPrimitiveArrayDump: {
      const std::uint64_t head = 1 + id + 9;
      const std::uint32_t size = head > left ? 0 : element_size(static_cast<std::uint8_t>(number(place + head - 1, 1)));
      return size == 0 ? 0 : array(head, 1 + id + 4, size);
    }
  }
  return 0;
}

// Class, stack, super, loader, signers, domain, two ids, size; then the constant pool, statics and fields.
std::uint64_t HprofFile::class_size(std::uint64_t place, std::uint64_t end) const {
  std::uint64_t at = place + 1 + 7ull * id_size_ + 8;
  const auto skip = [&](bool named, bool with_value) {
    if (at + 2 > end) return false;
    const std::uint64_t count = number(at, 2);
    at += 2;
    for (std::uint64_t i = 0; i < count; ++i) {
      at += named ? id_size_ : 2;
      if (at + 1 > end) return false;
      const std::uint32_t size = field_size(static_cast<std::uint8_t>(number(at, 1)));
      if (size == 0) return false;
      at += 1 + (with_value ? size : 0);
    }
    return at <= end;
  };
  return skip(false, true) && skip(true, true) && skip(true, false) ? at - place : 0;
}

void HprofFile::read_sub(std::uint64_t place) {
  const auto tag = static_cast<std::uint8_t>(number(place, 1));
  if (is_object(static_cast<HprofSub>(tag))) return;
  if (tag == static_cast<std::uint8_t>(HprofSub::kClassDump)) return read_class(place);
  HprofRoot root{.object = id(place + 1), .kind = tag};
  switch (tag) {
    case kRootNativeStack:
    case kRootThreadBlock:
    case static_cast<std::uint8_t>(HprofSub::kRootJniLocal):
    case static_cast<std::uint8_t>(HprofSub::kRootJavaFrame):
    case static_cast<std::uint8_t>(HprofSub::kRootThreadObject):
      root.thread = static_cast<std::uint32_t>(number(place + 1 + id_size_, 4));
      break;
    default: break;
  }
  if (tag == static_cast<std::uint8_t>(HprofSub::kRootThreadObject)) threads_.emplace(root.thread, root.object);
  roots_.push_back(root);
}

void HprofFile::read_class(std::uint64_t place) {
  HprofClass read;
  const std::uint64_t ids = place + 1 + id_size_ + 4;
  read.id = id(place + 1);
  read.super = id(ids);
  read.loader = id(ids + id_size_);
  read.signers = id(ids + 2ull * id_size_);
  read.domain = id(ids + 3ull * id_size_);
  std::uint64_t at = place + 1 + 7ull * id_size_ + 8;
  const auto take_value = [&](std::uint8_t type) {
    const std::uint64_t value = number(at, field_size(type));
    at += field_size(type);
    return value;
  };
  const auto take = [&](std::uint32_t size) {
    const std::uint64_t value = number(at, size);
    at += size;
    return value;
  };
  for (std::uint64_t count = take(2); count > 0; --count) {
    take(2);
    take_value(static_cast<std::uint8_t>(take(1)));
  }
  for (std::uint64_t count = take(2); count > 0; --count) {
    HprofField field{.name = take(id_size_)};
    field.type = static_cast<std::uint8_t>(take(1));
    read.statics.push_back({field, take_value(field.type)});
  }
  for (std::uint64_t count = take(2); count > 0; --count) {
    HprofField field{.name = take(id_size_)};
    field.type = static_cast<std::uint8_t>(take(1));
    read.fields.push_back(field);
  }
  classes_.push_back(std::move(read));
}

std::string HprofFile::text(std::uint64_t id) const {
  const auto found = texts_.find(id);
  if (found == texts_.end()) return "?";
  return utf8_from_modified({reinterpret_cast<const char*>(bytes_.data()) + found->second.place, found->second.size});
}

std::string HprofFile::class_name(std::uint64_t id) const {
  const auto found = names_.find(id);
  return found == names_.end() ? "?" : java_class_name(text(found->second));
}

std::uint64_t HprofFile::thread_object(std::uint32_t serial) const {
  const auto found = threads_.find(serial);
  return found == threads_.end() ? 0 : found->second;
}

std::vector<std::string> HprofFile::missing() const {
  std::vector<std::string> lines;
  if (!cut_.empty()) lines.push_back("the heap dump is cut, so objects and roots are missing: " + cut_);
  // A writer that was killed leaves whole segments, or room for more of them.
  if (is_open_ && cut_.empty())
    lines.push_back("the heap dump may be cut, so that objects are missing: the record that ends it is not there");
  if (skipped_ > 0) lines.push_back(size_text(skipped_) + " of the heap dump could not be read");
  if (second_ > 0)
    lines.push_back("another heap dump begins at byte " + std::to_string(second_) + " of the file: it is left out");
  if (guard_.was_cut()) lines.push_back("the heap dump was cut while it was read");
  return lines;
}

}  // namespace jtrace::coreinspect
