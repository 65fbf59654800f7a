#include "agent/classfile/frame_types.h"

#include <utility>

namespace jtrace::agent::classfile {
namespace {

constexpr std::size_t kDeepest = 1000;  // deepest class hierarchy that is accepted

std::size_t hash_of(std::string_view name) {
  std::size_t hash = 14695981039346656037u;  // FNV-1a
  for (const char each : name) hash = (hash ^ static_cast<unsigned char>(each)) * 1099511628211u;
  return hash;
}

bool is_array(std::string_view name) { return !name.empty() && name.front() == '['; }

}  // namespace

FrameTypes::FrameTypes(const ClassFile& klass, ClassHierarchy& hierarchy, ConstantPool& pool)
    : klass_(klass), hierarchy_(hierarchy), pool_(pool), of_class_(klass.constant_count(), kTypeTop) {
  object_ = object("java/lang/Object");
  this_class_ = object(klass.name());
  for (std::uint32_t i = 1; i < klass.constant_count(); ++i) {
    const auto index = static_cast<std::uint16_t>(i);
    const std::string_view name = klass.class_name(index);
    if (name.empty()) continue;
    of_class_[i] = object(name);
    classes_[payload_of(of_class_[i])].constant = index;
  }
}

std::uint32_t FrameTypes::number_of(std::string_view name) {
  if (2 * classes_.size() >= buckets_.size()) grow_buckets();
  std::size_t at = hash_of(name) & (buckets_.size() - 1);
  for (; buckets_[at] != 0; at = (at + 1) & (buckets_.size() - 1))
    if (name_of(buckets_[at] - 1) == name) return buckets_[at] - 1;
  Class made;
  put_bytes(made.name, name.data(), name.size());
  classes_.push_back(std::move(made));
  buckets_[at] = static_cast<std::uint32_t>(classes_.size());
  return buckets_[at] - 1;
}

void FrameTypes::grow_buckets() {
  buckets_.assign(buckets_.empty() ? 64 : buckets_.size() * 2, 0);
  for (std::uint32_t i = 0; i < classes_.size(); ++i) {
    std::size_t at = hash_of(name_of(i)) & (buckets_.size() - 1);
    while (buckets_[at] != 0) at = (at + 1) & (buckets_.size() - 1);
    buckets_[at] = i + 1;
  }
}

Type FrameTypes::object(std::string_view name) { return kTypeObject | number_of(name) << 8; }

Type FrameTypes::of_descriptor(std::string_view& text) {
  std::size_t size = 0;
  while (size < text.size() && text[size] == '[') ++size;
  if (size == text.size()) return kTypeTop;
  const char kind = text[size];
  if (kind == 'L') {
    size = text.find(';', size);
    if (size == std::string_view::npos) return kTypeTop;
  }
  const std::string_view whole = text.substr(0, ++size);
  text.remove_prefix(size);
  if (is_array(whole)) return object(whole);
  switch (kind) {
    case 'L': return object(whole.substr(1, whole.size() - 2));
    case 'Z':
    case 'B':
    case 'C':
    case 'S':
    case 'I': return kTypeInt;
    case 'J': return kTypeLong;
    case 'F': return kTypeFloat;
    case 'D': return kTypeDouble;
    default: return kTypeTop;
  }
}

Type FrameTypes::array_of_class(std::uint16_t index) {
  if (of_class(index) == kTypeTop) return kTypeTop;
  const std::string_view name = klass_.class_name(index);
  Bytes made;
  put1(made, '[');
  if (!is_array(name)) put1(made, 'L');
  put_bytes(made, name.data(), name.size());
  if (!is_array(name)) put1(made, ';');
  return object({reinterpret_cast<const char*>(made.data()), made.size()});
}

Type FrameTypes::element_of(Type array) {
  if (array == kTypeNull) return kTypeNull;
  if (tag_of(array) != kTypeObject) return kTypeTop;
  const Bytes name = classes_[payload_of(array)].name;  // a copy: of_descriptor() may move it
  std::string_view text(reinterpret_cast<const char*>(name.data()), name.size());
  if (!is_array(text)) return kTypeTop;
  text.remove_prefix(1);
  const Type element = of_descriptor(text);
  return tag_of(element) == kTypeObject ? element : kTypeTop;
}

FrameTypes::Class& FrameTypes::ask(std::uint32_t number) {
  if (classes_[number].asked) return classes_[number];
  classes_[number].asked = true;
  ClassHierarchy::Answer answer;
  if (number == payload_of(this_class_)) answer = {true, klass_.is_interface(), klass_.super_name()};
  else if (number == payload_of(object_)) answer = {true, false, {}};
  else answer = hierarchy_.super_of(name_of(number));
  const std::uint32_t super = !answer.is_known || answer.super.empty() ? 0 : number_of(answer.super) + 1;
  Class& klass = classes_[number];
  klass.is_known = answer.is_known;
  klass.is_interface = answer.is_interface;
  klass.super = super;
  return klass;
}

void FrameTypes::ancestors(std::uint32_t number, std::vector<std::uint32_t>& out) {
  out.clear();
  for (std::uint32_t next = number + 1; next != 0 && out.size() < kDeepest; next = ask(next - 1).super)
    out.push_back(next - 1);
}

Type FrameTypes::merge_classes(std::uint32_t a, std::uint32_t b) {
  if (a == payload_of(object_) || b == payload_of(object_) || ask(a).is_interface || ask(b).is_interface)
    return object_;
  ancestors(a, chain_a_);
  ancestors(b, chain_b_);
  for (const std::uint32_t each : chain_a_)
    for (const std::uint32_t other : chain_b_)
      if (each == other) return kTypeObject | each << 8;
  ++guesses_;
  return object_;
}

// Arrays of references are merged by their elements; other arrays have only java/lang/Object in common.
Type FrameTypes::merge_arrays(std::string_view a, std::string_view b) {
  std::size_t dimensions = 0;
  while (is_array(a) && is_array(b)) {
    a.remove_prefix(1);
    b.remove_prefix(1);
    ++dimensions;
  }
  const auto is_class = [](std::string_view element) { return !element.empty() && element.front() == 'L'; };
  const auto is_primitive = [&](std::string_view element) { return !is_class(element) && !is_array(element); };
  if (is_primitive(a) || is_primitive(b)) --dimensions;
  if (dimensions == 0) return object_;
  Type element = object_;
  if (is_class(a) && is_class(b)) element = merge(of_descriptor(a), of_descriptor(b));
  const Bytes name = classes_[payload_of(element)].name;
  Bytes made(dimensions, std::uint8_t{'['});
  put1(made, 'L');
  put_bytes(made, name.data(), name.size());
  put1(made, ';');
  return object({reinterpret_cast<const char*>(made.data()), made.size()});
}

Type FrameTypes::merge(Type a, Type b) {
  if (a == b) return a;
  const TypeTag tag_a = tag_of(a);
  const TypeTag tag_b = tag_of(b);
  if (tag_a == kTypeNull && tag_b == kTypeObject) return b;
  if (tag_b == kTypeNull && tag_a == kTypeObject) return a;
  if (tag_a != kTypeObject || tag_b != kTypeObject) return kTypeTop;
  const bool array_a = is_array(name_of(payload_of(a)));
  const bool array_b = is_array(name_of(payload_of(b)));
  if (array_a != array_b) return object_;
  if (!array_a) return merge_classes(payload_of(a), payload_of(b));
  const Bytes name_a = classes_[payload_of(a)].name;
  const Bytes name_b = classes_[payload_of(b)].name;
  return merge_arrays({reinterpret_cast<const char*>(name_a.data()), name_a.size()},
                      {reinterpret_cast<const char*>(name_b.data()), name_b.size()});
}

std::uint16_t FrameTypes::constant_of(Type type) {
  const std::uint32_t number = payload_of(type);
  if (classes_[number].constant == 0) classes_[number].constant = pool_.klass(name_of(number));
  return classes_[number].constant;
}

}  // namespace jtrace::agent::classfile
