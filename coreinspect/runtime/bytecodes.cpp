#include "coreinspect/runtime/bytecodes.h"

#include <algorithm>
#include <array>

#include "base/primitive_types.h"

namespace jtrace::coreinspect {
namespace {

// How the bytes after an opcode are decoded.
enum class Form : std::uint8_t {
  kPlain,      // none
  kByte,       // a number
  kShort,      // a number
  kLocal,      // a local variable; two bytes after `wide`
  kIncrement,  // a local variable and a number
  kConstant1,  // one byte of constant pool index
  kConstant2,  // two bytes
  kField,      // two bytes, rewritten to an index into the cache
  kMethod,
  kInterface,  // and a count and a zero
  kDynamic,    // four bytes
  kMultiArray,
  kNewArray,
  kBranch2,
  kBranch4,
  kTable,
  kLookup,
  kWide,
};
struct Opcode {
  std::string_view name;
  Form form = Form::kPlain;
};

// JVMS 6.5, from 0 (nop) to 201 (jsr_w).
constexpr std::array<Opcode, 202> kOpcodes = {{
    {"nop"},
    {"aconst_null"},
    {"iconst_m1"},
    {"iconst_0"},
    {"iconst_1"},
    {"iconst_2"},
    {"iconst_3"},
    {"iconst_4"},
    {"iconst_5"},
    {"lconst_0"},
    {"lconst_1"},
    {"fconst_0"},
    {"fconst_1"},
    {"fconst_2"},
    {"dconst_0"},
    {"dconst_1"},
    {"bipush", Form::kByte},
    {"sipush", Form::kShort},
    {"ldc", Form::kConstant1},
    {"ldc_w", Form::kConstant2},
    {"ldc2_w", Form::kConstant2},
    {"iload", Form::kLocal},
    {"lload", Form::kLocal},
    {"fload", Form::kLocal},
    {"dload", Form::kLocal},
    {"aload", Form::kLocal},
    {"iload_0"},
    {"iload_1"},
    {"iload_2"},
    {"iload_3"},
    {"lload_0"},
    {"lload_1"},
    {"lload_2"},
    {"lload_3"},
    {"fload_0"},
    {"fload_1"},
    {"fload_2"},
    {"fload_3"},
    {"dload_0"},
    {"dload_1"},
    {"dload_2"},
    {"dload_3"},
    {"aload_0"},
    {"aload_1"},
    {"aload_2"},
    {"aload_3"},
    {"iaload"},
    {"laload"},
    {"faload"},
    {"daload"},
    {"aaload"},
    {"baload"},
    {"caload"},
    {"saload"},
    {"istore", Form::kLocal},
    {"lstore", Form::kLocal},
    {"fstore", Form::kLocal},
    {"dstore", Form::kLocal},
    {"astore", Form::kLocal},
    {"istore_0"},
    {"istore_1"},
    {"istore_2"},
    {"istore_3"},
    {"lstore_0"},
    {"lstore_1"},
    {"lstore_2"},
    {"lstore_3"},
    {"fstore_0"},
    {"fstore_1"},
    {"fstore_2"},
    {"fstore_3"},
    {"dstore_0"},
    {"dstore_1"},
    {"dstore_2"},
    {"dstore_3"},
    {"astore_0"},
    {"astore_1"},
    {"astore_2"},
    {"astore_3"},
    {"iastore"},
    {"lastore"},
    {"fastore"},
    {"dastore"},
    {"aastore"},
    {"bastore"},
    {"castore"},
    {"sastore"},
    {"pop"},
    {"pop2"},
    {"dup"},
    {"dup_x1"},
    {"dup_x2"},
    {"dup2"},
    {"dup2_x1"},
    {"dup2_x2"},
    {"swap"},
    {"iadd"},
    {"ladd"},
    {"fadd"},
    {"dadd"},
    {"isub"},
    {"lsub"},
    {"fsub"},
    {"dsub"},
    {"imul"},
    {"lmul"},
    {"fmul"},
    {"dmul"},
    {"idiv"},
    {"ldiv"},
    {"fdiv"},
    {"ddiv"},
    {"irem"},
    {"lrem"},
    {"frem"},
    {"drem"},
    {"ineg"},
    {"lneg"},
    {"fneg"},
    {"dneg"},
    {"ishl"},
    {"lshl"},
    {"ishr"},
    {"lshr"},
    {"iushr"},
    {"lushr"},
    {"iand"},
    {"land"},
    {"ior"},
    {"lor"},
    {"ixor"},
    {"lxor"},
    {"iinc", Form::kIncrement},
    {"i2l"},
    {"i2f"},
    {"i2d"},
    {"l2i"},
    {"l2f"},
    {"l2d"},
    {"f2i"},
    {"f2l"},
    {"f2d"},
    {"d2i"},
    {"d2l"},
    {"d2f"},
    {"i2b"},
    {"i2c"},
    {"i2s"},
    {"lcmp"},
    {"fcmpl"},
    {"fcmpg"},
    {"dcmpl"},
    {"dcmpg"},
    {"ifeq", Form::kBranch2},
    {"ifne", Form::kBranch2},
    {"iflt", Form::kBranch2},
    {"ifge", Form::kBranch2},
    {"ifgt", Form::kBranch2},
    {"ifle", Form::kBranch2},
    {"if_icmpeq", Form::kBranch2},
    {"if_icmpne", Form::kBranch2},
    {"if_icmplt", Form::kBranch2},
    {"if_icmpge", Form::kBranch2},
    {"if_icmpgt", Form::kBranch2},
    {"if_icmple", Form::kBranch2},
    {"if_acmpeq", Form::kBranch2},
    {"if_acmpne", Form::kBranch2},
    {"goto", Form::kBranch2},
    {"jsr", Form::kBranch2},
    {"ret", Form::kLocal},
    {"tableswitch", Form::kTable},
    {"lookupswitch", Form::kLookup},
    {"ireturn"},
    {"lreturn"},
    {"freturn"},
    {"dreturn"},
    {"areturn"},
    {"return"},
    {"getstatic", Form::kField},
    {"putstatic", Form::kField},
    {"getfield", Form::kField},
    {"putfield", Form::kField},
    {"invokevirtual", Form::kMethod},
    {"invokespecial", Form::kMethod},
    {"invokestatic", Form::kMethod},
    {"invokeinterface", Form::kInterface},
    {"invokedynamic", Form::kDynamic},
    {"new", Form::kConstant2},
    {"newarray", Form::kNewArray},
    {"anewarray", Form::kConstant2},
    {"arraylength"},
    {"athrow"},
    {"checkcast", Form::kConstant2},
    {"instanceof", Form::kConstant2},
    {"monitorenter"},
    {"monitorexit"},
    {"wide", Form::kWide},
    {"multianewarray", Form::kMultiArray},
    {"ifnull", Form::kBranch2},
    {"ifnonnull", Form::kBranch2},
    {"goto_w", Form::kBranch4},
    {"jsr_w", Form::kBranch4},
}};

constexpr std::uint8_t kFirstOfVm = 203;
// The Java instructions that the VM's own ones from 203 on replaced (bytecodes.hpp: _fast_agetfield to _nofast_iload).
constexpr std::array<std::uint8_t, 36> kReplaced = {
    180, 180, 180, 180, 180, 180, 180, 180,       // fast_?getfield
    181, 181, 181, 181, 181, 181, 181, 181, 181,  // fast_?putfield
    42,  42,  42,  42,                            // fast_aload_0, fast_iaccess_0, fast_aaccess_0, fast_faccess_0
    21,  21,  21,                                 // fast_iload, fast_iload2, fast_icaload
    182, 171, 171,                                // fast_invokevfinal, fast_linearswitch, fast_binaryswitch
    18,  19,                                      // fast_aldc, fast_aldc_w
    177, 182,                                     // return_register_finalizer, invokehandle
    180, 181, 42,  21,                            // nofast_getfield, nofast_putfield, nofast_aload_0, nofast_iload
    0};
constexpr std::uint8_t kFastAldc = 230, kFastAldcW = 231;

class Disassembler {
 public:
  Disassembler(const ConstantPoolModel& pools, const JavaMethod& method, std::vector<std::uint8_t> code)
      : pools_(pools), method_(method), code_(std::move(code)), original_(code_) {}

  Result<> run(Address pool) {
    pool_ = pool;
    rewritten_ = pools_.is_rewritten(pool);
    while (at_ < code_.size()) JTRACE_RETURN_IF_ERROR(next());
    return {};
  }
  std::vector<Instruction> take_instructions() { return std::move(instructions_); }
  Result<std::vector<std::uint8_t>> take_original() {
    JTRACE_RETURN_IF_ERROR(restored_);
    return std::move(original_);
  }

 private:
  Result<> next() {
    start_ = at_;
    const std::uint8_t raw = code_[at_++];
    std::uint8_t opcode = raw;
    if (raw >= kFirstOfVm && raw - kFirstOfVm < static_cast<int>(kReplaced.size()))
      opcode = kReplaced[raw - kFirstOfVm];
    if (opcode >= kOpcodes.size()) return broken("an unknown opcode: " + std::to_string(raw));
    const Opcode& known = kOpcodes[opcode];
    original_[start_] = opcode;
    std::string operands =
        raw == kFastAldc || raw == kFastAldcW ? reference(raw == kFastAldc ? 1 : 2) : operands_of(known.form);
    if (at_ > code_.size()) return broken("a truncated instruction");
    instructions_.push_back({static_cast<int>(start_), known.name, std::move(operands)});
    return {};
  }
  Result<> broken(std::string why) const {
    Error error{.category = ErrorCategory::kMalformed, .text = "bytecode of " + method_.name + ": " + std::move(why)};
    error.address = method_.code + start_;
    return fail(std::move(error));
  }

  std::string operands_of(Form form) {
    switch (form) {
      case Form::kPlain: return {};
      case Form::kByte: return std::to_string(static_cast<std::int8_t>(take(1)));
      case Form::kShort: return std::to_string(static_cast<std::int16_t>(take(2)));
      case Form::kLocal: return std::to_string(take(1));
      case Form::kIncrement: {
        const std::string local = std::to_string(take(1));
        return local + " " + std::to_string(static_cast<std::int8_t>(take(1)));
      }
      case Form::kConstant1: return pools_.text(pool_, take(1));
      case Form::kConstant2: return pools_.text(pool_, take(2));
      case Form::kField: return rewritten(2, &ConstantPoolModel::of_field);
      case Form::kMethod: return rewritten(2, &ConstantPoolModel::of_method);
      case Form::kInterface: {
        std::string text = rewritten(2, &ConstantPoolModel::of_method);
        (void)take(2);
        return text;
      }
      case Form::kDynamic: return rewritten(4, &ConstantPoolModel::of_dynamic_call);
      case Form::kMultiArray: {
        const std::string type = pools_.text(pool_, take(2));
        return type + " " + std::to_string(take(1));
      }
      case Form::kNewArray: {
        const std::uint32_t code = take(1);
        const PrimitiveType* type = primitive_of_code(code);
        return type != nullptr ? std::string(type->name()) : std::to_string(code);
      }
      case Form::kBranch2: return target(static_cast<std::int16_t>(take(2)));
      case Form::kBranch4: return target(static_cast<std::int32_t>(take(4)));
      case Form::kTable: return table();
      case Form::kLookup: return lookup();
      case Form::kWide: return wide();
    }
    return {};
  }
  std::string target(std::int64_t distance) const {
    return std::to_string(static_cast<std::int64_t>(start_) + distance);
  }
  std::string reference(std::size_t size) {
    const std::size_t at = at_;
    return restore(at, size, pools_.of_resolved_reference(pool_, take_native(size)));
  }
  using FindIndex = Result<std::uint32_t> (ConstantPoolModel::*)(Address, std::uint32_t) const;
  // A class that is not linked still has the operands of the class file.
  std::string rewritten(std::size_t size, FindIndex find) {
    const std::size_t at = at_;
    if (rewritten_) return restore(at, size, (pools_.*find)(pool_, take_native(size)));
    const std::uint32_t index = take(2);
    (void)take(size - 2);
    return pools_.text(pool_, index);
  }
  // Writes the index as in the class file: in one byte, otherwise in the first two, the others zero.
  std::string restore(std::size_t at, std::size_t size, const Result<std::uint32_t>& index) {
    if (!index || at + size > original_.size() || (size == 1 && *index > 0xff)) {
      if (restored_) restored_ = index ? broken("an invalid operand") : Result<>(fail(index.error()));
      return "?";
    }
    std::fill_n(original_.begin() + static_cast<std::ptrdiff_t>(at), size, std::uint8_t{0});
    if (size > 1) original_[at++] = static_cast<std::uint8_t>(*index >> 8);
    original_[at] = static_cast<std::uint8_t>(*index);
    return pools_.text(pool_, *index);
  }

  std::string table() {
    at_ = (at_ + 3) & ~std::size_t{3};
    std::string text = "default: " + target(static_cast<std::int32_t>(take(4)));
    const auto low = static_cast<std::int32_t>(take(4)), high = static_cast<std::int32_t>(take(4));
    for (std::int64_t key = low; key <= high && at_ <= code_.size(); ++key)
      text += ", " + std::to_string(key) + ": " + target(static_cast<std::int32_t>(take(4)));
    return text;
  }
  std::string lookup() {
    at_ = (at_ + 3) & ~std::size_t{3};
    std::string text = "default: " + target(static_cast<std::int32_t>(take(4)));
    const auto count = static_cast<std::int32_t>(take(4));
    for (std::int32_t i = 0; i < count && at_ <= code_.size(); ++i) {
      const auto key = static_cast<std::int32_t>(take(4));
      text += ", " + std::to_string(key) + ": " + target(static_cast<std::int32_t>(take(4)));
    }
    return text;
  }
  // The widened instruction is the first operand.
  std::string wide() {
    const std::uint32_t opcode = take(1);
    if (opcode >= kOpcodes.size()) return "?";
    std::string text = std::string(kOpcodes[opcode].name) + " " + std::to_string(take(2));
    if (kOpcodes[opcode].form == Form::kIncrement) text += " " + std::to_string(static_cast<std::int16_t>(take(2)));
    return text;
  }
  // Big endian, as in class files; zeros after the end, which next() detects.
  std::uint32_t take(std::size_t size) {
    std::uint32_t value = 0;
    for (; size > 0; --size, ++at_) value = value << 8 | (at_ < code_.size() ? code_[at_] : 0);
    return value;
  }
  // As the VM rewrites it: in the machine's byte order.
  std::uint32_t take_native(std::size_t size) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i, ++at_)
      value |= static_cast<std::uint32_t>(at_ < code_.size() ? code_[at_] : 0) << (8 * i);
    return value;
  }

  const ConstantPoolModel& pools_;
  const JavaMethod& method_;
  std::vector<std::uint8_t> code_;
  std::vector<std::uint8_t> original_;  // the part of code_ that is turned back already
  Result<> restored_;
  bool rewritten_ = true;
  Address pool_ = 0;
  std::size_t at_ = 0, start_ = 0;
  std::vector<Instruction> instructions_;
};

Result<Disassembler> disassembled(const ConstantPoolModel& pools, const JavaMethod& method) {
  const Vm& vm = pools.classes().vm();
  std::vector<std::uint8_t> code(method.code_size);
  JTRACE_RETURN_IF_ERROR(vm.memory().read_exactly(method.code, std::as_writable_bytes(std::span(code))));
  JTRACE_ASSIGN_OR_RETURN(const Address constant, vm.read_pointer(method.address, "Method", "_constMethod"));
  JTRACE_ASSIGN_OR_RETURN(const Address pool, vm.read_pointer(constant, "ConstMethod", "_constants"));
  Disassembler disassembler(pools, method, std::move(code));
  JTRACE_RETURN_IF_ERROR(disassembler.run(pool));
  return disassembler;
}

}  // namespace

Result<std::vector<Instruction>> disassemble(const ConstantPoolModel& pools, const JavaMethod& method) {
  JTRACE_ASSIGN_OR_RETURN(auto disassembler, disassembled(pools, method));
  return disassembler.take_instructions();
}

Result<std::vector<std::uint8_t>> original_bytecodes(const ConstantPoolModel& pools, const JavaMethod& method) {
  JTRACE_ASSIGN_OR_RETURN(auto disassembler, disassembled(pools, method));
  return disassembler.take_original();
}

}  // namespace jtrace::coreinspect
