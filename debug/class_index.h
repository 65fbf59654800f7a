// ClassIndex: the classes of a target as JDWP lists them, and the ids of classes, methods and fields.
//
// A class's id is the address of its Klass, a method's that of its Method; a field's id has the Klass that declares it
// and its place among the declared fields. Each is looked up in the class's own lists before anything is read through
// it. Borrows the inspection. Threads: one at a time.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "coreinspect/model/class_facts.h"
#include "debug/protocol.h"

namespace jtrace::debug {

using target::Address;

struct LoadedClass {
  Address klass = 0;
  Address symbol = 0;     // of its name
  std::string signature;  // UTF-8: "Ljava/lang/String;", "[I"; of a hidden class with a dot before its suffix
  TypeKind kind = TypeKind::kClass;
  std::uint32_t status = 0;
  Tag tag = Tag::kObject;  // of its instances
  bool is_array() const { return kind == TypeKind::kArray; }
  bool is_primitive() const { return klass % 2 != 0; }  // `klass` is not an address then
  bool has_members() const { return !is_array() && !is_primitive(); }
};

struct DeclaredField {
  Address klass = 0;
  const coreinspect::JavaField* field = nullptr;
};

class ClassIndex {
 public:
  explicit ClassIndex(const coreinspect::Inspection& inspection);

  // Linked classes, and arrays: those that a JVM's own debugging agent lists.
  const std::vector<const LoadedClass*>& all() const { return listed_; }
  // Null for what is not a class of this target. A class that is not in the VM's lists (arrays of JDK 8) is found by
  // the object that has it: see of_object().
  const LoadedClass* find(Id id) const;
  const LoadedClass* of_object(Address object);
  std::vector<const LoadedClass*> by_signature(std::string_view signature) const;
  // The primitive type that a class object represents: int of Integer.TYPE. Null if it is none.
  const LoadedClass* of_primitive(Address mirror);
  bool is_subclass(Address klass, Address ancestor) const;
  bool incomplete() const { return incomplete_; }
  // Of a target that runs. Whether the class is where it was: it may have been unloaded, and another one put there.
  bool is_there(const LoadedClass& type) const;
  // From now on of_object() looks for classes that were loaded meanwhile: at most once until the next call.
  void expect_new() { may_look_again_ = !dropped_; }
  // Notes which classes can be unloaded: those of loaders other than the JDK's three, hidden ones, and arrays of these.
  void find_unloadable();
  // Some class was unloaded. Nothing tells which, and another class may be at its address: from now on those that can
  // be unloaded are no classes of this target, and classes that are loaded later neither.
  void drop_unloadable();

  // "" for none. Wire form, UTF-8.
  std::string generic_signature(const LoadedClass& type) const;
  std::uint32_t modifiers(const LoadedClass& type) const;
  std::vector<Address> interfaces(const LoadedClass& type) const;

  // The fields that a class declares itself, with their ids, in the order of the class file.
  std::vector<std::pair<Id, const coreinspect::JavaField*>> fields(const LoadedClass& type) const;
  // Nothing for what is not a field.
  std::optional<DeclaredField> field(Id id) const;
  // Those of the class file, without the VM's own.
  const std::vector<Address>& methods(const LoadedClass& type);
  bool has_variables(const LoadedClass& type);  // some method has a LocalVariableTable
  // Null if it is not a method of the class.
  const coreinspect::JavaMethod* method(const LoadedClass& type, Id id);
  // The same, with what it inherits.
  const coreinspect::JavaMethod* method_or_inherited(const LoadedClass& type, Id id);
  std::string constant(Address klass, std::uint32_t index) const;

  // A text of the VM as it goes over the wire.
  static std::string signature_of(const std::string& internal);

 private:
  const LoadedClass* add(Address klass);
  void add_all();
  void add_arrays_of(Address klass);
  void add_dimensions_of(Address array);
  std::set<Address> lasting_loader_data() const;
  void read_status(LoadedClass& type) const;
  Tag tag_of_instances(Address klass) const;

  const coreinspect::Inspection& inspection_;
  std::deque<LoadedClass> classes_;
  std::unordered_map<Address, const LoadedClass*> by_address_;
  std::unordered_map<std::string_view, std::vector<const LoadedClass*>> by_signature_;
  std::vector<const LoadedClass*> listed_;
  std::map<Address, std::vector<Address>> methods_;
  std::set<Address> with_variables_;
  bool incomplete_ = false;
  std::vector<const LoadedClass*> unloadable_;
  bool may_look_again_ = false, dropped_ = false;
};

}  // namespace jtrace::debug
