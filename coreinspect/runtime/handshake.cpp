#include "coreinspect/runtime/handshake.h"

#include <algorithm>
#include <array>
#include <span>

#include "coreinspect/runtime/libjvm_words.h"

namespace jtrace::coreinspect {
namespace {

using target::Address;

constexpr std::size_t kWord = sizeof(Address);
constexpr std::uint64_t kFrames = 16u << 10;  // bytes: of the functions between Handshake::execute and the kernel

// HandshakeOperation.
struct Fields {
  Address vtable = 0, closure = 0;
  std::int32_t pending = 0, unused = 0;
  Address target = 0, requester = 0;
};

}  // namespace

Result<Handshakes> Handshakes::find(const Vm& vm, const VmSymbols& symbols) {
  if (vm.feature() < 16) return fail(ErrorCategory::kNotFound, "handshakes: those of a JDK before 16 are not known");
  if (const auto vtable = symbols.address("_ZTV18HandshakeOperation"))
    return Handshakes(vm, *vtable + 2 * kWord);  // after the offset to the top and the type's information
  return fail(ErrorCategory::kNotFound, "handshakes: libjvm.so has no symbol HandshakeOperation");
}

std::optional<Handshake> Handshakes::at(Address operation) const {
  const target::MemoryReader& memory = vm_->target().memory();
  const auto fields = memory.read<Fields>(operation);
  if (!fields || fields->vtable != vtable_ || fields->pending < 1) return std::nullopt;
  const auto closure = memory.read<std::array<Address, 2>>(fields->closure);  // its vtable and name
  if (!closure || !in_libjvm(vm_->target(), (*closure)[0])) return std::nullopt;
  Handshake found{.operation = operation,
                  .requester = fields->requester,
                  .target = fields->target,
                  .pending = fields->pending,
                  .name = {}};
  if (in_libjvm(vm_->target(), (*closure)[1])) found.name = memory.read_cstring((*closure)[1], 64).value_or("");
  return found;
}

std::vector<Address> Handshakes::words_above(Address sp, Address base) const {
  if (sp >= base || sp % kWord != 0) return {};
  std::vector<Address> words(std::min(kFrames, base - sp) / kWord);
  if (!vm_->target().memory().read_exactly(sp, std::as_writable_bytes(std::span(words)))) return {};
  return words;
}

std::optional<Handshake> Handshakes::on_stack(Address thread, Address sp, Address base) const {
  const std::vector<Address> words = words_above(sp, base);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != vtable_) continue;
    const auto found = at(sp + i * kWord);
    if (found && found->requester == thread) return found;
  }
  return std::nullopt;
}

// VM_HandshakeAllThreads: its vtable, the calling thread, the HandshakeOperation.
std::optional<Handshake> Handshakes::of_operation(Address vm_operation) const {
  const auto operation = vm_->target().memory().read<Address>(vm_operation + 2 * kWord);
  return operation && *operation != 0 ? at(*operation) : std::nullopt;
}

// HandshakeState, inside of a JavaThread, begins with a pointer to that thread and the first node of the queue, which
// has two pointers: to the next node and to the operation, in an order that differs.
bool Handshakes::is_queued(const Handshake& handshake, Address java_thread) const {
  constexpr std::uint64_t kLargest = 16u << 10;
  constexpr int kMostNodes = 64;
  const target::MemoryReader& memory = vm_->target().memory();
  const auto size = vm_->types().size_of("JavaThread");
  std::vector<Address> words(std::min(kLargest, size.value_or(0)) / kWord);
  if (words.empty() || !memory.read_exactly(java_thread, std::as_writable_bytes(std::span(words)))) return false;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] != java_thread) continue;
    Address node = words[i + 1];
    for (int hops = 0; node != 0 && node % kWord == 0 && hops < kMostNodes; ++hops) {
      const auto links = memory.read<std::array<Address, 2>>(node);
      if (!links) break;
      if (std::find(links->begin(), links->end(), handshake.operation) != links->end()) return true;
      node = (*links)[0];
    }
  }
  return false;
}

}  // namespace jtrace::coreinspect
