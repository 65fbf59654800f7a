#include "coreinspect/runtime/vm_operation.h"

#include <algorithm>
#include <array>

#include "coreinspect/runtime/libjvm_words.h"

namespace jtrace::coreinspect {

using target::Address;

Result<VmOperations> VmOperations::find(const Vm& vm, const VmSymbols& symbols, pid_t vm_thread) {
  VmOperations found(vm, symbols);
  if (found.find_by_symbol() || (vm_thread != 0 && found.find_by_structure(vm_thread))) return found;
  return fail(ErrorCategory::kNotFound,
              "the VM operation: libjvm.so has no symbol for it, and it is not found by "
              "structure");
}

bool VmOperations::find_by_symbol() {
  const auto thread = symbols_->address("_ZN8VMThread10_vm_threadE");
  const auto current = symbols_->address("_ZN8VMThread17_cur_vm_operationE");
  if (!thread || !current) return false;
  by_symbol_ = true;
  current_ = *current;
  next_ = symbols_->address("_ZN8VMThread18_next_vm_operationE");
  vm_thread_ = vm_->target().memory().read<Address>(*thread).value_or(0);
  return true;
}

bool VmOperations::is_vm_thread(Address thread, pid_t id) const {
  const target::MemoryReader& memory = vm_->memory();
  const auto at = vm_->types().offset({"JavaThread", "Thread"}, "_osthread");
  if (!at || thread % sizeof(Address) != 0 || in_libjvm(vm_->target(), thread)) return false;
  const auto vtable = memory.read<Address>(thread);
  if (!vtable || !in_libjvm(vm_->target(), *vtable)) return false;
  const auto os_thread = memory.read<Address>(thread + *at);
  if (!os_thread || *os_thread == 0) return false;
  const auto found = vm_->read_field<std::int32_t>(*os_thread, "OSThread", "_thread_id");
  return found && *found == id;
}

// Static operations have fields of the same value: only before the VM Thread's own variable is there an operation or 0.
bool VmOperations::find_by_structure(pid_t vm_thread) {
  const target::MemoryReader& memory = vm_->target().memory();
  return any_word(vm_->target(), [&](Address at, Address thread) {
    if (!is_vm_thread(thread, vm_thread)) return false;
    const auto before = memory.read<Address>(at - sizeof(Address));
    if (!before) return false;
    if (*before != 0) {
      const auto vtable = memory.read<Address>(*before);
      if (!vtable || !in_libjvm(vm_->target(), *vtable)) return false;
    }
    vm_thread_ = thread;
    current_ = at - sizeof(Address);
    return true;
  });
}

std::optional<VmOperation> VmOperations::read(Address slot) const {
  const target::MemoryReader& memory = vm_->target().memory();
  const auto at = memory.read<Address>(slot);
  if (!at || *at == 0) return std::nullopt;
  // On the stack of the thread that asked: gone if it is done meanwhile.
  const auto words = memory.read<std::array<Address, 2>>(*at);
  if (!words || !in_libjvm(vm_->target(), (*words)[0])) return std::nullopt;
  return VmOperation{.address = *at, .vtable = (*words)[0], .requester = (*words)[1]};
}

Result<std::optional<VmOperation>> VmOperations::now() const {
  if (const auto runs = read(current_)) return runs;
  auto waits = next_ ? read(*next_) : std::nullopt;
  if (waits) waits->waits = true;
  return waits;
}

std::string VmOperations::name(const VmOperation& operation) const {
  const std::string by_symbol = symbols_->class_of_vtable(operation.vtable);
  return by_symbol.empty() ? name_by_type(operation.vtable) : by_symbol;
}

// VM_Operation::_names, which begins with Dummy and ThreadStop in JDK 8.
std::string VmOperations::name_by_type(Address vtable) const {
  const int slot = vm_->quirks().vm_operation_type_slot;
  const target::MemoryReader& memory = vm_->memory();
  if (slot < 0 || vm_->target().isa() != target::Isa::kX86_64) return "";  // constant_returned_by() knows no other
  const auto function = memory.read<Address>(vtable + static_cast<Address>(slot) * sizeof(Address));
  if (!function || !in_libjvm(vm_->target(), *function)) return "";
  const auto code = memory.read<std::array<std::byte, 16>>(*function);
  const auto type = code ? constant_returned_by(*code) : std::nullopt;
  if (!type || *type > 255) return "";
  const auto text_at = [&](Address at) -> std::string {
    const auto text = memory.read<Address>(at);
    return text && in_libjvm(vm_->target(), *text) ? memory.read_cstring(*text, 64).value_or("") : "";
  };
  std::string name;
  any_word(vm_->target(), [&](Address at, Address word) {
    if (!in_libjvm(vm_->target(), word) || text_at(at) != "Dummy" || text_at(at + 8) != "ThreadStop") return false;
    name = text_at(at + *type * sizeof(Address));
    return true;
  });
  return name.empty() ? "" : "VM_" + name;
}

std::optional<std::uint32_t> constant_returned_by(std::span<const std::byte> code) {
  const auto skip = [&](std::initializer_list<std::uint8_t> bytes) {
    if (code.size() < bytes.size()) return false;
    const bool same = std::equal(bytes.begin(), bytes.end(), code.begin(),
                                 [](std::uint8_t one, std::byte other) { return std::byte{one} == other; });
    if (same) code = code.subspan(bytes.size());
    return same;
  };
  skip({0xf3, 0x0f, 0x1e, 0xfa});                      // endbr64
  const bool framed = skip({0x55, 0x48, 0x89, 0xe5});  // push rbp; mov rbp,rsp
  std::uint32_t value = 0;
  if (!skip({0x31, 0xc0})) {                 // xor eax,eax
    if (!skip({0xb8})) return std::nullopt;  // mov eax,VALUE
    if (code.size() < sizeof value) return std::nullopt;
    std::memcpy(&value, code.data(), sizeof value);
    code = code.subspan(sizeof value);
  }
  if (framed && !skip({0x5d})) return std::nullopt;  // pop rbp
  return skip({0xc3}) ? std::optional(value) : std::nullopt;
}

}  // namespace jtrace::coreinspect
