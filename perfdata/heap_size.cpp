#include "perfdata/heap_size.h"

#include <algorithm>
#include <string_view>

namespace jtrace::perfdata {
namespace {

// SpaceAlignment of Serial (Generation::GenGrain): the smallest size of a survivor space.
constexpr std::int64_t kSerialGrain = 64 << 10;

std::string young(std::string_view what) { return "sun.gc.generation.0." + std::string(what); }
std::string old(std::string_view what) { return "sun.gc.generation.1." + std::string(what); }

std::int64_t bytes(const Snapshot& snapshot, const std::string& name) { return snapshot.long_value(name).value_or(0); }

std::string_view policy(const Snapshot& snapshot) { return snapshot.text_value("sun.gc.policy.name").value_or(""); }
bool is_g1(const Snapshot& snapshot) { return policy(snapshot) == "GarbageFirst"; }

// The young generation has three spaces, the old one has one: their maximum sizes differ by two paddings.
std::int64_t g1_padding(const Snapshot& snapshot) {
  return std::max<std::int64_t>(0, (bytes(snapshot, young("maxCapacity")) - bytes(snapshot, old("maxCapacity"))) / 2);
}

std::int64_t g1_max(const Snapshot& snapshot) { return bytes(snapshot, old("maxCapacity")) - g1_padding(snapshot); }

std::int64_t serial_max(const Snapshot& snapshot) {
  const std::int64_t young_max = bytes(snapshot, young("maxCapacity"));
  const bool eden_takes_all = bytes(snapshot, young("space.0.maxCapacity")) == young_max;
  const std::int64_t empty = eden_takes_all ? kSerialGrain : bytes(snapshot, young("space.1.maxCapacity"));
  return young_max - empty + bytes(snapshot, old("maxCapacity"));
}

std::int64_t parallel_max(const Snapshot& snapshot) {
  const std::int64_t young_max = bytes(snapshot, young("maxCapacity"));
  const std::int64_t survivor_max = bytes(snapshot, young("space.1.maxCapacity"));
  const std::int64_t old_max = bytes(snapshot, old("maxCapacity"));
  // -XX:-UseAdaptiveSizePolicy: the sizes of the spaces are fixed, and "to" is its current size.
  const bool fixed = bytes(snapshot, young("space.0.maxCapacity")) == young_max - 2 * survivor_max;
  const std::int64_t empty = fixed ? bytes(snapshot, young("space.2.capacity")) : survivor_max;
  const std::int64_t has = bytes(snapshot, young("space.0.capacity")) + bytes(snapshot, young("space.1.capacity")) +
                           bytes(snapshot, old("capacity"));
  return std::max(young_max - empty + old_max, has);
}

// For a collector without a policy name: the larger generation is the heap (Z, Shenandoah, Epsilon).
std::int64_t single_max(const Snapshot& snapshot) {
  return std::max(bytes(snapshot, young("maxCapacity")), bytes(snapshot, old("maxCapacity")));
}

std::int64_t max_of(const Snapshot& snapshot) {
  const std::string_view name = policy(snapshot);
  if (is_g1(snapshot)) return g1_max(snapshot);
  if (name == "ParScav:MSC") return parallel_max(snapshot);
  return name.empty() ? single_max(snapshot) : serial_max(snapshot);  // Copy:MSC, ParNew:CMS
}

}  // namespace

std::optional<double> space_capacity(const Snapshot& snapshot, const std::string& name) {
  const auto value = snapshot.long_value(name);
  if (!value) return std::nullopt;
  const std::int64_t padding = is_g1(snapshot) ? g1_padding(snapshot) : 0;
  return static_cast<double>(std::max<std::int64_t>(0, *value - padding));
}

std::optional<double> heap_max(const Snapshot& snapshot) {
  const std::int64_t most = max_of(snapshot);
  return most > 0 ? std::optional<double>(static_cast<double>(most)) : std::nullopt;
}

}  // namespace jtrace::perfdata
