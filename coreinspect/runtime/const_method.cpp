#include "coreinspect/runtime/const_method.h"

#include <cstring>

namespace jtrace::coreinspect {
namespace {

// ConstMethod::_flags: the same bits in 8 to 27 (constMethod.hpp, constMethodFlags.hpp).
enum Flag : std::uint32_t {
  kHasLines = 1u << 0,
  kHasCheckedExceptions = 1u << 1,
  kHasLocals = 1u << 2,
  kHasHandlers = 1u << 3,
  kHasGenericSignature = 1u << 4,
  kHasParameters = 1u << 5,
  kIsOverpass = 1u << 6,
  kHasAnnotations = 1u << 7,
  kHasParameterAnnotations = 1u << 8,
  kHasTypeAnnotations = 1u << 9,
  kHasDefaultValue = 1u << 10,
};

Result<std::string> bytes_of_array(const ClassModel& classes, Address address) {
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, classes.array<char>(address, "Array<u1>"));
  return std::string(bytes.begin(), bytes.end());
}

// Walks from the end of the bytes to their beginning.
class Backwards {
 public:
  explicit Backwards(std::span<const std::byte> bytes) : bytes_(bytes), at_(bytes.size()) {}

  template <class T>
  T take() {
    T value{};
    if (at_ < sizeof value) failed_ = true;
    if (failed_) return value;
    at_ -= sizeof value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    return value;
  }
  template <class Row>
  std::vector<Row> table() {
    std::vector<Row> rows(take<std::uint16_t>());
    const std::size_t size = rows.size() * sizeof(Row);
    if (failed_ || at_ < size) {
      failed_ = true;
      return {};
    }
    at_ -= size;
    if (size > 0) std::memcpy(rows.data(), bytes_.data() + at_, size);
    return rows;
  }
  bool failed() const { return failed_; }
  std::size_t position() const { return at_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_;
  bool failed_ = false;
};

}  // namespace

Result<ConstMethodTables> read_const_method(const ClassModel& classes, const JavaMethod& method) {
  const Vm& vm = classes.vm();
  JTRACE_ASSIGN_OR_RETURN(const Address at, vm.read_pointer(method.address, "Method", "_constMethod"));
  JTRACE_ASSIGN_OR_RETURN(const auto words, vm.read_field<std::int32_t>(at, "ConstMethod", "_constMethod_size"));
  // u2 up to 17, u4 from 21 on; the low half is used of both.
  auto flags = vm.read_field<std::uint16_t>(at, "ConstMethod", "_flags._flags");
  if (!flags) flags = vm.read_field<std::uint16_t>(at, "ConstMethod", "_flags");
  if (!flags) return fail(flags.error());
  const Address begin = method.code + method.code_size;
  const Address end = at + std::uint64_t{static_cast<std::uint32_t>(words)} * 8;
  const auto broken = [&] { return fail(malformed("the tables of method " + method.name, at)); };
  if (words <= 0 || begin > end || end - begin > (16u << 20)) return broken();
  std::vector<std::byte> bytes(end - begin);
  JTRACE_RETURN_IF_ERROR(vm.memory().read_exactly(begin, bytes));

  ConstMethodTables tables;
  const auto has = [&](Flag flag) { return (*flags & flag) != 0; };
  Backwards walk(bytes);
  for (const auto& [flag, into] :
       {std::pair(kHasAnnotations, &tables.annotations),
        std::pair(kHasParameterAnnotations, &tables.parameter_annotations),
        std::pair(kHasTypeAnnotations, &tables.type_annotations), std::pair(kHasDefaultValue, &tables.default_value)})
    if (has(flag)) {
      JTRACE_ASSIGN_OR_RETURN(*into, bytes_of_array(classes, walk.take<Address>()));
    }
  tables.is_overpass = has(kIsOverpass);
  if (has(kHasGenericSignature)) tables.generic_signature = walk.take<std::uint16_t>();
  tables.has_parameters = has(kHasParameters);
  if (tables.has_parameters) tables.parameters = walk.table<std::array<std::uint16_t, 2>>();
  if (has(kHasCheckedExceptions)) tables.checked_exceptions = walk.table<std::array<std::uint16_t, 1>>();
  if (has(kHasHandlers)) tables.handlers = walk.table<std::array<std::uint16_t, 4>>();
  if (has(kHasLocals)) tables.locals = walk.table<std::array<std::uint16_t, 6>>();
  if (walk.failed()) return broken();
  if (has(kHasLines))
    tables.lines = decode_lines(std::span(bytes).first(walk.position()), vm.quirks().unsigned5_excludes_zero);
  JTRACE_ASSIGN_OR_RETURN(const Address stack_map, vm.read_pointer(at, "ConstMethod", "_stackmap_data"));
  JTRACE_ASSIGN_OR_RETURN(tables.stack_map, bytes_of_array(classes, stack_map));
  return tables;
}

}  // namespace jtrace::coreinspect
