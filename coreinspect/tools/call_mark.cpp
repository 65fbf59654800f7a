#include "coreinspect/tools/call_mark.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "base/jdk_names.h"
#include "base/strings.h"
#include "coreinspect/runtime/bytecodes.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::int32_t kInvocationEntry = -1;  // nmethod::_entry_bci of code for calls (InvocationEntryBci)
constexpr std::uint64_t kMostBytes = 4096;     // of a header: some hundred

// FNV-1a.
class Hash {
 public:
  void add(const void* from, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(from);
    for (std::size_t i = 0; i < size; ++i) value_ = (value_ ^ bytes[i]) * 0x100000001b3u;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

// Adds what a method's counters hold. The count of a MethodData is in none of the tables, but it lies before the data,
// and what else is there changes only while the method is compiled.
bool add_counts(const Inspection& inspection, Address method, Hash& hash) {
  const Vm& vm = inspection.vm();
  const target::MemoryReader& now = inspection.target().memory();
  const auto add = [&](std::string_view field, std::optional<std::uint64_t> size) {
    const auto offset = vm.types().offset("Method", field);
    if (!offset || !size || *size > kMostBytes) return false;
    const auto at = now.read<Address>(method + *offset);
    std::vector<std::byte> bytes(*size);
    if (!at || *at == 0 || !now.read_exactly(*at, bytes)) return false;
    hash.add(bytes.data(), bytes.size());
    return true;
  };
  const bool counters = add("_method_counters", vm.types().size_of("MethodCounters"));
  const bool data = add("_method_data", vm.types().offset("MethodData", "_data[0]"));
  return counters || data;
}

// Methods that a loop calls to wait for something: what they do is over at once.
bool is_called_to_wait(std::string_view method) {
  constexpr std::string_view kPlaces[] = {
      "java/lang/System.",           "java/lang/Thread.",         "java/lang/Math.", "java/util/concurrent/atomic/",
      "java/lang/invoke/VarHandle.", "jdk/internal/misc/Unsafe.", "sun/misc/Unsafe."};
  return std::any_of(std::begin(kPlaces), std::end(kPlaces),
                     [method](std::string_view place) { return method.starts_with(place); });
}

// Whether the loops around that place call other methods. The compiler may have made these part of the loop without a
// trace of them at the places where a stack is read: a thread that serves one request after the other looks like that.
bool loop_calls_others(const Inspection& inspection, const JavaMethod& method, int bci) {
  const auto code = disassemble(ConstantPoolModel(inspection.classes()), method);
  if (!code) return true;
  int begin = bci, end = bci;
  for (const Instruction& each : *code) {
    const bool jumps = each.name.starts_with("if") || each.name.starts_with("goto");
    const auto target = jumps ? parse_decimal<int>(each.operands) : std::nullopt;
    if (target && *target <= bci && each.bci >= bci) begin = std::min(begin, *target), end = std::max(end, each.bci);
  }
  return std::any_of(code->begin(), code->end(), [&](const Instruction& each) {
    return each.bci >= begin && each.bci <= end && each.name.starts_with("invoke") && !is_called_to_wait(each.operands);
  });
}

}  // namespace

std::uint64_t mark_of_call(const Inspection& inspection, const Walk& walk) {
  const auto frame =
      std::find_if(walk.frames.begin(), walk.frames.end(), [](const Frame& each) { return each.method != nullptr; });
  // One that was compiled into its caller leaves no trace of its calls.
  if (frame == walk.frames.end() || frame->kind != FrameKind::kCompiled) return 0;
  const auto code = inspection.code();
  if (!code) return 0;
  const auto blob = (*code)->find(frame->pc);
  if (!blob || !*blob || (*blob)->method != frame->method->address) return 0;
  const auto entry = inspection.vm().read_field<std::int32_t>((*blob)->address, "nmethod", "_entry_bci");
  if (!entry || *entry == kInvocationEntry) return 0;
  if (loop_calls_others(inspection, *frame->method, frame->bci)) return 0;
  Hash hash;
  hash.add(&(*blob)->address, sizeof(Address));
  hash.add(&(*blob)->compile_id, sizeof(int));
  return add_counts(inspection, frame->method->address, hash) ? hash.value() : 0;
}

bool is_of_the_program(const Frame& frame) {
  return frame.method != nullptr && !is_of_the_jdk(frame.method->class_name);
}

std::uint64_t mark_of_own_call(const Inspection& inspection, const Walk& walk) {
  const auto frame = std::find_if(walk.frames.begin(), walk.frames.end(), is_of_the_program);
  if (frame == walk.frames.end() || frame->kind != FrameKind::kInterpreted) return 0;
  if (!inspection.vm().flag_is_true("UseCompiler")) return 0;  // -Xint: nothing is counted
  Hash hash;
  hash.add(&frame->method->address, sizeof(Address));
  hash.add(&frame->fp, sizeof(Address));
  hash.add(&frame->bci, sizeof(int));
  return add_counts(inspection, frame->method->address, hash) ? hash.value() : 0;
}

}  // namespace jtrace::coreinspect
