// ObjectModel: Java objects in the heap: class of an object, fields by name, strings, arrays, handles.
//
// oopDesc, markWord, CompressedOops, CompressedKlassPointers, ZGlobals (HotSpot of JDK 8 to 27). With ZGC a stored
// reference is coloured and is converted; if it is stale, the collector's tables have the object's new place. With JDK
// 11 these tables are not read: there an old copy may be returned. Ownership: borrows. Threads: one at a time. Errors:
// those of the memory; kMalformed for what is not an object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "coreinspect/oops/class_model.h"
#include "coreinspect/oops/oop_coding.h"
#include "coreinspect/oops/z_forwarding.h"

namespace jtrace::coreinspect {

// How the references of a frame are written.
enum class FrameOops : std::uint8_t {
  kPlain,     // as on every stack
  kNarrow,    // in a stack chunk that the collector has rewritten: compressed, in the lower half of the word
  kColoured,  // the same with generational ZGC: as in the fields of objects
};

class ObjectModel {
 public:
  explicit ObjectModel(const ClassModel& classes);

  const ClassModel& classes() const { return classes_; }
  // Decodes the reference of a root or handle (8 bytes) into an address; 0 for null.
  Address from_root(std::uint64_t raw) const {
    return oops_.colour == OopCoding::Colour::kNone ? raw : from_coloured(raw);
  }
  // Decodes a reference in a frame or a lock stack.
  Address from_stack(std::uint64_t raw) const;
  Address from_frame(std::uint64_t raw, FrameOops how) const;
  // The same, for a word that may be a reference: every address that it may mean. With generational ZGC nothing shows
  // whether a frame has been updated since its page's memory was given to other objects.
  std::vector<Address> all_from_stack(std::uint64_t raw) const;
  // Of a stack chunk that the collector has rewritten.
  FrameOops rewritten() const {
    if (oops_.compressed) return FrameOops::kNarrow;
    return oops_.colour == OopCoding::Colour::kShifted ? FrameOops::kColoured : FrameOops::kPlain;
  }
  // False: with JDK 11's ZGC, whose tables are not read.
  bool knows_moved_objects() const { return oops_.colour == OopCoding::Colour::kNone || forwardings_.has_value(); }
  // ZGC: keeps in the VM's cached memory the current meaning of references, for a heap that is copied while its JVM is
  // stopped.
  void keep_moved_objects() const;
  // Decodes a compressed reference; 0 for null.
  Address from_narrow(std::uint32_t narrow) const { return oops_.from_narrow(narrow); }
  // The address that compressed references count from; 0 if there are none.
  Address narrow_base() const { return oops_.compressed ? oops_.base : 0; }
  // The reference in a field or element of an object, compressed or not.
  Result<Address> load(Address slot) const { return load_in(vm_.memory(), slot); }
  // The same, read from `memory`.
  Result<Address> load_in(const target::MemoryReader& memory, Address slot) const;
  // A C++ field that is a reference to an object: the oop itself, or a handle, which points to a slot with the oop.
  struct RootPlace {
    std::uint64_t offset = 0;  // of the field
    bool is_handle = false;
  };
  Result<RootPlace> root_place(std::string_view type, std::string_view name) const;
  // Reads a C++ field that is an oop, or an OopHandle or WeakHandle, which points to a slot with the oop.
  Result<Address> root_field(Address structure, std::string_view type, std::string_view name) const;
  // Where that oop is; 0 if the handle is empty.
  Result<Address> root_slot(Address structure, std::string_view type, std::string_view name) const;

  Result<Address> klass_of(Address object) const { return klass_in(vm_.memory(), object); }
  // The same, of an object whose header is read from `memory`.
  Result<Address> klass_in(const target::MemoryReader& memory, Address object) const;
  Result<Address> klass_of_mirror(Address mirror) const;  // the Klass of a java.lang.Class; 0 for primitives
  Result<Address> reference(Address object, std::string_view field) const;
  template <class T>
  Result<T> value(Address object, std::string_view field) const {
    JTRACE_ASSIGN_OR_RETURN(const Address klass, klass_of(object));
    JTRACE_ASSIGN_OR_RETURN(const JavaField found, classes_.find_field(klass, field));
    return vm_.memory().read<T>(object + found.offset);
  }
  // A java.lang.String as UTF-8, at most `limit` characters; "" for null.
  Result<std::string> text(Address string, std::size_t limit = 1u << 20) const;
  Result<std::uint32_t> text_length(Address string) const;  // String.length()
  Result<std::string> text_field(Address object, std::string_view field) const;

  Result<std::uint32_t> array_length(Address array) const;
  Result<Address> array_base(Address array) const;                    // of element 0
  Result<Address> element(Address array, std::uint32_t index) const;  // of an array of references
  std::uint32_t reference_size() const { return oops_.compressed ? 4 : 8; }
  // How a header encodes the class: for walks over the heap, which decode it themselves.
  bool compact_headers() const { return compact_headers_; }
  bool compressed_classes() const { return compressed_classes_; }
  Address klass_base() const { return klass_base_; }
  std::uint32_t klass_shift() const { return klass_shift_; }
  std::uint32_t mark_klass_shift() const { return mark_klass_shift_; }
  Result<std::uint64_t> mark(Address object) const { return vm_.memory().read<std::uint64_t>(object); }

 private:
  void find_z();
  Address from_coloured(std::uint64_t raw) const;
  bool has_class(Address address) const;  // whether an object seems to begin there
  Result<Address> decode_klass(std::uint32_t narrow) const;

  const ClassModel& classes_;
  const Vm& vm_;
  std::optional<ZVm> z_;                     // only with ZGC
  mutable OopCoding oops_;                   // ZGC's colours change while the JVM runs
  std::optional<ZForwardings> forwardings_;  // none if its tables are not known
  bool compressed_classes_ = true, compact_headers_ = false;
  Address klass_base_ = 0;
  std::uint32_t klass_shift_ = 0, mark_klass_shift_ = 42;
};

}  // namespace jtrace::coreinspect
