// GraphValues: objects of a heap dump as a reader wants them: the text of strings, what collections, boxes and records
// hold, and the fields with such values.
//
// Long texts end in "...", long collections in the number of what is left out, deep nesting in class and address.
// Borrows the graph. Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/graph/graph_objects.h"
#include "coreinspect/hprof/redaction.h"
#include "coreinspect/tools/secrets.h"
#include "coreinspect/tools/shown_contents.h"

namespace jtrace::coreinspect {

struct GraphField {
  std::string name, value, declared_by;
  std::uint64_t reference = 0;  // the address, if it refers to an object that is not masked
  bool refers = false;
};

class GraphValues {
 public:
  GraphValues(const ObjectGraph& graph, bool show_secrets)
      : graph_(graph),
        fields_(graph),
        objects_(graph),
        contents_(objects_),
        mask_(show_secrets),
        redacted_(graph.file().is_redacted()),
        kept_(KeptFields::of_text(graph.file().kept_fields())) {}

  // Of the object at this address: "null", "\"text\"", "java.util.ArrayList @0x1000 (2) [1, 2]", "Shop @0x2000".
  std::string text(std::uint64_t address) { return text(address, 0); }
  // What of it is readable at once, without its class and address; "" for objects with fields only.
  std::string contents(std::uint32_t object);
  // From now on the objects are held by a field whose name marks a secret, or are not.
  void hold_in_secret(bool secret) { in_secret_ = secret && hides(); }
  // Whether there is anything to mask.
  bool hides() const { return !mask_.shows() && (!redacted_ || !kept_.empty()); }
  // Of an instance, those of its class first.
  std::vector<GraphField> fields(std::uint32_t object);
  // The static fields of the class whose java.lang.Class this is.
  std::vector<GraphField> statics(std::uint32_t class_object);
  // Of a collection or a map, the first elements or entries; none of other objects.
  std::optional<ShownContents> entries(std::uint32_t object, std::size_t most);
  // The first elements of an array.
  std::vector<GraphField> elements(std::uint32_t array, std::uint64_t most);
  std::size_t masked() const { return mask_.count(); }

 private:
  std::string text(std::uint64_t address, int depth);
  std::string contents(std::uint32_t object, int depth);
  std::string array(std::uint32_t object, int depth);
  std::string collection(std::uint64_t address, int depth);
  std::string map(std::uint64_t address, int depth);
  std::string record(std::uint32_t object, int depth);
  std::vector<GraphField> fields(std::uint32_t object, int depth);
  std::string value_of(std::uint64_t bits, std::uint8_t type, int depth);
  // A value that has this name, or is in an entry with this key.
  std::string named(std::string_view name, std::uint64_t key, std::uint64_t bits, std::uint8_t type, int depth,
                    bool* masked = nullptr);
  // Element i of an array, whose elements have this type.
  GraphField element(std::uint32_t array, const HprofObject& record, std::uint64_t i, int depth);
  bool is_text(std::uint64_t address);
  bool is_secret_key(std::uint64_t key);

  const ObjectGraph& graph_;
  ObjectFields fields_;
  GraphObjects objects_;
  JavaContents contents_;
  SecretMask mask_;
  const bool redacted_;  // the dump: contents that were removed are shown as kRedacted
  const KeptFields kept_;
  bool in_secret_ = false;  // in a list, a map or an Optional whose name marks a secret
};

}  // namespace jtrace::coreinspect
