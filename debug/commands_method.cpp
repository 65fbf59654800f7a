// Command set 6: methods.
#include <algorithm>

#include "base/strings.h"
#include "coreinspect/runtime/bytecodes.h"
#include "coreinspect/runtime/const_method.h"
#include "coreinspect/runtime/descriptor.h"
#include "debug/handlers.h"

namespace jtrace::debug {
namespace {

using coreinspect::JavaMethod;

JdwpError write_variables(Request& request, bool generic) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  JTRACE_ARGUMENT(const JavaMethod* method, read_method(request, *type));
  if (method->is_native()) return JdwpError::kNativeMethod;
  const auto tables = coreinspect::read_const_method(request.world.inspection().classes(), *method);
  ClassIndex& classes = request.world.classes();
  // A method without variables has no table either: the others show whether the class was compiled with them.
  if (!tables || (tables->locals.empty() && !classes.has_variables(*type))) return JdwpError::kAbsentInformation;
  request.out.u4(coreinspect::argument_words(*method)).u4(tables->locals.size());
  for (const auto& [start, length, name, descriptor, signature, slot] : tables->locals) {
    request.out.u8(start).text(classes.constant(type->klass, name)).text(classes.constant(type->klass, descriptor));
    if (generic) request.out.text(classes.constant(type->klass, signature));
    request.out.u4(length).u4(slot);
  }
  return JdwpError::kNone;
}

}  // namespace

JdwpError method_line_table(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  JTRACE_ARGUMENT(const JavaMethod* method, read_method(request, *type));
  if (method->is_native()) return JdwpError::kNativeMethod;
  auto tables = coreinspect::read_const_method(request.world.inspection().classes(), *method);
  auto lines = tables ? std::move(tables->lines) : std::vector<std::pair<int, int>>();
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  request.out.u8(0).u8(method->code_size == 0 ? 0 : method->code_size - 1).u4(lines.size());
  for (const auto& [bci, line] : lines)
    request.out.u8(static_cast<std::uint64_t>(bci)).u4(static_cast<std::uint32_t>(line));
  return JdwpError::kNone;
}

JdwpError method_variable_table(Request& request) { return write_variables(request, false); }
JdwpError method_variable_table_with_generic(Request& request) { return write_variables(request, true); }

JdwpError method_bytecodes(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  JTRACE_ARGUMENT(const JavaMethod* method, read_method(request, *type));
  const coreinspect::ConstantPoolModel pools(request.world.inspection().classes());
  std::vector<std::uint8_t> bytes;
  if (!method->is_native()) {
    auto code = coreinspect::original_bytecodes(pools, *method);
    if (!code) return JdwpError::kInternal;
    bytes = std::move(*code);
  }
  request.out.text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return JdwpError::kNone;
}

// One that its class has no more.
JdwpError method_is_obsolete(Request& request) {
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  JTRACE_ARGUMENT(const JavaMethod* method, read_method(request, *type));
  request.out.flag(method == nullptr);
  return JdwpError::kNone;
}

}  // namespace jtrace::debug
