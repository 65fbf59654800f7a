// KlassTable: the instance sizes of classes, for walks over the heap.
//
// From Klass::layout_helper (klass.hpp; its bits have the same meaning in JDK 8 to 27), and from sizes that are fields
// of the objects: of class mirrors (InstanceMirrorKlass) and of the stacks of virtual threads (InstanceStackChunkKlass,
// JDK 21 and later). A class that is in no list of the VM (JDK 8 lists no arrays) is accepted if its name is a symbol
// and its superclasses lead to java.lang.Object. Ownership: borrows the models. Threads: any, find() is guarded; in the
// meantime no other code may use the models.
#pragma once

#include <deque>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "coreinspect/oops/object_model.h"

namespace jtrace::coreinspect {

struct KlassInfo {
  enum class Kind : std::uint8_t { kInstance, kMirror, kStackChunk, kPrimitiveArray, kObjectArray };
  Address klass = 0;
  std::uint32_t index = 0;  // 0, 1, ... in the order in which they were found
  Kind kind = Kind::kInstance;
  std::uint8_t element_type = 0;  // of a primitive array: BasicType, 4 boolean to 11 long
  std::uint8_t log2_element = 0;
  std::uint32_t base = 0;  // array: bytes before element 0; otherwise: bytes of an instance, without variable parts
  bool filler = false;     // its objects only fill a hole (jdk.internal.vm.Filler*, JDK 21 and later)
  bool is_array() const { return kind >= Kind::kPrimitiveArray; }
};

class KlassTable {
 public:
  explicit KlassTable(const ObjectModel& objects);

  // Null if this is not a class.
  const KlassInfo* find(Address klass);
  // The classes that were found, by index.
  const KlassInfo& at(std::uint32_t index) const { return infos_[index]; }
  std::size_t size() const { return infos_.size(); }
  const ObjectModel& objects() const { return objects_; }

  // Offsets in bytes of the fields with an object's size; 0 if not known.
  std::uint32_t mirror_size_offset() const { return mirror_size_offset_; }  // int, in words
  std::uint32_t chunk_size_offset() const { return chunk_size_offset_; }    // int, in words

 private:
  const KlassInfo* make(Address klass);
  bool is_plausible(Address klass) const;
  void describe(const std::string& name, std::int32_t helper, KlassInfo& info);

  const ObjectModel& objects_;
  const ClassModel& classes_;
  std::mutex mutex_;
  std::unordered_set<Address> listed_;
  std::unordered_map<Address, const KlassInfo*> by_address_;  // null: not a class
  std::deque<KlassInfo> infos_;
  std::uint32_t mirror_size_offset_ = 0, chunk_size_offset_ = 0;
};

}  // namespace jtrace::coreinspect
