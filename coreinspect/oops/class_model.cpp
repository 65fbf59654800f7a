#include "coreinspect/oops/class_model.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/primitive_types.h"
#include "base/strings.h"
#include "coreinspect/vm/unsigned5.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint32_t kMaxArray = 1u << 24;
constexpr std::size_t kMaxClasses = 4u << 20;

std::string primitive_name(char letter) {
  const PrimitiveType* type = primitive_of(letter);
  return type != nullptr ? std::string(type->name()) : std::string(1, letter);
}

std::string dotted(std::string_view internal) {
  std::string text = utf8_from_modified(internal);
  std::replace(text.begin(), text.end(), '/', '.');
  return text;
}

// The name of a hidden class ends in "+0x..." (internal form) or "/0x...". Java prints it with the slash.
std::size_t hidden_suffix(std::string_view internal) {
  const std::size_t at = std::min(internal.rfind("/0x"), internal.rfind("+0x"));
  return at == internal.npos || internal.find('/', at + 1) != internal.npos ? internal.npos : at;
}

}  // namespace

std::string java_class_name(std::string_view internal) {
  const std::size_t dimensions = std::min(internal.find_first_not_of('['), internal.size());
  std::string_view element = internal.substr(dimensions);
  std::string text;
  if (dimensions > 0 && element.size() == 1) text = primitive_name(element.front());
  else {
    if (dimensions > 0 && element.starts_with('L') && element.ends_with(';')) {
      element.remove_prefix(1);
      element.remove_suffix(1);
    }
    const std::size_t hidden = hidden_suffix(element);
    text = dotted(element.substr(0, hidden));
    if (hidden != element.npos) text.append("/").append(element.substr(hidden + 1));
  }
  for (std::size_t i = 0; i < dimensions; ++i) text += "[]";
  return text;
}

ClassModel::ClassModel(const Vm& vm) : vm_(vm) {
  pool_size_ = vm.types().size_of("ConstantPool").value_or(0);
  array_length_ = vm.types().offset("Array<Klass*>", "_length").value_or(0);
}

Result<std::string> ClassModel::symbol(Address at) const {
  const auto length_at = vm_.types().offset("Symbol", "_length");
  const auto body = vm_.types().offset("Symbol", "_body");
  if (!length_at || !body) return fail(Vm::no_field("Symbol", "_body"));
  if (at == 0) return fail(malformed("a null symbol", at));
  JTRACE_ASSIGN_OR_RETURN(const auto length, vm_.memory().read<std::uint16_t>(at + *length_at));
  std::string text(length, '\0');
  JTRACE_RETURN_IF_ERROR(vm_.memory().read_exactly(at + *body, std::as_writable_bytes(std::span(text))));
  return text;
}

Result<std::string> ClassModel::internal_name(Address klass) const {
  const auto known = names_.find(klass);
  if (known != names_.end()) return known->second;
  if (klass == 0 || klass % 8 != 0) return fail(malformed("not a class", klass));
  JTRACE_ASSIGN_OR_RETURN(const Address at, vm_.read_pointer(klass, "Klass", "_name"));
  JTRACE_ASSIGN_OR_RETURN(std::string text, symbol(at));
  if (text.empty()) return fail(malformed("a class without a name", klass));
  return names_.emplace(klass, std::move(text)).first->second;
}

Result<std::string> ClassModel::name(Address klass) const {
  JTRACE_ASSIGN_OR_RETURN(const std::string internal, internal_name(klass));
  return java_class_name(internal) + suffix_before_hidden_classes(klass, internal);
}

bool ClassModel::is_hidden_in_jdk8(Address klass, std::string_view internal) const {
  if (internal.starts_with('[')) return false;
  if (internal.find("$$Lambda$") != internal.npos) return true;
  if (!internal.starts_with("java/lang/invoke/LambdaForm$")) return false;
  const auto above = super(klass);
  const auto own = loader_data(klass), ordinary = above ? loader_data(*above) : above;
  return own && ordinary && *own != *ordinary;
}

// From JDK 15 on the names of hidden classes have a suffix. Before, InstanceKlass::external_name added it when a name
// was printed: from JDK 9 on the class's address, in JDK 8 the identity hash of its mirror if it has one. JDK 8 does
// not export the mark of these classes: those of lambdas are recognised by name, those of method handles by their
// loader data: an ordinary class of java.lang.invoke shares that of java.lang.Object. Arrays have no suffix.
std::string ClassModel::suffix_before_hidden_classes(Address klass, std::string_view internal) const {
  if (vm_.feature() >= 15) return {};
  char text[32] = "";
  if (vm_.feature() >= 9) {
    const auto data = loader_data(klass);
    const auto anonymous = data ? vm_.read_field<std::uint8_t>(*data, "ClassLoaderData", "_is_anonymous")
                                : Result<std::uint8_t>(std::uint8_t{0});
    if (anonymous && *anonymous != 0)
      std::snprintf(text, sizeof text, "/0x%016llx", static_cast<unsigned long long>(klass));
    return text;
  }
  if (!is_hidden_in_jdk8(klass, internal)) return {};
  const auto mirror = vm_.read_pointer(klass, "Klass", "_java_mirror");
  const auto mark = mirror ? vm_.memory().read<std::uint64_t>(*mirror) : Result<std::uint64_t>(std::uint64_t{0});
  if (!mark || (*mark & 7) != 1) return {};                               // locked or biased: the mark word has no hash
  const auto hash = static_cast<std::uint32_t>(*mark >> 8 & 0x7fffffff);  // markOopDesc::hash_shift, hash_mask
  return hash == 0 ? "" : "/" + std::to_string(hash);
}

Result<Address> ClassModel::super(Address klass) const { return vm_.read_pointer(klass, "Klass", "_super"); }

Result<std::int32_t> ClassModel::layout_helper(Address klass) const {
  return vm_.read_field<std::int32_t>(klass, "Klass", "_layout_helper");
}

bool ClassModel::is_instance_class(Address klass) const {
  const auto helper = layout_helper(klass);
  return helper && *helper >= 0;
}

Result<Address> ClassModel::constants(Address klass) const {
  return vm_.read_pointer(klass, "InstanceKlass", "_constants");
}

Result<std::string> ClassModel::constant_symbol(Address pool, std::uint32_t index) const {
  JTRACE_ASSIGN_OR_RETURN(const auto length, vm_.read_field<std::int32_t>(pool, "ConstantPool", "_length"));
  if (index == 0 || length < 0 || index >= static_cast<std::uint32_t>(length))
    return fail(malformed("constant " + std::to_string(index) + " of " + std::to_string(length), pool));
  JTRACE_ASSIGN_OR_RETURN(const Address at, vm_.memory().read<Address>(pool + pool_size_ + Address{index} * 8));
  return symbol(at);
}

Result<std::uint32_t> ClassModel::array_length(Address array) const {
  JTRACE_ASSIGN_OR_RETURN(const auto length, vm_.memory().read<std::uint32_t>(array + array_length_));
  if (length > kMaxArray) return fail(malformed("an array of " + counted(length, "element"), array));
  return length;
}

Result<Address> ClassModel::array_data(Address array, std::string_view type) const {
  const auto data = vm_.types().offset(type, "_data");
  if (!data) return fail(Vm::no_field(type, "_data"));
  return array + *data;
}

Result<std::vector<Address>> ClassModel::methods(Address klass) const {
  JTRACE_ASSIGN_OR_RETURN(const Address array, vm_.read_pointer(klass, "InstanceKlass", "_methods"));
  if (array == 0) return std::vector<Address>();
  JTRACE_ASSIGN_OR_RETURN(const auto length, array_length(array));
  JTRACE_ASSIGN_OR_RETURN(const Address data, array_data(array, "Array<Method*>"));
  if (length > 65536) return fail(malformed("a class of " + counted(length, "method"), klass));
  std::vector<Address> methods(length);
  JTRACE_RETURN_IF_ERROR(vm_.memory().read_exactly(data, std::as_writable_bytes(std::span(methods))));
  return methods;
}

Result<const std::vector<JavaField>*> ClassModel::fields(Address klass) const {
  const auto known = fields_.find(klass);
  if (known != fields_.end()) return &known->second;
  JTRACE_ASSIGN_OR_RETURN(auto fields, read_fields(klass));
  return &fields_.emplace(klass, std::move(fields)).first->second;
}

Result<std::vector<JavaField>> ClassModel::read_fields(Address klass) const {
  return vm_.types().has("InstanceKlass", "_fieldinfo_stream") ? read_field_stream(klass) : read_field_array(klass);
}

Result<std::string> ClassModel::injected_name(std::uint32_t index) const {
  auto table = vm_.types().variable("Symbol", "_vm_symbols[0]");
  if (!table) table = vm_.types().variable("vmSymbols", "_symbols[0]");
  if (!table) return std::string("?");
  JTRACE_ASSIGN_OR_RETURN(const Address at, vm_.memory().read<Address>(*table + Address{index} * 8));
  return symbol(at);
}

// After the entries of all fields, injected ones included, comes one index for each field with a generic signature
// (FieldStreamBase of fieldStreams.hpp). So the number of entries depends on how many fields have one.
void ClassModel::add_generic_signatures(const std::vector<std::uint16_t>& words, std::vector<JavaField>& fields) {
  constexpr std::uint32_t kHasGenericSignature = 0x0800;  // JVM_ACC_FIELD_HAS_GENERIC_SIGNATURE, accessFlags.hpp
  std::size_t end = words.size();
  for (std::size_t i = 0; i * 6 < end; ++i)
    if ((words[i * 6] & kHasGenericSignature) != 0) --end;
  for (JavaField& field : fields)
    if ((field.access & kHasGenericSignature) != 0 && end < words.size()) field.generic_signature = words[end++];
}

Result<std::vector<JavaField>> ClassModel::read_field_array(Address klass) const {
  struct Entry {  // FieldInfo::FieldOffset (fieldInfo.hpp of JDK 8 to 17)
    std::uint16_t access, name, signature, initial, low, high;
  };
  JTRACE_ASSIGN_OR_RETURN(const Address array, vm_.read_pointer(klass, "InstanceKlass", "_fields"));
  JTRACE_ASSIGN_OR_RETURN(const Address pool, constants(klass));
  JTRACE_ASSIGN_OR_RETURN(const auto declared,
                          vm_.read_field<std::uint16_t>(klass, "InstanceKlass", "_java_fields_count"));
  JTRACE_ASSIGN_OR_RETURN(const auto length, array_length(array));
  JTRACE_ASSIGN_OR_RETURN(const Address data, array_data(array, "Array<u2>"));
  // After the entries come the indices of generic signatures, one u2 for each field that has one.
  std::vector<std::uint16_t> words(length);
  JTRACE_RETURN_IF_ERROR(vm_.memory().read_exactly(data, std::as_writable_bytes(std::span(words))));
  std::vector<JavaField> fields;
  for (std::size_t i = 0; i < declared && (i + 1) * 6 <= words.size(); ++i) {
    Entry entry{};
    std::memcpy(&entry, words.data() + i * 6, sizeof entry);
    JavaField field;
    field.access = entry.access;
    field.name_index = entry.name;
    field.signature_index = entry.signature;
    field.initial_value = entry.initial;
    field.offset = ((std::uint32_t{entry.high} << 16) | entry.low) >> 2;
    field.injected = false;
    JTRACE_ASSIGN_OR_RETURN(field.name, constant_symbol(pool, entry.name));
    JTRACE_ASSIGN_OR_RETURN(field.signature, constant_symbol(pool, entry.signature));
    fields.push_back(std::move(field));
  }
  add_generic_signatures(words, fields);
  return fields;
}

Result<std::vector<JavaField>> ClassModel::read_field_stream(Address klass) const {
  JTRACE_ASSIGN_OR_RETURN(const Address array, vm_.read_pointer(klass, "InstanceKlass", "_fieldinfo_stream"));
  JTRACE_ASSIGN_OR_RETURN(const Address pool, constants(klass));
  if (array == 0) return std::vector<JavaField>();
  JTRACE_ASSIGN_OR_RETURN(const auto length, array_length(array));
  JTRACE_ASSIGN_OR_RETURN(const Address data, array_data(array, "Array<u1>"));
  std::vector<std::byte> bytes(length);
  JTRACE_RETURN_IF_ERROR(vm_.memory().read_exactly(data, bytes));
  Unsigned5Reader reader(bytes, vm_.quirks().unsigned5_excludes_zero);
  const std::uint32_t declared = reader.next();
  const std::uint32_t injected = reader.next();
  std::vector<JavaField> fields;
  for (std::uint32_t i = 0; i < declared + injected && !reader.failed(); ++i) {
    const std::uint32_t name = reader.next(), signature = reader.next();
    JavaField field;
    field.offset = reader.next();
    field.access = reader.next();
    // FieldInfo::FieldFlags: 0 initialised, 1 injected, 2 generic, 4 contended.
    const std::uint32_t flags = reader.next();
    if ((flags & 1) != 0) field.initial_value = static_cast<std::uint16_t>(reader.next());
    if ((flags & 4) != 0) field.generic_signature = static_cast<std::uint16_t>(reader.next());
    if ((flags & 16) != 0) (void)reader.next();
    field.injected = (flags >> 1 & 1) != 0;
    if (reader.failed()) break;
    if (field.injected) {
      JTRACE_ASSIGN_OR_RETURN(field.name, injected_name(name));
      JTRACE_ASSIGN_OR_RETURN(field.signature, injected_name(signature));
    } else {
      field.name_index = static_cast<std::uint16_t>(name);
      field.signature_index = static_cast<std::uint16_t>(signature);
      JTRACE_ASSIGN_OR_RETURN(field.name, constant_symbol(pool, name));
      JTRACE_ASSIGN_OR_RETURN(field.signature, constant_symbol(pool, signature));
    }
    fields.push_back(std::move(field));
  }
  if (reader.failed()) return fail(malformed("the field stream of a class ends too early", klass));
  return fields;
}

Result<JavaField> ClassModel::find_field(Address klass, std::string_view name) const {
  Address at = klass;
  for (int depth = 0; at != 0 && depth < 1000; ++depth) {
    JTRACE_ASSIGN_OR_RETURN(const auto* declared, fields(at));
    for (const JavaField& field : *declared)
      if (field.name == name) return field;
    JTRACE_ASSIGN_OR_RETURN(at, super(at));
  }
  return fail(ErrorCategory::kNotFound,
              "class " + this->name(klass).value_or("?") + " has no field " + std::string(name));
}

Result<Address> ClassModel::loader_data(Address klass) const {
  const std::string_view type = vm_.types().has("Klass", "_class_loader_data") ? "Klass" : "InstanceKlass";
  return vm_.read_pointer(klass, type, "_class_loader_data");
}

Result<std::vector<Address>> ClassModel::all(bool* incomplete) const {
  bool broken = false;
  auto found =
      vm_.types().has("ClassLoaderData", "_klasses") ? all_by_loader_data(&broken) : all_by_subclass_tree(&broken);
  if (incomplete) *incomplete = broken;
  return found;
}

Result<> ClassModel::each_of_loader(Address loader_data, const std::function<bool(Address klass)>& wanted) const {
  JTRACE_ASSIGN_OR_RETURN(Address klass, vm_.read_pointer(loader_data, "ClassLoaderData", "_klasses"));
  while (klass != 0 && wanted(klass)) {
    JTRACE_ASSIGN_OR_RETURN(klass, vm_.read_pointer(klass, "Klass", "_next_link"));
  }
  return {};
}

Result<std::vector<Address>> ClassModel::all_by_loader_data(bool* incomplete) const {
  std::vector<Address> classes;
  std::set<Address> seen_loaders, seen;
  JTRACE_ASSIGN_OR_RETURN(Address loader, vm_.read_static<Address>("ClassLoaderDataGraph", "_head"));
  while (loader != 0 && seen_loaders.insert(loader).second) {
    const auto whole = each_of_loader(loader, [&](Address klass) {
      if (classes.size() >= kMaxClasses || !seen.insert(klass).second) return false;
      classes.push_back(klass);
      return true;
    });
    auto next = vm_.read_pointer(loader, "ClassLoaderData", "_next");
    if (!whole || !next) *incomplete = true;
    if (!next) break;
    loader = *next;
  }
  return classes;
}

// JDK 8: walks the tree of subclasses from java.lang.Object; interfaces are subclasses of Object in it.
Result<std::vector<Address>> ClassModel::all_by_subclass_tree(bool* incomplete) const {
  Address root = some_class_;
  for (int depth = 0; root != 0 && depth < 1000; ++depth) {
    JTRACE_ASSIGN_OR_RETURN(const Address up, super(root));
    if (up == 0) break;
    root = up;
  }
  if (root == 0) return fail(ErrorCategory::kMalformed, "no class known from which to list the others");
  std::vector<Address> classes, open{root};
  std::set<Address> seen{root};
  while (!open.empty() && classes.size() < kMaxClasses) {
    const Address klass = open.back();
    open.pop_back();
    classes.push_back(klass);
    for (const char* link : {"_subklass", "_next_sibling"}) {
      auto next = vm_.read_pointer(klass, "Klass", link);
      if (!next) *incomplete = true;
      else if (*next != 0 && seen.insert(*next).second) open.push_back(*next);
    }
  }
  return classes;
}

Result<std::vector<Address>> ClassModel::find(std::string_view wanted) const {
  JTRACE_ASSIGN_OR_RETURN(const auto classes, all());
  std::vector<Address> found;
  for (Address klass : classes) {
    const auto internal = internal_name(klass);
    if (internal && (*internal == wanted || java_class_name(*internal) == wanted)) found.push_back(klass);
  }
  if (found.empty())
    return fail(ErrorCategory::kNotFound, "no class " + std::string(wanted) + " is loaded in this JVM");
  return found;
}

}  // namespace jtrace::coreinspect
