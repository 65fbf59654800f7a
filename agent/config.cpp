#include "agent/config.h"

#include <utility>

#include "base/filter_decision.h"

namespace jtrace::agent {
namespace {

constexpr std::uint32_t kMaxCounters = 64;

const std::uint64_t* read_address(ByteReader& reader) {
  return reinterpret_cast<const std::uint64_t*>(reader.read<std::uint64_t>());
}

bool decode_list(ByteReader& reader, std::vector<const std::uint64_t*>& counters) {
  const auto count = reader.read<std::uint32_t>();
  if (count > kMaxCounters) return false;
  for (std::uint32_t i = 0; i < count; ++i) counters.push_back(read_address(reader));
  return !reader.failed();
}

bool decode_spaces(ByteReader& reader, std::vector<CauseCounters::Space>& spaces) {
  const auto count = reader.read<std::uint32_t>();
  if (count > kMaxCounters) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t* const bottom = read_address(reader);
    spaces.push_back({bottom, read_address(reader)});
  }
  return !reader.failed();
}

bool decode_causes(ByteReader& reader, CauseCounters& causes) {
  causes.cause = reinterpret_cast<const char*>(reader.read<std::uint64_t>());
  causes.last_cause = reinterpret_cast<const char*>(reader.read<std::uint64_t>());
  causes.uncounted = reader.read<std::uint32_t>();
  causes.used_before = reader.read<std::uint8_t>() != 0;
  if (!decode_spaces(reader, causes.spaces)) return false;
  const auto count = reader.read<std::uint32_t>();
  if (count > kMaxCollectors) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto kind = reader.read<std::uint32_t>();
    if (kind >= record::kCollectionKinds) return false;
    CauseCounters::Collector collector{bit_of(static_cast<record::CollectionKind>(kind)), nullptr, nullptr, nullptr};
    for (const std::uint64_t** counter : {&collector.invocations, &collector.last_entry, &collector.last_exit})
      *counter = read_address(reader);
    causes.collectors.push_back(collector);
  }
  return !reader.failed();
}

bool decode(ByteReader& reader, JvmCounters& counters) {
  return decode_list(reader, counters.used) && decode_list(reader, counters.committed) &&
         decode_causes(reader, counters.causes);
}

}  // namespace

bool decode_counters(std::span<const std::byte> payload, JvmCounters& counters) {
  ByteReader reader(payload);
  return decode(reader, counters);
}

bool FilterBlock::decode(std::vector<std::byte> bytes) {
  bytes_ = std::move(bytes);
  rules_.clear();
  ByteReader reader(bytes_);
  const auto count = reader.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    FilterRule rule{};
    rule.include = reader.read<std::uint8_t>() != 0;
    rule.class_pattern = reader.read_text(reader.read<std::uint32_t>());
    rule.method_pattern = reader.read_text(reader.read<std::uint32_t>());
    rules_.push_back(rule);
  }
  return !reader.failed();
}

bool FilterBlock::includes_class(std::string_view name) const { return jtrace::includes_class(rules_, name); }

bool FilterBlock::includes_method(std::string_view class_name, std::string_view method_name) const {
  return jtrace::includes_method(rules_, class_name, method_name);
}

bool decode_config(std::span<const std::byte> payload, Config& config) {
  ByteReader reader(payload);
  config.events = reader.read<std::uint64_t>();
  config.flags = reader.read<std::uint32_t>();
#define START_VALUE(type, Name, member, ...) config.member = reader.read<type>();
#include "trace/record/start_options.def"
  if (!decode(reader, config.counters)) return false;
  const auto rest = reader.read_bytes(reader.remaining());
  return config.filters.decode(std::vector<std::byte>(rest.begin(), rest.end()));
}

}  // namespace jtrace::agent
