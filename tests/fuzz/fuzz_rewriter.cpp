// libFuzzer program: any bytes as a class file, through the parser and the rewriter with each set of callouts. The
// result must be a class file again, with the same number of methods.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "agent/classfile/class_rewriter.h"

namespace {

// Some callees have no number.
std::uint32_t number_of(void*, const jtrace::agent::classfile::ClassFile::Reference& callee, bool) {
  return static_cast<std::uint32_t>(callee.name.size() % 7 * 10'000);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jtrace::agent::classfile;
  ClassFile klass;
  if (!klass.parse({data, size})) return 0;
  for (const std::uint32_t callouts : {32767u, 24576u, 8191u, 2047u, 511u, 3u, 128u, 29u}) {
    std::vector<MethodPlan> plans(klass.methods().size(), MethodPlan{.number = callouts * 1000, .callouts = callouts});
    Bytes out;
    if (rewrite_class(klass, "java/lang/Helper", plans, out, {number_of, nullptr}) != ClassOutcome::kRewritten)
      continue;
    ClassFile again;
    if (!again.parse(out) || again.methods().size() != klass.methods().size() || again.name() != klass.name())
      std::abort();
  }
  for (const Method& method : klass.methods()) {
    line_range(klass, method);
    for_each_exception(klass, method, [](std::string_view) {});
  }
  return 0;
}
