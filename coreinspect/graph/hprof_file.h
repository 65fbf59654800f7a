// HprofFile: a heap dump in the "JAVA PROFILE 1.0.x" format of any writer, mapped and read in place.
//
// open() reads all records once, checks that each is inside the file, and keeps names, classes, roots and the positions
// of the segments with objects; objects are later read at their place. A truncated or damaged dump is read up to the
// damage, and `missing` has a line for it. No memory is allocated according to a count in the file. Layout:
// hprof_b_spec.h and heapDumper.cpp. Ownership: owns the mapping if open() made it. Threads: any number, after open().
// Errors: kMalformed if it is not such a dump; system errors.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mapping_guard.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "coreinspect/hprof/hprof_writer.h"

namespace jtrace::coreinspect {

struct HprofField {
  std::uint64_t name = 0;  // id of a text
  std::uint8_t type = 0;   // 2 for a reference, otherwise a BasicType
};
struct HprofStatic {
  HprofField field;
  std::uint64_t value = 0;
};
struct HprofClass {
  std::uint64_t id = 0, super = 0, loader = 0, signers = 0, domain = 0;
  std::vector<HprofStatic> statics;
  std::vector<HprofField> fields;  // declared by the class itself
};
struct HprofRoot {
  std::uint64_t object = 0;
  std::uint8_t kind = 0;     // the sub-record's tag
  std::uint32_t thread = 0;  // serial number, if the root belongs to a thread
};
// An instance or an array.
struct HprofObject {
  HprofSub kind = HprofSub::kInstanceDump;
  std::uint8_t type = 0;  // of the elements of a primitive array
  std::uint64_t id = 0;
  std::uint64_t type_id = 0;  // its class; 0 for a primitive array
  std::uint64_t count = 0;    // elements; bytes of the fields of an instance
  std::uint64_t body = 0;     // place of the fields or elements
  std::uint64_t end = 0;      // place of the next sub-record
};

// A record outside of the heap, or a segment of it: its head has 9 bytes before `body`.
struct HprofRecord {
  bool is_segment() const;  // of the heap
  std::uint8_t tag = 0;
  std::uint64_t place = 0, body = 0, end = 0;  // `end` is inside the file, also if the record is cut
};

class HprofFile {
 public:
  static constexpr std::string_view kMagic = "JAVA PROFILE 1.0.";
  static bool recognises(std::string_view first_bytes) { return first_bytes.starts_with(kMagic); }

  // `name` is used in messages.
  static Result<HprofFile> open(UniqueFd file, const std::string& name);
  // The same for bytes in memory, which must outlive the object.
  static Result<HprofFile> of_view(std::span<const std::byte> bytes, const std::string& name);
  HprofFile(HprofFile&& other) noexcept;
  HprofFile& operator=(HprofFile&&) = delete;
  ~HprofFile();

  std::uint64_t millis() const { return millis_; }  // time of the dump, ms since the epoch
  std::uint32_t id_size() const { return id_size_; }
  const std::vector<HprofClass>& classes() const { return classes_; }
  const std::vector<HprofRoot>& roots() const { return roots_; }
  std::string class_name(std::uint64_t id) const;  // "java.lang.String", "int[]"; "?" if it has none
  std::string text(std::uint64_t id) const;
  // The object of a thread by its serial number; 0 if unknown.
  std::uint64_t thread_object(std::uint32_t serial) const;
  std::vector<std::string> missing() const;
  // jtrace has replaced its contents by zeros (coreinspect/hprof/redaction.h).
  bool is_redacted() const { return is_redacted_; }
  // The fields that have their contents all the same, as in KeptFields::text(); "" none.
  const std::string& kept_fields() const { return kept_fields_; }

  // For those who write the dump again. Segments hold what of them could be read, in the order of their records.
  struct Segment {
    std::uint64_t start, end;
  };
  std::uint64_t size() const { return bytes_.size(); }
  std::uint64_t head_size() const { return head_size_; }
  const std::vector<Segment>& segments() const { return segments_; }
  // Calls visit(record) for all records until it returns false.
  template <class Visit>
  void each_record(Visit&& visit) const {
    HprofRecord record;
    for (std::uint64_t at = head_size_; next_record(at, record) && visit(record); at = record.end) {
    }
  }
  // The file ends in this record.
  bool is_cut(const HprofRecord& record) const {
    return record.end == bytes_.size() && number(record.place + 5, 4) > record.end - record.body;
  }
  // The length of the sub-record at `place` in bytes; 0 if there is none, or if it exceeds `end`.
  std::uint64_t sub_size(std::uint64_t place, std::uint64_t end) const;

  // The object whose sub-record is at this place.
  HprofObject object_at(std::uint64_t place) const;
  // A big-endian number of this size.
  std::uint64_t number(std::uint64_t place, std::uint32_t size) const {
    const std::byte* at = bytes_.data() + place;
    switch (size) {
      case 1: return std::to_integer<std::uint8_t>(*at);
      case 2: return __builtin_bswap16(load<std::uint16_t>(at));
      case 4: return __builtin_bswap32(load<std::uint32_t>(at));
      default: return __builtin_bswap64(load<std::uint64_t>(at));
    }
  }
  // `size` bytes of an object from `place`, both from object_at().
  std::span<const std::byte> bytes(std::uint64_t place, std::uint64_t size) const {
    return bytes_.subspan(place, size);
  }
  std::uint64_t id(std::uint64_t place) const { return number(place, id_size_); }
  // 0 if there is no such type.
  std::uint32_t field_size(std::uint8_t type) const { return type == 2 ? id_size_ : element_size(type); }
  static std::uint32_t element_size(std::uint8_t type) { return type >= 4 && type <= 11 ? hprof_size(type) : 0; }

  // Calls visit(object, place) for all instances and arrays, in the file's order.
  template <class Visit>
  void each_object(Visit&& visit) const {
    for (const Segment& segment : segments_)
      for (std::uint64_t place = segment.start; place < segment.end;) {
        const auto kind = static_cast<HprofSub>(number(place, 1));
        if (!is_object(kind)) {
          const std::uint64_t size = sub_size(place, segment.end);
          if (size == 0) break;  // the file was truncated in the meantime
          place += size;
          continue;
        }
        const HprofObject object = object_at(place);
        visit(object, place);
        place = object.end;
      }
  }

 private:
  struct Text {
    std::uint64_t place;
    std::uint32_t size;
  };
  HprofFile() = default;

  template <class T>
  static T load(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  static bool is_object(HprofSub kind) {
    return kind == HprofSub::kInstanceDump || kind == HprofSub::kObjectArrayDump ||
           kind == HprofSub::kPrimitiveArrayDump;
  }
  Result<> read(const std::string& name);
  Result<std::uint64_t> read_header(const std::string& name);
  void read_records();
  void read_record(const HprofRecord& record);
  void read_mark(std::string_view text);
  void read_segment(std::uint64_t place, std::uint64_t end);
  void read_sub(std::uint64_t place);
  void read_class(std::uint64_t place);
  bool is_past_end(std::uint64_t place) const;
  // False at the end, and where not even the head of a record is left.
  bool next_record(std::uint64_t place, HprofRecord& record) const;
  std::uint64_t class_size(std::uint64_t place, std::uint64_t end) const;

  std::span<const std::byte> bytes_;
  std::span<const std::byte> mapped_;  // the mapping, if it is owned
  MappingGuard guard_;
  std::uint64_t head_size_ = 0;
  std::uint32_t id_size_ = 8;
  std::uint64_t millis_ = 0;
  std::unordered_map<std::uint64_t, Text> texts_;
  std::unordered_map<std::uint64_t, std::uint64_t> names_;  // class id -> text id
  std::unordered_map<std::uint32_t, std::uint64_t> threads_;
  std::vector<HprofClass> classes_;
  std::vector<HprofRoot> roots_;
  std::vector<Segment> segments_;
  std::uint64_t skipped_ = 0;  // bytes of segments that could not be read
  std::uint64_t second_ = 0;   // the place of another dump
  bool is_open_ = false;       // segments were read, and not yet the record that ends them
  bool is_redacted_ = false;
  std::string kept_fields_;
  std::string cut_;  // the position at which the file ends too early
};

inline HprofObject HprofFile::object_at(std::uint64_t place) const {
  HprofObject object{.kind = static_cast<HprofSub>(number(place, 1)), .id = id(place + 1)};
  std::uint64_t at = place + 1 + id_size_ + 4;
  switch (object.kind) {
    case HprofSub::kInstanceDump:
      object.type_id = id(at);
      object.count = number(at + id_size_, 4);
      object.body = at + id_size_ + 4;
      object.end = object.body + object.count;
      break;
    case HprofSub::kObjectArrayDump:
      object.count = number(at, 4);
      object.type_id = id(at + 4);
      object.body = at + 4 + id_size_;
      object.end = object.body + object.count * id_size_;
      break;
    default:
      object.count = number(at, 4);
      object.type = static_cast<std::uint8_t>(number(at + 4, 1));
      object.body = at + 5;
      object.end = object.body + object.count * element_size(object.type);
  }
  // open() has checked it; another process may have written to the file since.
  if (object.end > bytes_.size()) {
    object.end = bytes_.size();
    object.count = 0;
  }
  return object;
}

}  // namespace jtrace::coreinspect
