// The view refs: who refers to an object: fields and elements of other objects, static fields, roots.
#include <algorithm>
#include <memory>
#include <tuple>

#include "base/strings.h"
#include "coreinspect/gc/histogram.h"
#include "coreinspect/hprof/dump_threads.h"
#include "coreinspect/hprof/hprof_writer.h"
#include "coreinspect/hprof/vm_roots.h"
#include "coreinspect/tools/heap_views.h"
#include "coreinspect/tools/value_text.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kWant = 64u << 10;
constexpr std::size_t kMaxFound = 1u << 20;

struct Referrer {
  Address object = 0;
  const KlassInfo* klass = nullptr;
  std::uint32_t offset = 0;   // of the field from the object
  std::uint64_t element = 0;  // of an array
};

// Offsets of the references in instances of each class, by KlassInfo::index. None for mirrors, because their statics
// differ.
using ReferenceMap = std::vector<std::vector<std::uint32_t>>;

class NoVisitor {
 public:
  void begin(const HeapRegion&) {}
  void operator()(const HeapObject&) {}
  void end() {}
};

class ReferrerSearch {
 public:
  ReferrerSearch(const HeapAccess& access, const ReferenceMap& map, Address wanted)
      : access_(&access), map_(&map), wanted_(wanted), source_(std::make_unique<HeapSource>(access.memory())) {
    narrow_ = access.inspection().objects().reference_size() == 4;
  }
  void begin(const HeapRegion&) {}
  void end() {}
  void operator()(const HeapObject& object) {
    const KlassInfo& info = *object.klass;
    if (object.address == wanted_) met_wanted_ = true;
    if (info.kind == KlassInfo::Kind::kObjectArray) return search_array(object);
    if (info.is_array()) return;
    if (info.kind == KlassInfo::Kind::kMirror) return search_words(object);
    if (info.index >= map_->size()) return;
    for (const std::uint32_t offset : (*map_)[info.index])
      if (offset + step() <= object.available && refers(object.bytes + offset)) add({object.address, &info, offset, 0});
  }
  const std::vector<Referrer>& found() const { return found_; }
  bool met_wanted() const { return met_wanted_; }

 private:
  std::size_t step() const { return narrow_ ? 4 : 8; }
  bool refers(const std::byte* at) const {
    const ObjectModel& objects = access_->inspection().objects();
    if (narrow_) {
      std::uint32_t narrow = 0;
      std::memcpy(&narrow, at, sizeof narrow);
      return narrow != 0 && access_->place_of(objects.from_narrow(narrow)) == wanted_;
    }
    std::uint64_t raw = 0;
    std::memcpy(&raw, at, sizeof raw);
    return raw != 0 && access_->place_of(objects.from_root(raw)) == wanted_;
  }
  // Which words of a mirror are references depends on the class that it represents: looked up for the few that match.
  void search_words(const HeapObject& object) {
    for (std::size_t at = 8; at + step() <= object.available; at += step())
      if (refers(object.bytes + at)) add({object.address, object.klass, static_cast<std::uint32_t>(at), 0});
  }
  void search_array(const HeapObject& object) {
    const KlassInfo& info = *object.klass;
    const std::uint64_t count = object.length;
    if (info.base + count * step() <= object.available) {
      for (std::uint64_t i = 0; i < count; ++i)
        if (refers(object.bytes + info.base + i * step())) add({object.address, &info, 0, i});
      return;
    }
    Address at = object.address + info.base;
    const Address end = at + count * step();
    for (std::uint64_t i = 0; at < end;) {
      const auto part = source_->window(at, end, HeapSource::kPiece);
      const std::size_t whole = part.size() / step();
      if (whole == 0) break;
      for (std::size_t k = 0; k < whole; ++k, ++i)
        if (refers(part.data() + k * step())) add({object.address, &info, 0, i});
      at += whole * step();
    }
  }
  void add(const Referrer& referrer) {
    if (found_.size() < kMaxFound) found_.push_back(referrer);
  }

  const HeapAccess* access_;
  const ReferenceMap* map_;
  Address wanted_;
  std::unique_ptr<HeapSource> source_;
  bool narrow_ = true, met_wanted_ = false;
  std::vector<Referrer> found_;
};

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

struct Row {
  std::string kind;  // "field", "element", "static", or a kind of root
  Address from = 0;
  std::string type, where;
};

// The field of an object at that offset: a field of its class or a superclass; for a mirror a static field. "?" if
// there is no reference: a number of a mirror may be the same as the address.
Row row_of(const Inspection& inspection, const Referrer& referrer) {
  const ClassModel& model = inspection.classes();
  Row row{
      .kind = "field", .from = referrer.object, .type = model.name(referrer.klass->klass).value_or("?"), .where = "?"};
  if (referrer.klass->is_array()) {
    row.kind = "element";
    row.where = "[" + std::to_string(referrer.element) + "]";
    return row;
  }
  const auto look = [&](Address klass, bool statics) {
    const auto fields = model.fields(klass);
    for (const JavaField& field : fields ? **fields : std::vector<JavaField>()) {
      if (field.is_static() != statics || field.offset != referrer.offset || !is_reference(field)) continue;
      row.where = field.name;
      if (!statics) return true;
      row.kind = "static";
      row.where = model.name(klass).value_or("?") + "." + field.name;
      return true;
    }
    return false;
  };
  if (referrer.klass->kind == KlassInfo::Kind::kMirror) {
    const Address of = inspection.objects().klass_of_mirror(referrer.object).value_or(0);
    if (of != 0 && model.is_instance_class(of) && look(of, true)) return row;
  }
  Address klass = referrer.klass->klass;
  for (int depth = 0; klass != 0 && depth < 1000 && !look(klass, false); ++depth)
    klass = model.super(klass).value_or(0);
  return row;
}

void add_roots(HeapAccess& access, Address wanted, std::vector<Row>& rows, std::vector<std::string>& missing) {
  Inspection& inspection = access.inspection();
  for (const DumpThread& thread : read_dump_threads(access, missing)) {
    const std::string name = "thread \"" + thread.name + "\"";
    if (thread.object == wanted) rows.push_back({"thread", thread.object, "", name});
    for (const FrameReference& reference : thread.candidates) {
      if (reference.object != wanted || reference.frame >= thread.frames.size()) continue;
      const JavaMethod& method = *thread.frames[reference.frame].method;
      rows.push_back({"frame", 0, "", name + " " + method.class_name + "." + method.name});
    }
    for (Address object : thread.jni_locals)
      if (object == wanted) rows.push_back({"JNI local", 0, "", name});
    for (Address object : thread.monitors)
      if (object == wanted) rows.push_back({"monitor", 0, "", name});
  }
  for (const auto& [object, handle] : jni_globals(inspection, missing))
    if (object == wanted) rows.push_back({"JNI global", handle, "", ""});
}

// For an object that the walk has not met. References to nothing would look like those to an object.
Result<> check_object(Inspection& inspection, Address wanted) {
  const auto klass = inspection.objects().klass_of(wanted);
  if (klass && inspection.classes().internal_name(*klass)) return {};
  Error error{.category = ErrorCategory::kNotFound, .text = "there is no object"};
  error.address = wanted;
  error.help = "addresses are those of the same core, or of a live JVM at this moment: a collection moves objects";
  return fail(std::move(error));
}

}  // namespace

Result<ViewResult> view_refs(Inspection& inspection, const ViewOptions& options) {
  const auto wanted = options.arguments.empty() ? std::nullopt : parse_address_not_name(options.arguments.front());
  if (!wanted) return view_class_refs(inspection, options);
  JTRACE_ASSIGN_OR_RETURN(const auto access, open_heap(inspection, options, true));
  std::vector<NoVisitor> nothing(threads_of(options.heap));
  if (auto first = walk_regions(*access, nothing, 0, options.heap.progress); !first) return fail(first.error());
  const ReferenceMap map = reference_map(*access);
  std::vector<ReferrerSearch> searches;
  for (unsigned i = 0; i < threads_of(options.heap); ++i) searches.emplace_back(*access, map, *wanted);
  auto totals = walk_regions(*access, searches, kWant, options.heap.progress);
  if (!totals) return fail(totals.error());

  ViewResult result;
  result.missing = access->missing();
  for (const std::string& line : walk_faults(*totals)) result.missing.push_back(line);
  std::vector<Referrer> found;
  for (const ReferrerSearch& search : searches) found.insert(found.end(), search.found().begin(), search.found().end());
  std::sort(found.begin(), found.end(), [](const Referrer& a, const Referrer& b) {
    return std::tie(a.object, a.offset, a.element) < std::tie(b.object, b.offset, b.element);
  });
  std::vector<Row> rows;
  for (const Referrer& referrer : found) rows.push_back(row_of(inspection, referrer));
  // a word of a mirror that looks like the reference but is not
  std::erase_if(rows, [](const Row& row) { return row.where == "?"; });
  add_roots(*access, *wanted, rows, result.missing);
  const std::size_t all = rows.size();
  const bool met = std::any_of(searches.begin(), searches.end(), [](const auto& each) { return each.met_wanted(); });
  if (!met) JTRACE_RETURN_IF_ERROR(check_object(inspection, *wanted));
  if (options.heap.top > 0 && all > options.heap.top) rows.resize(options.heap.top);
  JsonWriter json(result.out);
  for (const Row& row : rows) {
    if (options.json) {
      json.begin_object().member("kind", row.kind).member("from", hex(row.from));
      json.member("class", row.type).member("where", row.where).end_object();
      continue;
    }
    result.out += row.kind + " " + printable(row.where);
    if (!row.type.empty()) result.out += " of " + printable(row.type) + "@" + hex(row.from);
    result.out += "\n";
  }
  if (options.json) append_walk_members(result.members, *access, *totals, 0);
  else
    result.out += counted(all, "reference") +
                  (all > rows.size() ? ", the first " + std::to_string(rows.size()) + " shown" : "") + "\n";
  return result;
}

}  // namespace jtrace::coreinspect
