#include "coreinspect/oops/java_contents.h"

#include <algorithm>

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kMaxNodes = 1u << 22;
constexpr int kMaxTree = 128;
constexpr std::string_view kImmutable = "java.util.ImmutableCollections";

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::size_t JavaContents::count(Address object, std::string_view field) {
  return static_cast<std::size_t>(std::max(number<std::int32_t>(object, field), 0));
}

bool JavaContents::each_of_array(Address array, std::size_t first, std::size_t count,
                                 const std::function<bool(Address)>& take) {
  const auto length = array == 0 ? std::optional<std::uint32_t>(0u) : reader_.length(array);
  if (!length || first > *length || count > *length - first) return false;
  for (std::size_t i = first; i < first + count; ++i) {
    const auto element = reader_.element(array, static_cast<std::uint32_t>(i));
    if (!element) return false;
    if (!take(*element)) return true;
  }
  return true;
}

bool JavaContents::each_of_tree(Address node, int depth, const std::function<bool(Address, Address)>& take) {
  if (node == 0) return true;
  if (depth > kMaxTree) return false;
  return each_of_tree(reference(node, "left"), depth + 1, take) &&
         take(reference(node, "key"), reference(node, "value")) &&
         each_of_tree(reference(node, "right"), depth + 1, take);
}

// ImmutableCollections.SetN and MapN: open addressing; where the iterator begins and which way it goes is chosen once
// per JVM (SALT32L, REVERSE; 10 and later).
bool JavaContents::each_of_hashed(Address object, bool pairs, const std::function<bool(Address, Address)>& take) {
  const Address array = reference(object, pairs ? "table" : "elements");
  const auto length = array == 0 ? std::optional<std::uint32_t>(0u) : reader_.length(array);
  const auto salt = reader_.static_bits(kImmutable, "SALT32L"), reverse = reader_.static_bits(kImmutable, "REVERSE");
  if (!length || !salt || !reverse) return false;
  const std::uint32_t step = pairs ? 2 : 1, buckets = *length / step;
  if (buckets == 0) return true;
  auto at = static_cast<std::uint32_t>(*salt * buckets >> 32) % buckets;
  for (std::uint32_t i = 0; i < buckets; ++i) {
    at = (*reverse & 0xff) != 0 ? (at + 1) % buckets : (at + buckets - 1) % buckets;
    const Address key = reader_.element(array, at * step).value_or(0);
    if (key == 0) continue;
    if (!take(key, pairs ? reader_.element(array, at * step + 1).value_or(0) : 0)) return true;
  }
  return true;
}

// ImmutableCollections.Set12: the order is chosen once per JVM too (REVERSE; before JDK 15 the sign of SALT).
std::optional<bool> JavaContents::is_second_first() {
  if (const auto reverse = reader_.static_bits(kImmutable, "REVERSE")) return (*reverse & 0xff) != 0;
  const auto salt = reader_.static_bits(kImmutable, "SALT");
  return salt ? std::optional(static_cast<std::int32_t>(*salt) >= 0) : std::nullopt;
}

// List12 and Set12: one or two.
bool JavaContents::each_of_two(Address object, bool in_order, const std::function<bool(Address)>& take) {
  const Address first = reference(object, "e0"), second = reference(object, "e1");
  if (second == 0 || second == reader_.static_bits(kImmutable, "EMPTY").value_or(0)) return take(first), true;
  const auto second_first = in_order ? false : is_second_first();
  if (!second_first) return false;
  if (take(*second_first ? second : first)) take(*second_first ? first : second);
  return true;
}

bool JavaContents::each_of_linked(Address first, const std::function<bool(Address)>& take) {
  std::size_t nodes = 0;
  for (Address node = first, next = 0; node != 0 && nodes++ < kMaxNodes; node = next) {
    if (!take(reference(node, "item"))) return true;
    next = reference(node, "next");
    if (next == node) return false;  // it was taken out meanwhile
  }
  return true;
}

bool JavaContents::each_of_ring(Address object, const std::function<bool(Address)>& take) {
  const Address items = reference(object, "items");
  const std::uint32_t length = reader_.length(items).value_or(0);
  const std::size_t first = count(object, "takeIndex"), size = count(object, "count");
  if (length == 0 || first >= length || size > length) return false;
  for (std::size_t i = 0; i < size; ++i)
    if (!take(reader_.element(items, static_cast<std::uint32_t>((first + i) % length)).value_or(0))) return true;
  return true;
}

// EnumMap: a value for each constant of the enum; NULL stands for a value of null.
bool JavaContents::each_of_enums(Address object, const std::function<bool(Address, Address)>& take) {
  const Address keys = reference(object, "keyUniverse"), values = reference(object, "vals");
  const auto length = reader_.length(keys);
  if (!length || reader_.length(values) != length) return false;
  const Address null = reader_.static_bits("java.util.EnumMap", "NULL").value_or(0);
  for (std::uint32_t i = 0; i < *length; ++i) {
    const Address value = reader_.element(values, i).value_or(0);
    if (value == 0) continue;
    if (!take(reader_.element(keys, i).value_or(0), value == null ? 0 : value)) return true;
  }
  return true;
}

bool JavaContents::each_of_deque(Address object, const std::function<bool(Address)>& take) {
  const Address array = reference(object, "elements");
  const std::uint32_t length = reader_.length(array).value_or(0);
  const auto head = static_cast<std::uint32_t>(count(object, "head")),
             tail = static_cast<std::uint32_t>(count(object, "tail"));
  if (length == 0 || head >= length || tail >= length) return false;
  for (std::uint32_t i = head; i != tail; i = (i + 1) % length)
    if (!take(reader_.element(array, i).value_or(0))) return true;
  return true;
}

bool JavaContents::each_element(Address object, const std::function<bool(Address)>& take) {
  const std::string name = reader_.class_of(object);
  const auto whole = [&](Address array) {
    const auto length = array == 0 ? std::optional<std::uint32_t>(0u) : reader_.length(array);
    return length && each_of_array(array, 0, *length, take);
  };
  if (name == "java.util.ArrayList")
    return each_of_array(reference(object, "elementData"), 0, count(object, "size"), take);
  if (is_one_of(name, {"java.util.Vector", "java.util.Stack"}))
    return each_of_array(reference(object, "elementData"), 0, count(object, "elementCount"), take);
  if (is_one_of(name, {"java.util.PriorityQueue", "java.util.concurrent.PriorityBlockingQueue"}))
    return each_of_array(reference(object, "queue"), 0, count(object, "size"), take);
  if (name == "java.util.Arrays$ArrayList") return whole(reference(object, "a"));
  if (name == "java.util.ImmutableCollections$ListN") return whole(reference(object, "elements"));
  if (name == "java.util.concurrent.CopyOnWriteArrayList") return whole(reference(object, "array"));
  if (is_one_of(name, {"java.util.Collections$EmptyList", "java.util.Collections$EmptySet"})) return true;
  if (is_one_of(name, {"java.util.Collections$SingletonList", "java.util.Collections$SingletonSet"}))
    return take(reference(object, "element")), true;
  if (is_one_of(name, {"java.util.LinkedList", "java.util.concurrent.LinkedBlockingDeque"}))
    return each_of_linked(reference(object, "first"), take);
  // The first node is one of which the element was taken already.
  if (is_one_of(name, {"java.util.concurrent.LinkedBlockingQueue", "java.util.concurrent.ConcurrentLinkedQueue"}))
    return each_of_linked(reference(object, "head"), [&](Address item) { return item == 0 || take(item); });
  if (name == "java.util.concurrent.ArrayBlockingQueue") return each_of_ring(object, take);
  if (name == "java.util.ArrayDeque") return each_of_deque(object, take);
  if (name == "java.util.ImmutableCollections$List12") return each_of_two(object, true, take);
  if (name == "java.util.ImmutableCollections$Set12") return each_of_two(object, false, take);
  if (name == "java.util.ImmutableCollections$SetN")
    return each_of_hashed(object, false, [&](Address key, Address) { return take(key); });
  if (name == "java.util.concurrent.CopyOnWriteArraySet") return each_element(reference(object, "al"), take);
  const bool of_map = is_one_of(
      name, {"java.util.HashSet", "java.util.LinkedHashSet", "java.util.concurrent.ConcurrentHashMap$KeySetView"});
  if (of_map || is_one_of(name, {"java.util.TreeSet", "java.util.Collections$SetFromMap"}))
    return each_entry(reference(object, of_map ? "map" : "m"), [&](Address key, Address) { return take(key); });
  if (is_one_of(name, {"java.util.Collections$UnmodifiableList", "java.util.Collections$UnmodifiableRandomAccessList",
                       "java.util.Collections$UnmodifiableCollection", "java.util.Collections$UnmodifiableSet",
                       "java.util.Collections$SynchronizedList", "java.util.Collections$SynchronizedRandomAccessList",
                       "java.util.Collections$SynchronizedCollection", "java.util.Collections$SynchronizedSet"}))
    return each_element(reference(object, "c"), take);
  return false;
}

bool JavaContents::each_of_chain(Address node, std::string_view next, std::string_view value,
                                 const std::function<bool(Address, Address)>& take) {
  std::size_t nodes = 0;
  for (; node != 0 && nodes++ < kMaxNodes; node = reference(node, next))
    if (!take(reference(node, "key"), reference(node, value))) return false;
  return true;
}

bool JavaContents::each_of_table(Address object, const std::string& name,
                                 const std::function<bool(Address, Address)>& take) {
  const bool concurrent = name == "java.util.concurrent.ConcurrentHashMap";
  const bool old = is_one_of(name, {"java.util.Hashtable", "java.util.Properties"});
  if (!concurrent && !old && name != "java.util.HashMap") return false;
  const Address table = reference(object, "table");
  const std::uint32_t length = table == 0 ? 0 : reader_.length(table).value_or(0);
  for (std::uint32_t i = 0; i < length; ++i) {
    Address node = reader_.element(table, old ? length - 1 - i : i).value_or(0);
    if (concurrent && node != 0) {
      const std::string kind = reader_.class_of(node);
      if (kind.ends_with("ForwardingNode") || kind.ends_with("ReservationNode")) return false;  // it is being resized
      if (kind.ends_with("TreeBin")) node = reference(node, "first");
    }
    if (!each_of_chain(node, "next", concurrent ? "val" : "value", take)) return true;
  }
  return true;
}

bool JavaContents::each_entry(Address object, const std::function<bool(Address, Address)>& take) {
  const std::string name = reader_.class_of(object);
  if (name == "java.util.LinkedHashMap") return each_of_chain(reference(object, "head"), "after", "value", take), true;
  if (name == "java.util.TreeMap") return each_of_tree(reference(object, "root"), 0, take), true;
  if (name == "java.util.Collections$EmptyMap") return true;
  if (name == "java.util.Collections$SingletonMap") return take(reference(object, "k"), reference(object, "v")), true;
  if (name == "java.util.ImmutableCollections$Map1")
    return take(reference(object, "k0"), reference(object, "v0")), true;
  if (name == "java.util.ImmutableCollections$MapN") return each_of_hashed(object, true, take);
  if (name == "java.util.EnumMap") return each_of_enums(object, take);
  // From JDK 9 on it has a map of its own; before it is a Hashtable.
  if (name == "java.util.Properties" && reference(object, "map") != 0)
    return each_entry(reference(object, "map"), take);
  if (is_one_of(name, {"java.util.Collections$UnmodifiableMap", "java.util.Collections$SynchronizedMap"}))
    return each_entry(reference(object, "m"), take);
  return each_of_table(object, name, take);
}

std::optional<std::size_t> JavaContents::size(Address object) {
  std::size_t count = 0;
  if (each_element(object, [&](Address) { return ++count, true; })) return count;
  count = 0;
  if (each_entry(object, [&](Address, Address) { return ++count, true; })) return count;
  return std::nullopt;
}

}  // namespace jtrace::coreinspect
