// Elements of the JDK's collections, for ObjectText: by the fields of java.util's classes of 8 to 27. Only objects of
// exactly these classes: a subclass may iterate in its own way.
#include <algorithm>

#include "debug/object_text.h"

namespace jtrace::debug {
namespace {

constexpr std::size_t kMaxNodes = 1u << 22;
constexpr int kMaxTree = 128;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string ObjectText::class_of(Address object) {
  const LoadedClass* type = world_.type_of(object);
  return type ? world_.inspection().classes().name(type->klass).value_or("") : "";
}

bool ObjectText::each_of_array(Address array, std::size_t first, std::size_t count,
                               const std::function<bool(Address)>& take) {
  const auto length = array == 0 ? Result<std::uint32_t>(0u) : objects_.array_length(array);
  if (!length || first > *length || count > *length - first) return false;
  for (std::size_t i = first; i < first + count; ++i) {
    const auto element = objects_.element(array, static_cast<std::uint32_t>(i));
    if (!element) return false;
    if (!take(*element)) return true;
  }
  return true;
}

bool ObjectText::each_of_tree(Address node, int depth, const std::function<bool(Address, Address)>& take) {
  if (node == 0) return true;
  if (depth > kMaxTree) return false;
  return each_of_tree(reference(node, "left"), depth + 1, take) &&
         take(reference(node, "key"), reference(node, "value")) &&
         each_of_tree(reference(node, "right"), depth + 1, take);
}

// ImmutableCollections.SetN and MapN: open addressing; where the iterator begins and which way it goes is chosen once
// per JVM (SALT32L, REVERSE; 10 and later).
bool ObjectText::each_of_hashed(Address object, bool pairs, const std::function<bool(Address, Address)>& take) {
  const Address array = reference(object, pairs ? "table" : "elements");
  const auto length = array == 0 ? Result<std::uint32_t>(0u) : objects_.array_length(array);
  const auto holders = world_.classes().by_signature("Ljava/util/ImmutableCollections;");
  if (!length || holders.empty()) return false;
  const Address klass = holders.front()->klass;
  const auto salt = world_.inspection().classes().find_field(klass, "SALT32L");
  const auto reverse = world_.inspection().classes().find_field(klass, "REVERSE");
  const auto mirror = objects_.root_field(klass, "Klass", "_java_mirror");
  if (!salt || !reverse || !mirror) return false;
  const auto& memory = world_.inspection().vm().memory();
  const auto salt_now = memory.read<std::int64_t>(*mirror + salt->offset);
  const auto reverse_now = memory.read<std::uint8_t>(*mirror + reverse->offset);
  if (!salt_now || !reverse_now) return false;
  const std::uint32_t step = pairs ? 2 : 1, buckets = *length / step;
  if (buckets == 0) return true;
  auto at = static_cast<std::uint32_t>(static_cast<std::uint64_t>(*salt_now) * buckets >> 32) % buckets;
  for (std::uint32_t i = 0; i < buckets; ++i) {
    at = *reverse_now != 0 ? (at + 1) % buckets : (at + buckets - 1) % buckets;
    const Address key = objects_.element(array, at * step).value_or(0);
    if (key == 0) continue;
    if (!take(key, pairs ? objects_.element(array, at * step + 1).value_or(0) : 0)) return true;
  }
  return true;
}

bool ObjectText::each_element(Address object, const std::function<bool(Address)>& take) {
  const std::string name = class_of(object);
  const auto count = [&](std::string_view field) {
    return static_cast<std::size_t>(std::max(number<std::int32_t>(object, field), 0));
  };
  const auto whole = [&](Address array) {
    const auto length = array == 0 ? Result<std::uint32_t>(0u) : objects_.array_length(array);
    return length && each_of_array(array, 0, *length, take);
  };
  if (name == "java.util.ArrayList") return each_of_array(reference(object, "elementData"), 0, count("size"), take);
  if (is_one_of(name, {"java.util.Vector", "java.util.Stack"}))
    return each_of_array(reference(object, "elementData"), 0, count("elementCount"), take);
  if (name == "java.util.PriorityQueue") return each_of_array(reference(object, "queue"), 0, count("size"), take);
  if (name == "java.util.Arrays$ArrayList") return whole(reference(object, "a"));
  if (name == "java.util.ImmutableCollections$ListN") return whole(reference(object, "elements"));
  if (name == "java.util.concurrent.CopyOnWriteArrayList") return whole(reference(object, "array"));
  if (is_one_of(name, {"java.util.Collections$EmptyList", "java.util.Collections$EmptySet"})) return true;
  if (is_one_of(name, {"java.util.Collections$SingletonList", "java.util.Collections$SingletonSet"}))
    return take(reference(object, "element")), true;
  if (name == "java.util.LinkedList") {
    std::size_t nodes = 0;
    for (Address node = reference(object, "first"); node != 0 && nodes++ < kMaxNodes; node = reference(node, "next"))
      if (!take(reference(node, "item"))) return true;
    return true;
  }
  if (name == "java.util.ArrayDeque") {
    const Address array = reference(object, "elements");
    const std::uint32_t length = objects_.array_length(array).value_or(0);
    const auto head = static_cast<std::uint32_t>(count("head")), tail = static_cast<std::uint32_t>(count("tail"));
    if (length == 0 || head >= length || tail >= length) return false;
    for (std::uint32_t i = head; i != tail; i = (i + 1) % length)
      if (!take(objects_.element(array, i).value_or(0))) return true;
    return true;
  }
  if (name == "java.util.ImmutableCollections$List12") {
    const Address second = reference(object, "e1");
    const auto holders = world_.classes().by_signature("Ljava/util/ImmutableCollections;");
    const auto field = holders.empty() ? Result<coreinspect::JavaField>(fail(ErrorCategory::kNotFound, ""))
                                       : world_.inspection().classes().find_field(holders.front()->klass, "EMPTY");
    const auto mirror = holders.empty() ? Result<Address>(Address{0})
                                        : objects_.root_field(holders.front()->klass, "Klass", "_java_mirror");
    const Address none = field && mirror ? objects_.load(*mirror + field->offset).value_or(0) : 0;
    if (take(reference(object, "e0")) && second != 0 && second != none) take(second);
    return true;
  }
  if (name == "java.util.ImmutableCollections$SetN")
    return each_of_hashed(object, false, [&](Address key, Address) { return take(key); });
  const bool of_map = is_one_of(name, {"java.util.HashSet", "java.util.LinkedHashSet"});
  if (of_map || name == "java.util.TreeSet")
    return each_entry(reference(object, of_map ? "map" : "m"), [&](Address key, Address) { return take(key); });
  if (is_one_of(name, {"java.util.Collections$UnmodifiableList", "java.util.Collections$UnmodifiableRandomAccessList",
                       "java.util.Collections$UnmodifiableCollection", "java.util.Collections$UnmodifiableSet",
                       "java.util.Collections$SynchronizedList", "java.util.Collections$SynchronizedRandomAccessList",
                       "java.util.Collections$SynchronizedCollection", "java.util.Collections$SynchronizedSet"}))
    return each_element(reference(object, "c"), take);
  return false;
}

bool ObjectText::each_entry(Address object, const std::function<bool(Address, Address)>& take) {
  const std::string name = class_of(object);
  const auto chain = [&](Address node, std::string_view next, std::string_view value) {
    std::size_t nodes = 0;
    for (; node != 0 && nodes++ < kMaxNodes; node = reference(node, next))
      if (!take(reference(node, "key"), reference(node, value))) return false;
    return true;
  };
  if (name == "java.util.LinkedHashMap") return chain(reference(object, "head"), "after", "value"), true;
  if (name == "java.util.TreeMap") return each_of_tree(reference(object, "root"), 0, take), true;
  if (name == "java.util.Collections$EmptyMap") return true;
  if (name == "java.util.Collections$SingletonMap") return take(reference(object, "k"), reference(object, "v")), true;
  if (name == "java.util.ImmutableCollections$Map1")
    return take(reference(object, "k0"), reference(object, "v0")), true;
  if (name == "java.util.ImmutableCollections$MapN") return each_of_hashed(object, true, take);
  if (is_one_of(name, {"java.util.Collections$UnmodifiableMap", "java.util.Collections$SynchronizedMap"}))
    return each_entry(reference(object, "m"), take);
  const bool concurrent = name == "java.util.concurrent.ConcurrentHashMap", old = name == "java.util.Hashtable";
  if (!concurrent && !old && name != "java.util.HashMap") return false;
  const Address table = reference(object, "table");
  const std::uint32_t length = table == 0 ? 0 : objects_.array_length(table).value_or(0);
  for (std::uint32_t i = 0; i < length; ++i) {
    Address node = objects_.element(table, old ? length - 1 - i : i).value_or(0);
    if (concurrent && node != 0) {
      const std::string kind = class_of(node);
      if (kind.ends_with("ForwardingNode") || kind.ends_with("ReservationNode")) return false;  // it is being resized
      if (kind.ends_with("TreeBin")) node = reference(node, "first");
    }
    if (!chain(node, "next", concurrent ? "val" : "value")) return true;
  }
  return true;
}

std::optional<std::size_t> ObjectText::size(Address object) {
  std::size_t count = 0;
  if (each_element(object, [&](Address) { return ++count, true; })) return count;
  count = 0;
  if (each_entry(object, [&](Address, Address) { return ++count, true; })) return count;
  return std::nullopt;
}

}  // namespace jtrace::debug
