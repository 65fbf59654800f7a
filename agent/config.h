// Config: the decoded contents of Start (trace/record/control.h). Filter rules decide by class name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "trace/record/control.h"
#include "trace/record/event_record.h"

namespace jtrace::agent {

namespace record = trace::record;

// One rule; the texts point into the decoded bytes.
struct FilterRule {
  bool include;
  std::string_view class_pattern;   // internal form, "java/util/*"
  std::string_view method_pattern;  // "*": every method
};

// A block of rules, and the bytes with their texts (base/filter_decision.h).
class FilterBlock {
 public:
  FilterBlock() = default;
  // `bytes`: u32 count and the rules. False if they are malformed.
  bool decode(std::vector<std::byte> bytes);
  // Whether a class of this name (internal form) is traced: it is if a rule includes methods of it.
  bool includes_class(std::string_view name) const;
  bool includes_method(std::string_view class_name, std::string_view method_name) const;
  bool empty() const { return rules_.empty(); }

 private:
  std::vector<std::byte> bytes_;
  std::vector<FilterRule> rules_;
};

inline constexpr std::uint32_t kMaxCollectors = 8;

// Where the JVM's counters say what a collection is for. Null, empty: they do not.
struct CauseCounters {
  struct Collector {
    std::uint32_t kind;  // bit_of() its CollectionKind
    const std::uint64_t* invocations;
    const std::uint64_t* last_entry;
    const std::uint64_t* last_exit;
  };
  const char* cause = nullptr;
  const char* last_cause = nullptr;
  std::uint32_t uncounted = 0;  // kinds of a collection that no counter counts
  bool used_before = false;     // the used counters are right when a pause begins
  // If they are not: spaces by the JVM's own variables; the sum of their used bytes is right then.
  struct Space {
    const std::uint64_t* bottom;  // null: `top` is a number of bytes
    const std::uint64_t* top;
  };
  std::vector<Space> spaces;
  std::vector<Collector> collectors;
};

// What jtrace knows of the JVM's counters (hsperfdata).
struct JvmCounters {
  std::vector<const std::uint64_t*> used;       // bytes of the heap: their sum
  std::vector<const std::uint64_t*> committed;  // the same
  CauseCounters causes;
};

struct Config {
  std::uint64_t events = 0;  // EventBit
  std::uint32_t flags = 0;   // ConfigFlag
#define START_VALUE(type, Name, member, ...) type member = 0;
#include "trace/record/start_options.def"
  JvmCounters counters;
  FilterBlock filters;

  bool wants(std::uint64_t event_bits) const { return (events & event_bits) != 0; }
  bool has_flag(std::uint32_t flag) const { return (flags & flag) != 0; }
};

// Decodes the payload of Counters. False if it is malformed.
bool decode_counters(std::span<const std::byte> payload, JvmCounters& counters);
// Decodes the payload of Start after the version. False if it is malformed.
bool decode_config(std::span<const std::byte> payload, Config& config);

}  // namespace jtrace::agent
