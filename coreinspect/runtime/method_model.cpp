#include "coreinspect/runtime/method_model.h"

#include <algorithm>

#include "base/strings.h"
#include "coreinspect/vm/unsigned5.h"

namespace jtrace::coreinspect {

int JavaMethod::line_of(int bci) const {
  auto next = lines.upper_bound(bci);
  return next == lines.begin() ? -1 : std::prev(next)->second;
}

Result<const JavaMethod*> MethodModel::method(Address address) const {
  const auto known = methods_.find(address);
  if (known != methods_.end()) return &known->second;
  JTRACE_ASSIGN_OR_RETURN(JavaMethod method, read_method(address));
  return &methods_.emplace(address, std::move(method)).first->second;
}

Result<JavaMethod> MethodModel::read_method(Address address) const {
  JavaMethod method;
  method.address = address;
  if (address == 0 || address % 8 != 0) {
    Error error{.category = ErrorCategory::kMalformed, .text = "not a method"};
    error.address = address;
    return fail(std::move(error));
  }
  JTRACE_ASSIGN_OR_RETURN(const Address constant, vm_.read_pointer(address, "Method", "_constMethod"));
  JTRACE_ASSIGN_OR_RETURN(const Address pool, vm_.read_pointer(constant, "ConstMethod", "_constants"));
  JTRACE_ASSIGN_OR_RETURN(method.holder, vm_.read_pointer(pool, "ConstantPool", "_pool_holder"));
  JTRACE_ASSIGN_OR_RETURN(method.class_name, classes_.name(method.holder));
  JTRACE_ASSIGN_OR_RETURN(const auto name, vm_.read_field<std::uint16_t>(constant, "ConstMethod", "_name_index"));
  JTRACE_ASSIGN_OR_RETURN(const auto signature,
                          vm_.read_field<std::uint16_t>(constant, "ConstMethod", "_signature_index"));
  JTRACE_ASSIGN_OR_RETURN(const std::string raw_name, classes_.constant_symbol(pool, name));
  JTRACE_ASSIGN_OR_RETURN(const std::string raw_signature, classes_.constant_symbol(pool, signature));
  method.name = utf8_from_modified(raw_name);
  method.signature = utf8_from_modified(raw_signature);
  // u4 up to 21, u2 later; the low half has the class file's flags in both.
  JTRACE_ASSIGN_OR_RETURN(method.access, vm_.read_field<std::uint16_t>(address, "Method", "_access_flags"));
  JTRACE_ASSIGN_OR_RETURN(method.code_size, vm_.read_field<std::uint16_t>(constant, "ConstMethod", "_code_size"));
  method.max_locals = vm_.read_field<std::uint16_t>(constant, "ConstMethod", "_max_locals").value_or(0);
  method.max_stack = vm_.read_field<std::uint16_t>(constant, "ConstMethod", "_max_stack").value_or(0);
  const auto size = vm_.types().size_of("ConstMethod");
  if (!size) return fail(Vm::no_field("ConstMethod", "(size)"));
  method.code = constant + *size;
  method.source_file = source_file_of(method.holder, pool).value_or("");
  read_lines(constant, method);
  return method;
}

Result<std::string> MethodModel::source_file_of(Address holder, Address pool) const {
  const bool in_pool = vm_.types().has("ConstantPool", "_source_file_name_index");
  JTRACE_ASSIGN_OR_RETURN(const auto index,
                          in_pool ? vm_.read_field<std::uint16_t>(pool, "ConstantPool", "_source_file_name_index")
                                  : vm_.read_field<std::uint16_t>(holder, "InstanceKlass", "_source_file_name_index"));
  if (index == 0) return std::string();
  JTRACE_ASSIGN_OR_RETURN(const std::string raw, classes_.constant_symbol(pool, index));
  return utf8_from_modified(raw);
}

std::vector<std::pair<int, int>> decode_lines(std::span<const std::byte> bytes, bool excludes_zero) {
  std::vector<std::pair<int, int>> lines;
  Unsigned5Reader reader(bytes, excludes_zero);
  int bci = 0, line = 0;
  for (std::uint8_t byte = reader.next_byte(); byte != 0 && !reader.failed(); byte = reader.next_byte()) {
    bci += byte == 0xff ? reader.next_signed() : byte >> 3;
    line += byte == 0xff ? reader.next_signed() : byte & 7;
    if (!reader.failed()) lines.emplace_back(bci, line);
  }
  return lines;
}

// The line table is after the code; a method may lack it.
void MethodModel::read_lines(Address const_method, JavaMethod& method) const {
  // u2 up to 17, u4 from 21 on; the low half is used of both.
  auto flags = vm_.read_field<std::uint16_t>(const_method, "ConstMethod", "_flags._flags");
  if (!flags) flags = vm_.read_field<std::uint16_t>(const_method, "ConstMethod", "_flags");
  const auto words = vm_.read_field<std::int32_t>(const_method, "ConstMethod", "_constMethod_size");
  if (!flags || !words || (*flags & vm_.quirks().const_method_has_linenumbers) == 0) return;
  const Address end = const_method + static_cast<std::uint32_t>(std::max(*words, 0)) * 8;
  const Address start = method.code + method.code_size;
  if (end <= start || end - start > (1u << 20)) return;
  std::vector<std::byte> bytes(end - start);
  if (!vm_.memory().read_exactly(start, bytes)) return;
  // The last entry of a bci counts, as in the VM's own search.
  for (const auto& [bci, line] : decode_lines(bytes, vm_.quirks().unsigned5_excludes_zero)) method.lines[bci] = line;
}

}  // namespace jtrace::coreinspect
