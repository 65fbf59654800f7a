#include "coreinspect/tools/class_file.h"

#include <algorithm>

#include "coreinspect/model/class_facts.h"
#include "coreinspect/runtime/bytecodes.h"
#include "coreinspect/runtime/const_method.h"
#include "coreinspect/tools/class_file_pool.h"

namespace jtrace::coreinspect {
namespace {

// Flags that a class file may have (JVMS 4.1-B, 4.5-A, 4.6-A); the VM keeps flags of its own in the same field.
constexpr std::uint32_t kClassFlags = 0xf631, kFieldFlags = 0x50df, kMethodFlags = 0x1dff;
constexpr std::uint32_t kNative = 0x0100, kAbstract = 0x0400;

// A list of attributes with their number.
class Attributes {
 public:
  explicit Attributes(ClassFilePool& pool) : pool_(pool) {}
  void add(std::string_view name, std::string_view body) {
    bytes_.u2(pool_.utf8(name)).u4(static_cast<std::uint32_t>(body.size())).append(body);
    ++count_;
  }
  void add_index(std::string_view name, std::uint32_t index) {
    if (index != 0) add(name, ClassFileBytes().u2(index).bytes());
  }
  void add_text(std::string_view name, std::string_view body) {
    if (!body.empty()) add(name, body);
  }
  std::string bytes() const { return ClassFileBytes().u2(count_).append(bytes_.bytes()).bytes(); }

 private:
  ClassFilePool& pool_;
  ClassFileBytes bytes_;
  std::uint32_t count_ = 0;
};

// "count, rows" of u2.
template <class Rows>
std::string table(const Rows& rows) {
  ClassFileBytes bytes;
  bytes.u2(static_cast<std::uint32_t>(rows.size()));
  for (const auto& row : rows)
    for (std::uint16_t value : row) bytes.u2(value);
  return bytes.bytes();
}
std::string table(const std::vector<std::uint16_t>& values) {
  ClassFileBytes bytes;
  bytes.u2(static_cast<std::uint32_t>(values.size()));
  for (std::uint16_t value : values) bytes.u2(value);
  return bytes.bytes();
}

class ClassFileBuilder {
 public:
  ClassFileBuilder(const MethodModel& methods, Address klass, Address pool_address, ClassFilePool pool,
                   std::vector<std::string>& lost)
      : methods_(methods),
        classes_(methods.classes()),
        vm_(classes_.vm()),
        klass_(klass),
        pool_address_(pool_address),
        pool_(std::move(pool)),
        pools_(classes_),
        lost_(lost) {}

  Result<std::string> run() {
    // The pool comes first in the file but is written last, because attributes may add to it.
    JTRACE_ASSIGN_OR_RETURN(const std::string head, header());
    JTRACE_ASSIGN_OR_RETURN(const std::string fields, all_fields());
    JTRACE_ASSIGN_OR_RETURN(const std::string methods, all_methods());
    JTRACE_ASSIGN_OR_RETURN(const std::string attributes, class_attributes());
    JTRACE_ASSIGN_OR_RETURN(const std::string pool, pool_.bytes());
    JTRACE_ASSIGN_OR_RETURN(const auto minor, of_pool_or_class<std::uint16_t>("_minor_version"));
    JTRACE_ASSIGN_OR_RETURN(const auto major, of_pool_or_class<std::uint16_t>("_major_version"));
    ClassFileBytes bytes;
    bytes.u4(0xcafebabe).u2(minor).u2(major).append(pool).append(head).append(fields).append(methods);
    return bytes.append(attributes).bytes();
  }

 private:
  // Fields that moved from InstanceKlass to ConstantPool between 11 and 17.
  template <class T>
  Result<T> of_pool_or_class(std::string_view name) const {
    return vm_.types().has("ConstantPool", name) ? vm_.read_field<T>(pool_address_, "ConstantPool", name)
                                                 : vm_.read_field<T>(klass_, "InstanceKlass", name);
  }
  Result<std::string> bytes_at(Address array) const {
    JTRACE_ASSIGN_OR_RETURN(const auto bytes, classes_.array<char>(array, "Array<u1>"));
    return std::string(bytes.begin(), bytes.end());
  }

  Result<std::string> header() {
    JTRACE_ASSIGN_OR_RETURN(const std::string name, classes_.internal_name(klass_));
    JTRACE_ASSIGN_OR_RETURN(const Address super, classes_.super(klass_));
    std::string super_name = name == "java/lang/Object" ? "" : "java/lang/Object";  // of interfaces
    if (super != 0) {
      JTRACE_ASSIGN_OR_RETURN(super_name, classes_.internal_name(super));
    }
    ClassFileBytes bytes;
    bytes.u2(class_access(vm_, klass_) & kClassFlags).u2(pool_.class_entry(name));
    bytes.u2(super_name.empty() ? 0 : pool_.class_entry(super_name));
    JTRACE_ASSIGN_OR_RETURN(const Address array, vm_.read_pointer(klass_, "InstanceKlass", "_local_interfaces"));
    JTRACE_ASSIGN_OR_RETURN(const auto interfaces, classes_.array<Address>(array, "Array<Klass*>"));
    std::vector<std::uint16_t> indices;
    for (Address interface : interfaces) {
      JTRACE_ASSIGN_OR_RETURN(const std::string interface_name, classes_.internal_name(interface));
      indices.push_back(pool_.class_entry(interface_name));
    }
    return bytes.append(table(indices)).bytes();
  }

  // Annotations (annotations.hpp): pointers to those of the class, its fields, types of the class, types of the fields.
  Result<Address> annotations(std::size_t which) const {
    JTRACE_ASSIGN_OR_RETURN(const Address at, vm_.read_pointer(klass_, "InstanceKlass", "_annotations"));
    if (at == 0) return Address{0};
    return vm_.memory().read<Address>(at + which * 8);
  }
  Result<std::vector<Address>> annotations_of_fields(std::size_t which) const {
    JTRACE_ASSIGN_OR_RETURN(const Address array, annotations(which));
    return classes_.array<Address>(array, "Array<Klass*>");  // an array of pointers, as this one is
  }

  Result<std::string> all_fields() {
    JTRACE_ASSIGN_OR_RETURN(const auto* fields, classes_.fields(klass_));
    JTRACE_ASSIGN_OR_RETURN(const auto visible, annotations_of_fields(1));
    JTRACE_ASSIGN_OR_RETURN(const auto of_types, annotations_of_fields(3));
    ClassFileBytes bytes;
    std::uint32_t count = 0;
    for (const JavaField& field : *fields) {
      if (field.injected) continue;
      Attributes attributes(pool_);
      attributes.add_index("ConstantValue", field.initial_value);
      attributes.add_index("Signature", field.generic_signature);
      if (count < visible.size()) {
        JTRACE_ASSIGN_OR_RETURN(const std::string body, bytes_at(visible[count]));
        attributes.add_text("RuntimeVisibleAnnotations", body);
      }
      if (count < of_types.size()) {
        JTRACE_ASSIGN_OR_RETURN(const std::string body, bytes_at(of_types[count]));
        attributes.add_text("RuntimeVisibleTypeAnnotations", body);
      }
      bytes.u2(field.access & kFieldFlags).u2(field.name_index).u2(field.signature_index).append(attributes.bytes());
      ++count;
    }
    return ClassFileBytes().u2(count).append(bytes.bytes()).bytes();
  }

  Result<std::string> all_methods() {
    JTRACE_ASSIGN_OR_RETURN(const auto addresses, classes_.methods(klass_));
    ClassFileBytes bytes;
    std::uint32_t count = 0;
    for (Address address : addresses) {
      JTRACE_ASSIGN_OR_RETURN(const JavaMethod* method, methods_.method(address));
      JTRACE_ASSIGN_OR_RETURN(const auto tables, read_const_method(classes_, *method));
      if (tables.is_overpass) continue;
      JTRACE_ASSIGN_OR_RETURN(const std::string info, method_info(*method, tables));
      bytes.append(info);
      ++count;
    }
    return ClassFileBytes().u2(count).append(bytes.bytes()).bytes();
  }
  Result<std::string> method_info(const JavaMethod& method, const ConstMethodTables& tables) {
    JTRACE_ASSIGN_OR_RETURN(const Address constant, vm_.read_pointer(method.address, "Method", "_constMethod"));
    JTRACE_ASSIGN_OR_RETURN(const auto name, vm_.read_field<std::uint16_t>(constant, "ConstMethod", "_name_index"));
    JTRACE_ASSIGN_OR_RETURN(const auto type,
                            vm_.read_field<std::uint16_t>(constant, "ConstMethod", "_signature_index"));
    Attributes attributes(pool_);
    if ((method.access & (kNative | kAbstract)) == 0) {
      JTRACE_ASSIGN_OR_RETURN(const std::string code, code_attribute(method, tables));
      attributes.add("Code", code);
    }
    if (!tables.checked_exceptions.empty()) attributes.add("Exceptions", table(tables.checked_exceptions));
    attributes.add_index("Signature", tables.generic_signature);
    if (tables.has_parameters) {
      ClassFileBytes parameters;
      parameters.u1(static_cast<std::uint32_t>(tables.parameters.size()));
      for (const auto& [parameter, flags] : tables.parameters) parameters.u2(parameter).u2(flags);
      attributes.add("MethodParameters", parameters.bytes());
    }
    attributes.add_text("RuntimeVisibleAnnotations", tables.annotations);
    attributes.add_text("RuntimeVisibleParameterAnnotations", tables.parameter_annotations);
    attributes.add_text("RuntimeVisibleTypeAnnotations", tables.type_annotations);
    attributes.add_text("AnnotationDefault", tables.default_value);
    ClassFileBytes bytes;
    return bytes.u2(method.access & kMethodFlags).u2(name).u2(type).append(attributes.bytes()).bytes();
  }
  Result<std::string> code_attribute(const JavaMethod& method, const ConstMethodTables& tables) {
    JTRACE_ASSIGN_OR_RETURN(const auto code, original_bytecodes(pools_, method));
    Attributes attributes(pool_);
    if (!tables.lines.empty()) {
      std::vector<std::array<std::uint16_t, 2>> lines;
      for (const auto& [bci, line] : tables.lines)
        lines.push_back({static_cast<std::uint16_t>(bci), static_cast<std::uint16_t>(line)});
      attributes.add("LineNumberTable", table(lines));
    }
    std::vector<std::array<std::uint16_t, 5>> locals, generic;
    for (const auto& local : tables.locals) {
      locals.push_back({local[0], local[1], local[2], local[3], local[5]});
      if (local[4] != 0) generic.push_back({local[0], local[1], local[2], local[4], local[5]});
    }
    if (!locals.empty()) attributes.add("LocalVariableTable", table(locals));
    if (!generic.empty()) attributes.add("LocalVariableTypeTable", table(generic));
    attributes.add_text("StackMapTable", tables.stack_map);
    ClassFileBytes bytes;
    bytes.u2(method.max_stack).u2(method.max_locals).u4(static_cast<std::uint32_t>(code.size()));
    bytes.append({reinterpret_cast<const char*>(code.data()), code.size()});
    return bytes.append(table(tables.handlers)).append(attributes.bytes()).bytes();
  }

  Result<std::string> class_attributes() {
    Attributes attributes(pool_);
    JTRACE_ASSIGN_OR_RETURN(const auto source, of_pool_or_class<std::uint16_t>("_source_file_name_index"));
    JTRACE_ASSIGN_OR_RETURN(const auto generic, of_pool_or_class<std::uint16_t>("_generic_signature_index"));
    attributes.add_index("SourceFile", source);
    attributes.add_index("Signature", generic);
    JTRACE_RETURN_IF_ERROR(add_debug_extension(attributes));
    JTRACE_RETURN_IF_ERROR(add_inner_classes(attributes));
    JTRACE_RETURN_IF_ERROR(add_nest(attributes));
    for (const auto& [which, name] :
         {std::pair(0, "RuntimeVisibleAnnotations"), {2, "RuntimeVisibleTypeAnnotations"}}) {
      JTRACE_ASSIGN_OR_RETURN(const Address array, annotations(static_cast<std::size_t>(which)));
      JTRACE_ASSIGN_OR_RETURN(const std::string body, bytes_at(array));
      attributes.add_text(name, body);
    }
    JTRACE_RETURN_IF_ERROR(add_bootstrap_methods(attributes));
    return attributes.bytes();
  }
  Result<> add_debug_extension(Attributes& attributes) {
    JTRACE_ASSIGN_OR_RETURN(const Address at, vm_.read_pointer(klass_, "InstanceKlass", "_source_debug_extension"));
    if (at == 0) return {};
    JTRACE_ASSIGN_OR_RETURN(const std::string text, vm_.memory().read_cstring(at, 1u << 20));
    attributes.add("SourceDebugExtension", text);
    return {};
  }
  // Rows of four. If two more values follow, they are the EnclosingMethod attribute (InnerClassesIterator).
  Result<> add_inner_classes(Attributes& attributes) {
    JTRACE_ASSIGN_OR_RETURN(const Address at, vm_.read_pointer(klass_, "InstanceKlass", "_inner_classes"));
    JTRACE_ASSIGN_OR_RETURN(const auto values, classes_.array<std::uint16_t>(at, "Array<u2>"));
    std::vector<std::array<std::uint16_t, 4>> rows(values.size() / 4);
    for (std::size_t i = 0; i < rows.size() * 4; ++i) rows[i / 4][i % 4] = values[i];
    if (!rows.empty()) attributes.add("InnerClasses", table(rows));
    if (values.size() % 4 == 2 && values[values.size() - 2] != 0)  // JDK 8 may have an attribute of zeros
      attributes.add("EnclosingMethod",
                     ClassFileBytes().u2(values[values.size() - 2]).u2(values[values.size() - 1]).bytes());
    return {};
  }
  Result<> add_nest(Attributes& attributes) {
    const auto offset = [&](std::string_view name) { return vm_.types().offset("InstanceKlass", name).value_or(0); };
    const auto nest = NestOffsets::of(vm_.feature(), offset("_inner_classes"), offset("_source_debug_extension"),
                                      offset("_itable_len"), offset("_static_oop_field_count"));
    if (!nest.known) lost_.push_back("NestHost, NestMembers, PermittedSubclasses, Record: not known for this version");
    if (nest.host_index != 0) {
      JTRACE_ASSIGN_OR_RETURN(const auto host, vm_.memory().read<std::uint16_t>(klass_ + nest.host_index));
      attributes.add_index("NestHost", host);
    }
    for (const auto& [at, name] : {std::pair(nest.members, "NestMembers"), {nest.permitted, "PermittedSubclasses"}}) {
      if (at == 0) continue;
      JTRACE_ASSIGN_OR_RETURN(const Address array, vm_.memory().read<Address>(klass_ + at));
      JTRACE_ASSIGN_OR_RETURN(const auto indices, classes_.array<std::uint16_t>(array, "Array<u2>"));
      if (!indices.empty()) attributes.add(name, table(indices));
    }
    if (nest.record == 0) return {};
    JTRACE_ASSIGN_OR_RETURN(const Address record, vm_.memory().read<Address>(klass_ + nest.record));
    return record == 0 ? Result<>() : add_record(attributes, record);
  }
  // RecordComponent (recordComponent.hpp): annotations, annotations of types, name, descriptor, ...
  Result<> add_record(Attributes& attributes, Address array) {
    JTRACE_ASSIGN_OR_RETURN(const auto components, classes_.array<Address>(array, "Array<Klass*>"));
    ClassFileBytes bytes;
    bytes.u2(static_cast<std::uint32_t>(components.size()));
    for (Address component : components) {
      JTRACE_ASSIGN_OR_RETURN(const auto visible, vm_.memory().read<Address>(component));
      JTRACE_ASSIGN_OR_RETURN(const auto types, vm_.memory().read<Address>(component + 8));
      std::array<std::uint16_t, 4> words{};
      JTRACE_RETURN_IF_ERROR(vm_.memory().read_exactly(component + 16, std::as_writable_bytes(std::span(words))));
      Attributes own(pool_);
      const std::uint16_t generic = words[vm_.quirks().record_generic_signature_word];
      if (pool_.is_utf8(generic)) own.add_index("Signature", generic);
      JTRACE_ASSIGN_OR_RETURN(const std::string visible_body, bytes_at(visible));
      own.add_text("RuntimeVisibleAnnotations", visible_body);
      JTRACE_ASSIGN_OR_RETURN(const std::string types_body, bytes_at(types));
      own.add_text("RuntimeVisibleTypeAnnotations", types_body);
      bytes.u2(words[0]).u2(words[1]).append(own.bytes());
    }
    attributes.add("Record", bytes.bytes());
    return {};
  }
  // Rows of "method handle, count, arguments...". Up to 25 one array of u2 that starts with the rows' offsets, in pairs
  // (low, high); later two arrays (BSMAttributeEntries of bsmAttribute.hpp, embedded: offsets, rows).
  Result<> add_bootstrap_methods(Attributes& attributes) {
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint16_t> words;
    if (const auto entries = vm_.types().offset("ConstantPool", "_bsm_entries")) {
      JTRACE_ASSIGN_OR_RETURN(const auto starts, vm_.memory().read<Address>(pool_address_ + *entries));
      JTRACE_ASSIGN_OR_RETURN(const auto rows, vm_.memory().read<Address>(pool_address_ + *entries + 8));
      JTRACE_ASSIGN_OR_RETURN(offsets, classes_.array<std::uint32_t>(starts, "Array<int>"));
      JTRACE_ASSIGN_OR_RETURN(words, classes_.array<std::uint16_t>(rows, "Array<u2>"));
    } else {
      JTRACE_ASSIGN_OR_RETURN(const Address operands, vm_.read_pointer(pool_address_, "ConstantPool", "_operands"));
      JTRACE_ASSIGN_OR_RETURN(words, classes_.array<std::uint16_t>(operands, "Array<u2>"));
      const std::size_t first = words.size() < 2 ? 0 : words[0] | std::uint32_t{words[1]} << 16;
      for (std::size_t i = 0; i + 1 < std::min(first, words.size()); i += 2)
        offsets.push_back(words[i] | std::uint32_t{words[i + 1]} << 16);
    }
    if (offsets.empty()) return {};
    ClassFileBytes bytes;
    bytes.u2(static_cast<std::uint32_t>(offsets.size()));
    for (std::uint32_t at : offsets) {
      if (std::size_t{at} + 2 > words.size() || std::size_t{at} + 2 + words[at + 1] > words.size())
        return fail(ErrorCategory::kMalformed, "the bootstrap methods of a class reach beyond their array");
      for (std::size_t i = at; i < std::size_t{at} + 2 + words[at + 1]; ++i) bytes.u2(words[i]);
    }
    attributes.add("BootstrapMethods", bytes.bytes());
    return {};
  }

  const MethodModel& methods_;
  const ClassModel& classes_;
  const Vm& vm_;
  const Address klass_, pool_address_;
  ClassFilePool pool_;
  const ConstantPoolModel pools_;
  std::vector<std::string>& lost_;
};

}  // namespace

Result<std::string> rebuild_class_file(const MethodModel& methods, Address klass, std::vector<std::string>& lost) {
  const ClassModel& classes = methods.classes();
  JTRACE_ASSIGN_OR_RETURN(const std::string name, classes.name(klass));
  if (!classes.is_instance_class(klass))
    return fail(ErrorCategory::kUsage, name + " is an array class: it has no class file");
  JTRACE_ASSIGN_OR_RETURN(const Address address, classes.constants(klass));
  JTRACE_ASSIGN_OR_RETURN(ClassFilePool pool, ClassFilePool::read(classes, address));
  auto bytes = ClassFileBuilder(methods, klass, address, std::move(pool), lost).run();
  if (!bytes) return fail(bytes.error().with_context("the class file of " + name));
  return bytes;
}

}  // namespace jtrace::coreinspect
