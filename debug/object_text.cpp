#include "debug/object_text.h"

#include <algorithm>
#include <cstdio>

#include "base/strings.h"
#include "base/utf8.h"
#include "coreinspect/runtime/java_number.h"
#include "debug/pure_calls.h"

namespace jtrace::debug {
namespace {

using coreinspect::JavaField;

constexpr int kMaxDepth = 8;
constexpr std::size_t kMaxEntries = 1000, kMaxText = 1u << 20;
constexpr std::string_view kToString = "()Ljava/lang/String;";

std::string hex_text(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

std::uint32_t identity_hash(const coreinspect::Inspection& inspection, Address object) {
  const auto mark = inspection.objects().mark(object);
  constexpr std::uint64_t kUnlocked = 1, kBiased = 5;  // markWord.hpp: the hash is here only while it is not locked
  if (!mark || (*mark & 7) == kBiased || (*mark & 3) != kUnlocked) return 0;
  const auto& types = inspection.vm().types();
  auto shift = types.constant("markWord::hash_shift");
  if (!shift) shift = types.constant("markOopDesc::hash_shift");
  const std::int64_t by = shift.value_or(inspection.vm().feature() < 24 ? 8 : 11);
  return static_cast<std::uint32_t>(*mark >> (by & 63) & 0x7fffffff);
}

std::string ObjectText::identity(Address object, const LoadedClass& type) {
  const std::string name = world_.inspection().classes().name(type.klass).value_or("?");
  const auto* hash = find_virtual(world_, type, "hashCode", "()I");
  const bool own = hash != nullptr && hash->class_name == "java.lang.Object";
  const std::uint32_t value = own ? identity_hash(world_.inspection(), object) : 0;
  return name + "@" + (value != 0 ? hex_text(value) : "?");
}

std::string ObjectText::not_run(Address object, const LoadedClass& type) {
  return identity(object, type) + " (not run: read-only target)";
}

std::string ObjectText::text(Address object, int depth) {
  if (object == 0) return "null";
  const LoadedClass* type = world_.type_of(object);
  if (type == nullptr) return "<not available: no object can be read at its address>";
  if (depth > kMaxDepth || left_ == 0) return "...";
  --left_;
  if (type->tag == Tag::kString) return objects_.text(object, kMaxText).value_or("<not available: memory is missing>");
  const auto* method = find_virtual(world_, *type, "toString", kToString);
  if (method == nullptr && !type->is_array()) return not_run(object, *type);
  const std::string holder = type->is_array() ? "java.lang.Object" : method->class_name;
  if (holder == "java.lang.Object") {
    const auto* hash = find_virtual(world_, *type, "hashCode", "()I");
    const bool own = type->is_array() || (hash != nullptr && hash->class_name == "java.lang.Object");
    return own ? identity(object, *type) : not_run(object, *type);
  }
  if (auto known = known_text(object, *type, holder, depth)) return std::move(*known);
  if (method->code_size == 7)
    if (auto record = of_record(object, *type, depth)) return std::move(*record);
  return not_run(object, *type);
}

std::optional<std::string> ObjectText::known_text(Address object, const LoadedClass& type, const std::string& holder,
                                                  int depth) {
  if (holder == "java.lang.Enum") return objects_.text(reference(object, "name")).value_or("?");
  if (holder == "java.lang.Class") {
    const Address klass = objects_.klass_of_mirror(object).value_or(0);
    const LoadedClass* of = world_.classes().find(klass);
    if (of == nullptr) return std::nullopt;
    return (of->kind == TypeKind::kInterface ? "interface " : "class ") +
           (of->is_array() ? of->signature : world_.inspection().classes().name(klass).value_or("?"));
  }
  if (holder == "java.lang.Thread") return of_thread(object);
  if (holder == "java.util.Optional") {
    const Address value = reference(object, "value");
    return value == 0 ? "Optional.empty" : "Optional[" + text(value, depth + 1) + "]";
  }
  if (holder == "java.util.concurrent.atomic.AtomicReference") return text(reference(object, "value"), depth + 1);
  if (holder == "java.util.HashMap$Node" || holder == "java.util.AbstractMap$SimpleImmutableEntry" ||
      holder == "java.util.AbstractMap$SimpleEntry" || holder == "java.util.TreeMap$Entry" ||
      holder == "java.util.KeyValueHolder")
    return text(reference(object, "key"), depth + 1) + "=" + text(reference(object, "value"), depth + 1);
  if (auto value = contents_.value(object, holder)) return value;
  static constexpr std::string_view kCollections[] = {"java.util.AbstractCollection",
                                                      "java.util.AbstractMap",
                                                      "java.util.Vector",
                                                      "java.util.Hashtable",
                                                      "java.util.Collections$",
                                                      "java.util.concurrent.ConcurrentHashMap",
                                                      "java.util.concurrent.CopyOnWriteArrayList"};
  if (type.signature.starts_with("Ljava/util/") &&
      std::any_of(std::begin(kCollections), std::end(kCollections),
                  [&](std::string_view name) { return holder.starts_with(name); })) {
    if (auto list = of_collection(object, depth)) return list;
    return of_map(object, depth);
  }
  return std::nullopt;
}

// Thread[main,5,main]; from 21 on Thread[#1,main,5,main].
std::optional<std::string> ObjectText::of_thread(Address object) {
  const Address in_holder = reference(object, "holder"), holder = in_holder != 0 ? in_holder : object;
  const Address group = reference(holder, "group");
  std::string text = "Thread[";
  if (in_holder != 0) text += "#" + std::to_string(reader_.number<std::int64_t>(object, "tid")) + ",";
  text += objects_.text_field(object, "name").value_or("?") + "," +
          std::to_string(reader_.number<std::int32_t>(holder, "priority"));
  return text + "," + (group != 0 ? objects_.text_field(group, "name").value_or("?") : "") + "]";
}

std::string ObjectText::of_field(Address object, const JavaField& field, int depth) {
  const Address at = object + field.offset;
  const auto& memory = world_.inspection().vm().memory();
  const auto unread = [] { return std::string("<not available: memory is missing>"); };
  const auto as_text = [&](auto value) { return value ? std::to_string(*value) : unread(); };
  switch (field.signature.front()) {
    case 'Z': {
      const auto value = memory.read<std::uint8_t>(at);
      return !value ? unread() : *value != 0 ? "true" : "false";
    }
    case 'B': return as_text(memory.read<std::int8_t>(at));
    case 'S': return as_text(memory.read<std::int16_t>(at));
    case 'I': return as_text(memory.read<std::int32_t>(at));
    case 'J': return as_text(memory.read<std::int64_t>(at));
    case 'C': {
      const auto unit = memory.read<std::uint16_t>(at);
      return unit ? utf8_from_utf16(std::span(&*unit, 1)) : unread();
    }
    case 'F': {
      const auto value = memory.read<float>(at);
      return value ? coreinspect::java_number(*value) : unread();
    }
    case 'D': {
      const auto value = memory.read<double>(at);
      return value ? coreinspect::java_number(*value) : unread();
    }
    default: {
      const auto value = objects_.load(at);
      return value ? text(*value, depth + 1) : unread();
    }
  }
}

// A record whose toString the compiler made: aload_0, invokedynamic, areturn.
std::optional<std::string> ObjectText::of_record(Address object, const LoadedClass& type, int depth) {
  const auto& model = world_.inspection().classes();
  if (model.internal_name(model.super(type.klass).value_or(0)).value_or("") != "java/lang/Record") return std::nullopt;
  const std::string name = model.name(type.klass).value_or("?");
  std::string text;
  for (const auto& [id, field] : world_.classes().fields(type)) {
    if (field->is_static()) continue;
    text += (text.empty() ? "" : ", ") + utf8_from_modified(field->name) + "=" + of_field(object, *field, depth);
  }
  return name.substr(name.find_last_of(".$") + 1) + "[" + text + "]";
}

std::optional<std::string> ObjectText::of_collection(Address object, int depth) {
  std::string list;
  std::size_t count = 0;
  const bool known = contents_.each_element(object, [&](Address element) {
    if (count > 0) list += ", ";
    if (++count > kMaxEntries || list.size() > kMaxText) return list += "...", false;
    list += element == object ? "(this Collection)" : text(element, depth + 1);
    return true;
  });
  if (!known) return std::nullopt;
  return "[" + list + "]";
}

std::optional<std::string> ObjectText::of_map(Address object, int depth) {
  std::string list;
  std::size_t count = 0;
  const bool known = contents_.each_entry(object, [&](Address key, Address value) {
    if (count > 0) list += ", ";
    if (++count > kMaxEntries || list.size() > kMaxText) return list += "...", false;
    const auto part = [&](Address of) { return of == object ? std::string("(this Map)") : text(of, depth + 1); };
    list += part(key) + "=" + part(value);
    return true;
  });
  if (!known) return std::nullopt;
  return "{" + list + "}";
}

}  // namespace jtrace::debug
