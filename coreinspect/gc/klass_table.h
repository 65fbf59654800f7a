// KlassTable: the sizes of each class's instances, for walks over the heap.
//
// Klass::layout_helper (klass.hpp; the meaning of its bits is the same in 8 to 27) and the sizes that stand
// in the objects: of class mirrors (InstanceMirrorKlass) and of the stacks of virtual threads
// (InstanceStackChunkKlass, 21+). A class in no list of the VM (8 lists no arrays) is accepted where it can
// be nothing else: its name is a symbol and its superclasses lead to java.lang.Object. Ownership: borrows
// the models. Threads: any, find() is guarded; the models below it must not be used by others meanwhile.
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
  std::uint32_t index = 0;  // 0, 1, ... in the order of finding
  Kind kind = Kind::kInstance;
  std::uint8_t element_type = 0;  // of a primitive array: BasicType, 4 boolean to 11 long
  std::uint8_t log2_element = 0;
  std::uint32_t base =
      0;                // of an array: bytes before element 0; of another: bytes of an instance, without what follows
  bool filler = false;  // of objects that only fill a hole (jdk.internal.vm.Filler*, 21 and later)
  bool is_array() const { return kind >= Kind::kPrimitiveArray; }
};

class KlassTable {
 public:
  explicit KlassTable(const ObjectModel& objects);

  // Null where this is no class.
  const KlassInfo* find(Address klass);
  // All that were found, by index.
  const KlassInfo& at(std::uint32_t index) const { return infos_[index]; }
  std::size_t size() const { return infos_.size(); }
  const ObjectModel& objects() const { return objects_; }

  // Offsets in bytes from the object of the sizes that stand in it; 0 where not known.
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
  std::unordered_map<Address, const KlassInfo*> by_address_;  // null: no class
  std::deque<KlassInfo> infos_;
  std::uint32_t mirror_size_offset_ = 0, chunk_size_offset_ = 0;
};

}  // namespace jtrace::coreinspect
