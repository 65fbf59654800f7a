#include "debug/class_index.h"

#include <algorithm>

#include "base/strings.h"
#include "coreinspect/oops/constant_pool.h"
#include "coreinspect/oops/java_collections.h"
#include "coreinspect/runtime/const_method.h"
#include "debug/object_text.h"

namespace jtrace::debug {
namespace {

using coreinspect::JavaField;
using coreinspect::JavaMethod;

constexpr int kFieldBits = 16;   // a class has at most 65535 fields (JVMS 4.1)
constexpr int kMaxDepth = 1000;  // of superclasses
constexpr std::size_t kMaxAncestors = 10000;
constexpr int kMaxDimensions = 256;  // of arrays (JVMS 4.4.1)
constexpr std::uint32_t kInterface = 0x0200, kSuper = 0x0020, kClassModifiers = 0x7fff;

// The name of a hidden class ends in "+0x..."; on the wire a dot is there (InstanceKlass::signature_name).
std::string class_signature(std::string internal) {
  if (internal.starts_with('[')) return internal;
  const std::size_t plus = internal.rfind("+0x");
  if (plus != internal.npos && internal.find('/', plus) == internal.npos) internal[plus] = '.';
  return "L" + internal + ";";
}

// JDK 8 marks no hidden classes. Those of lambda forms have names of capitals (LambdaForm$DMH); LambdaForm$Name and its
// like are classes of the JDK.
bool is_part_of_lambda_form(std::string_view internal) {
  constexpr std::string_view kForm = "java/lang/invoke/LambdaForm$";
  if (!internal.starts_with(kForm)) return false;
  const auto part = internal.substr(kForm.size());
  return std::any_of(part.begin(), part.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

// The loaders that live as long as the JVM: boot (without an object), platform or extension, application.
bool is_of_jdk(const coreinspect::Loader& loader) {
  constexpr std::string_view kNames[] = {"jdk.internal.loader.ClassLoaders$PlatformClassLoader",
                                         "jdk.internal.loader.ClassLoaders$AppClassLoader",
                                         "sun.misc.Launcher$ExtClassLoader", "sun.misc.Launcher$AppClassLoader"};
  return loader.object == 0 || std::find(std::begin(kNames), std::end(kNames), loader.name) != std::end(kNames);
}

// Whether it is the ClassLoaderData of a hidden class (of an anonymous one before JDK 15); nothing in JDK 8.
std::optional<bool> is_of_one_class(const coreinspect::Vm& vm, Address data) {
  for (const char* name : {"_has_class_mirror_holder", "_is_unsafe_anonymous", "_is_anonymous"})
    if (const auto mark = vm.read_field<std::uint8_t>(data, "ClassLoaderData", name)) return *mark != 0;
  return std::nullopt;
}

// Before JDK 15, by its name: an anonymous class has no suffix before somebody asks for its hash.
bool may_be_anonymous(std::string_view signature) {
  return signature.find('.') != signature.npos || signature.starts_with("Ljava/lang/invoke/") ||
         signature.find("$$Lambda$") != signature.npos;
}

}  // namespace

std::string ClassIndex::signature_of(const std::string& internal) {
  return class_signature(utf8_from_modified(internal));
}

ClassIndex::ClassIndex(const coreinspect::Inspection& inspection) : inspection_(inspection) {
  add_all();
  // JDK 8 has these nowhere else (Universe::_boolArrayKlassObj and so on).
  for (const char* type : {"bool", "byte", "char", "int", "short", "long", "single", "double"}) {
    const auto array = inspection.vm().read_static<Address>("Universe", "_" + std::string(type) + "ArrayKlassObj");
    if (array) add_dimensions_of(*array);
  }
}

void ClassIndex::add_all() {
  const auto all = inspection_.classes().all(&incomplete_);
  if (!all) incomplete_ = true;
  for (const Address klass : all ? *all : std::vector<Address>()) {
    add(klass);
    add_arrays_of(klass);
  }
}

// The ClassLoaderData of the JDK's loaders. A class that can be unloaded alone (a hidden one; an anonymous one before
// JDK 15) has one of its own, with the same loader, for itself and its arrays. The VM marks those; JDK 8 does not
// export the mark, so there what has one class with such a name, beside others, counts as such.
std::set<Address> ClassIndex::lasting_loader_data() const {
  coreinspect::Loaders loaders(inspection_);
  std::map<Address, std::map<Address, std::size_t>> counts;  // of classes, by the loader's object and its data
  std::set<Address> ordinary;                                // data of classes whose names are no anonymous one's
  for (const LoadedClass& type : classes_) {
    if (!type.has_members()) continue;
    const coreinspect::Loader& loader = loaders.of(type.klass);
    if (loader.data == 0 || !is_of_jdk(loader)) continue;
    ++counts[loader.object][loader.data];
    if (!may_be_anonymous(type.signature)) ordinary.insert(loader.data);
  }
  std::set<Address> lasting;
  for (const auto& [loader, of_loader] : counts)
    for (const auto& [data, classes] : of_loader) {
      const auto marked = is_of_one_class(inspection_.vm(), data);
      if (marked ? !*marked : classes > 1 || of_loader.size() == 1 || ordinary.contains(data)) lasting.insert(data);
    }
  return lasting;
}

void ClassIndex::find_unloadable() {
  const std::set<Address> lasting = lasting_loader_data();
  for (const LoadedClass& type : classes_)
    if (!type.is_primitive() && !lasting.contains(inspection_.classes().loader_data(type.klass).value_or(0)))
      unloadable_.push_back(&type);
}

void ClassIndex::drop_unloadable() {
  for (const LoadedClass* type : unloadable_) {
    by_address_.erase(type->klass);
    std::erase(by_signature_[type->signature], type);
    std::erase(listed_, type);
    methods_.erase(type->klass);
  }
  unloadable_.clear();
  dropped_ = true;
  may_look_again_ = false;
}

bool ClassIndex::is_there(const LoadedClass& type) const {
  if (type.is_primitive()) return true;
  return inspection_.vm().read_pointer(type.klass, "Klass", "_name").value_or(0) == type.symbol;
}

void ClassIndex::add_dimensions_of(Address array) {
  for (int i = 0; array != 0 && i < kMaxDimensions; ++i) {
    if (!find(array)) add(array);
    array = inspection_.vm().read_pointer(array, "ArrayKlass", "_higher_dimension").value_or(0);
  }
}

// Arrays are chained: of a class to its arrays, of an array to those of one dimension more. JDK 8 lists no arrays.
void ClassIndex::add_arrays_of(Address klass) {
  const coreinspect::Vm& vm = inspection_.vm();
  if (!inspection_.classes().is_instance_class(klass)) return;
  add_dimensions_of(vm.read_pointer(klass, "InstanceKlass", "_array_klasses").value_or(0));
}

const LoadedClass* ClassIndex::add(Address klass) {
  const auto& model = inspection_.classes();
  const auto name = model.internal_name(klass);
  if (!name || by_address_.contains(klass)) return find(klass);
  LoadedClass type{.klass = klass, .signature = signature_of(*name)};
  type.symbol = inspection_.vm().read_pointer(klass, "Klass", "_name").value_or(0);
  if (inspection_.vm().feature() < 15 && !type.signature.starts_with('[') && !is_part_of_lambda_form(*name)) {
    // Before hidden classes had names of their own, the VM made up a suffix: here the hash of the class object, if it
    // has one (InstanceKlass::signature_name).
    const std::string shown = model.name(klass).value_or(""), plain = coreinspect::java_class_name(*name);
    const auto mirror = inspection_.objects().root_field(klass, "Klass", "_java_mirror");
    const std::uint32_t hash = mirror && shown.size() > plain.size() ? identity_hash(inspection_, *mirror) : 0;
    if (shown.size() > plain.size())
      type.signature.insert(type.signature.size() - 1,
                            hash != 0 ? "/" + std::to_string(hash) : shown.substr(plain.size()));
  }
  read_status(type);
  type.tag = tag_of_instances(klass);
  classes_.push_back(std::move(type));
  const LoadedClass* added = &classes_.back();
  by_address_.emplace(klass, added);
  by_signature_[added->signature].push_back(added);
  if (added->is_array() || (added->status & kPrepared) != 0) listed_.push_back(added);
  return added;
}

// InstanceKlass::ClassState (instanceKlass.hpp): a class counts as prepared from the moment it is linked
// (jvmti_class_status).
void ClassIndex::read_status(LoadedClass& type) const {
  const coreinspect::Vm& vm = inspection_.vm();
  if (type.signature.starts_with('[')) {
    type.kind = TypeKind::kArray;
    return;
  }
  if ((coreinspect::class_access(vm, type.klass) & kInterface) != 0) type.kind = TypeKind::kInterface;
  const auto constant = [&](const char* name, std::int64_t other) {
    return vm.types().constant(std::string("InstanceKlass::") + name).value_or(other);
  };
  const std::int64_t linked = constant("linked", vm.feature() < 21 ? 2 : 3);
  const std::int64_t initialized = constant("fully_initialized", linked + 2);
  const std::int64_t failed = constant("initialization_error", linked + 3);
  const auto state = vm.read_field<std::uint8_t>(type.klass, "InstanceKlass", "_init_state");
  if (!state || *state < linked) return;
  type.status = kVerified | kPrepared;
  if (*state == initialized) type.status |= kInitialized;
  if (*state == failed) type.status |= kClassError;
}

// The finest tag is expected: a client makes of a thread that comes as an object no thread.
Tag ClassIndex::tag_of_instances(Address klass) const {
  const auto& model = inspection_.classes();
  for (int depth = 0; klass != 0 && depth < kMaxDepth; ++depth) {
    const auto name = model.internal_name(klass);
    if (!name) return Tag::kObject;
    if (name->starts_with('[')) return Tag::kArray;
    if (*name == "java/lang/String") return Tag::kString;
    if (*name == "java/lang/Thread") return Tag::kThread;
    if (*name == "java/lang/ThreadGroup") return Tag::kThreadGroup;
    if (*name == "java/lang/ClassLoader") return Tag::kClassLoader;
    if (*name == "java/lang/Class") return Tag::kClassObject;
    klass = model.super(klass).value_or(0);
  }
  return Tag::kObject;
}

const LoadedClass* ClassIndex::find(Id id) const {
  const auto known = by_address_.find(id);
  return known == by_address_.end() ? nullptr : known->second;
}

// A class that the VM's lists lack is believed where it looks like an array's: its element's name is whole, and what is
// above it is java.lang.Object or an array.
const LoadedClass* ClassIndex::of_object(Address object) {
  const auto klass = inspection_.objects().klass_of(object);
  if (!klass) return nullptr;
  if (const LoadedClass* known = find(*klass)) return known;
  if (may_look_again_) {
    may_look_again_ = false;
    const std::size_t before = classes_.size();
    add_all();
    for (std::size_t i = before; i < classes_.size(); ++i) unloadable_.push_back(&classes_[i]);
    if (const LoadedClass* known = find(*klass)) return known;
  }
  const auto& model = inspection_.classes();
  const auto helper = model.layout_helper(*klass);
  const auto name = model.internal_name(*klass);
  if (!helper || *helper >= 0 || !name || !name->starts_with('[')) return nullptr;
  const LoadedClass* above = find(model.super(*klass).value_or(0));
  if (above == nullptr || (above->signature != "Ljava/lang/Object;" && !above->is_array())) return nullptr;
  return add(*klass);
}

std::vector<const LoadedClass*> ClassIndex::by_signature(std::string_view signature) const {
  const auto known = by_signature_.find(signature);
  if (known == by_signature_.end()) return {};
  std::vector<const LoadedClass*> types;
  for (const LoadedClass* type : known->second)
    if (type->is_array() || (type->status & kPrepared) != 0) types.push_back(type);
  return types;
}

// Of the boxes' static fields TYPE: nothing else shows which one it is.
const LoadedClass* ClassIndex::of_primitive(Address mirror) {
  static constexpr std::pair<const char*, char> kBoxes[] = {{"Boolean", 'Z'}, {"Byte", 'B'},  {"Character", 'C'},
                                                            {"Double", 'D'},  {"Float", 'F'}, {"Integer", 'I'},
                                                            {"Long", 'J'},    {"Short", 'S'}, {"Void", 'V'}};
  if (const LoadedClass* known = find(mirror | 1)) return known;
  for (const auto& [name, letter] : kBoxes) {
    const auto boxes = by_signature(std::string("Ljava/lang/") + name + ";");
    if (boxes.empty()) continue;
    const auto type = coreinspect::static_reference(inspection_.objects(), boxes.front()->klass, "TYPE");
    if (!type || *type == 0 || *type != mirror) continue;
    classes_.push_back({.klass = mirror | 1, .signature = std::string(1, letter)});
    by_address_.emplace(mirror | 1, &classes_.back());
    return &classes_.back();
  }
  return nullptr;
}

bool ClassIndex::is_subclass(Address klass, Address ancestor) const {
  for (int depth = 0; klass != 0 && depth < kMaxDepth; ++depth) {
    if (klass == ancestor) return true;
    klass = inspection_.classes().super(klass).value_or(0);
  }
  return false;
}

std::string ClassIndex::constant(Address klass, std::uint32_t index) const {
  if (index == 0) return {};
  const auto pool = inspection_.classes().constants(klass);
  if (!pool) return {};
  return utf8_from_modified(inspection_.classes().constant_symbol(*pool, index).value_or(""));
}

std::string ClassIndex::generic_signature(const LoadedClass& type) const {
  if (!type.has_members()) return {};
  const coreinspect::Vm& vm = inspection_.vm();
  const auto pool = inspection_.classes().constants(type.klass);
  if (!pool) return {};
  const auto index = vm.types().has("ConstantPool", "_generic_signature_index")
                         ? vm.read_field<std::uint16_t>(*pool, "ConstantPool", "_generic_signature_index")
                         : vm.read_field<std::uint16_t>(type.klass, "InstanceKlass", "_generic_signature_index");
  return constant(type.klass, index.value_or(std::uint16_t{0}));
}

// Of a nested class the flags that its source has are in the attribute InnerClasses (compute_modifier_flags).
std::uint32_t ClassIndex::modifiers(const LoadedClass& type) const {
  if (!type.has_members()) return 0x411;  // public final abstract
  std::uint32_t access = coreinspect::class_access(inspection_.vm(), type.klass);
  const auto& model = inspection_.classes();
  const auto rows = inspection_.vm().read_pointer(type.klass, "InstanceKlass", "_inner_classes");
  const auto values = rows ? model.array<std::uint16_t>(*rows, "Array<u2>") : Result<std::vector<std::uint16_t>>();
  const std::string own = "L" + utf8_from_modified(model.internal_name(type.klass).value_or("")) + ";";
  const auto pool = model.constants(type.klass);
  for (std::size_t i = 0; pool && values && i + 3 < values->size(); i += 4) {
    const coreinspect::ConstantPoolModel pools(model);
    if ((*values)[i] == 0 || "L" + pools.text(*pool, (*values)[i]) + ";" != own) continue;
    access = (*values)[i + 3];
    break;
  }
  return access & ~kSuper & kClassModifiers;
}

std::vector<Address> ClassIndex::interfaces(const LoadedClass& type) const {
  if (!type.has_members()) return {};
  const auto& model = inspection_.classes();
  const auto array = inspection_.vm().read_pointer(type.klass, "InstanceKlass", "_local_interfaces");
  if (!array || *array == 0) return {};
  auto found = model.array<Address>(*array, "Array<Klass*>");
  if (!found) return {};
  std::erase_if(*found, [&](Address klass) { return find(klass) == nullptr; });
  return *found;
}

std::vector<std::pair<Id, const JavaField*>> ClassIndex::fields(const LoadedClass& type) const {
  std::vector<std::pair<Id, const JavaField*>> found;
  if (!type.has_members()) return found;
  const auto fields = inspection_.classes().fields(type.klass);
  for (std::size_t i = 0; fields && i < (*fields)->size(); ++i)
    if (const JavaField& field = (**fields)[i]; !field.injected)
      found.emplace_back(type.klass << kFieldBits | (i + 1), &field);
  return found;
}

std::optional<DeclaredField> ClassIndex::field(Id id) const {
  const LoadedClass* type = find(id >> kFieldBits);
  const std::size_t place = id & ((1u << kFieldBits) - 1);
  if (type == nullptr || !type->has_members() || place == 0) return std::nullopt;
  const auto fields = inspection_.classes().fields(type->klass);
  if (!fields || place > (*fields)->size() || (**fields)[place - 1].injected) return std::nullopt;
  return DeclaredField{type->klass, &(**fields)[place - 1]};
}

const std::vector<Address>& ClassIndex::methods(const LoadedClass& type) {
  const auto [known, is_new] = methods_.try_emplace(type.klass);
  if (!is_new || !type.has_members()) return known->second;
  const auto listed = inspection_.classes().methods(type.klass);
  for (const Address address : listed ? *listed : std::vector<Address>()) {
    const auto method = inspection_.methods().method(address);
    if (!method) continue;
    const auto tables = coreinspect::read_const_method(inspection_.classes(), **method);
    if (!tables || !tables->is_overpass) known->second.push_back(address);
    if (tables && !tables->locals.empty()) with_variables_.insert(type.klass);
  }
  return known->second;
}

bool ClassIndex::has_variables(const LoadedClass& type) {
  (void)methods(type);
  return with_variables_.contains(type.klass);
}

const JavaMethod* ClassIndex::method(const LoadedClass& type, Id id) {
  const auto& own = methods(type);
  if (std::find(own.begin(), own.end(), id) == own.end()) return nullptr;
  const auto method = inspection_.methods().method(id);
  return method ? *method : nullptr;
}

// Superclasses, and the interfaces of all of them.
const JavaMethod* ClassIndex::method_or_inherited(const LoadedClass& type, Id id) {
  std::vector<Address> open{type.klass};
  std::set<Address> seen;
  while (!open.empty() && seen.size() < kMaxAncestors) {
    const LoadedClass* at = find(open.back());
    open.pop_back();
    if (at == nullptr || !seen.insert(at->klass).second) continue;
    if (const JavaMethod* found = method(*at, id)) return found;
    open.push_back(inspection_.classes().super(at->klass).value_or(0));
    for (const Address interface : interfaces(*at)) open.push_back(interface);
  }
  return nullptr;
}

}  // namespace jtrace::debug
