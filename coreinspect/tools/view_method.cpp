// The view `method`: bytecode of methods, as the class file had it.
#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "coreinspect/runtime/bytecodes.h"
#include "coreinspect/tools/named_classes.h"
#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {
namespace {

// "java.lang.String.hashCode", "java/lang/String.hashCode()I", or the address of a Method ("0x7f...").
Result<std::vector<const JavaMethod*>> wanted_methods(const Inspection& inspection, const std::string& wanted) {
  std::vector<const JavaMethod*> found;
  if (wanted.starts_with("0x")) {
    Address address = 0;
    std::from_chars(wanted.data() + 2, wanted.data() + wanted.size(), address, 16);
    JTRACE_ASSIGN_OR_RETURN(const JavaMethod* method, inspection.methods().method(address));
    return std::vector<const JavaMethod*>{method};
  }
  const std::string path = wanted.substr(0, wanted.find('('));
  const std::string signature = wanted.substr(path.size());
  const std::size_t dot = path.rfind('.');
  if (dot == path.npos || dot == 0)
    return fail(ErrorCategory::kUsage, "not a method: " + wanted,
                "CLASS.METHOD, CLASS.METHOD(SIGNATURE), or 0xADDRESS");
  JTRACE_ASSIGN_OR_RETURN(const auto classes, named_classes(inspection, path.substr(0, dot)));
  for (Address klass : classes) {
    JTRACE_ASSIGN_OR_RETURN(const auto methods, inspection.classes().methods(klass));
    for (Address address : methods) {
      const auto method = inspection.methods().method(address);
      if (!method || (*method)->name != path.substr(dot + 1)) continue;
      if (signature.empty() || (*method)->signature == signature) found.push_back(*method);
    }
  }
  if (found.empty()) return fail(ErrorCategory::kNotFound, "no method " + wanted + " in this JVM");
  return found;
}

void append_json(JsonWriter& json, const JavaMethod& method, const std::vector<Instruction>& code) {
  json.begin_object().member("class", method.class_name).member("method", method.name);
  json.member("signature", method.signature).member("access", method.access).member("address", hex(method.address));
  json.member("codeSize", method.code_size).member("maxStack", method.max_stack).member("maxLocals", method.max_locals);
  json.key("code").begin_array();
  for (const Instruction& instruction : code) {
    json.begin_object().member("bci", instruction.bci).member("name", instruction.name);
    if (!instruction.operands.empty()) json.member("operands", instruction.operands);
    if (const auto line = method.lines.find(instruction.bci); line != method.lines.end())
      json.member("line", line->second);
    json.end_object();
  }
  json.end_array().end_object();
}

void append_text(std::string& out, const JavaMethod& method, const std::vector<Instruction>& code) {
  out += printable(method.class_name + "." + method.name + method.signature) + " Method " + hex(method.address) + ", " +
         std::to_string(method.code_size) + " bytes, stack " + std::to_string(method.max_stack) + ", locals " +
         std::to_string(method.max_locals) + "\n";
  for (const Instruction& instruction : code) {
    std::string bci = std::to_string(instruction.bci);
    out += std::string(bci.size() < 6 ? 6 - bci.size() : 0, ' ') + bci + ": " + std::string(instruction.name);
    if (!instruction.operands.empty()) out += " " + printable(instruction.operands);
    if (const auto line = method.lines.find(instruction.bci); line != method.lines.end())
      out += "  // line " + std::to_string(line->second);
    out += "\n";
  }
}

}  // namespace

Result<ViewResult> view_method(Inspection& inspection, const ViewOptions& options) {
  JTRACE_RETURN_IF_ERROR(inspection.healthy());
  if (options.arguments.empty()) return fail(ErrorCategory::kUsage, "method needs a name: CLASS.METHOD");
  JTRACE_ASSIGN_OR_RETURN(const auto methods, wanted_methods(inspection, options.arguments.front()));
  const ConstantPoolModel pools(inspection.classes());
  ViewResult result;
  JsonWriter json(result.out);
  for (const JavaMethod* method : methods) {
    const auto code = disassemble(pools, *method);
    if (!code) result.missing.push_back(code.error().message());
    const auto& instructions = code ? *code : std::vector<Instruction>();
    if (options.json) append_json(json, *method, instructions);
    else append_text(result.out, *method, instructions);
  }
  return result;
}

}  // namespace jtrace::coreinspect
