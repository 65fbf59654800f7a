// Builds small heap dumps for tests.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "coreinspect/hprof/hprof_writer.h"
#include "tests/testlib/must.h"
#include "trace/byte_sink.h"

namespace jtrace::coreinspect {

// What only some classes of a dump have.
struct ClassMore {
  std::uint64_t loader = 0;
  std::vector<std::pair<std::string, std::uint64_t>> statics = {};  // references
  std::vector<std::string> ints = {};                               // names of fields, after those of references
};

class HprofBuilder {
 public:
  HprofBuilder() : writer_(sink_) { (void)writer_.header(1); }

  void add_class(std::uint64_t id, std::string_view name, std::uint64_t super,
                 const std::vector<std::string>& references, const ClassMore& more = {}) {
    HprofBuffer load;
    load.u4(1);
    load.id(id);
    load.u4(1);
    load.id(writer_.text(name));
    (void)writer_.record(HprofTag::kLoadClass, load.text());
    segment_.sub(HprofSub::kClassDump);
    segment_.id(id);
    segment_.u4(1);
    segment_.id(super);
    segment_.id(more.loader);
    for (int i = 0; i < 4; ++i) segment_.id(0);  // signers, domain, two that are reserved
    segment_.u4(static_cast<std::uint32_t>(8 * references.size() + 4 * more.ints.size()));
    segment_.u2(0);
    segment_.u2(static_cast<std::uint16_t>(more.statics.size()));
    for (const auto& [field, value] : more.statics) {
      segment_.id(writer_.text(field));
      segment_.u1(2);
      segment_.id(value);
    }
    segment_.u2(static_cast<std::uint16_t>(references.size() + more.ints.size()));
    for (const std::string& each : references) add_field(each, 2);
    for (const std::string& each : more.ints) add_field(each, 10);
  }
  // Its values in the order of its fields: those of the superclass last, but all references before all numbers.
  void add_instance(std::uint64_t id, std::uint64_t type, const std::vector<std::uint64_t>& references,
                    const std::vector<std::uint32_t>& ints = {}) {
    segment_.sub(HprofSub::kInstanceDump);
    segment_.id(id);
    segment_.u4(1);
    segment_.id(type);
    segment_.u4(static_cast<std::uint32_t>(8 * references.size() + 4 * ints.size()));
    for (const std::uint64_t each : references) segment_.id(each);
    for (const std::uint32_t each : ints) segment_.u4(each);
  }
  void add_array(std::uint64_t id, std::uint64_t type, const std::vector<std::uint64_t>& elements) {
    segment_.sub(HprofSub::kObjectArrayDump);
    segment_.id(id);
    segment_.u4(1);
    segment_.u4(static_cast<std::uint32_t>(elements.size()));
    segment_.id(type);
    for (const std::uint64_t each : elements) segment_.id(each);
  }
  void add_text(std::uint64_t id, std::string_view bytes) {
    segment_.sub(HprofSub::kPrimitiveArrayDump);
    segment_.id(id);
    segment_.u4(1);
    segment_.u4(static_cast<std::uint32_t>(bytes.size()));
    segment_.u1(8);
    for (const char each : bytes) segment_.u1(static_cast<std::uint8_t>(each));
  }
  void add_bytes(std::uint64_t id, std::uint32_t count) {
    segment_.sub(HprofSub::kPrimitiveArrayDump);
    segment_.id(id);
    segment_.u4(1);
    segment_.u4(count);
    segment_.u1(8);
    for (std::uint32_t i = 0; i < count; ++i) segment_.u1(0);
  }
  void add_root(std::uint64_t id) {
    segment_.sub(HprofSub::kRootUnknown);
    segment_.id(id);
  }
  // The thread itself, with this serial number, and an object that one of its frames holds.
  void add_thread(std::uint64_t id, std::uint32_t serial) {
    segment_.sub(HprofSub::kRootThreadObject);
    segment_.id(id);
    segment_.u4(serial);
    segment_.u4(0);
  }
  void add_local(std::uint64_t id, std::uint32_t serial) {
    segment_.sub(HprofSub::kRootJavaFrame);
    segment_.id(id);
    segment_.u4(serial);
    segment_.u4(0);
  }
  void add_locked(std::uint64_t id) {
    segment_.sub(HprofSub::kRootMonitorUsed);
    segment_.id(id);
  }
  HprofBuffer& segment() { return segment_; }
  std::uint64_t text(std::string_view text) { return writer_.text(text); }
  void record(HprofTag tag, const HprofBuffer& body) { (void)writer_.record(tag, body.text()); }
  void end_segment() {
    (void)writer_.write_segment(segment_);
    segment_.clear();
  }
  std::string dump() {
    end_segment();
    (void)writer_.end();
    (void)sink_.flush();
    return std::string(sink_.text());
  }

 private:
  void add_field(const std::string& name, std::uint8_t type) {
    segment_.id(writer_.text(name));
    segment_.u1(type);
  }
  trace::MemorySink sink_;
  HprofWriter writer_;
  HprofBuffer segment_;
};

inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace jtrace::coreinspect
