#include "coreinspect/hprof/vm_roots.h"

#include <algorithm>
#include <array>
#include <set>

#include "coreinspect/hprof/class_plan.h"
#include "coreinspect/oops/java_collections.h"
#include "coreinspect/runtime/java_threads.h"

namespace jtrace::coreinspect {
namespace {

constexpr int kMaxBlocks = 100'000;
constexpr int kMaxLocalBlocks = 10'000;
constexpr std::uint32_t kHandlesOfBlock = 32;     // JNIHandleBlock::block_size_in_oops
constexpr std::size_t kOopsOfBlock = 64;          // OopStorage::Block: one for each bit of its mask
constexpr std::uint64_t kActiveArrayBlocks = 24;  // OopStorage::ActiveArray: size, block count, reference count, blocks

using Handles = std::vector<std::pair<Address, Address>>;

// The addresses of the handles in use of a JNIHandleBlock.
Result<std::vector<Address>> slots_of_block(const Vm& vm, Address block) {
  const auto offset = vm.types().offset("JNIHandleBlock", "_handles");
  if (!offset) return fail(Vm::no_field("JNIHandleBlock", "_handles"));
  vm.note_root(block, *offset + std::uint64_t{kHandlesOfBlock} * 8);
  JTRACE_ASSIGN_OR_RETURN(const auto top, vm.read_field<std::int32_t>(block, "JNIHandleBlock", "_top"));
  std::vector<Address> slots(std::min<std::uint32_t>(static_cast<std::uint32_t>(std::max(top, 0)), kHandlesOfBlock));
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = block + *offset + Address{i} * 8;
  return slots;
}

Result<Handles> from_blocks(const Inspection& inspection, Address block) {
  const Vm& vm = inspection.vm();
  const Address deleted = vm.read_static<Address>("JNIHandles", "_deleted_handle").value_or(0);
  Handles handles;
  std::set<Address> all;
  for (int i = 0; block != 0 && i < kMaxBlocks; ++i) {
    JTRACE_ASSIGN_OR_RETURN(const auto slots, slots_of_block(vm, block));
    all.insert(slots.begin(), slots.end());
    for (const Address at : slots) {
      JTRACE_ASSIGN_OR_RETURN(const Address raw, vm.memory().read<Address>(at));
      if (raw != 0 && raw != deleted) handles.emplace_back(inspection.objects().from_root(raw), at);
    }
    JTRACE_ASSIGN_OR_RETURN(block, vm.read_pointer(block, "JNIHandleBlock", "_next"));
  }
  // A free handle has the address of the next free one (JNIHandleBlock::_free_list).
  std::erase_if(handles, [&](const auto& handle) { return all.contains(handle.first); });
  return handles;
}

Result<Handles> from_storage(const Inspection& inspection, Address storage, std::string_view wanted) {
  const Vm& vm = inspection.vm();
  JTRACE_ASSIGN_OR_RETURN(const Address name_at, vm.memory().read<Address>(storage));
  JTRACE_ASSIGN_OR_RETURN(const std::string name, vm.memory().read_cstring(name_at, 64));
  if (name != wanted) return fail(ErrorCategory::kMalformed, "not the OopStorage " + std::string(wanted));
  JTRACE_ASSIGN_OR_RETURN(const Address array, vm.memory().read<Address>(storage + 8));
  JTRACE_ASSIGN_OR_RETURN(const auto count, vm.memory().read<std::uint64_t>(array + 8));
  if (count > static_cast<std::uint64_t>(kMaxBlocks))
    return fail(ErrorCategory::kMalformed, "an impossible OopStorage");
  std::vector<Address> blocks(count);
  vm.note_root(storage, 16);
  vm.note_root(array, kActiveArrayBlocks + count * 8);
  JTRACE_RETURN_IF_ERROR(
      vm.memory().read_exactly(array + kActiveArrayBlocks, std::as_writable_bytes(std::span(blocks))));
  Handles handles;
  for (Address block : blocks) {
    std::array<std::uint64_t, kOopsOfBlock + 2> words{};  // the oops, the mask of those in use, the owner
    vm.note_root(block, sizeof words);
    JTRACE_RETURN_IF_ERROR(vm.memory().read_exactly(block, std::as_writable_bytes(std::span(words))));
    if (words[kOopsOfBlock + 1] != storage) return fail(ErrorCategory::kMalformed, "a block of another OopStorage");
    for (std::size_t i = 0; i < kOopsOfBlock; ++i) {
      if ((words[kOopsOfBlock] >> i & 1) == 0 || words[i] == 0) continue;
      if (const Address object = inspection.objects().from_root(words[i])) handles.emplace_back(object, block + i * 8);
    }
  }
  return handles;
}

// From 16 on, the JVM's own heap dumps have the VM's own references (OopStorage "VM Global") among those of JNI. The
// tables do not give the address of that storage. It is near that of JNI's storage, in OopStorageSet::_storages, a
// variable of libjvm.so.
constexpr int kVmGlobalIsDumped = 16;
constexpr std::size_t kNear = 32;               // words; more than there are storages
constexpr std::uint64_t kMostData = 16u << 20;  // bytes; more than libjvm.so has

bool is_storage_named(const Vm& vm, Address storage, std::string_view wanted) {
  if (storage == 0 || storage % 8 != 0) return false;
  const auto name_at = vm.memory().read<Address>(storage);
  const auto name = name_at ? vm.memory().read_cstring(*name_at, 64) : Result<std::string>(std::string());
  return name && *name == wanted;
}

Address find_vm_globals(const Inspection& inspection, Address jni_globals) {
  const auto& mappings = inspection.target().mappings();
  const std::string& path = inspection.target().libjvm_mapping().path;
  bool of_libjvm = false;
  for (const target::Mapping& mapping : mappings) {
    // The data segment, and the zeroed part after it, which has no file. The kernel joins that with memory of others
    // that happens to come next.
    of_libjvm = mapping.path == path || (of_libjvm && mapping.path.empty());
    if (!of_libjvm || !mapping.writable) continue;
    std::vector<Address> words(std::min(mapping.size(), kMostData) / 8);
    if (!inspection.target().memory().read_exactly(mapping.start, std::as_writable_bytes(std::span(words)))) continue;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] != jni_globals) continue;
      for (std::size_t k = i > kNear ? i - kNear : 0; k < std::min(words.size(), i + kNear); ++k)
        if (is_storage_named(inspection.vm(), words[k], "VM Global")) return words[k];
    }
  }
  return 0;
}

void add_vm_globals(const Inspection& inspection, Address jni_globals, Handles& handles,
                    std::vector<std::string>& missing) {
  const Address storage = find_vm_globals(inspection, jni_globals);
  const auto more = storage != 0 ? from_storage(inspection, storage, "VM Global")
                                 : Result<Handles>(fail(ErrorCategory::kNotFound, "no such storage was found"));
  if (more) handles.insert(handles.end(), more->begin(), more->end());
  else missing.push_back(more.error().with_context("global references of the VM itself").message());
}

}  // namespace

std::vector<std::pair<Address, Address>> jni_globals(const Inspection& inspection, std::vector<std::string>& missing) {
  const Vm& vm = inspection.vm();
  const auto at = vm.read_static<Address>("JNIHandles", "_global_handles");
  Result<Handles> handles = !at                ? Result<Handles>(fail(at.error()))
                            : vm.feature() < 9 ? from_blocks(inspection, *at)
                                               : from_storage(inspection, *at, "JNI Global");
  if (handles && vm.feature() >= kVmGlobalIsDumped) add_vm_globals(inspection, *at, *handles, missing);
  if (handles) return std::move(*handles);
  missing.push_back(handles.error().with_context("JNI global references").message());
  return {};
}

namespace {

// The address of a field that the tables do not have: it comes that many bytes after one that they have.
Result<Address> pointer_after(const Vm& vm, Address at, std::string_view type, std::string_view field,
                              std::int64_t bytes) {
  const auto offset = vm.types().offset(type, field);
  if (!offset) return fail(Vm::no_field(type, field));
  return vm.memory().read<Address>(at + *offset + static_cast<Address>(bytes));
}

// JNIHandleBlock: a list of blocks, full ones first; low bits mark freed entries. Local references have no colour: they
// belong to the thread, as its frames do.
void add_block(const Inspection& inspection, Address first, std::vector<Address>& objects) {
  const Vm& vm = inspection.vm();
  Result<Address> block = first;
  for (int i = 0; block && *block != 0 && i < kMaxLocalBlocks; ++i) {
    const auto slots = slots_of_block(vm, *block);
    for (const Address at : slots ? *slots : std::vector<Address>()) {
      const auto raw = vm.memory().read<Address>(at);
      if (!raw || *raw == 0 || *raw % 8 != 0) continue;
      for (const Address object : inspection.objects().all_from_stack(*raw)) objects.push_back(object);
    }
    if (!slots || slots->size() < kHandlesOfBlock) break;
    block = vm.read_pointer(*block, "JNIHandleBlock", "_next");
  }
}

// And those of the local frames around it (PushLocalFrame): _pop_frame_link comes after _next and _last
// (jniHandles.hpp).
std::vector<Address> objects_of_blocks(const Inspection& inspection, Address first) {
  std::vector<Address> objects;
  Result<Address> block = first;
  for (int i = 0; block && *block != 0 && i < kMaxLocalBlocks; ++i) {
    add_block(inspection, *block, objects);
    block = pointer_after(inspection.vm(), *block, "JNIHandleBlock", "_next", 16);
  }
  return objects;
}

}  // namespace

std::vector<Address> jni_locals(const Inspection& inspection, Address java_thread) {
  const Vm& vm = inspection.vm();
  const auto field = vm.types().offset({"JavaThread", "Thread"}, "_active_handles");
  const auto block = field ? vm.memory().read<Address>(java_thread + *field) : Result<Address>(Address{0});
  std::vector<Address> objects = objects_of_blocks(inspection, block.value_or(0));
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kFields{{
      {"ThreadShadow", "_pending_exception"},
      {"JavaThread", "_exception_oop"},
      {"JavaThread", "_pending_async_exception"},
      {"JavaThread", "_vm_result"},
      {"JavaThread", "_vm_result_oop"},
  }};
  for (const auto& [type, name] : kFields)
    if (const auto raw = vm.read_field<Address>(java_thread, type, name); raw && *raw != 0)
      objects.push_back(inspection.objects().from_stack(*raw));
  return objects;
}

// JavaCallWrapper (javaCalls.hpp): _thread, _handles, _callee_method, _receiver, _anchor.
std::vector<Address> jni_locals_of_call(const Inspection& inspection, Address wrapper) {
  const auto handles = pointer_after(inspection.vm(), wrapper, "JavaCallWrapper", "_anchor", -24);
  std::vector<Address> objects = objects_of_blocks(inspection, handles.value_or(0));
  const auto receiver = pointer_after(inspection.vm(), wrapper, "JavaCallWrapper", "_anchor", -8);
  if (receiver && *receiver != 0) objects.push_back(inspection.objects().from_stack(*receiver));
  return objects;
}

std::vector<Address> sticky_classes(const Inspection& inspection, std::vector<std::string>& missing) {
  const ClassModel& model = inspection.classes();
  std::vector<Address> sticky;
  bool incomplete = false;
  const auto all = model.all(&incomplete);
  if (!all || incomplete) missing.push_back("the list of classes of the boot loader is incomplete");
  // Hidden classes have a ClassLoaderData of their own; that of java.lang.Object is the boot loader's.
  const auto object = model.find("java/lang/Object");
  const Address boot = object ? model.loader_data(object->front()).value_or(0) : 0;
  for (Address klass : all ? *all : std::vector<Address>()) {
    if (!model.is_instance_class(klass)) continue;
    if (boot != 0 && model.loader_data(klass).value_or(0) == boot) sticky.push_back(klass);
  }
  return sticky;
}

void read_roots(const Inspection& inspection) {
  const ClassModel& model = inspection.classes();
  const ObjectModel& objects = inspection.objects();
  const auto classes = model.all();
  for (const Address klass : classes ? *classes : std::vector<Address>()) {
    (void)mirror_of(objects, klass);
    (void)resolved_references(inspection, klass);
    if (const auto data = model.loader_data(klass)) (void)objects.root_field(*data, "ClassLoaderData", "_class_loader");
  }
  std::vector<std::string> missing;
  (void)jni_globals(inspection, missing);
  const auto threads = java_thread_addresses(inspection.vm());
  for (const Address thread : threads ? *threads : std::vector<Address>()) {
    (void)objects.root_field(thread, "JavaThread", "_threadObj");
    (void)jni_locals(inspection, thread);
  }
}

}  // namespace jtrace::coreinspect
