#include "coreinspect/oops/object_model.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "base/utf8.h"
#include "coreinspect/oops/compact_header.h"

namespace jtrace::coreinspect {
namespace {

// Static variables were renamed twice; the first name that exists is used.
template <class T>
T first_static(const Vm& vm, std::initializer_list<std::pair<std::string_view, std::string_view>> names) {
  for (const auto& [type, name] : names)
    if (auto value = vm.read_static<T>(type, name)) return *value;
  return T{};
}

}  // namespace

ObjectModel::ObjectModel(const ClassModel& classes) : classes_(classes), vm_(classes.vm()) {
  oops_.compressed = vm_.flag_is_true("UseCompressedOops");
  compact_headers_ = vm_.flag_is_true("UseCompactObjectHeaders");
  if (const VmFlag* flag = vm_.flag("UseCompressedClassPointers")) compressed_classes_ = flag->value == "true";
  oops_.base = first_static<Address>(
      vm_, {{"CompressedOops", "_base"}, {"CompressedOops", "_narrow_oop._base"}, {"Universe", "_narrow_oop._base"}});
  oops_.shift = first_static<std::uint32_t>(
      vm_,
      {{"CompressedOops", "_shift"}, {"CompressedOops", "_narrow_oop._shift"}, {"Universe", "_narrow_oop._shift"}});
  klass_base_ = first_static<Address>(vm_, {{"CompressedKlassPointers", "_base"},
                                            {"CompressedKlassPointers", "_narrow_klass._base"},
                                            {"Universe", "_narrow_klass._base"}});
  klass_shift_ = first_static<std::uint32_t>(vm_, {{"CompressedKlassPointers", "_shift"},
                                                   {"CompressedKlassPointers", "_narrow_klass._shift"},
                                                   {"Universe", "_narrow_klass._shift"}});
  if (const auto shift = vm_.types().constant("markWord::klass_shift"))
    mark_klass_shift_ = static_cast<std::uint32_t>(*shift);
  if (vm_.collector() == "Z") find_z();
}

void ObjectModel::find_z() {
  const auto z = ZVm::open(vm_);
  if (!z) return;
  oops_.z_offset_mask = z->offset_mask();
  oops_.z_good_mask = z->good_mask();
  oops_.z_pointer_shift = vm_.quirks().machine.z_pointer_shift;
  oops_.colour = z->generational() ? OopCoding::Colour::kShifted : OopCoding::Colour::kMasked;
  z_ = *z;
  if (ZForwardings forwardings(*z); forwardings.known()) forwardings_ = forwardings;
}

Address ObjectModel::from_coloured(std::uint64_t raw) const {
  if (raw == 0) return 0;
  oops_.z_good_mask = z_->good_mask();
  const Address address = oops_.from_root(raw);
  const OopCoding::Staleness staleness = oops_.staleness(raw);
  if (address == 0 || staleness == OopCoding::Staleness::kNone || !forwardings_) return address;
  const std::uint64_t offset = oops_.z_offset(address);
  using Generation = ZForwardings::Generation;
  Generation generation = staleness == OopCoding::Staleness::kYoung ? Generation::kYoung : Generation::kOld;
  if (staleness == OopCoding::Staleness::kEither && forwardings_->covers(Generation::kYoung, offset))
    generation = Generation::kYoung;
  const auto moved = forwardings_->moved_to(generation, offset);
  return moved ? oops_.at_z_offset(*moved) : address;
}

void ObjectModel::keep_moved_objects() const {
  CachedMemory* const memory = vm_.cached_memory();
  if (memory == nullptr || !forwardings_) return;
  std::vector<std::byte> mask(8);
  if (vm_.memory().read_exactly(z_->good_mask_place(), mask)) memory->overlay(z_->good_mask_place(), std::move(mask));
  forwardings_->keep(*memory);
}

// In generational ZGC references in frames have no colours. Those of frames that last ran before a relocation are
// updated later. If another page has taken the place since, an address at which no object begins is such a reference.
Address ObjectModel::from_stack(std::uint64_t raw) const {
  if (oops_.colour != OopCoding::Colour::kShifted) return from_root(raw);
  const Address address = oops_.from_stack(raw);
  if (address == 0 || !forwardings_) return address;
  if (const auto moved = forwardings_->moved_from_page(oops_.z_offset(address))) return oops_.at_z_offset(*moved);
  const std::vector<Address> places = all_from_stack(address);
  if (places.size() == 1) return address;
  const auto object = std::find_if(places.begin(), places.end(), [&](Address at) { return has_class(at); });
  return object == places.end() ? address : *object;
}

bool ObjectModel::has_class(Address address) const {
  const auto klass = klass_of(address);
  return klass && classes_.internal_name(*klass);
}

std::vector<Address> ObjectModel::all_from_stack(std::uint64_t raw) const {
  if (oops_.colour != OopCoding::Colour::kShifted) return {from_root(raw)};
  std::vector<Address> all = {raw};
  const std::uint64_t offset = oops_.z_offset(raw);
  if (!forwardings_ || oops_.at_z_offset(offset) != raw) return all;  // not an address in the heap
  for (const std::uint64_t place : forwardings_->new_places(offset)) all.push_back(oops_.at_z_offset(place));
  return all;
}

Address ObjectModel::from_frame(std::uint64_t raw, FrameOops how) const {
  switch (how) {
    case FrameOops::kNarrow: return from_narrow(static_cast<std::uint32_t>(raw));
    case FrameOops::kColoured: return from_root(raw);
    case FrameOops::kPlain: break;
  }
  return from_stack(raw);
}

Result<Address> ObjectModel::load_in(const target::MemoryReader& memory, Address slot) const {
  if (!oops_.compressed) {
    JTRACE_ASSIGN_OR_RETURN(const auto raw, memory.read<std::uint64_t>(slot));
    return from_root(raw);
  }
  JTRACE_ASSIGN_OR_RETURN(const auto narrow, memory.read<std::uint32_t>(slot));
  return from_narrow(narrow);
}

Result<ObjectModel::RootPlace> ObjectModel::root_place(std::string_view type, std::string_view name) const {
  const TypeField* field = vm_.types().field(type, name);
  if (!field || field->is_static) return fail(Vm::no_field(type, name));
  // For some fields the table has no type (ObjectMonitor::_object): they are handles from JDK 17 on.
  const bool is_handle = field->type_string.empty() ? vm_.quirks().untyped_roots_are_handles
                                                    : field->type_string.find("Handle") != std::string::npos;
  return RootPlace{.offset = field->offset, .is_handle = is_handle};
}

Result<Address> ObjectModel::root_slot(Address structure, std::string_view type, std::string_view name) const {
  JTRACE_ASSIGN_OR_RETURN(const RootPlace place, root_place(type, name));
  const Address slot = structure + place.offset;
  return place.is_handle ? vm_.memory().read<Address>(slot) : slot;
}

Result<Address> ObjectModel::root_field(Address structure, std::string_view type, std::string_view name) const {
  JTRACE_ASSIGN_OR_RETURN(const Address slot, root_slot(structure, type, name));
  if (slot == 0) return Address{0};
  vm_.note_root(slot);
  JTRACE_ASSIGN_OR_RETURN(const Address value, vm_.memory().read<Address>(slot));
  return from_root(value);
}

Result<Address> ObjectModel::decode_klass(std::uint32_t narrow) const {
  if (narrow == 0) return fail(malformed("an object without a class", 0));
  return klass_base_ + (Address{narrow} << (klass_shift_ & 63));
}

Result<Address> ObjectModel::klass_in(const target::MemoryReader& memory, Address object) const {
  if (object == 0 || object % 8 != 0) return fail(malformed("not an object", object));
  if (compact_headers_) {
    JTRACE_ASSIGN_OR_RETURN(const auto word, compact_header(memory, object));
    return decode_klass(static_cast<std::uint32_t>(word >> (mark_klass_shift_ & 63)));
  }
  if (compressed_classes_) {
    JTRACE_ASSIGN_OR_RETURN(const auto narrow, memory.read<std::uint32_t>(object + 8));
    return decode_klass(narrow);
  }
  return memory.read<Address>(object + 8);
}

Result<Address> ObjectModel::klass_of_mirror(Address mirror) const {
  JTRACE_ASSIGN_OR_RETURN(const auto offset, vm_.read_static<std::int32_t>("java_lang_Class", "_klass_offset"));
  if (mirror == 0 || offset <= 0) return fail(malformed("not a class object", mirror));
  return vm_.memory().read<Address>(mirror + static_cast<std::uint32_t>(offset));
}

Result<Address> ObjectModel::reference(Address object, std::string_view field) const {
  JTRACE_ASSIGN_OR_RETURN(const Address klass, klass_of(object));
  JTRACE_ASSIGN_OR_RETURN(const JavaField found, classes_.find_field(klass, field));
  return load(object + found.offset);
}

Result<std::uint32_t> ObjectModel::array_length(Address array) const {
  const Address at = array + (compact_headers_ ? 8 : compressed_classes_ ? 12 : 16);
  JTRACE_ASSIGN_OR_RETURN(const auto length, vm_.memory().read<std::int32_t>(at));
  if (length < 0) return fail(malformed("an array of negative length", array));
  return static_cast<std::uint32_t>(length);
}

Result<Address> ObjectModel::array_base(Address array) const {
  JTRACE_ASSIGN_OR_RETURN(const Address klass, klass_of(array));
  JTRACE_ASSIGN_OR_RETURN(const auto helper, classes_.layout_helper(klass));
  if (helper >= 0) return fail(malformed("not an array", array));
  return array + (static_cast<std::uint32_t>(helper) >> 16 & 0xff);
}

Result<Address> ObjectModel::element(Address array, std::uint32_t index) const {
  JTRACE_ASSIGN_OR_RETURN(const Address base, array_base(array));
  return load(base + Address{index} * reference_size());
}

// char[] in JDK 8; byte[] with `coder` (0 Latin-1, 1 UTF-16) from 9 on.
Result<std::string> ObjectModel::text(Address string, std::size_t limit) const {
  if (string == 0) return std::string();
  JTRACE_ASSIGN_OR_RETURN(const Address array, reference(string, "value"));
  if (array == 0) return std::string();
  JTRACE_ASSIGN_OR_RETURN(const auto length, array_length(array));
  JTRACE_ASSIGN_OR_RETURN(const Address base, array_base(array));
  const auto coder = vm_.feature() < 9 ? Result<std::uint8_t>(1) : value<std::uint8_t>(string, "coder");
  if (!coder) return fail(coder.error());
  const bool is_utf16 = *coder != 0;
  const std::size_t units = is_utf16 && vm_.feature() >= 9 ? length / 2 : length;
  std::vector<std::byte> bytes(std::min(units, limit) * (is_utf16 ? 2 : 1));
  JTRACE_RETURN_IF_ERROR(vm_.memory().read_exactly(base, bytes));
  return utf8_from_java(bytes, is_utf16);
}

Result<std::uint32_t> ObjectModel::text_length(Address string) const {
  JTRACE_ASSIGN_OR_RETURN(const Address array, reference(string, "value"));
  if (array == 0) return 0u;
  JTRACE_ASSIGN_OR_RETURN(const auto length, array_length(array));
  if (vm_.feature() < 9) return length;
  JTRACE_ASSIGN_OR_RETURN(const auto coder, value<std::uint8_t>(string, "coder"));
  return coder != 0 ? length / 2 : length;
}

Result<std::string> ObjectModel::text_field(Address object, std::string_view field) const {
  JTRACE_ASSIGN_OR_RETURN(const Address string, reference(object, field));
  return text(string);
}

}  // namespace jtrace::coreinspect
