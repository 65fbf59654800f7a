#include "coreinspect/tools/owned_locks.h"

#include <algorithm>
#include <unordered_set>

#include "base/clock.h"
#include "base/size_text.h"
#include "coreinspect/gc/histogram.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::string_view kBase = "java/util/concurrent/locks/AbstractOwnableSynchronizer";
constexpr std::string_view kOwner = "exclusiveOwnerThread";
constexpr int kWalks = 3;                    // attempts in a JVM that collects in the meantime
constexpr std::uint64_t kBytesOfNano = 8;    // no walk needs more: a heap that is far too large is not started
constexpr std::size_t kWant = 256;           // bytes that are read of an object
constexpr std::size_t kMaxLocks = 1u << 20;  // limit for a damaged heap

// The class and all its subclasses.
std::unordered_set<Address> subclasses(const ClassModel& classes, Address base) {
  std::unordered_set<Address> known = {base}, others;
  const auto all = classes.all();
  std::vector<Address> chain;
  for (Address klass : all ? *all : std::vector<Address>()) {
    chain.clear();
    while (klass != 0 && !known.contains(klass) && !others.contains(klass) && chain.size() < 1000) {
      chain.push_back(klass);
      klass = classes.super(klass).value_or(0);
    }
    (known.contains(klass) ? known : others).insert(chain.begin(), chain.end());
  }
  return known;
}

class OwnedSearch {
 public:
  OwnedSearch(const std::unordered_set<Address>& wanted, const ObjectModel& objects, std::uint32_t offset)
      : wanted_(&wanted), objects_(&objects), offset_(offset), narrow_(objects.reference_size() == 4) {}
  void begin(const HeapRegion&) {}
  void end() {}
  void operator()(const HeapObject& object) {
    if (object.klass->index >= is_wanted_.size()) is_wanted_.resize(object.klass->index + 256, kUnknown);
    char& wanted = is_wanted_[object.klass->index];
    if (wanted == kUnknown) wanted = wanted_->contains(object.klass->klass) ? kYes : kNo;
    if (wanted != kYes || offset_ + (narrow_ ? 4 : 8) > object.available || found_.size() >= kMaxLocks) return;
    if (const Address owner = load(object.bytes + offset_); owner != 0) found_.push_back({object.address, owner, ""});
  }
  const std::vector<OwnedLock>& found() const { return found_; }

 private:
  static constexpr char kUnknown = 0, kNo = 1, kYes = 2;
  Address load(const std::byte* at) const {
    if (narrow_) {
      std::uint32_t narrow = 0;
      std::memcpy(&narrow, at, sizeof narrow);
      return objects_->from_narrow(narrow);
    }
    std::uint64_t raw = 0;
    std::memcpy(&raw, at, sizeof raw);
    return raw == 0 ? 0 : objects_->from_root(raw);
  }

  const std::unordered_set<Address>* wanted_;
  const ObjectModel* objects_;
  std::uint32_t offset_;
  bool narrow_;
  std::vector<char> is_wanted_;  // by KlassInfo::index
  std::vector<OwnedLock> found_;
};

}  // namespace

std::string locks_note(const KnownLocks& locks) {
  std::string text = "collections " + std::to_string(locks.collections) + "\n";
  for (const Address object : locks.objects) {
    append_decimal(text, object);
    text += '\n';
  }
  if (!locks.why.empty()) text += "missing " + locks.why + "\n";
  return text;
}

std::optional<KnownLocks> noted_locks(const target::Target& target) {
  constexpr std::string_view kHead = "collections ", kMissing = "missing ";
  const std::string* note = target.core() ? target.core()->own_note(kLocksNote) : nullptr;
  if (!note || !note->starts_with(kHead)) return std::nullopt;
  KnownLocks locks;
  for (const std::string_view line : split(*note, '\n')) {
    if (line.starts_with(kHead))
      locks.collections = parse_decimal<std::uint64_t>(line.substr(kHead.size())).value_or(0);
    else if (line.starts_with(kMissing)) locks.why = line.substr(kMissing.size());
    else if (const auto object = parse_decimal<Address>(line)) locks.objects.push_back(*object);
  }
  return locks;
}

OwnedLocks::OwnedLocks(Inspection& inspection, std::chrono::milliseconds budget) : inspection_(inspection) {
  const auto noted = inspection.known_locks() ? inspection.known_locks() : noted_locks(inspection.target());
  if (noted) {
    take(*noted);
    return;
  }
  collections_ = read_collections(inspection.vm()).value_or(0);
  const bool live = inspection.target().process() != nullptr;
  const std::uint64_t nanos = static_cast<std::uint64_t>(std::chrono::nanoseconds(budget).count());
  const std::uint64_t end = live ? monotonic_ns() + nanos : UINT64_MAX;
  for (int i = 0; i < kWalks && walk(end); ++i) {
  }
}

void OwnedLocks::take(const KnownLocks& known) {
  collections_ = known.collections;
  for (const Address object : known.objects)
    if (const Address owner = owner_of(object); owner != 0) locks_.push_back({object, owner, ""});
  why_ = known.why;
  collected_meanwhile();
}

KnownLocks OwnedLocks::known() const {
  KnownLocks known{.collections = collections_, .objects = {}, .why = why_};
  for (const OwnedLock& lock : locks_) known.objects.push_back(lock.object);
  return known;
}

// True if the walk must be repeated.
bool OwnedLocks::walk(std::uint64_t end_ns) {
  locks_.clear();
  why_.clear();
  const ClassModel& classes = inspection_.classes();
  const auto base = classes.find(kBase);
  if (!base && base.error().category == ErrorCategory::kNotFound) return false;  // this JVM has not used the class yet
  const auto field = base ? classes.find_field(base->front(), kOwner) : Result<JavaField>(fail(base.error()));
  auto access = field ? HeapAccess::open(inspection_, {.no_stop = true})
                      : Result<std::unique_ptr<HeapAccess>>(fail(field.error()));
  if (!access) {
    why_ = access.error().message();
    return false;
  }
  const std::uint64_t used = (*access)->layout().used(), now = monotonic_ns();
  if (now > end_ns || used / kBytesOfNano > end_ns - now) {
    why_ = "a heap of " + size_text(used) + " takes longer to walk than --max-stop allows";
    return false;
  }
  const auto wanted = subclasses(classes, base->front());
  std::vector<OwnedSearch> searches(
      default_heap_threads(), OwnedSearch(wanted, inspection_.objects(), static_cast<std::uint32_t>(field->offset)));
  const auto totals =
      walk_regions(**access, searches, kWant, [&](std::uint64_t, std::uint64_t) { return monotonic_ns() < end_ns; });
  for (const OwnedSearch& search : searches) locks_.insert(locks_.end(), search.found().begin(), search.found().end());
  if (!totals) {
    why_ = "a heap of " + size_text(used) + " takes longer to walk than --max-stop allows";
    return false;
  }
  if (!(*access)->missing().empty()) why_ = (*access)->missing().front();
  if (totals->unparsable + totals->unreadable > 0)
    why_ = size_text(totals->unparsable + totals->unreadable) + " of the heap could not be parsed";
  if (inspection_.target().core()) return false;
  collections_ = (*access)->layout().collections;
  return collected_meanwhile();
}

bool OwnedLocks::collected_meanwhile() {
  if (inspection_.vm().cached_memory()) inspection_.vm().cached_memory()->forget();
  const auto now = read_collections(inspection_.vm());
  if (now && *now == collections_) return false;
  why_ = "a collection moved objects during the search";
  return true;
}

Address OwnedLocks::owner_of(Address lock) const {
  const auto owner = inspection_.objects().reference(lock, kOwner);
  return owner ? *owner : 0;
}

void OwnedLocks::settle(const LockFacts& facts) {
  if (why_.empty() && inspection_.target().process()) collected_meanwhile();
  std::erase_if(locks_, [&](const OwnedLock& lock) { return owner_of(lock.object) != lock.owner; });
  for (const LockFacts::Party& each : facts.parties())
    if (const Wait* wait = facts.wait_of(each.key); wait && wait->kind == "park")
      if (const Address owner = owner_of(wait->object); owner != 0) locks_.push_back({wait->object, owner, ""});
  std::sort(locks_.begin(), locks_.end(), [](const auto& a, const auto& b) { return a.object < b.object; });
  const auto same = [](const auto& a, const auto& b) { return a.object == b.object; };
  locks_.erase(std::unique(locks_.begin(), locks_.end(), same), locks_.end());
  const ObjectModel& objects = inspection_.objects();
  for (OwnedLock& lock : locks_)
    if (const auto klass = objects.klass_of(lock.object))
      lock.class_name = objects.classes().name(*klass).value_or("?");
}

std::vector<const OwnedLock*> OwnedLocks::of(Address thread) const {
  std::vector<const OwnedLock*> owned;
  for (const OwnedLock& lock : locks_)
    if (thread != 0 && lock.owner == thread) owned.push_back(&lock);
  return owned;
}

std::pair<std::string, std::int64_t> OwnedLocks::name_of(const OwnedLock& lock) const {
  const ObjectModel& objects = inspection_.objects();
  return {objects.text_field(lock.owner, "name").value_or("?"),
          objects.value<std::int64_t>(lock.owner, "tid").value_or(0)};
}

void append_why(const OwnedLocks& locks, bool json, ViewResult& result) {
  if (!json) {
    if (!locks.why().empty())
      result.out += "java.util.concurrent locks that threads own may be missing: " + printable(locks.why()) + "\n";
    return;
  }
  std::string text;
  JsonWriter members(text);
  members.begin_object().member("ownedComplete", locks.why().empty());
  if (!locks.why().empty()) members.member("ownedMissing", locks.why());
  members.end_object();
  text = text.substr(1, text.size() - 2);
  result.members += (result.members.empty() ? "" : ",") + text;
}

}  // namespace jtrace::coreinspect
