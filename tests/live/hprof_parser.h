// HprofFile: a heap dump, parsed independently of jtrace's code: classes, objects, roots.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace jtrace::test {

struct HprofClass {
  std::string name;  // "java/lang/String"
  std::uint64_t super = 0, loader = 0;
  std::uint32_t instance_bytes = 0;
  std::vector<std::pair<std::string, std::uint8_t>> fields;  // its own
  std::map<std::string, std::uint64_t> statics;              // raw values
};

struct HprofObject {
  std::uint64_t type = 0;    // class; 4 to 11 for arrays of primitives
  std::uint32_t length = 0;  // elements of an array, bytes of an instance
  std::string_view content;
  std::uint8_t kind = 0;  // 0x21, 0x22, 0x23
};

class HprofFile {
 public:
  // Errors: kMalformed with the offset if the file does not follow the format.
  static Result<HprofFile> parse(std::string bytes);

  const std::map<std::uint64_t, HprofClass>& classes() const { return classes_; }
  const std::map<std::uint64_t, HprofObject>& objects() const { return objects_; }
  // Class name (arrays of primitives: "[I") -> number of objects.
  std::map<std::string, std::uint64_t> counts() const;
  // Root objects of a kind, each with the thread's object if the root belongs to a thread, otherwise 0.
  using Roots = std::multiset<std::pair<std::uint64_t, std::uint64_t>>;
  const Roots& roots(std::uint8_t kind) const;
  std::uint64_t class_of(const std::string& name) const;  // 0 if there is none
  // "declaring class.field" -> raw value of an instance.
  std::map<std::string, std::uint64_t> values(const HprofObject& instance) const;
  // References in instances and arrays that lead to no object and no class of the dump.
  std::uint64_t dangling() const;
  // Methods of the stack of the thread with that object, innermost first.
  std::vector<std::string> stack_of(std::uint64_t thread) const;
  bool has_end() const { return end_; }
  std::size_t segments() const { return segments_; }

 private:
  class Reader;
  std::uint64_t dangling_fields(const HprofObject& instance) const;
  bool leads_nowhere(std::uint64_t reference) const;
  std::string bytes_;
  std::map<std::uint64_t, std::string> texts_;
  std::map<std::uint32_t, std::uint64_t> class_of_serial_;
  std::map<std::uint64_t, HprofClass> classes_;
  std::map<std::uint64_t, HprofObject> objects_;
  std::map<std::uint8_t, Roots> roots_;
  std::map<std::uint64_t, std::string> frames_;
  std::map<std::uint32_t, std::vector<std::uint64_t>> traces_;
  std::map<std::uint64_t, std::uint32_t> trace_of_thread_;
  bool end_ = false;
  std::size_t segments_ = 0;
};

}  // namespace jtrace::test
