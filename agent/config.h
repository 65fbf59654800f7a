// Config: the decoded contents of Start (trace/record/frames.def). Filter rules decide by class name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trace/record/event_record.h"
#include "trace/record/frames.h"

namespace jtrace::agent {

namespace record = trace::record;

// A block of rules, and the bytes with their texts (base/filter_decision.h).
class FilterBlock {
 public:
  using Rules = record::frame_types::Rules;
  FilterBlock() = default;
  FilterBlock(FilterBlock&&) = default;  // no copies: their rules would point into these bytes
  FilterBlock& operator=(FilterBlock&&) = default;
  // `rules` point into `bytes`.
  FilterBlock(std::vector<std::byte> bytes, Rules rules)
      : bytes_(static_cast<std::vector<std::byte>&&>(bytes)), rules_(static_cast<Rules&&>(rules)) {}
  // Whether a class of this name (internal form) is traced: it is if a rule includes methods of it.
  bool includes_class(std::string_view name) const;
  bool includes_method(std::string_view class_name, std::string_view method_name) const;
  bool empty() const { return rules_.empty(); }

 private:
  std::vector<std::byte> bytes_;
  Rules rules_;
};

inline constexpr std::uint32_t kMaxCollectors = 8;

struct Config : record::StartFields {
  FilterBlock filters;  // of its rules

  bool wants(std::uint64_t event_bits) const { return (events & event_bits) != 0; }
  bool has_flag(std::uint32_t flag) const { return (flags & flag) != 0; }
};

// Decode the payload of a frame. False if it is malformed, or has more or other collectors than there can be.
bool decode_counters(std::span<const std::byte> payload, record::CountersFields& counters);
bool decode_filters(std::vector<std::byte> payload, FilterBlock& filters);
bool decode_config(std::vector<std::byte> payload, Config& config);

}  // namespace jtrace::agent
