#include "coreinspect/code/code_cache.h"

#include <algorithm>
#include <array>

#include "coreinspect/vm/unsigned5.h"

namespace jtrace::coreinspect {
namespace {

constexpr int kMaxHeaps = 16;
constexpr std::size_t kMaxInlined = 256;
constexpr std::uint64_t kMaxPcs = 64u << 20;
constexpr int kMaxSteps = 1 << 20;

}  // namespace

Result<CodeCache> CodeCache::read(const Vm& vm) {
  CodeCache cache(vm);
  const TypeDatabase& types = vm.types();
  if (types.has("CodeCache", "_heaps")) {
    JTRACE_ASSIGN_OR_RETURN(const Address array, vm.read_static<Address>("CodeCache", "_heaps"));
    const std::string_view base = types.has("GrowableArrayBase", "_len") ? "GrowableArrayBase" : "GenericGrowableArray";
    JTRACE_ASSIGN_OR_RETURN(const auto length, vm.read_field<std::int32_t>(array, base, "_len"));
    JTRACE_ASSIGN_OR_RETURN(const Address data, vm.read_pointer(array, "GrowableArray<int>", "_data"));
    if (length < 0 || length > kMaxHeaps) return fail(malformed("impossible number of code heaps", array));
    for (int i = 0; i < length; ++i) {
      JTRACE_ASSIGN_OR_RETURN(const Address heap, vm.memory().read<Address>(data + static_cast<Address>(i) * 8));
      JTRACE_RETURN_IF_ERROR(cache.heaps_.add(types, heap));
    }
  } else {
    JTRACE_ASSIGN_OR_RETURN(const Address heap, vm.read_static<Address>("CodeCache", "_heap"));
    JTRACE_RETURN_IF_ERROR(cache.heaps_.add(types, heap));
  }
  cache.header_size_ = types.size_of("HeapBlock::Header").value_or(16);
  if (const auto size = types.size_of("HeapBlock")) cache.header_size_ = *size;
  JTRACE_ASSIGN_OR_RETURN(const Address queue, vm.read_static<Address>("AbstractInterpreter", "_code"));
  JTRACE_ASSIGN_OR_RETURN(cache.interpreter_begin_, vm.read_pointer(queue, "StubQueue", "_stub_buffer"));
  JTRACE_ASSIGN_OR_RETURN(const auto limit, vm.read_field<std::int32_t>(queue, "StubQueue", "_buffer_limit"));
  cache.interpreter_end_ = cache.interpreter_begin_ + static_cast<std::uint32_t>(std::max(limit, 0));
  JTRACE_ASSIGN_OR_RETURN(cache.call_stub_return_,
                          vm.read_static<Address>("StubRoutines", "_call_stub_return_address"));
  cache.return_barrier_ = vm.read_static<Address>("StubRoutines", "_cont_returnBarrier").value_or(0);
  cache.enter_return_ = vm.read_static<Address>("ContinuationEntry", "_return_pc").value_or(0);
  JTRACE_RETURN_IF_ERROR(cache.self_test());
  return cache;
}

// A place in generated code whose name is known must be found in a blob of stubs. This checks segment map, header and
// blob.
Result<> CodeCache::self_test() const {
  const auto blob = find(call_stub_return_);
  if (!blob) return fail(blob.error().with_context("the rules for the code cache do not fit this JVM"));
  if (!*blob || (*blob)->name.find("tub") == std::string::npos)
    return fail(malformed("the rules for the code cache do not fit this JVM: the call stub is not found in it",
                          call_stub_return_));
  return {};
}

std::optional<CodeHeap> CodeCache::heap_of_stubs() const {
  const CodeHeap* heap = heaps_.find(call_stub_return_);
  return heap ? std::optional(*heap) : std::nullopt;
}

// An entry of the segment map is the distance back to the block's first segment, in steps of at most 0xfe.
Result<std::optional<Address>> CodeCache::block_of(const CodeHeap& heap, Address pc) const {
  Address index = (pc - heap.low) >> heap.log2_segment;
  for (int steps = 0; steps < kMaxSteps; ++steps) {
    JTRACE_ASSIGN_OR_RETURN(const auto back, vm_->memory().read<std::uint8_t>(heap.segments + index));
    if (back == vm_->quirks().free_segment) return std::optional<Address>();
    if (back == 0) break;
    if (back > index) return fail(malformed("the segment map of a code heap leads out of it", pc));
    index -= back;
  }
  const Address block = heap.low + (index << heap.log2_segment);
  JTRACE_ASSIGN_OR_RETURN(const auto used, vm_->read_field<std::uint8_t>(block, "HeapBlock::Header", "_used"));
  return used ? std::optional(block) : std::nullopt;
}

Result<std::optional<CodeBlob>> CodeCache::find(Address pc) const {
  const CodeHeap* heap = heaps_.find(pc);
  if (!heap) return std::optional<CodeBlob>();
  JTRACE_ASSIGN_OR_RETURN(const auto block, block_of(*heap, pc));
  if (!block) return std::optional<CodeBlob>();
  const Address address = *block + header_size_;
  auto known = blobs_.find(address);
  if (known == blobs_.end()) {
    JTRACE_ASSIGN_OR_RETURN(CodeBlob blob, read_blob(address));
    known = blobs_.emplace(address, std::move(blob)).first;
  }
  return std::optional(known->second);
}

Result<CodeBlob> CodeCache::read_blob(Address address) const {
  const TypeDatabase& types = vm_->types();
  CodeBlob blob;
  blob.address = address;
  JTRACE_ASSIGN_OR_RETURN(const Address name, vm_->read_pointer(address, "CodeBlob", "_name"));
  JTRACE_ASSIGN_OR_RETURN(blob.name, vm_->memory().read_cstring(name, 256));
  JTRACE_ASSIGN_OR_RETURN(blob.size, vm_->read_field<std::uint32_t>(address, "CodeBlob", "_size"));
  JTRACE_ASSIGN_OR_RETURN(blob.frame_size, vm_->read_field<std::uint32_t>(address, "CodeBlob", "_frame_size"));
  if (types.has("CodeBlob", "_code_begin")) {
    JTRACE_ASSIGN_OR_RETURN(blob.code_begin, vm_->read_pointer(address, "CodeBlob", "_code_begin"));
  } else {
    JTRACE_ASSIGN_OR_RETURN(const auto offset, vm_->read_field<std::uint32_t>(address, "CodeBlob", "_code_offset"));
    blob.code_begin = address + offset;
  }
  // int up to 21, int16 later (the neighbouring fields are one and two bytes away)
  const auto complete = vm_->feature() >= 22
                            ? vm_->read_field<std::int16_t>(address, "CodeBlob", "_frame_complete_offset").value_or(0)
                            : vm_->read_field<std::int32_t>(address, "CodeBlob", "_frame_complete_offset").value_or(0);
  blob.frame_complete = static_cast<std::uint32_t>(std::max<int>(complete, 0));
  if (blob.name != "nmethod" && blob.name != "native nmethod") return blob;
  const std::string_view holder = types.has("nmethod", "_method") ? "nmethod" : "CompiledMethod";
  JTRACE_ASSIGN_OR_RETURN(blob.method, vm_->read_pointer(address, holder, "_method"));
  blob.comp_level = vm_->read_field<std::int8_t>(address, "nmethod", "_comp_level").value_or(0);
  blob.compile_id = vm_->read_field<std::int32_t>(address, "nmethod", "_compile_id").value_or(0);
  return blob;
}

bool CodeCache::is_deopt_return(const CodeBlob& blob, Address pc) const {
  if (!blob.is_nmethod()) return false;
  for (const char* field : {"_deopt_handler_begin", "_deopt_mh_handler_begin"})
    if (const auto at = vm_->read_pointer(blob.address, "CompiledMethod", field)) {
      if (*at == pc) return true;
    }
  for (const char* field : {"_deoptimize_offset", "_deoptimize_mh_offset", "_deopt_handler_offset",
                            "_deopt_mh_handler_offset", "_deopt_handler_entry_offset"})
    if (const auto offset = vm_->read_field<std::int32_t>(blob.address, "nmethod", field)) {
      if (*offset > 0 && blob.address + static_cast<std::uint32_t>(*offset) == pc) return true;
    }
  return false;
}

Result<Address> CodeCache::original_pc(const CodeBlob& blob, Address unextended_sp) const {
  JTRACE_ASSIGN_OR_RETURN(const auto offset, vm_->read_field<std::int32_t>(blob.address, "nmethod", "_orig_pc_offset"));
  return vm_->memory().read<Address>(unextended_sp + static_cast<Address>(static_cast<std::int64_t>(offset)));
}

Result<CodeCache::Debug> CodeCache::debug_of(const CodeBlob& blob) const {
  const TypeDatabase& types = vm_->types();
  const Address at = blob.address;
  const auto part = [&](const char* field) { return vm_->read_field<std::uint32_t>(at, "nmethod", field); };
  Debug debug;
  JTRACE_ASSIGN_OR_RETURN(const auto pcs, part("_scopes_pcs_offset"));
  if (types.has("nmethod", "_immutable_data")) {  // 25 and later: outside the blob, in the C heap
    JTRACE_ASSIGN_OR_RETURN(const Address immutable, vm_->read_pointer(at, "nmethod", "_immutable_data"));
    JTRACE_ASSIGN_OR_RETURN(const auto scopes, part("_scopes_data_offset"));
    JTRACE_ASSIGN_OR_RETURN(const auto end, types.has("nmethod", "_immutable_data_ref_count_offset")
                                                ? part("_immutable_data_ref_count_offset")
                                                : part("_immutable_data_size"));
    JTRACE_ASSIGN_OR_RETURN(const Address mutable_data, vm_->read_pointer(at, "CodeBlob", "_mutable_data"));
    JTRACE_ASSIGN_OR_RETURN(const auto relocation, vm_->read_field<std::uint32_t>(at, "CodeBlob", "_relocation_size"));
    // The descriptors end where the scopes begin (nmethod.hpp of 25).
    debug = {immutable + scopes, immutable + pcs, immutable + (scopes > pcs ? scopes : end), mutable_data + relocation};
    return debug;
  }
  JTRACE_ASSIGN_OR_RETURN(const auto dependencies, part("_dependencies_offset"));
  JTRACE_ASSIGN_OR_RETURN(const auto metadata, part("_metadata_offset"));
  debug.pcs = at + pcs;
  debug.pcs_end = at + dependencies;
  debug.metadata = at + metadata;
  if (types.has("CompiledMethod", "_scopes_data_begin")) {
    JTRACE_ASSIGN_OR_RETURN(debug.scopes, vm_->read_pointer(at, "CompiledMethod", "_scopes_data_begin"));
  } else {
    JTRACE_ASSIGN_OR_RETURN(const auto scopes, part("_scopes_data_offset"));
    debug.scopes = at + scopes;
  }
  return debug;
}

Result<std::vector<ScopeFrame>> CodeCache::scopes(const CodeBlob& blob, Address pc) const {
  struct PcDesc {  // pcDesc.hpp; the first and the last are sentinels
    std::int32_t pc_offset, scope_offset, object_offset, flags;
  };
  std::vector<ScopeFrame> frames;
  JTRACE_ASSIGN_OR_RETURN(const Debug debug, debug_of(blob));
  if (debug.pcs_end < debug.pcs || debug.pcs_end - debug.pcs > kMaxPcs)
    return fail(malformed("impossible debug information of compiled code", blob.address));
  std::vector<PcDesc> pcs((debug.pcs_end - debug.pcs) / sizeof(PcDesc));
  JTRACE_RETURN_IF_ERROR(vm_->memory().read_exactly(debug.pcs, std::as_writable_bytes(std::span(pcs))));
  const auto offset = static_cast<std::int64_t>(pc - blob.code_begin);
  std::erase_if(pcs, [](const PcDesc& pd) { return pd.pc_offset < 0 || pd.scope_offset == 0; });  // the sentinels
  if (pcs.empty()) return frames;
  const auto found = std::find_if(pcs.begin(), pcs.end(), [&](const PcDesc& pd) { return pd.pc_offset >= offset; });
  const PcDesc& place = found == pcs.end() ? pcs.back() : *found;
  std::int64_t decode = place.scope_offset;
  while (decode != 0 && frames.size() < kMaxInlined) {
    std::array<std::byte, 32> bytes{};
    JTRACE_RETURN_IF_ERROR(vm_->memory().read_exactly(debug.scopes + static_cast<Address>(decode), bytes));
    Unsigned5Reader reader(bytes, vm_->quirks().unsigned5_excludes_zero);
    const std::uint32_t sender = reader.next();
    const std::uint32_t method_index = reader.next();
    ScopeFrame frame;
    frame.bci = static_cast<int>(reader.next()) - 1;  // InvocationEntryBci is -1
    frame.locals = reader.next();
    (void)reader.next();  // expressions
    frame.monitors = reader.next();
    frame.objects = static_cast<std::uint32_t>(std::max(place.object_offset, 0));
    frame.exact = place.pc_offset == offset;
    if (reader.failed() || method_index == 0)
      return fail(malformed("a scope of compiled code ends too early", blob.address));
    JTRACE_ASSIGN_OR_RETURN(frame.method, vm_->memory().read<Address>(debug.metadata + Address{method_index - 1} * 8));
    frames.push_back(frame);
    decode = sender;
  }
  return frames;
}

Result<> CodeCache::for_each(const std::function<bool(const CodeBlob&)>& take) const {
  for (const CodeHeap& heap : heaps_.all()) {
    Address at = heap.low;
    while (at < heap.high) {
      const auto length = vm_->read_field<std::uint64_t>(at, "HeapBlock::Header", "_length");
      if (!length) return fail(length.error());
      // size_t up to 21, uint32 later.
      const std::uint64_t segments = header_size_ >= 16 ? *length : *length & 0xffffffff;
      if (segments == 0 || segments > (heap.high - at) >> heap.log2_segment) break;
      JTRACE_ASSIGN_OR_RETURN(const auto used, vm_->read_field<std::uint8_t>(at, "HeapBlock::Header", "_used"));
      if (used != 0) {
        const auto blob = read_blob(at + header_size_);
        if (blob && !take(*blob)) return {};
      }
      at += segments << heap.log2_segment;
    }
  }
  return {};
}

}  // namespace jtrace::coreinspect
