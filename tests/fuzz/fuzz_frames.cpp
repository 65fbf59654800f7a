// libFuzzer program: any bytes as a class file whose StackMapTables are computed. A class's name determines its
// superclass, so that hierarchies of all forms occur: deep, circular, unknown. The result must be a class file again
// that needs no further tables.
#include <cstdint>
#include <cstdlib>

#include "agent/classfile/class_frames.h"

namespace {

using namespace jtrace::agent::classfile;

// "AbC" is a class whose superclass is "bC"; a lower-case name is an interface; a name that begins with a digit is
// unknown.
class ByName final : public ClassHierarchy {
 public:
  Answer super_of(std::string_view name) override {
    if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return {};
    if (name.size() == 1) return {true, false, "java/lang/Object"};
    return {true, name[0] >= 'a' && name[0] <= 'f', name.size() % 7 == 0 ? name : name.substr(1)};
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ClassFile klass;
  if (!klass.parse({data, size})) return 0;
  ByName hierarchy;
  FrameReport report;
  Bytes out;
  if (!complete_frames(klass, hierarchy, report, out)) return 0;
  ClassFile again;
  if (!again.parse(out) || again.methods().size() != klass.methods().size()) std::abort();
  Bytes none;
  FrameReport second;
  if (complete_frames(again, hierarchy, second, none) || second.left != report.left) std::abort();
  return 0;
}
