#include "agent/config.h"

#include "base/filter_decision.h"

namespace jtrace::agent {
namespace {

template <class Fields>
bool decode(std::span<const std::byte> payload, Fields& fields) {
  ByteReader reader(payload);
  read_fields(reader, fields);
  return !reader.failed();
}

bool are_possible(const record::CountersFields& counters) {
  if (counters.collectors.size() > kMaxCollectors) return false;
  for (const record::CollectorItem& each : counters.collectors)
    if (each.kind >= record::kCollectionKinds) return false;
  return true;
}

}  // namespace

bool decode_counters(std::span<const std::byte> payload, record::CountersFields& counters) {
  return decode(payload, counters) && are_possible(counters);
}

bool decode_filters(std::vector<std::byte> payload, FilterBlock& filters) {
  record::FiltersFields fields;
  if (!decode(payload, fields)) return false;
  filters =
      FilterBlock(static_cast<std::vector<std::byte>&&>(payload), static_cast<FilterBlock::Rules&&>(fields.rules));
  return true;
}

bool FilterBlock::includes_class(std::string_view name) const { return jtrace::includes_class(rules_, name); }

bool FilterBlock::includes_method(std::string_view class_name, std::string_view method_name) const {
  return jtrace::includes_method(rules_, class_name, method_name);
}

bool decode_config(std::vector<std::byte> payload, Config& config) {
  record::StartFields& start = config;
  if (!decode(payload, start) || !are_possible(config.counters)) return false;
  config.filters =
      FilterBlock(static_cast<std::vector<std::byte>&&>(payload), static_cast<FilterBlock::Rules&&>(config.rules));
  return true;
}

}  // namespace jtrace::agent
