#include "coreinspect/graph/object_graph.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "coreinspect/oops/class_model.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kDeepest = 1000;  // superclasses: more are a damaged dump
constexpr std::uint32_t kOwnEdges = 4;  // of a class, before its statics: super, loader, signers, domain

constexpr std::string_view kReference = "java.lang.ref.Reference";
constexpr std::array<std::pair<std::string_view, Strength>, 4> kReferences = {{
    {"java.lang.ref.SoftReference", Strength::kSoft},
    {"java.lang.ref.WeakReference", Strength::kWeak},
    {"java.lang.ref.FinalReference", Strength::kFinal},
    {"java.lang.ref.PhantomReference", Strength::kPhantom},
}};
constexpr std::string_view kPrimitives = "ZCFDBSIJ";  // of the types 4 to 11

constexpr std::uint8_t kLockedMonitor = 0x07;

std::string_view root_text(std::uint8_t kind) {
  switch (kind) {
    case 0x01: return "JNI global";
    case 0x02: return "JNI local";
    case 0x03: return "a frame's local";
    case 0x04: return "native stack";
    case 0x05: return "system class";
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

Result<std::unique_ptr<ObjectGraph>> ObjectGraph::build(HprofFile file, std::optional<HeapShape> shape) {
  ObjectIndex::Range range;
  for (const HprofClass& each : file.classes()) range.add(each.id);
  file.each_object([&](const HprofObject& object, std::uint64_t) { range.add(object.id); });
  if (range.count >= kNoObject - 1)
    return fail(ErrorCategory::kRefused, "the heap dump has " + counted(range.count, "object") + ", more than 2^32");
  ObjectIndex index(range);
  for (const HprofClass& each : file.classes()) index.add(each.id);
  file.each_object([&](const HprofObject& object, std::uint64_t) { index.add(object.id); });
  index.finish();
  std::unique_ptr<ObjectGraph> graph(new ObjectGraph(std::move(file), std::move(index)));
  graph->make_classes();
  graph->place_objects();
  graph->find_roots();
  graph->find_strengths();
  graph->shape_is_known_ = shape.has_value();
  if (shape) graph->shape_ = *shape;
  else graph->guess_shape();
  return graph;
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
  for (GraphClass& each : classes_) plan_references(each);
}

// The fields of an instance stand in the order of its class, its superclass and so on.
void ObjectGraph::plan_references(GraphClass& of) {
  std::uint64_t offset = 0;
  std::size_t depth = 0;
  for (std::uint64_t id = of.id; id != 0 && depth < kDeepest; ++depth) {
    const auto found = class_by_id_.find(id);
    if (found == class_by_id_.end()) break;
    const GraphClass& declared = classes_[found->second];
    const HprofClass& record = file_.classes()[declared.record];
    for (std::uint32_t i = 0; i < record.fields.size(); ++i) {
      const HprofField& field = record.fields[i];
      if (field.type == 2)
        of.references.push_back({.offset = static_cast<std::uint32_t>(offset),
                                 .declared = found->second,
                                 .field = i,
                                 .referent = declared.name == kReference && file_.text(field.name) == "referent"});
      offset += file_.field_size(field.type);
    }
    for (const auto& [name, strength] : kReferences)
      if (declared.name == name && of.strength == Strength::kStrong) of.strength = strength;
    if (declared.name == "java.lang.Thread") of.is_thread = true;
    id = record.super == id ? 0 : record.super;
  }
  of.bytes = offset;
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
  const auto mirror = std::find_if(classes_.begin(), classes_.end(),
                                   [](const GraphClass& each) { return each.name == "java.lang.Class"; });
  std::uint32_t of_classes = static_cast<std::uint32_t>(mirror - classes_.begin());
  if (mirror == classes_.end()) classes_.push_back({.name = "java.lang.Class"});
  for (const auto& [object, number] : class_by_object_) class_of_[object] = of_classes;
  file_.each_object([&](const HprofObject& object, std::uint64_t place) {
    const std::uint32_t at = index_.find(object.id);
    if (at == kNoObject || place_high_[at] != 0xff || class_by_object_.contains(at)) return;  // the first one counts
    place_low_[at] = static_cast<std::uint32_t>(place);
    place_high_[at] = static_cast<std::uint8_t>(place >> 32);
    class_of_[at] = object.type_id != 0 ? class_number(object.type_id) : primitive_array(object.type);
    if (object.kind == HprofSub::kInstanceDump && object.count != classes_[class_of_[at]].bytes) ++broken_;
  });
}

void ObjectGraph::find_roots() {
  std::vector<char> is_root(size(), 0);
  const auto add = [&](std::uint32_t object, std::uint8_t kind) {
    root_kinds_[object].insert(kind);
    is_root[object] = 1;
  };
  for (const HprofRoot& root : file_.roots()) {
    const std::uint32_t object = target(root.object);
    if (object == kNoObject) {
      ++lost_roots_;
      continue;
    }
    const std::uint32_t thread = is_local(root.kind) ? target(file_.thread_object(root.thread)) : kNoObject;
    if (thread != kNoObject && !is_class(thread) && classes_[class_of_[thread]].is_thread)
      locals_[thread].push_back(object);
    else add(object, root.kind);
  }
  // Dumps of jhsdb have no system classes: those of the boot loader are.
  const bool any_class =
      std::any_of(file_.roots().begin(), file_.roots().end(), [](auto& root) { return root.kind == 5; });
  for (const GraphClass& each : classes_)
    if (!any_class && each.object != kNoObject && file_.classes()[each.record].loader == 0) add(each.object, 5);
  roots_guessed_ = root_kinds_.empty() && size() > 0;
  for (std::uint32_t i = 0; i < is_root.size(); ++i)
    if (is_root[i] != 0 || roots_guessed_) roots_.push_back(i);
  for (GraphClass& each : classes_)
    if (each.object != kNoObject && is_root[each.object] != 0) each.class_edge = kNoObject;
}

void ObjectGraph::find_strengths() {
  strength_.assign(size(), Strength::kGarbage);
  std::array<std::vector<std::uint32_t>, kStrengths> next;
  next[0].assign(roots_.begin(), roots_.end());
  std::vector<std::uint32_t> open;
  for (std::size_t now = 0; now + 1 < kStrengths; ++now) {
    const auto meet = [&](std::uint32_t object) {
      if (strength_[object] != Strength::kGarbage) return;
      strength_[object] = static_cast<Strength>(now);
      open.push_back(object);
    };
    for (const std::uint32_t object : next[now]) {
      meet(object);
      while (!open.empty()) {
        const std::uint32_t from = open.back();
        open.pop_back();
        const std::uint32_t count = edges(from);
        for (std::uint32_t i = 0; i < count; ++i) {
          const Edge edge = raw_edge(from, i);
          lost_edges_ += edge.lost ? 1 : 0;
          if (edge.target == kNoObject) continue;
          if (const auto by = static_cast<std::size_t>(edge.by); by > now) next[by].push_back(edge.target);
          else meet(edge.target);
        }
      }
    }
    std::vector<std::uint32_t>().swap(next[now]);
  }
}

std::uint32_t ObjectGraph::edges(std::uint32_t object) const {
  if (is_class(object))
    return class_by_object_.contains(object) ? kOwnEdges + static_cast<std::uint32_t>(record_of(object).statics.size())
                                             : 0;
  const GraphClass& its = classes_[class_of_[object]];
  const std::uint64_t at = place(object);
  switch (static_cast<HprofSub>(file_.number(at, 1))) {
    case HprofSub::kInstanceDump:
      return 1 + static_cast<std::uint32_t>(its.references.size() + (its.is_thread ? locals(object).size() : 0));
    case HprofSub::kObjectArrayDump:
      // The last number is kNoObject itself: an array that long has one edge fewer.
      return static_cast<std::uint32_t>(std::min<std::uint64_t>(file_.object_at(at).count + 1, kNoObject));
    default: return 1;
  }
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

// Edge 0 of an object is its class.
ObjectGraph::Edge ObjectGraph::raw_edge(std::uint32_t object, std::uint32_t i) const {
  if (is_class(object)) return edge_to(class_edge_of(record_of(object), i));
  const GraphClass& its = classes_[class_of_[object]];
  if (i == 0) return {its.class_edge};
  const HprofObject record = file_.object_at(place(object));
  if (record.kind == HprofSub::kObjectArrayDump) return edge_to(file_.id(record.body + (i - 1ull) * file_.id_size()));
  if (i > its.references.size()) return {locals(object)[i - 1 - its.references.size()]};
  const GraphClass::Reference& reference = its.references[i - 1];
  if (reference.offset + file_.id_size() > record.count) return {};  // shorter than its class says
  return edge_to(file_.id(record.body + reference.offset), reference.referent ? its.strength : Strength::kStrong);
}

bool ObjectGraph::is_local_edge(std::uint32_t object, std::uint32_t i) const {
  if (is_class(object) || !classes_[class_of_[object]].is_thread) return false;
  return i >= edges(object) - locals(object).size();
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
  const auto found = root_kinds_.find(object);
  if (found == root_kinds_.end()) return roots_guessed_ ? "no root is known" : "";
  std::string text;
  for (const std::uint8_t kind : found->second) text += (text.empty() ? "" : ", ") + std::string(root_text(kind));
  return text;
}

bool ObjectGraph::is_passing_root(std::uint32_t root) const {
  const auto found = root_kinds_.find(root);
  return found != root_kinds_.end() && std::all_of(found->second.begin(), found->second.end(), [](std::uint8_t kind) {
           return kind == kLockedMonitor || is_local(kind);
         });
}

std::uint64_t ObjectGraph::bytes(std::uint32_t object) const { return bytes_as(object, shape_); }

std::uint64_t ObjectGraph::padding(std::uint32_t object) const {
  HeapShape packed = shape_;
  packed.alignment = 1;
  return bytes(object) - bytes_as(object, packed);
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
  add(lost_edges_, "reference", " leads to no object of the heap dump", " lead to no object of the heap dump");
  add(broken_, "instance", " has other fields than its class says", " have other fields than their class says");
  if (roots_guessed_)
    lines.push_back("the heap dump has no roots: every object counts as one, retained sizes are guesses");
  return lines;
}

}  // namespace jtrace::coreinspect
