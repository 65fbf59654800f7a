// Bytes of objects that have no content: fields that are nearly always null, and padding.
#include "coreinspect/graph/waste_rules.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kFewInstances = 100, kSmall = 1000;  // instances; part of the heap
constexpr std::uint64_t kNullOf10 = 9;                       // instances of ten in which the field is null

class EmptyFields {
 public:
  explicit EmptyFields(WasteSearch& search) : search_(search), graph_(search.graph), classes_(graph_.classes().size()) {
    for (std::size_t i = 0; i < classes_.size(); ++i)
      if (const GraphClass& its = graph_.classes()[i]; !is_class_of_the_jdk(its.name)) {
        classes_[i].nulls.assign(its.references.size(), 0);
        for (const GraphClass::Reference& each : its.references)
          classes_[i].is_own.push_back(!is_class_of_the_jdk(graph_.classes()[each.declared].name));
      }
  }

  void find() {
    std::uint64_t all = 0;
    each_object([&](std::uint32_t object, Count& count) {
      ++count.objects;
      count.padding += graph_.padding(object);
      all += graph_.bytes(object);
      each_null(object, count, [&](std::size_t field) { ++count.nulls[field]; });
    });
    for (Count& count : classes_) {
      count.pads = count.padding > all / kSmall;
      for (std::uint64_t& nulls : count.nulls)
        if (count.objects < kFewInstances || nulls * 10 < count.objects * kNullOf10) nulls = 0;
    }
    add_findings();
  }

 private:
  struct Count {
    std::uint64_t objects = 0, padding = 0;
    std::vector<std::uint64_t> nulls;  // by reference of the class; of the JDK's classes none
    std::vector<bool> is_own;          // that reference is a field of the program, and not inherited from the JDK
    bool pads = false;
  };
  template <class Visit>
  void each_object(Visit&& visit) {
    for (std::uint32_t i = 0; i < graph_.size(); ++i)
      if (search_.counts(i)) visit(i, classes_[graph_.class_of(i)]);
  }
  template <class Visit>
  void each_null(std::uint32_t object, const Count& count, Visit&& visit) const {
    if (count.nulls.empty()) return;
    const GraphClass& its = graph_.classes()[graph_.class_of(object)];
    const HprofObject record = graph_.record(object);
    if (record.kind != HprofSub::kInstanceDump || record.count != its.bytes) return;
    for (std::size_t i = 0; i < its.references.size(); ++i)
      if (count.is_own[i] && graph_.file().id(record.body + its.references[i].offset) == 0) visit(i);
  }
  // The second pass, for what holds the objects.
  void add_findings() {
    std::map<std::pair<std::uint32_t, std::size_t>, WasteSum> fields;
    std::map<std::uint32_t, WasteSum> padding;
    each_object([&](std::uint32_t object, Count& count) {
      const std::uint32_t its = graph_.class_of(object);
      if (count.pads) padding.try_emplace(its, search_).first->second.add(object, graph_.padding(object));
      each_null(object, count, [&](std::size_t field) {
        if (count.nulls[field] > 0)
          fields.try_emplace({its, field}, search_).first->second.add(object, graph_.shape().reference);
      });
    });
    for (auto& [key, sum] : fields) {
      const GraphClass& its = graph_.classes()[key.first];
      const GraphClass::Reference& reference = its.references[key.second];
      const HprofClass* const declared = graph_.class_record(reference.declared);
      sum.finish("null fields", its.name + "." + graph_.file().text(declared->fields[reference.field].name));
    }
    for (auto& [its, sum] : padding) sum.finish("padding", graph_.classes()[its].name);
  }

  WasteSearch& search_;
  const ObjectGraph& graph_;
  std::vector<Count> classes_;  // by class number
};

}  // namespace

void find_empty_fields(WasteSearch& search) { EmptyFields(search).find(); }

}  // namespace jtrace::coreinspect
