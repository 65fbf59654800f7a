// ClassLayouts: the bytes of a dump's record that a field of a class fills, by JVM TI's index of the field.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/jvmpi/bridge.h"
#include "agent/methods/id_map.h"

namespace jtrace::agent::jvmpi {

struct ClassLayout {
  // A field's place among the values of a record; -1: it has none.
  struct Place {
    std::int32_t offset = -1;
    char type = 0;
  };

  jobjectID id = nullptr;
  char element = 0;  // of an array class: first character of its elements' signature; 0: not an array class
  jobjectID element_class = nullptr;
  jobjectID super = nullptr;
  std::vector<jobjectID> interfaces;
  std::vector<Place> instance;  // by field index (jvmtiHeapReferenceInfoField)
  std::uint32_t instance_bytes = 0;
  std::vector<Place> statics;
  std::uint32_t static_bytes = 0;
  // Of the current dump.
  std::uint32_t object_size = 0;  // of an instance that was met
  std::size_t size_at = 0;        // offset in the record of that size; 0: no record
  bool is_reached = false;
};

class ClassLayouts {
 public:
  // `references_only`: values of other types have no place (dump level 1).
  ClassLayouts(Bridge& bridge, JNIEnv* jni, bool references_only)
      : bridge_(bridge), jni_(jni), references_only_(references_only) {}

  // Adds the class and its superclasses.
  void add(jclass klass);
  void add_all_loaded();
  // By tag; null if the class is not known.
  ClassLayout* find(jlong tag) {
    const std::uint32_t at = index_.find(static_cast<std::uint64_t>(tag & ~kTagFlags));
    return at == 0 ? nullptr : &layouts_[at - 1];
  }
  std::vector<ClassLayout>& all() { return layouts_; }

 private:
  struct Field {
    char type;
    bool is_static;
  };
  std::vector<Field> fields_of(jclass klass) const;
  void add_array(jclass klass, ClassLayout& made, char element);
  void add_instance_class(jclass klass, ClassLayout& made);
  void collect_interfaces(jclass klass, std::vector<jobjectID>& found, std::uint32_t& fields) const;
  void place(const std::vector<Field>& fields, std::uint32_t first, bool own, ClassLayout& made) const;
  jobjectID id_of(jobject object) const { return id_of_tag(bridge_.ids.tag(object, kIsClass)); }

  Bridge& bridge_;
  JNIEnv* jni_;
  bool references_only_;
  IdMap index_;
  std::vector<ClassLayout> layouts_;
};

}  // namespace jtrace::agent::jvmpi
