#include "coreinspect/tools/heap_referrers.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <tuple>

#include "coreinspect/hprof/hprof_writer.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kWant = 64u << 10;
constexpr std::size_t kMaxFound = 1u << 20;

class ReferrerSearch {
 public:
  // `wanted`: sorted; it is borrowed.
  ReferrerSearch(const HeapAccess& access, const ReferenceMap& map, const std::vector<Address>& wanted)
      : access_(&access), map_(&map), wanted_(&wanted), source_(std::make_unique<HeapSource>(access.memory())) {
    narrow_ = access.inspection().objects().reference_size() == 4;
  }
  void begin(const HeapRegion&) {}
  void end() {}
  void operator()(const HeapObject& object) {
    const KlassInfo& info = *object.klass;
    if (object.address == wanted_->front()) met_wanted_ = true;
    if (info.kind == KlassInfo::Kind::kObjectArray) return search_array(object);
    if (info.is_array()) return;
    if (info.kind == KlassInfo::Kind::kMirror) return search_words(object);
    if (info.index >= map_->size()) return;
    for (const std::uint32_t offset : (*map_)[info.index])
      if (const Address to = offset + step() <= object.available ? wanted_at(object.bytes + offset) : 0; to != 0)
        add({to, object.address, &info, offset, 0});
  }
  const std::vector<Referrer>& found() const { return found_; }
  bool met_wanted() const { return met_wanted_; }

 private:
  std::size_t step() const { return narrow_ ? 4 : 8; }
  // The wanted object to which this refers; 0: none of them.
  Address wanted_at(const std::byte* at) const {
    const ObjectModel& objects = access_->inspection().objects();
    Address place = 0;
    if (narrow_) {
      std::uint32_t narrow = 0;
      std::memcpy(&narrow, at, sizeof narrow);
      if (narrow != 0) place = access_->place_of(objects.from_narrow(narrow));
    } else {
      std::uint64_t raw = 0;
      std::memcpy(&raw, at, sizeof raw);
      if (raw != 0) place = access_->place_of(objects.from_root(raw));
    }
    if (wanted_->size() == 1) return place == wanted_->front() ? place : 0;
    return std::binary_search(wanted_->begin(), wanted_->end(), place) ? place : 0;
  }
  // Which words of a mirror are references depends on the class that it represents: looked up for the few that match.
  void search_words(const HeapObject& object) {
    for (std::size_t at = 8; at + step() <= object.available; at += step())
      if (const Address to = wanted_at(object.bytes + at); to != 0)
        add({to, object.address, object.klass, static_cast<std::uint32_t>(at), 0});
  }
  void search_array(const HeapObject& object) {
    const KlassInfo& info = *object.klass;
    const std::uint64_t count = object.length;
    if (info.base + count * step() <= object.available) {
      for (std::uint64_t i = 0; i < count; ++i)
        if (const Address to = wanted_at(object.bytes + info.base + i * step()); to != 0)
          add({to, object.address, &info, 0, i});
      return;
    }
    Address at = object.address + info.base;
    const Address end = at + count * step();
    for (std::uint64_t i = 0; at < end;) {
      const auto part = source_->window(at, end, HeapSource::kPiece);
      const std::size_t whole = part.size() / step();
      if (whole == 0) break;
      for (std::size_t k = 0; k < whole; ++k, ++i)
        if (const Address to = wanted_at(part.data() + k * step()); to != 0) add({to, object.address, &info, 0, i});
      at += whole * step();
    }
  }
  void add(const Referrer& referrer) {
    if (found_.size() < kMaxFound) found_.push_back(referrer);
  }

  const HeapAccess* access_;
  const ReferenceMap* map_;
  const std::vector<Address>* wanted_;
  std::unique_ptr<HeapSource> source_;
  bool narrow_ = true, met_wanted_ = false;
  std::vector<Referrer> found_;
};

}  // namespace

bool is_reference(const JavaField& field) {
  return hprof_type(field.signature.empty() ? 'V' : field.signature.front()) == 2;
}

ReferenceMap reference_map(const HeapAccess& access) {
  const ClassModel& model = access.inspection().classes();
  ReferenceMap map(access.klasses().size());
  for (std::uint32_t i = 0; i < map.size(); ++i) {
    const KlassInfo& info = access.klasses().at(i);
    if (info.is_array() || info.kind == KlassInfo::Kind::kMirror) continue;
    Address klass = info.klass;
    for (int depth = 0; klass != 0 && depth < 1000; ++depth) {
      const auto fields = model.fields(klass);
      for (const JavaField& field : fields ? **fields : std::vector<JavaField>())
        if (!field.is_static() && is_reference(field)) map[i].push_back(static_cast<std::uint32_t>(field.offset));
      klass = model.super(klass).value_or(0);
    }
  }
  return map;
}

Result<Walked> search_for(HeapAccess& access, const ReferenceMap& map, const std::vector<Address>& wanted,
                          const HeapOptions& options) {
  std::vector<ReferrerSearch> searches;
  for (unsigned i = 0; i < threads_of(options); ++i) searches.emplace_back(access, map, wanted);
  JTRACE_ASSIGN_OR_RETURN(const WalkTotals totals, walk_regions(access, searches, kWant, options.progress));
  Walked walked{.found = {}, .totals = totals};
  for (const ReferrerSearch& search : searches) {
    walked.found.insert(walked.found.end(), search.found().begin(), search.found().end());
    walked.met_first = walked.met_first || search.met_wanted();
  }
  std::sort(walked.found.begin(), walked.found.end(), [](const Referrer& a, const Referrer& b) {
    return std::tie(a.object, a.offset, a.element) < std::tie(b.object, b.offset, b.element);
  });
  return walked;
}

}  // namespace jtrace::coreinspect
