#include "coreinspect/tools/direct_memory.h"

#include <initializer_list>

namespace jtrace::coreinspect {
namespace {

// The static fields of the class, by the names that they have in one JDK or another.
class Statics {
 public:
  Statics(const Inspection& inspection, Address klass, Address mirror)
      : inspection_(inspection), klass_(klass), mirror_(mirror) {}

  // The value of an AtomicLong.
  std::optional<std::int64_t> counter(std::initializer_list<const char*> names) const {
    const auto at = field(names);
    if (!at) return std::nullopt;
    const auto atomic = inspection_.objects().load(*at);
    if (!atomic || *atomic == 0) return std::nullopt;
    const auto value = inspection_.objects().value<std::int64_t>(*atomic, "value");
    return value ? std::optional(*value) : std::nullopt;
  }
  std::optional<std::int64_t> number(std::initializer_list<const char*> names) const {
    const auto at = field(names);
    const auto value = at ? inspection_.vm().memory().read<std::int64_t>(*at) : Result<std::int64_t>(0);
    return at && value ? std::optional(*value) : std::nullopt;
  }

 private:
  std::optional<Address> field(std::initializer_list<const char*> names) const {
    for (const char* name : names)
      if (const auto found = inspection_.classes().find_field(klass_, name); found && found->is_static())
        return mirror_ + found->offset;
    return std::nullopt;
  }

  const Inspection& inspection_;
  Address klass_, mirror_;
};

}  // namespace

std::optional<DirectMemory> read_direct_memory(const Inspection& inspection) {
  const auto found = inspection.classes().find("java.nio.Bits");
  if (!inspection.healthy() || !found || found->empty()) return std::nullopt;
  const auto mirror = inspection.objects().root_field(found->front(), "Klass", "_java_mirror");
  if (!mirror) return std::nullopt;
  const Statics statics(inspection, found->front(), *mirror);
  const auto reserved = statics.counter({"RESERVED_MEMORY", "reservedMemory"});
  const auto capacity = statics.counter({"TOTAL_CAPACITY", "totalCapacity"});
  const auto count = statics.counter({"COUNT", "count"});
  if (!reserved || !capacity || !count) return std::nullopt;
  return DirectMemory{*reserved, *capacity, *count, statics.number({"MAX_MEMORY", "maxMemory"})};
}

}  // namespace jtrace::coreinspect
