// ObjectGraph: the objects of a heap dump and their references, by dense numbers in the order of their addresses.
//
// Edges are: the reference fields of an instance, the elements of an array, an object's class, and for a class its
// statics, superclass, loader, signers and protection domain; a thread refers to what its frames and JNI locals hold.
// An edge to a class that is itself a root is left out, because it makes no difference. Null, and references to objects
// that are not in the dump, are not edges.
//
// The field `referent` of a Reference holds an object only as strongly as the kind of Reference: each object has the
// Strength of the strongest path from a root. An edge from a weaker object to a stronger one is left out, and so is a
// referent edge to an object that is held more strongly. So the dominator tree of the strongly reachable objects is
// that of the strong edges alone.
//
// A dump does not have sizes. They are computed from the fields and from a HeapShape. It is known for a JVM or a core,
// and so are the real sizes of instances (RealSizes); otherwise it is the largest one with which no two neighbours
// overlap, and a class whose objects have padding (@Contended), or fields of the VM, has larger ones. Ownership: owns
// the dump. Threads: any number. Errors: kMalformed; kRefused for more objects than 2^32 - 2.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "coreinspect/graph/hprof_file.h"
#include "coreinspect/graph/object_index.h"
#include "coreinspect/hprof/heap_dumper.h"

namespace jtrace::coreinspect {

// The layout of objects in the JVM: bytes of a reference, of an instance's header, of an array's header.
struct HeapShape {
  std::uint32_t reference = 4, header = 12, array_header = 16, alignment = 8;
  bool operator==(const HeapShape&) const = default;
};

enum class Strength : std::uint8_t { kStrong, kSoft, kWeak, kFinal, kPhantom, kGarbage };
constexpr std::size_t kStrengths = 6;
std::string_view to_string(Strength strength);

// Whether a class's name, as Java prints it, is that of an array: "int[]".
inline bool is_array_name(std::string_view name) { return name.ends_with("[]"); }

// A class, and the positions of the references in its instances.
struct GraphClass {
  struct Reference {
    std::uint32_t offset = 0;               // in the body of the instance
    std::uint32_t declared = 0, field = 0;  // number of the class that declares it, and of the field in it
    bool referent = false;
  };
  std::uint64_t id = 0;
  std::string name;                      // "java.lang.String", "int[]"
  std::uint32_t object = kNoObject;      // of the java.lang.Class
  std::uint32_t class_edge = kNoObject;  // the same; kNoObject if it is a root, to which edges are left out
  std::vector<Reference> references;     // own fields first, then those of the superclass
  std::uint64_t bytes = 0;               // of the fields, in the dump
  std::uint32_t longest = 0;             // the most bytes that an instance has in the dump
  std::uint32_t record = 0;
  // Numbers of classes: the superclass, and the nearest one that declares fields; kNoObject: none that is known.
  std::uint32_t above = kNoObject, above_with_fields = kNoObject;
  Strength strength = Strength::kStrong;  // of the referents of its instances
  bool is_thread = false;
  std::uint32_t size = 0, injected = 0;  // real bytes of an instance, of these in fields of the VM; 0: not known
  bool sizes_differ = false;             // the real bytes of its instances are known one by one
};

class ObjectGraph {
 public:
  static constexpr std::uint32_t kOwnEdges = 4;  // of a class, before its statics: super, loader, signers, domain

  // `done` of `all` are bytes of the dump. If it returns false, the work ends.
  using Progress = std::function<bool(std::uint64_t done, std::uint64_t all)>;

  // `threads`: of the work on the graph, here and later; the results are the same with any number.
  static Result<std::unique_ptr<ObjectGraph>> build(HprofFile file, std::optional<HeapShape> shape,
                                                    unsigned threads = 1, const RealSizes& sizes = {});

  // If the real sizes are not known: classes whose objects are all so far from the next object that they are larger
  // than their fields need, by `least` bytes or more together.
  std::vector<std::string> undersized_classes(std::uint64_t least) const;
  // For a comparison with a heap dump: sizes are computed, as they are there.
  void forget_real_sizes();

  const HprofFile& file() const { return file_; }
  const HeapShape& shape() const { return shape_; }
  bool shape_is_known() const { return shape_is_known_; }
  std::vector<std::string> missing() const;

  // Whether so many objects have numbers, and room in so many bytes of memory.
  static Result<> check_count(std::uint64_t objects, std::uint64_t free);

  unsigned threads() const { return threads_; }
  std::uint32_t size() const { return index_.size(); }
  std::span<const std::uint32_t> roots() const { return roots_; }
  // The edges of an object, whose record is looked at once. kNoObject: null, or an edge that is left out.
  class EdgeList;
  EdgeList edges_of(std::uint32_t object) const;
  std::uint32_t edges(std::uint32_t object) const;
  std::uint32_t edge(std::uint32_t object, std::uint32_t i) const;
  std::string edge_name(std::uint32_t object, std::uint32_t i) const;  // ".next", "[17]", "<class>", "static LOCK"
  // The number of an edge that leads straight to the other object, of a class a static field if one does; kNoObject:
  // none.
  std::uint32_t find_edge(std::uint32_t from, std::uint32_t to) const;
  // In order; a local is what a frame or a JNI local of the thread holds, the last of its edges: "<local>".
  std::vector<std::uint32_t> threads_with_locals() const;
  // Whether a root is one only because code runs: a lock that is held, or a local whose thread is not known.
  bool is_passing_root(std::uint32_t root) const;
  bool is_system_class(std::uint32_t root) const;

  // kNoObject if there is none.
  std::uint32_t find(std::uint64_t address) const { return index_.find(address); }
  std::uint64_t address(std::uint32_t object) const;
  Strength strength(std::uint32_t object) const { return strength_[object]; }
  bool is_class(std::uint32_t object) const { return place_low_[object] == kClassPlace && place_high_[object] == 0xff; }
  bool is_thread(std::uint32_t object) const { return !is_class(object) && classes_[class_of_[object]].is_thread; }
  // The number of its class in classes(), which also has the arrays of primitives.
  std::uint32_t class_of(std::uint32_t object) const { return class_of_[object]; }
  const std::vector<GraphClass>& classes() const { return classes_; }
  // The record of an instance or array; not of a class.
  HprofObject record(std::uint32_t object) const { return file_.object_at(place(object)); }
  // By class number. Null, or kNoObject, if the dump does not have it.
  const HprofClass* class_record(std::uint32_t class_number) const;
  std::uint32_t superclass(std::uint32_t class_number) const;
  // The class of which this object is the java.lang.Class.
  std::uint32_t class_of_mirror(std::uint32_t object) const;
  // "java.lang.String", or "class Foo" for a class.
  std::string name(std::uint32_t object) const;
  std::uint64_t bytes(std::uint32_t object) const;
  // Those of its bytes that no field or element has: after the last one, and where the real size is known, between
  // them.
  std::uint64_t padding(std::uint32_t object) const;
  // The kind of root that the object is: "thread", "JNI global", ...; "" if it is not a root.
  std::string root_name(std::uint32_t object) const;

 private:
  struct Edge {
    std::uint32_t target = kNoObject;
    Strength by = Strength::kStrong;
    bool lost = false;  // not null, but not an object of the dump
  };
  static constexpr std::uint32_t kClassPlace = 0xffff'ffff;

  ObjectGraph(HprofFile file, ObjectIndex index) : file_(std::move(file)), index_(std::move(index)) {}
  void make_classes();
  void find_superclasses();
  void inherit(GraphClass& by);
  void plan_references();
  void plan_references(GraphClass& of, std::uint64_t most);
  std::uint32_t class_number(std::uint64_t id);
  std::uint32_t primitive_array(std::uint8_t type);
  void place_objects();
  void find_roots();
  void add_kinds(std::vector<std::pair<std::uint32_t, std::uint16_t>> kinds);
  std::uint16_t root_kinds(std::uint32_t object) const;  // 0: no root
  // An Object[] that is a root, as that of the archive (CDS, AOT cache): the JVM's dumps leave out the mirrors of the
  // archive's classes that are not loaded, to which it refers.
  bool is_archive_table(std::uint32_t object) const;
  class Marking;
  void find_strengths();
  void know_sizes(const RealSizes& sizes);
  void guess_shape();
  bool fits(const HeapShape& shape) const;
  std::uint64_t bytes_as(std::uint32_t object, const HeapShape& shape) const;
  std::uint64_t place(std::uint32_t object) const {
    return place_low_[object] | std::uint64_t{place_high_[object]} << 32;
  }
  const HprofClass& record_of(std::uint32_t class_object) const {
    return file_.classes()[classes_[class_by_object_.at(class_object)].record];
  }
  std::uint64_t class_edge_of(const HprofClass& record, std::uint32_t i) const;
  std::span<const std::uint32_t> locals(std::uint32_t thread) const;
  // The object of a reference; kNoObject for null.
  std::uint32_t target(std::uint64_t id) const { return id == 0 ? kNoObject : index_.find(id); }
  Edge edge_to(std::uint64_t id, Strength by = Strength::kStrong) const {
    const std::uint32_t found = target(id);
    return {found, by, id != 0 && found == kNoObject};
  }

  HprofFile file_;
  ObjectIndex index_;
  HeapShape shape_;
  unsigned threads_ = 1;
  bool shape_is_known_ = true;
  std::vector<GraphClass> classes_;
  std::unordered_map<std::uint64_t, std::uint32_t> class_by_id_;
  std::unordered_map<std::uint32_t, std::uint32_t> class_by_object_;
  std::unordered_map<std::uint8_t, std::uint32_t> primitive_arrays_;
  std::vector<std::uint32_t> place_low_;  // 40 bits of the place in the file
  std::vector<std::uint8_t> place_high_;
  std::vector<std::uint32_t> class_of_;
  std::vector<Strength> strength_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> single_sizes_;  // real bytes, in the order of the objects
  std::vector<std::uint32_t> roots_;
  // The kinds of the roots as a mask, in the order of the objects.
  std::vector<std::pair<std::uint32_t, std::uint16_t>> root_kinds_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> locals_;  // of a thread object
  std::uint64_t lost_roots_ = 0, lost_edges_ = 0, broken_ = 0;
  std::uint64_t unloaded_ = 0;  // lost edges of the archive's tables
  bool roots_guessed_ = false;
};

// Edge 0 of an object is its class.
class ObjectGraph::EdgeList {
 public:
  EdgeList(const ObjectGraph& graph, std::uint32_t object) : graph_(graph), strength_(graph.strength_[object]) {
    if (graph.is_class(object)) begin_class(object);
    else begin_object(object);
  }
  std::uint32_t size() const { return count_; }
  bool are_of_thread() const { return its_ != nullptr && its_->is_thread; }
  std::uint32_t size_without_locals() const { return count_ - static_cast<std::uint32_t>(locals_.size()); }
  std::uint32_t operator[](std::uint32_t i) const {
    const Edge found = raw(i);
    if (found.target == kNoObject) return kNoObject;
    return graph_.strength_[found.target] == std::max(strength_, found.by) ? found.target : kNoObject;
  }
  Edge raw(std::uint32_t i) const {
    if (record_ != nullptr) return graph_.edge_to(graph_.class_edge_of(*record_, i));
    if (i == 0) return {its_->class_edge};
    if (is_array_) return graph_.edge_to(graph_.file_.id(body_ + (i - 1ull) * graph_.file_.id_size()));
    if (i > its_->references.size()) return {locals_[i - 1 - its_->references.size()]};
    const GraphClass::Reference& reference = its_->references[i - 1];
    if (reference.offset + graph_.file_.id_size() > length_) return {};  // shorter than its class says
    return graph_.edge_to(graph_.file_.id(body_ + reference.offset),
                          reference.referent ? its_->strength : Strength::kStrong);
  }

 private:
  void begin_class(std::uint32_t object);
  void begin_object(std::uint32_t object) {
    its_ = &graph_.classes_[graph_.class_of_[object]];
    const std::uint64_t place = graph_.place(object);
    count_ = 1;
    const auto kind = static_cast<HprofSub>(graph_.file_.number(place, 1));
    if (kind == HprofSub::kInstanceDump && its_->references.empty() && !its_->is_thread) return;
    if (kind != HprofSub::kInstanceDump && kind != HprofSub::kObjectArrayDump) return;
    const HprofObject record = graph_.file_.object_at(place);
    body_ = record.body;
    length_ = record.count;
    is_array_ = kind == HprofSub::kObjectArrayDump;
    // The last number is kNoObject itself: an array that long has one edge fewer.
    if (is_array_) {
      count_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(record.count + 1, kNoObject));
      return;
    }
    if (its_->is_thread) locals_ = graph_.locals(object);
    count_ = 1 + static_cast<std::uint32_t>(its_->references.size() + locals_.size());
  }

  const ObjectGraph& graph_;
  const GraphClass* its_ = nullptr;
  const HprofClass* record_ = nullptr;  // of a class that has one
  std::span<const std::uint32_t> locals_;
  std::uint64_t body_ = 0, length_ = 0;
  std::uint32_t count_ = 0;
  bool is_array_ = false;
  Strength strength_;
};

inline ObjectGraph::EdgeList ObjectGraph::edges_of(std::uint32_t object) const { return {*this, object}; }
inline std::uint32_t ObjectGraph::edges(std::uint32_t object) const { return edges_of(object).size(); }
inline std::uint32_t ObjectGraph::edge(std::uint32_t object, std::uint32_t i) const { return edges_of(object)[i]; }

}  // namespace jtrace::coreinspect
