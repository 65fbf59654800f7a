#include "coreinspect/types/type_database.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kMaxEntries = 20000;  // the largest table seen has 837 (JDK 11)
constexpr std::uint64_t kMaxStride = 1024;

std::string key_of(std::string_view type, std::string_view name) { return std::string(type).append("::").append(name); }

}  // namespace

// One table: its first entry, and the layout of an entry, found by the names of the exported variables.
class TypeTableReader {
 public:
  TypeTableReader(const target::MemoryReader& memory, const TypeDatabase::FindExported& find, std::string prefix)
      : memory_(memory), find_(find), prefix_(std::move(prefix)) {}

  Result<> open(std::string_view table) {
    JTRACE_ASSIGN_OR_RETURN(const Address variable, find_(table));
    JTRACE_ASSIGN_OR_RETURN(entry_, memory_.read<Address>(variable));
    JTRACE_ASSIGN_OR_RETURN(stride_, layout("ArrayStride"));
    if (entry_ == 0 || stride_ == 0 || stride_ > kMaxStride)
      return fail(ErrorCategory::kMalformed,
                  std::string(table) + " of libjvm.so is not a table: stride " + std::to_string(stride_));
    return {};
  }
  Result<std::uint64_t> layout(std::string_view what) const {
    JTRACE_ASSIGN_OR_RETURN(const Address variable, find_(prefix_ + std::string(what)));
    return memory_.read<std::uint64_t>(variable);
  }
  // The text that the pointer at `offset` of the current entry points to; "" for a null pointer.
  Result<std::string> text(std::uint64_t offset) const {
    JTRACE_ASSIGN_OR_RETURN(const Address at, memory_.read<Address>(entry_ + offset));
    if (at == 0) return std::string();
    auto text = memory_.read_cstring(at, 4096);
    if (!text) return fail(text.error().with_context("cannot read a name of the tables of libjvm.so"));
    return text;
  }
  template <class T>
  Result<T> value(std::uint64_t offset) const {
    return memory_.read<T>(entry_ + offset);
  }
  // Calls `take` for each entry until the one whose name (at `name_offset`) is null.
  template <class Take>
  Result<> for_each(std::uint64_t name_offset, Take take) {
    for (std::size_t count = 0; count < kMaxEntries; ++count, entry_ += stride_) {
      JTRACE_ASSIGN_OR_RETURN(const Address name, memory_.read<Address>(entry_ + name_offset));
      if (name == 0) return {};
      JTRACE_RETURN_IF_ERROR(take());
    }
    return fail(ErrorCategory::kMalformed, "a table of libjvm.so has no end");
  }

  Result<> read_fields(TypeDatabase& into) {
    JTRACE_RETURN_IF_ERROR(open("gHotSpotVMStructs"));
    JTRACE_ASSIGN_OR_RETURN(const auto type, layout("TypeNameOffset"));
    JTRACE_ASSIGN_OR_RETURN(const auto name, layout("FieldNameOffset"));
    JTRACE_ASSIGN_OR_RETURN(const auto type_string, layout("TypeStringOffset"));
    JTRACE_ASSIGN_OR_RETURN(const auto is_static, layout("IsStaticOffset"));
    JTRACE_ASSIGN_OR_RETURN(const auto offset, layout("OffsetOffset"));
    JTRACE_ASSIGN_OR_RETURN(const auto address, layout("AddressOffset"));
    return for_each(type, [&]() -> Result<> {
      TypeField field;
      JTRACE_ASSIGN_OR_RETURN(field.type, text(type));
      JTRACE_ASSIGN_OR_RETURN(field.name, text(name));
      JTRACE_ASSIGN_OR_RETURN(field.type_string, text(type_string));
      JTRACE_ASSIGN_OR_RETURN(const auto flag, value<std::int32_t>(is_static));
      JTRACE_ASSIGN_OR_RETURN(field.offset, value<std::uint64_t>(offset));
      JTRACE_ASSIGN_OR_RETURN(field.address, value<Address>(address));
      field.is_static = flag != 0;
      into.fields_.push_back(std::move(field));
      return {};
    });
  }
  Result<> read_types(TypeDatabase& into) {
    JTRACE_RETURN_IF_ERROR(open("gHotSpotVMTypes"));
    JTRACE_ASSIGN_OR_RETURN(const auto name, layout("TypeNameOffset"));
    JTRACE_ASSIGN_OR_RETURN(const auto super, layout("SuperclassNameOffset"));
    JTRACE_ASSIGN_OR_RETURN(const auto is_oop, layout("IsOopTypeOffset"));
    JTRACE_ASSIGN_OR_RETURN(const auto is_integer, layout("IsIntegerTypeOffset"));
    JTRACE_ASSIGN_OR_RETURN(const auto is_unsigned, layout("IsUnsignedOffset"));
    JTRACE_ASSIGN_OR_RETURN(const auto size, layout("SizeOffset"));
    return for_each(name, [&]() -> Result<> {
      VmType type;
      JTRACE_ASSIGN_OR_RETURN(type.name, text(name));
      JTRACE_ASSIGN_OR_RETURN(type.super, text(super));
      JTRACE_ASSIGN_OR_RETURN(const auto oop, value<std::int32_t>(is_oop));
      JTRACE_ASSIGN_OR_RETURN(const auto integer, value<std::int32_t>(is_integer));
      JTRACE_ASSIGN_OR_RETURN(const auto no_sign, value<std::int32_t>(is_unsigned));
      JTRACE_ASSIGN_OR_RETURN(type.size, value<std::uint64_t>(size));
      type.is_oop = oop != 0;
      type.is_integer = integer != 0;
      type.is_unsigned = no_sign != 0;
      into.types_.push_back(std::move(type));
      return {};
    });
  }
  template <class T>
  Result<> read_constants(std::string_view table, std::vector<std::pair<std::string, std::int64_t>>& into) {
    JTRACE_RETURN_IF_ERROR(open(table));
    JTRACE_ASSIGN_OR_RETURN(const auto name, layout("NameOffset"));
    JTRACE_ASSIGN_OR_RETURN(const auto at, layout("ValueOffset"));
    return for_each(name, [&]() -> Result<> {
      JTRACE_ASSIGN_OR_RETURN(auto text_of_name, text(name));
      JTRACE_ASSIGN_OR_RETURN(const auto number, value<T>(at));
      into.emplace_back(std::move(text_of_name), static_cast<std::int64_t>(number));
      return {};
    });
  }

 private:
  const target::MemoryReader& memory_;
  const TypeDatabase::FindExported& find_;
  std::string prefix_;
  Address entry_ = 0;
  std::uint64_t stride_ = 0;
};

Result<TypeDatabase> TypeDatabase::read(const target::MemoryReader& memory, const FindExported& find) {
  TypeDatabase types;
  JTRACE_RETURN_IF_ERROR(TypeTableReader(memory, find, "gHotSpotVMStructEntry").read_fields(types));
  JTRACE_RETURN_IF_ERROR(TypeTableReader(memory, find, "gHotSpotVMTypeEntry").read_types(types));
  JTRACE_RETURN_IF_ERROR(TypeTableReader(memory, find, "gHotSpotVMIntConstantEntry")
                             .read_constants<std::int32_t>("gHotSpotVMIntConstants", types.int_constants_));
  JTRACE_RETURN_IF_ERROR(TypeTableReader(memory, find, "gHotSpotVMLongConstantEntry")
                             .read_constants<std::int64_t>("gHotSpotVMLongConstants", types.long_constants_));
  types.index();
  return types;
}

void TypeDatabase::index() {
  for (std::size_t i = 0; i < fields_.size(); ++i) field_index_.emplace(key_of(fields_[i].type, fields_[i].name), i);
  for (std::size_t i = 0; i < types_.size(); ++i) type_index_.emplace(types_[i].name, i);
  for (const auto& [name, value] : int_constants_) constant_index_.emplace(name, value);
  for (const auto& [name, value] : long_constants_) constant_index_.emplace(name, value);
}

const TypeField* TypeDatabase::field(std::string_view type, std::string_view name) const {
  const auto found = field_index_.find(key_of(type, name));
  return found == field_index_.end() ? nullptr : &fields_[found->second];
}

std::optional<std::uint64_t> TypeDatabase::offset(std::string_view type, std::string_view name) const {
  const TypeField* found = field(type, name);
  return found && !found->is_static ? std::optional(found->offset) : std::nullopt;
}

std::optional<std::uint64_t> TypeDatabase::offset(std::initializer_list<std::string_view> types,
                                                  std::string_view name) const {
  for (std::string_view type : types)
    if (const auto found = offset(type, name)) return found;
  return std::nullopt;
}

std::optional<Address> TypeDatabase::variable(std::string_view type, std::string_view name) const {
  const TypeField* found = field(type, name);
  return found && found->is_static ? std::optional(found->address) : std::nullopt;
}

std::optional<std::uint64_t> TypeDatabase::size_of(std::string_view type) const {
  const auto found = type_index_.find(type);
  return found == type_index_.end() ? std::nullopt : std::optional(types_[found->second].size);
}

std::optional<std::int64_t> TypeDatabase::constant(std::string_view name) const {
  const auto found = constant_index_.find(name);
  return found == constant_index_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace jtrace::coreinspect
