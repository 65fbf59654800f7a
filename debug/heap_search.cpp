#include "debug/heap_search.h"

#include <algorithm>
#include <unordered_map>

#include "coreinspect/gc/parallel_walk.h"

namespace jtrace::debug {
namespace {

using namespace coreinspect;

constexpr unsigned kThreads = 4;
constexpr std::size_t kMostFound = 1u << 20;
constexpr std::size_t kWant = 64u << 10;  // bytes of each object; the rest of larger arrays is read by itself

// With ZGC a reference is decoded by what is read of the VM, which is for one thread.
unsigned threads_to_use(const World& world) {
  if (world.inspection().vm().collector() == "Z") return 1;
  return std::clamp(std::thread::hardware_concurrency(), 1u, kThreads);
}

class InstanceVisitor {
 public:
  InstanceVisitor(const std::unordered_map<Address, std::size_t>& wanted, bool keep) : wanted_(&wanted), keep_(keep) {
    counts_.resize(wanted.size());
  }
  void begin(const HeapRegion&) {}
  void end() {}
  void operator()(const HeapObject& object) {
    if (object.klass != last_) {
      last_ = object.klass;
      const auto known = wanted_->find(object.klass->klass);
      place_ = known == wanted_->end() ? wanted_->size() : known->second;
    }
    if (place_ == wanted_->size()) return;
    ++counts_[place_];
    if (keep_ && found_.size() < kMostFound) found_.push_back(object.address);
  }
  const std::vector<std::uint64_t>& counts() const { return counts_; }
  const std::vector<Address>& found() const { return found_; }

 private:
  const std::unordered_map<Address, std::size_t>* wanted_;
  const KlassInfo* last_ = nullptr;
  std::size_t place_ = 0;
  bool keep_;
  std::vector<std::uint64_t> counts_;
  std::vector<Address> found_;
};

// Objects in which some word could be the reference: whether it is one, is looked at afterwards, for the few.
class WordVisitor {
 public:
  WordVisitor(const HeapAccess& access, Address wanted)
      : access_(&access), wanted_(wanted), narrow_(access.inspection().objects().reference_size() == 4) {}
  void begin(const HeapRegion&) {}
  void end() {}
  void operator()(const HeapObject& object) {
    const KlassInfo& info = *object.klass;
    if (info.is_array() && info.kind != KlassInfo::Kind::kObjectArray) return;
    if (has_word(object.bytes, object.available) || (object.available < object.size && has_word_beyond(object)))
      if (found_.size() < kMostFound) found_.push_back(object.address);
  }
  const std::vector<Address>& found() const { return found_; }

 private:
  std::size_t step() const { return narrow_ ? 4 : 8; }
  bool has_word(const std::byte* bytes, std::size_t size) const {
    const ObjectModel& objects = access_->inspection().objects();
    for (std::size_t at = 8; at + step() <= size; at += step()) {
      std::uint64_t raw = 0;
      std::memcpy(&raw, bytes + at, step());
      if (raw == 0) continue;
      const Address to = narrow_ ? objects.from_narrow(static_cast<std::uint32_t>(raw)) : objects.from_root(raw);
      if (to == wanted_ || access_->place_of(to) == wanted_) return true;
    }
    return false;
  }
  bool has_word_beyond(const HeapObject& object) const {
    HeapSource source(access_->memory());
    for (Address at = object.address + object.available; at < object.address + object.size;) {
      const auto part = source.window(at, object.address + object.size, HeapSource::kPiece);
      if (part.size() < step()) return false;
      const std::size_t whole = part.size() / step() * step();
      // has_word() leaves out a header of 8 bytes: the window is given with the 8 bytes before it.
      std::vector<std::byte> padded(whole + 8);
      std::memcpy(padded.data() + 8, part.data(), whole);
      if (has_word(padded.data(), padded.size())) return true;
      at += whole;
    }
    return false;
  }

  const HeapAccess* access_;
  Address wanted_;
  bool narrow_;
  std::vector<Address> found_;
};

Progress until_gone(const Gone& gone) {
  return [gone](std::uint64_t, std::uint64_t) { return !gone || !gone(); };
}

template <class Visitor>
std::vector<Address> joined_finds(const std::vector<Visitor>& visitors) {
  std::vector<Address> found;
  for (const Visitor& visitor : visitors) found.insert(found.end(), visitor.found().begin(), visitor.found().end());
  std::sort(found.begin(), found.end());
  return found;
}

// Of the words of an object that are references.
bool refers(World& world, Address from, Address to) {
  const auto& objects = world.inspection().objects();
  const LoadedClass* type = world.type_of(from);
  if (type == nullptr) return false;
  if (type->is_array()) return true;  // an array of references has nothing else
  const auto holds = [&](Address klass, Address base, bool statics) {
    const auto fields = world.inspection().classes().fields(klass);
    for (const JavaField& field : fields ? **fields : std::vector<JavaField>())
      if (field.is_static() == statics && (field.signature.starts_with('L') || field.signature.starts_with('[')))
        if (objects.load(base + field.offset).value_or(0) == to) return true;
    return false;
  };
  if (type->tag == Tag::kClassObject) {
    const Address of = objects.klass_of_mirror(from).value_or(0);
    if (of != 0 && world.inspection().classes().is_instance_class(of) && holds(of, from, true)) return true;
  }
  Address klass = type->klass;
  for (int depth = 0; klass != 0 && depth < 1000; ++depth) {
    if (holds(klass, from, false)) return true;
    klass = world.inspection().classes().super(klass).value_or(0);
  }
  return false;
}

}  // namespace

Result<std::vector<std::uint64_t>> count_instances(World& world, const std::vector<Address>& klasses,
                                                   const Gone& gone) {
  JTRACE_ASSIGN_OR_RETURN(HeapAccess* const heap, world.heap());
  std::unordered_map<Address, std::size_t> wanted;
  for (const Address klass : klasses) wanted.try_emplace(klass, wanted.size());
  std::vector<InstanceVisitor> visitors(threads_to_use(world), InstanceVisitor(wanted, false));
  JTRACE_ASSIGN_OR_RETURN(const WalkTotals walked, walk_regions(*heap, visitors, 32, until_gone(gone)));
  world.note_walk(walked);
  std::vector<std::uint64_t> counts;
  for (const Address klass : klasses) {
    counts.push_back(0);
    for (const InstanceVisitor& visitor : visitors) counts.back() += visitor.counts()[wanted.at(klass)];
  }
  return counts;
}

Result<std::vector<Address>> find_instances(World& world, Address klass, std::size_t most, const Gone& gone) {
  JTRACE_ASSIGN_OR_RETURN(HeapAccess* const heap, world.heap());
  const std::unordered_map<Address, std::size_t> wanted{{klass, 0}};
  std::vector<InstanceVisitor> visitors(threads_to_use(world), InstanceVisitor(wanted, true));
  JTRACE_ASSIGN_OR_RETURN(const WalkTotals walked, walk_regions(*heap, visitors, 32, until_gone(gone)));
  world.note_walk(walked);
  std::vector<Address> found = joined_finds(visitors);
  if (most > 0 && found.size() > most) found.resize(most);
  return found;
}

Result<std::vector<Address>> find_referrers(World& world, Address object, std::size_t most, const Gone& gone) {
  JTRACE_ASSIGN_OR_RETURN(HeapAccess* const heap, world.heap());
  std::vector<WordVisitor> visitors(threads_to_use(world), WordVisitor(*heap, object));
  JTRACE_ASSIGN_OR_RETURN(const WalkTotals walked, walk_regions(*heap, visitors, kWant, until_gone(gone)));
  world.note_walk(walked);
  std::vector<Address> found = joined_finds(visitors);
  std::erase_if(found, [&](Address from) { return !refers(world, from, object); });
  if (most > 0 && found.size() > most) found.resize(most);
  return found;
}

}  // namespace jtrace::debug
