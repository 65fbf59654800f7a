#include "coreinspect/graph/class_referrers.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace jtrace::coreinspect {
namespace {

constexpr const char* kLocal = "<local>";

class Search {
 public:
  Search(const ObjectGraph& graph, const std::vector<char>& is_wanted, const EachHolder& each_holder)
      : graph_(graph), is_wanted_(is_wanted), each_holder_(each_holder) {
    for (const GraphClass& each : graph.classes()) fields_.emplace_back(each.references.size());
  }

  void run() {
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      if (graph_.strength(i) == Strength::kGarbage) continue;
      if (is_wanted_[i] != 0)
        if (const std::string root = graph_.root_name(i); !root.empty()) add({"root", "", root}, i);
      if (graph_.is_class(i)) statics(i);
      else object(i);
    }
  }
  std::vector<ReferrerRow> rows() const {
    std::vector<ReferrerRow> rows;
    for (std::uint32_t number = 0; number < fields_.size(); ++number)
      for (std::size_t i = 0; i < fields_[number].size(); ++i) add_field(rows, number, i);
    for (const auto& [key, count] : others_)
      rows.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), count.references, count.holders});
    std::sort(rows.begin(), rows.end(), [](const ReferrerRow& a, const ReferrerRow& b) {
      if (a.references != b.references) return a.references > b.references;
      return std::tie(a.of, a.field, a.kind) < std::tie(b.of, b.field, b.kind);
    });
    return rows;
  }

 private:
  struct Count {
    std::uint64_t references = 0, holders = 0;
    std::uint32_t last = kNoObject;
    void add(std::uint32_t holder) {
      ++references;
      if (holder != last) ++holders;
      last = holder;
    }
  };
  using Key = std::tuple<std::string, std::string, std::string>;

  bool wants(std::uint64_t id, std::uint32_t holder, Strength by = Strength::kStrong) const {
    const std::uint32_t found = id == 0 ? kNoObject : graph_.find(id);
    if (found == kNoObject || is_wanted_[found] == 0) return false;
    if (each_holder_ && graph_.strength(found) == std::max(graph_.strength(holder), by)) each_holder_(holder, found);
    return true;
  }
  void add(Key key, std::uint32_t holder) { others_[std::move(key)].add(holder); }

  void statics(std::uint32_t object) {
    const std::uint32_t number = graph_.class_of_mirror(object);
    const HprofClass* const record = number == kNoObject ? nullptr : graph_.class_record(number);
    if (record == nullptr) return;
    for (const HprofStatic& each : record->statics)
      if (each.field.type == 2 && wants(each.value, object))
        add({"static", graph_.classes()[number].name, graph_.file().text(each.field.name)}, object);
  }
  void object(std::uint32_t object) {
    const std::uint32_t number = graph_.class_of(object);
    const HprofObject record = graph_.record(object);
    const HprofFile& file = graph_.file();
    if (record.kind == HprofSub::kObjectArrayDump) {
      for (std::uint64_t i = 0; i < record.count; ++i)
        if (wants(file.id(record.body + i * file.id_size()), object))
          add({"elements", graph_.classes()[number].name, ""}, object);
      return;
    }
    if (record.kind != HprofSub::kInstanceDump) return;
    const GraphClass& of = graph_.classes()[number];
    for (std::size_t i = 0; i < of.references.size(); ++i)
      if (of.references[i].offset + file.id_size() <= record.count &&
          wants(file.id(record.body + of.references[i].offset), object,
                of.references[i].referent ? of.strength : Strength::kStrong))
        fields_[number][i].add(object);
    if (of.is_thread) locals(object, of.name);
  }
  void locals(std::uint32_t thread, const std::string& type) {
    for (std::uint32_t i = 0, count = graph_.edges(thread); i < count; ++i) {
      const std::uint32_t to = graph_.edge(thread, i);
      if (to == kNoObject || is_wanted_[to] == 0 || graph_.edge_name(thread, i) != kLocal) continue;
      add({"local", type, ""}, thread);
      if (each_holder_) each_holder_(thread, to);
    }
  }
  void add_field(std::vector<ReferrerRow>& rows, std::uint32_t number, std::size_t i) const {
    const Count& count = fields_[number][i];
    if (count.references == 0) return;
    const GraphClass::Reference& reference = graph_.classes()[number].references[i];
    const HprofClass* const declared = graph_.class_record(reference.declared);
    const bool known = declared != nullptr && reference.field < declared->fields.size();
    rows.push_back({"field", graph_.classes()[number].name,
                    known ? graph_.file().text(declared->fields[reference.field].name) : "?", count.references,
                    count.holders});
  }

  const ObjectGraph& graph_;
  const std::vector<char>& is_wanted_;
  const EachHolder& each_holder_;
  std::vector<std::vector<Count>> fields_;  // by class number, and the number of the reference in it
  std::map<Key, Count> others_;
};

}  // namespace

std::vector<ReferrerRow> find_referrers(const ObjectGraph& graph, const std::vector<char>& is_wanted,
                                        const EachHolder& each_holder) {
  Search search(graph, is_wanted, each_holder);
  search.run();
  return search.rows();
}

}  // namespace jtrace::coreinspect
