#include "coreinspect/graph/object_graph.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/free_memory.h"
#include "base/size_text.h"
#include "base/strings.h"
#include "coreinspect/oops/class_model.h"

namespace jtrace::coreinspect {
namespace {

// For the graph, and for its dominators at their peak: more if objects have many references. Few objects always fit.
constexpr std::uint64_t kBytesOfObject = 40, kManyObjects = 1'000'000;

constexpr std::string_view kReference = "java.lang.ref.Reference", kMirror = "java.lang.Class";
constexpr std::array<std::pair<std::string_view, Strength>, 4> kReferences = {{
    {"java.lang.ref.SoftReference", Strength::kSoft},
    {"java.lang.ref.WeakReference", Strength::kWeak},
    {"java.lang.ref.FinalReference", Strength::kFinal},
    {"java.lang.ref.PhantomReference", Strength::kPhantom},
}};
constexpr std::string_view kPrimitives = "ZCFDBSIJ";  // of the types 4 to 11

constexpr std::uint8_t kSystemClass = 0x05, kLockedMonitor = 0x07, kLastKind = 0x08;

// Kinds of roots are 1 to 8; bit 0 is for all others, which have one name.
std::uint16_t bit_of(std::uint8_t kind) { return static_cast<std::uint16_t>(1u << (kind <= kLastKind ? kind : 0)); }
constexpr std::uint16_t kOtherRoot = 1;

std::string_view root_text(std::uint8_t kind) {
  switch (kind) {
    case 0x01: return "JNI global";
    case 0x02: return "JNI local";
    case 0x03: return "a frame's local";
    case 0x04: return "native stack";
    case kSystemClass: return "system class";
    case 0x06: return "thread block";
    case kLockedMonitor: return "locked monitor";
    case 0x08: return "thread";
    default: return "VM";
  }
}

// A local that a thread's object owns, where that is known.
bool is_local(std::uint8_t kind) { return kind == 0x02 || kind == 0x03 || kind == 0x04 || kind == 0x06; }

}  // namespace

std::string_view to_string(Strength strength) {
  constexpr std::array<std::string_view, kStrengths> names = {"strong", "soft", "weak", "final", "phantom", "garbage"};
  return names[static_cast<std::size_t>(strength)];
}

Result<> ObjectGraph::check_count(std::uint64_t objects, std::uint64_t free) {
  if (objects >= kNoObject - 1)
    return fail(ErrorCategory::kRefused,
                "the heap dump has " + counted(objects, "object") + ": numbers of 32 bits are for fewer than 2^32");
  if (objects * kBytesOfObject < free) return {};
  return fail(ErrorCategory::kRefused,
              "the heap dump has " + counted(objects, "object") + ", which need about " +
                  size_text(objects * kBytesOfObject) + " of memory: " + size_text(free) + " are free",
              "a machine or container with more; heapdump --redact makes a file that can be given away");
}

Result<std::unique_ptr<ObjectGraph>> ObjectGraph::build(HprofFile file, std::optional<HeapShape> shape,
                                                        unsigned threads, const RealSizes& sizes) {
  ObjectIndex::Range range;
  for (const HprofClass& each : file.classes()) range.add(each.id);
  file.each_object([&](const HprofObject& object, std::uint64_t) { range.add(object.id); });
  if (range.count == 0) {
    const auto missing = file.missing();
    return fail(ErrorCategory::kMalformed,
                "the heap dump has no objects" + (missing.empty() ? "" : ": " + missing.front()));
  }
  JTRACE_RETURN_IF_ERROR(check_count(range.count, range.count < kManyObjects ? ~0ull : free_memory()));
  ObjectIndex index(range);
  for (const HprofClass& each : file.classes()) index.add(each.id);
  file.each_object([&](const HprofObject& object, std::uint64_t) { index.add(object.id); });
  index.finish();
  std::unique_ptr<ObjectGraph> graph(new ObjectGraph(std::move(file), std::move(index)));
  graph->threads_ = std::max(threads, 1u);
  graph->make_classes();
  graph->place_objects();
  graph->find_roots();
  graph->find_strengths();
  graph->shape_is_known_ = shape.has_value();
  if (shape) graph->shape_ = *shape;
  else graph->guess_shape();
  graph->know_sizes(sizes);
  return graph;
}

void ObjectGraph::know_sizes(const RealSizes& sizes) {
  for (GraphClass& each : classes_) {
    const auto known = sizes.of_class.find(each.id);
    if (known == sizes.of_class.end()) continue;
    each.size = (known->second.bytes + shape_.alignment - 1) / shape_.alignment * shape_.alignment;
    each.injected = known->second.injected;
  }
  for (const auto& [id, bytes] : sizes.of_object)
    if (const std::uint32_t object = index_.find(id); object != kNoObject) {
      single_sizes_.emplace_back(object, bytes);
      classes_[class_of_[object]].sizes_differ = true;
    }
  std::sort(single_sizes_.begin(), single_sizes_.end());
}

// Objects lie side by side, but where a collector has left a gap: if all of many have one, it is a part of them. A
// class with @Contended has 128 bytes or more of it; a StackChunk has the frames of a virtual thread after its fields.
std::vector<std::string> ObjectGraph::undersized_classes(std::uint64_t least) const {
  constexpr std::uint64_t kMany = 16, kGap = 64;
  std::vector<std::string> found;
  if (shape_is_known_) return found;
  struct Sum {
    std::uint64_t objects = 0, needed = 0, gap = UINT64_MAX;
  };
  std::vector<Sum> sums(classes_.size());
  std::vector<char> is_array;
  for (const GraphClass& each : classes_) is_array.push_back(is_array_name(each.name) ? 1 : 0);
  std::uint64_t next = address(0);
  for (std::uint32_t i = 0; i + 1 < size(); ++i) {
    const std::uint64_t here = std::exchange(next, address(i + 1));
    Sum& sum = sums[class_of_[i]];
    if (sum.gap == 0 || is_array[class_of_[i]] != 0 || is_class(i)) continue;
    if (sum.objects++ == 0) sum.needed = bytes_as(i, shape_);
    sum.gap = std::min(sum.gap, next - here > sum.needed ? next - here - sum.needed : 0);
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i].objects >= kMany && sums[i].gap >= kGap && sums[i].objects * sums[i].gap >= least)
      found.push_back(classes_[i].name);
  return found;
}

void ObjectGraph::forget_real_sizes() {
  for (GraphClass& each : classes_) {
    each.size = each.injected = 0;
    each.sizes_differ = false;
  }
  single_sizes_.clear();
}

void ObjectGraph::make_classes() {
  const auto& records = file_.classes();
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (!class_by_id_.emplace(records[i].id, static_cast<std::uint32_t>(classes_.size())).second) continue;
    GraphClass made{.id = records[i].id, .name = file_.class_name(records[i].id), .object = index_.find(records[i].id)};
    made.record = i;
    made.class_edge = made.object;
    class_by_object_[made.object] = static_cast<std::uint32_t>(classes_.size());
    classes_.push_back(std::move(made));
  }
  find_superclasses();
}

// Each class after its superclass, whatever the order and the length of the chain; where a damaged dump has a circle,
// it is cut.
void ObjectGraph::find_superclasses() {
  enum : char { kNew, kOpen, kDone };
  std::vector<char> state(classes_.size(), kNew);
  std::vector<std::uint32_t> chain;
  for (std::uint32_t i = 0; i < classes_.size(); ++i) {
    for (std::uint32_t at = i; state[at] == kNew;) {
      state[at] = kOpen;
      chain.push_back(at);
      const auto above = class_by_id_.find(file_.classes()[classes_[at].record].super);
      if (above == class_by_id_.end() || state[above->second] == kOpen) break;
      at = classes_[at].above = above->second;
    }
    for (; !chain.empty(); chain.pop_back()) {
      inherit(classes_[chain.back()]);
      state[chain.back()] = kDone;
    }
  }
}

void ObjectGraph::inherit(GraphClass& by) {
  for (const HprofField& field : file_.classes()[by.record].fields) by.bytes += file_.field_size(field.type);
  for (const auto& [name, strength] : kReferences)
    if (by.name == name) by.strength = strength;
  by.is_thread = by.name == "java.lang.Thread";
  if (by.above == kNoObject) return;
  const GraphClass& from = classes_[by.above];
  by.bytes += from.bytes;
  if (by.strength == Strength::kStrong) by.strength = from.strength;
  by.is_thread = by.is_thread || from.is_thread;
  by.above_with_fields = file_.classes()[from.record].fields.empty() ? from.above_with_fields : by.above;
}

// No more than an instance of the class has room for: a chain of classes could make a list of any length.
void ObjectGraph::plan_references() {
  constexpr std::uint64_t kMostOfMirror = 1u << 16;  // whose instances are no records
  for (GraphClass& each : classes_) {
    const std::uint64_t most = each.name == kMirror ? std::min(each.bytes, kMostOfMirror) : each.longest;
    if (most > 0 && each.object != kNoObject) plan_references(each, most);
  }
}

// The fields of an instance are in the order of its class, its superclass and so on.
void ObjectGraph::plan_references(GraphClass& of, std::uint64_t most) {
  std::uint64_t offset = 0;
  const auto first = static_cast<std::uint32_t>(&of - classes_.data());
  for (std::uint32_t at = first; at != kNoObject; at = classes_[at].above_with_fields) {
    const GraphClass& declared = classes_[at];
    const HprofClass& record = file_.classes()[declared.record];
    for (std::uint32_t i = 0; i < record.fields.size(); ++i) {
      const HprofField& field = record.fields[i];
      if (offset + file_.field_size(field.type) > most) return;
      if (field.type == 2)
        of.references.push_back({.offset = static_cast<std::uint32_t>(offset),
                                 .declared = at,
                                 .field = i,
                                 .referent = declared.name == kReference && file_.text(field.name) == "referent"});
      offset += file_.field_size(field.type);
    }
  }
}

std::uint32_t ObjectGraph::class_number(std::uint64_t id) {
  const auto [found, is_new] = class_by_id_.emplace(id, static_cast<std::uint32_t>(classes_.size()));
  if (is_new) classes_.push_back({.id = id, .name = file_.class_name(id)});  // a class without a record
  return found->second;
}

std::uint32_t ObjectGraph::primitive_array(std::uint8_t type) {
  if (const auto known = primitive_arrays_.find(type); known != primitive_arrays_.end()) return known->second;
  const std::string name =
      java_class_name("[" + std::string(type >= 4 && type <= 11 ? kPrimitives.substr(type - 4, 1) : "?"));
  const auto found =
      std::find_if(classes_.begin(), classes_.end(), [&](const auto& each) { return each.name == name; });
  const auto number = static_cast<std::uint32_t>(found - classes_.begin());
  if (found == classes_.end()) classes_.push_back({.name = name});
  return primitive_arrays_[type] = number;
}

void ObjectGraph::place_objects() {
  place_low_.assign(size(), kClassPlace);
  place_high_.assign(size(), 0xff);
  class_of_.assign(size(), 0);
  const auto mirror =
      std::find_if(classes_.begin(), classes_.end(), [](const GraphClass& each) { return each.name == kMirror; });
  std::uint32_t of_classes = static_cast<std::uint32_t>(mirror - classes_.begin());
  if (mirror == classes_.end()) classes_.push_back({.name = std::string(kMirror)});
  for (const auto& [object, number] : class_by_object_) class_of_[object] = of_classes;
  file_.each_object([&](const HprofObject& object, std::uint64_t place) {
    const std::uint32_t at = index_.find(object.id);
    if (at == kNoObject || place_high_[at] != 0xff || class_by_object_.contains(at)) return;  // the first one counts
    place_low_[at] = static_cast<std::uint32_t>(place);
    place_high_[at] = static_cast<std::uint8_t>(place >> 32);
    class_of_[at] = object.type_id != 0 ? class_number(object.type_id) : primitive_array(object.type);
    if (object.kind != HprofSub::kInstanceDump) return;
    GraphClass& of = classes_[class_of_[at]];
    if (object.count != of.bytes) ++broken_;
    of.longest = std::max(of.longest, static_cast<std::uint32_t>(object.count));
  });
  plan_references();
}

void ObjectGraph::find_roots() {
  std::vector<std::pair<std::uint32_t, std::uint16_t>> kinds;
  const auto add = [&](std::uint32_t object, std::uint8_t kind) { kinds.emplace_back(object, bit_of(kind)); };
  for (const HprofRoot& root : file_.roots()) {
    const std::uint32_t object = target(root.object);
    if (object == kNoObject) {
      ++lost_roots_;
      continue;
    }
    const std::uint32_t thread = is_local(root.kind) ? target(file_.thread_object(root.thread)) : kNoObject;
    if (thread != kNoObject && is_thread(thread)) locals_[thread].push_back(object);
    else add(object, root.kind);
  }
  // Dumps of jhsdb have no system classes: those of the boot loader are.
  const bool any_class =
      std::any_of(file_.roots().begin(), file_.roots().end(), [](auto& root) { return root.kind == kSystemClass; });
  for (const GraphClass& each : classes_)
    if (!any_class && each.object != kNoObject && file_.classes()[each.record].loader == 0)
      add(each.object, kSystemClass);
  add_kinds(std::move(kinds));
  roots_guessed_ = root_kinds_.empty() && size() > 0;
  for (const auto& [object, mask] : root_kinds_) roots_.push_back(object);
  for (std::uint32_t i = 0; roots_guessed_ && i < size(); ++i) roots_.push_back(i);
  for (GraphClass& each : classes_)
    if (each.object != kNoObject && root_kinds(each.object) != 0) each.class_edge = kNoObject;
}

void ObjectGraph::add_kinds(std::vector<std::pair<std::uint32_t, std::uint16_t>> kinds) {
  std::sort(kinds.begin(), kinds.end());
  for (const auto& [object, mask] : kinds) {
    if (root_kinds_.empty() || root_kinds_.back().first != object) root_kinds_.emplace_back(object, mask);
    else root_kinds_.back().second = static_cast<std::uint16_t>(root_kinds_.back().second | mask);
  }
}

std::uint16_t ObjectGraph::root_kinds(std::uint32_t object) const {
  const auto found = std::lower_bound(root_kinds_.begin(), root_kinds_.end(), std::pair(object, std::uint16_t{0}));
  return found == root_kinds_.end() || found->first != object ? 0 : found->second;
}

void ObjectGraph::EdgeList::begin_class(std::uint32_t object) {
  const auto found = graph_.class_by_object_.find(object);
  if (found == graph_.class_by_object_.end()) return;
  record_ = &graph_.file_.classes()[graph_.classes_[found->second].record];
  count_ = kOwnEdges + static_cast<std::uint32_t>(record_->statics.size());
}

std::span<const std::uint32_t> ObjectGraph::locals(std::uint32_t thread) const {
  const auto found = locals_.find(thread);
  return found == locals_.end() ? std::span<const std::uint32_t>() : std::span(found->second);
}

std::uint64_t ObjectGraph::class_edge_of(const HprofClass& record, std::uint32_t i) const {
  switch (i) {
    case 0: return record.super;
    case 1: return record.loader;
    case 2: return record.signers;
    case 3: return record.domain;
    default: {
      const HprofStatic& found = record.statics[i - kOwnEdges];
      return found.field.type == 2 ? found.value : 0;
    }
  }
}

std::uint32_t ObjectGraph::find_edge(std::uint32_t from, std::uint32_t to) const {
  const EdgeList edges = edges_of(from);
  const std::uint32_t own = is_class(from) ? std::min(kOwnEdges, edges.size()) : 0;
  for (std::uint32_t i = own; i < edges.size(); ++i)
    if (edges[i] == to) return i;
  for (std::uint32_t i = 0; i < own; ++i)
    if (edges[i] == to) return i;
  return kNoObject;
}

std::vector<std::uint32_t> ObjectGraph::threads_with_locals() const {
  std::vector<std::uint32_t> threads;
  for (const auto& [thread, held] : locals_) threads.push_back(thread);
  std::sort(threads.begin(), threads.end());
  return threads;
}

std::string ObjectGraph::edge_name(std::uint32_t object, std::uint32_t i) const {
  if (is_class(object)) {
    constexpr std::array<std::string_view, kOwnEdges> own = {"<super>", "<loader>", "<signers>", "<protection domain>"};
    if (i < kOwnEdges) return std::string(own[i]);
    return "static " + file_.text(record_of(object).statics[i - kOwnEdges].field.name);
  }
  if (i == 0) return "<class>";
  const GraphClass& its = classes_[class_of_[object]];
  if (static_cast<HprofSub>(file_.number(place(object), 1)) == HprofSub::kObjectArrayDump)
    return "[" + std::to_string(i - 1) + "]";
  if (i > its.references.size()) return "<local>";
  const GraphClass::Reference& reference = its.references[i - 1];
  return "." + file_.text(file_.classes()[classes_[reference.declared].record].fields[reference.field].name);
}

std::uint64_t ObjectGraph::address(std::uint32_t object) const {
  if (is_class(object)) {
    const auto found = class_by_object_.find(object);
    return found == class_by_object_.end() ? 0 : classes_[found->second].id;
  }
  return file_.id(place(object) + 1);
}

const HprofClass* ObjectGraph::class_record(std::uint32_t class_number) const {
  const GraphClass& its = classes_[class_number];
  return its.object == kNoObject ? nullptr : &file_.classes()[its.record];
}

std::uint32_t ObjectGraph::superclass(std::uint32_t class_number) const {
  const HprofClass* const record = class_record(class_number);
  if (record == nullptr || record->super == record->id) return kNoObject;
  const auto found = class_by_id_.find(record->super);
  return found == class_by_id_.end() ? kNoObject : found->second;
}

std::uint32_t ObjectGraph::class_of_mirror(std::uint32_t object) const {
  const auto found = class_by_object_.find(object);
  return found == class_by_object_.end() ? kNoObject : found->second;
}

std::string ObjectGraph::name(std::uint32_t object) const {
  if (!is_class(object)) return classes_[class_of_[object]].name;
  const auto found = class_by_object_.find(object);
  return "class " + (found == class_by_object_.end() ? "?" : classes_[found->second].name);
}

std::string ObjectGraph::root_name(std::uint32_t object) const {
  const std::uint16_t kinds = root_kinds(object);
  if (kinds == 0) return roots_guessed_ ? "no root is known" : "";
  std::string text;
  const auto add = [&](std::uint8_t kind) { text += (text.empty() ? "" : ", ") + std::string(root_text(kind)); };
  for (std::uint8_t kind = 1; kind <= kLastKind; ++kind)
    if ((kinds & bit_of(kind)) != 0) add(kind);
  if ((kinds & kOtherRoot) != 0) add(0);
  return text;
}

bool ObjectGraph::is_archive_table(std::uint32_t object) const {
  return !is_class(object) && root_kinds(object) != 0 && classes_[class_of_[object]].name == "java.lang.Object[]";
}

bool ObjectGraph::is_passing_root(std::uint32_t root) const {
  const std::uint16_t kinds = root_kinds(root);
  std::uint16_t lasting = kOtherRoot;
  for (std::uint8_t kind = 1; kind <= kLastKind; ++kind)
    if (kind != kLockedMonitor && !is_local(kind)) lasting = static_cast<std::uint16_t>(lasting | bit_of(kind));
  return kinds != 0 && (kinds & lasting) == 0;
}

bool ObjectGraph::is_system_class(std::uint32_t root) const { return (root_kinds(root) & bit_of(kSystemClass)) != 0; }

std::uint64_t ObjectGraph::bytes(std::uint32_t object) const {
  const GraphClass& its = classes_[class_of_[object]];
  if (its.size != 0) return its.size;
  if (its.sizes_differ) {
    const auto at = std::lower_bound(single_sizes_.begin(), single_sizes_.end(), std::pair(object, std::uint64_t{0}));
    if (at != single_sizes_.end() && at->first == object) return at->second;
  }
  return bytes_as(object, shape_);
}

std::uint64_t ObjectGraph::padding(std::uint32_t object) const {
  const GraphClass& its = classes_[class_of_[object]];
  if (its.sizes_differ) return 0;  // what the fields do not need has contents all the same
  HeapShape packed = shape_;
  packed.alignment = 1;
  const std::uint64_t all = bytes(object), used = bytes_as(object, packed) + its.injected;
  return all > used ? all - used : 0;
}

std::uint64_t ObjectGraph::bytes_as(std::uint32_t object, const HeapShape& shape) const {
  const auto aligned = [&](std::uint64_t size) {
    return (size + shape.alignment - 1) / shape.alignment * shape.alignment;
  };
  const auto instance = [&](const GraphClass& its, std::uint64_t body) {
    return aligned(shape.header + body - its.references.size() * (std::uint64_t{file_.id_size()} - shape.reference));
  };
  if (is_class(object)) {
    const GraphClass& its = classes_[class_of_[object]];
    std::uint64_t statics = 0;
    if (class_by_object_.contains(object))
      for (const HprofStatic& each : record_of(object).statics)
        statics += each.field.type == 2 ? shape.reference : file_.field_size(each.field.type);
    return aligned(instance(its, its.bytes) + statics);
  }
  const HprofObject record = file_.object_at(place(object));
  switch (record.kind) {
    case HprofSub::kInstanceDump: {
      const GraphClass& its = classes_[class_of_[object]];
      return its.bytes == record.count ? instance(its, record.count) : aligned(shape.header + record.count);
    }
    case HprofSub::kObjectArrayDump: return aligned(shape.array_header + record.count * shape.reference);
    default: return aligned(shape.array_header + record.count * HprofFile::element_size(record.type));
  }
}

// Objects do not overlap.
bool ObjectGraph::fits(const HeapShape& shape) const {
  constexpr std::uint32_t kEnough = 200'000;
  std::uint32_t too_large = 0;
  const std::uint32_t count = std::min(size(), kEnough);
  for (std::uint32_t i = 0; i + 1 < count; ++i)
    if (!is_class(i) && address(i + 1) - address(i) < bytes_as(i, shape)) ++too_large;
  return too_large <= count / 1000;
}

void ObjectGraph::guess_shape() {
  constexpr std::array<HeapShape, 4> shapes = {{{8, 16, 24}, {8, 12, 16}, {4, 12, 16}, {4, 8, 12}}};
  if (file_.id_size() == 4) {
    shape_ = {4, 8, 12};
    return;
  }
  for (const HeapShape& each : shapes) {
    shape_ = each;
    if (fits(each)) return;
  }
}

std::vector<std::string> ObjectGraph::missing() const {
  std::vector<std::string> lines = file_.missing();
  const auto add = [&](std::uint64_t count, const char* what, const char* one, const char* several) {
    if (count > 0) lines.push_back(counted(count, what) + (count == 1 ? one : several));
  };
  add(index_.twice(), "object", " is in the heap dump twice: the first counts",
      " are in the heap dump twice: the first of each counts");
  add(lost_roots_, "root", " leads to no object of the heap dump", " lead to no object of the heap dump");
  // In a dump that lacks something else they may be of any object.
  const bool is_whole = lines.empty() && lost_edges_ == 0;
  add(lost_edges_ + (is_whole ? 0 : unloaded_), "reference", " leads to no object of the heap dump",
      " lead to no object of the heap dump");
  add(broken_, "instance", " has other fields than its class says", " have other fields than their class says");
  if (roots_guessed_)
    lines.push_back("the heap dump has no roots: every object counts as one, retained sizes are guesses");
  return lines;
}

}  // namespace jtrace::coreinspect
