#include "coreinspect/gc/klass_table.h"

#include <algorithm>

namespace jtrace::coreinspect {
namespace {

constexpr int kMaxDepth = 1000;
// Klass::_lh_* (klass.hpp).
constexpr std::uint32_t kSlowPathBit = 1;
constexpr std::uint32_t kArrayTagPrimitive = 3, kArrayTagObject = 2;
constexpr std::int32_t kMaxInstance = 1 << 24;

bool is_class_name(const std::string& name) {
  return !name.empty() && std::none_of(name.begin(), name.end(),
                                       [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; });
}

}  // namespace

KlassTable::KlassTable(const ObjectModel& objects) : objects_(objects), classes_(objects.classes()) {
  if (const auto all = classes_.all()) listed_.insert(all->begin(), all->end());
  if (const auto offset = classes_.vm().read_static<std::int32_t>("java_lang_Class", "_oop_size_offset");
      offset && *offset > 0)
    mirror_size_offset_ = static_cast<std::uint32_t>(*offset);
}

const KlassInfo* KlassTable::find(Address klass) {
  const std::lock_guard guard(mutex_);
  const auto known = by_address_.find(klass);
  if (known != by_address_.end()) return known->second;
  return by_address_[klass] = make(klass);
}

// A class has text as its name, and its chain of superclasses ends at java.lang.Object, which has no superclass.
bool KlassTable::is_plausible(Address klass) const {
  const auto name = classes_.internal_name(klass);
  if (!name || !is_class_name(*name)) return false;
  Address at = klass;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    const auto up = classes_.super(at);
    if (!up) return false;
    if (*up == 0) break;
    at = *up;
  }
  const auto top = classes_.internal_name(at);
  return top && *top == "java/lang/Object";
}

const KlassInfo* KlassTable::make(Address klass) {
  if (klass == 0 || klass % 8 != 0) return nullptr;
  if (!listed_.contains(klass) && !is_plausible(klass)) return nullptr;
  const auto helper = classes_.layout_helper(klass);
  const auto name = classes_.internal_name(klass);
  if (!helper || !name || *helper == 0) return nullptr;
  KlassInfo info{.klass = klass, .index = static_cast<std::uint32_t>(infos_.size())};
  const auto bits = static_cast<std::uint32_t>(*helper);
  if (*helper < 0) {
    const std::uint32_t tag = bits >> 30;
    info.kind = tag == kArrayTagPrimitive ? KlassInfo::Kind::kPrimitiveArray : KlassInfo::Kind::kObjectArray;
    if (tag != kArrayTagPrimitive && tag != kArrayTagObject) return nullptr;
    info.base = bits >> 16 & 0xff;
    info.element_type = static_cast<std::uint8_t>(bits >> 8 & 0xff);
    info.log2_element = static_cast<std::uint8_t>(bits & 0x3f);
    if (info.base < 12 || info.log2_element > 3) return nullptr;
  } else {
    if (*helper < 8 || *helper > kMaxInstance) return nullptr;
    info.base = bits & ~7u;
  }
  describe(*name, *helper, info);
  return &infos_.emplace_back(info);
}

void KlassTable::describe(const std::string& name, std::int32_t helper, KlassInfo& info) {
  info.filler = name == "[Ljdk/internal/vm/FillerElement;" || name == "jdk/internal/vm/FillerObject";
  if (helper < 0 || (static_cast<std::uint32_t>(helper) & kSlowPathBit) == 0) return;
  if (name == "java/lang/Class") info.kind = KlassInfo::Kind::kMirror;
  if (name == "jdk/internal/vm/StackChunk") {
    info.kind = KlassInfo::Kind::kStackChunk;
    if (const auto size = classes_.find_field(info.klass, "size"))
      chunk_size_offset_ = static_cast<std::uint32_t>(size->offset);
  }
}

}  // namespace jtrace::coreinspect
