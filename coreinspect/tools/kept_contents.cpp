#include "coreinspect/tools/kept_contents.h"

#include <unordered_map>

namespace jtrace::coreinspect {
namespace {

constexpr std::uint8_t kReference = 2;
constexpr int kRounds = 3;              // an array of strings: its elements, their arrays, those
constexpr int kMaxSuperclasses = 1000;  // more are a damaged dump

class KeptContents {
 public:
  KeptContents(const HprofFile& file, const KeptFields& kept) : file_(file), kept_(kept) {
    for (const HprofClass& each : file.classes()) classes_.emplace(each.id, &each);
  }

  Result<std::unordered_set<std::uint64_t>> find() {
    if (const std::string pattern = kept_.unmatched(all_fields()); !pattern.empty())
      return fail(ErrorCategory::kNotFound, "no field is called " + pattern,
                  "refs, strings and waste print fields as CLASS.FIELD");
    for (const auto& [id, record] : classes_) plan(*record);
    file_.each_object([&](const HprofObject& object, std::uint64_t) { add_fields(object); });
    for (int round = 0; round < kRounds && !wanted_.empty(); ++round) follow();
    return std::move(arrays_);
  }

 private:
  std::vector<std::pair<std::string, std::string>> all_fields() const {
    std::vector<std::pair<std::string, std::string>> all;
    for (const HprofClass& each : file_.classes()) {
      const std::string name = file_.class_name(each.id);
      for (const HprofField& field : each.fields) all.emplace_back(name, file_.text(field.name));
      for (const HprofStatic& field : each.statics) all.emplace_back(name, file_.text(field.field.name));
    }
    return all;
  }
  // Where the instances of a class have kept references; its static ones are wanted at once.
  void plan(const HprofClass& of) {
    const std::string own = file_.class_name(of.id);
    for (const HprofStatic& field : of.statics)
      if (field.field.type == kReference && field.value != 0 && kept_.keeps(own, file_.text(field.field.name)))
        wanted_.insert(field.value);
    std::vector<std::uint64_t>& offsets = offsets_[of.id];
    std::uint64_t at = 0, id = of.id;
    for (int steps = 0; id != 0 && steps < kMaxSuperclasses; ++steps) {
      const auto found = classes_.find(id);
      if (found == classes_.end()) return;
      const std::string name = file_.class_name(id);
      for (const HprofField& field : found->second->fields) {
        const std::string text = file_.text(field.name);
        if (field.type == kReference && kept_.keeps(name, text)) offsets.push_back(at);
        if (name == "java.lang.String" && text == "value") value_offsets_[of.id] = at;
        at += file_.field_size(field.type);
      }
      id = found->second->super;
    }
  }
  void want(const HprofObject& object, std::uint64_t offset) {
    if (offset + file_.id_size() > object.count) return;
    if (const std::uint64_t to = file_.id(object.body + offset); to != 0) wanted_.insert(to);
  }
  void add_fields(const HprofObject& object) {
    if (object.kind != HprofSub::kInstanceDump) return;
    const auto found = offsets_.find(object.type_id);
    if (found == offsets_.end()) return;
    for (const std::uint64_t offset : found->second) want(object, offset);
  }
  // From strings to their arrays, and once from arrays of references to their elements.
  void follow() {
    std::unordered_set<std::uint64_t> now;
    now.swap(wanted_);
    file_.each_object([&](const HprofObject& object, std::uint64_t) {
      if (!now.contains(object.id)) return;
      if (object.kind == HprofSub::kPrimitiveArrayDump) arrays_.insert(object.id);
      else if (object.kind == HprofSub::kObjectArrayDump) add_elements(object);
      else if (const auto value = value_offsets_.find(object.type_id); value != value_offsets_.end())
        want(object, value->second);
    });
    passed_arrays_ = true;
  }
  void add_elements(const HprofObject& array) {
    if (passed_arrays_) return;
    for (std::uint64_t i = 0; i < array.count; ++i)
      if (const std::uint64_t to = file_.id(array.body + i * file_.id_size()); to != 0) wanted_.insert(to);
  }

  const HprofFile& file_;
  const KeptFields& kept_;
  std::unordered_map<std::uint64_t, const HprofClass*> classes_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> offsets_;  // by class: of kept references
  std::unordered_map<std::uint64_t, std::uint64_t> value_offsets_;         // of String.value
  std::unordered_set<std::uint64_t> wanted_, arrays_;
  bool passed_arrays_ = false;  // what is wanted now are elements, or arrays of strings
};

}  // namespace

Result<std::unordered_set<std::uint64_t>> find_kept_arrays(const HprofFile& file, const KeptFields& kept) {
  if (kept.empty()) return std::unordered_set<std::uint64_t>();
  return KeptContents(file, kept).find();
}

}  // namespace jtrace::coreinspect
