#include "coreinspect/tools/thread_capture.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "coreinspect/gc/heap_layout.h"
#include "coreinspect/oops/z_vm.h"
#include "coreinspect/tools/chunks_at_stop.h"
#include "target/stop_threads.h"

namespace jtrace::coreinspect {
namespace {

using target::Mapping;
using target::StoppedThreads;
using target::ThreadRegisters;

constexpr std::uint64_t kMaxStackCopy = 1u << 20;
constexpr std::uint64_t kRedZone = 128;  // System V ABI, AMD64 3.2.2
// Cost of stopping, copying and releasing one thread on a slow machine; corrected by the time of the first batch.
constexpr std::chrono::nanoseconds kThreadCost{100'000};
constexpr std::size_t kMostHeaders = 20'000;       // of a batch
constexpr std::chrono::milliseconds kAlone{1000};  // limit for a single thread to stop

struct Copied {
  Address start = 0;
  std::vector<std::byte> bytes;
};

// The readable part of [start, end).
Copied copy_range(const target::MemoryReader& memory, Address start, Address end) {
  Copied copied{start, std::vector<std::byte>(end - start)};
  std::size_t done = 0;
  while (done < copied.bytes.size()) {
    const auto count = memory.read_some(start + done, std::span(copied.bytes).subspan(done));
    if (!count) break;
    done += *count;
  }
  copied.bytes.resize(done);
  return copied;
}

class Capture {
 public:
  Capture(const Inspection& inspection, bool headers)
      : inspection_(inspection),
        process_(*inspection.target().process()),
        cache_(*inspection.vm().cached_memory()),
        java_size_(inspection.vm().types().size_of("JavaThread").value_or(0)),
        virtual_thread_(inspection.vm().types().offset("JavaThread", "_vthread")),
        monitor_size_(std::min<std::uint64_t>(inspection.vm().types().size_of("ObjectMonitor").value_or(0), 4096)) {
    if (java_size_ > 65536) java_size_ = 0;
    if (virtual_thread_) chunks_.emplace(inspection);
    if (!headers) return;
    headers_ = std::make_shared<HeadersAtStop>(cache_);
    find_heap();
    find_waits();
  }

  Result<ThreadCapture> run(std::chrono::milliseconds max_stop, std::span<const pid_t> some) {
    cache_.reset();
    JTRACE_ASSIGN_OR_RETURN(mappings_, process_.maps());
    std::vector<pid_t> tids(some.begin(), some.end());
    result_.batches = 0;
    if (some.empty()) {
      JTRACE_ASSIGN_OR_RETURN(tids, process_.threads());
      if (kThreadCost * static_cast<std::int64_t>(tids.size()) <= max_stop) {
        JTRACE_ASSIGN_OR_RETURN(tids, take_all(max_stop, std::move(tids)));
      }
    }
    JTRACE_RETURN_IF_ERROR(take_in_batches(max_stop, std::move(tids)));
    cache_.forget();
    for (Copied& part : copied_) cache_.overlay(part.start, std::move(part.bytes));
    result_.headers = std::move(headers_);
    return std::move(result_);
  }

 private:
  // Stops all threads together. Returns those whose stacks could not be copied in time.
  Result<std::vector<pid_t>> take_all(std::chrono::milliseconds max_stop, std::vector<pid_t> tids) {
    auto stopped = StoppedThreads::stop(process_, max_stop);
    if (!stopped && stopped.error().category == ErrorCategory::kTimeout) return tids;
    if (!stopped) return fail(stopped.error());
    return take(*stopped);
  }

  Result<> take_in_batches(std::chrono::milliseconds max_stop, std::vector<pid_t> tids) {
    if (!tids.empty()) note_java_stacks();
    auto room = std::max<std::int64_t>(1, std::chrono::nanoseconds(max_stop) / kThreadCost);
    while (!tids.empty()) {
      const auto size = std::min(tids.size(), static_cast<std::size_t>(room));
      const std::vector<pid_t> batch(tids.end() - static_cast<std::ptrdiff_t>(size), tids.end());
      // A single thread may not stop while it waits for a processor.
      const auto limit = size == 1 ? std::max(max_stop, kAlone) : max_stop;
      auto stopped = StoppedThreads::stop(process_, limit, batch);
      if (!stopped && stopped.error().category == ErrorCategory::kTimeout && size > 1) {
        room = static_cast<std::int64_t>(size / 2);
        continue;
      }
      tids.resize(tids.size() - size);
      if (stopped) {
        const auto left = take(*stopped);
        tids.insert(tids.end(), left.begin(), left.end());
        if (!left.empty()) room = std::max<std::int64_t>(1, static_cast<std::int64_t>(size - left.size()));
      } else if (stopped.error().category == ErrorCategory::kTimeout) {
        ++result_.unstoppable;
      } else if (stopped.error().category != ErrorCategory::kNotFound || process_.has_exited()) {
        return fail(stopped.error());
      }
    }
    return {};
  }

  // Copies the stacks of the threads, at least one, and releases them. Returns those for which there was no time.
  std::vector<pid_t> take(StoppedThreads& stopped) {
    cache_.forget();
    if (result_.batches == 0 && !inspection_.collects_now())
      if (const auto collections = read_collections(inspection_.vm())) result_.collections = *collections;
    std::vector<pid_t> left;
    for (const ThreadRegisters& thread : stopped.threads()) {
      if (stopped.time_left().count() < 0 && &thread != &stopped.threads().front()) {
        left.push_back(thread.tid);
        continue;
      }
      copy_thread(thread.registers.sp());
      result_.threads.push_back(thread);
    }
    for (const target::HeldThread& thread : stopped.held()) take_held(thread);
    if (java_stacks_.empty()) copy_all_java_threads();
    copy_chunks();
    copy_monitors();
    copy_blockers();
    if (headers_) copy_headers(stopped.time_left().count() > 0);
    stacks_.clear();
    waited_.clear();
    ++result_.batches;
    result_.pause = std::max<std::chrono::nanoseconds>(result_.pause, stopped.release());
    return left;
  }

  // The content of its stack counts only if the thread has not gone on in the meantime.
  void take_held(const target::HeldThread& thread) {
    HeldCapture held{.thread = thread, .at = target::registers_if_blocked(process_, thread.tid)};
    if (held.at) {
      const std::size_t before = copied_.size(), stacks = stacks_.size(), threads = java_threads_.size();
      copy_thread(held.at->sp());
      const auto after = target::registers_if_blocked(process_, thread.tid);
      if (!after || after->sp() != held.at->sp() || after->pc() != held.at->pc()) {
        copied_.resize(before);
        stacks_.resize(stacks);
        java_threads_.resize(threads);
        held.at.reset();
      }
    }
    result_.held.push_back(std::move(held));
  }
  void copy_thread(Address sp) {
    copy_stack(sp);
    if (const auto owner = java_stacks_.lower_bound(sp); owner != java_stacks_.end()) copy_java_thread(owner->second);
  }

  // For batches: finds the JavaThread of a stack by the highest address of the stack.
  void note_java_stacks() {
    const auto addresses = java_thread_addresses(inspection_.vm());
    if (!addresses) return;
    for (Address address : *addresses) java_stacks_[java_stack_base(inspection_.vm(), address).value_or(0)] = address;
    java_stacks_.erase(0);
  }
  void copy_all_java_threads() {
    const auto addresses = java_thread_addresses(inspection_.vm());
    if (!addresses) return;
    for (Address address : *addresses) copy_java_thread(address);
  }
  void copy_java_thread(Address address) {
    const target::MemoryReader& memory = inspection_.target().memory();
    if (java_size_ > 0) {
      java_threads_.push_back(copied_.size());
      copied_.push_back(copy_range(memory, address, address + java_size_));
    }
    // The virtual thread that it runs is in a slot elsewhere (OopHandle).
    if (!virtual_thread_) return;
    if (const auto slot = memory.read<Address>(address + *virtual_thread_); slot && *slot != 0)
      copied_.push_back(copy_range(memory, *slot, *slot + sizeof(Address)));
  }
  void copy_stack(Address sp) {
    const Mapping* mapping = target::find_mapping(mappings_, sp);
    if (!mapping) return;
    const Address start = std::max(mapping->start, sp - kRedZone);
    const Address end = std::min(mapping->end, start + kMaxStackCopy);
    stacks_.push_back(copied_.size());
    copied_.push_back(copy_range(inspection_.target().memory(), start, end));
  }

  // The frames of virtual threads that run which are still in the heap.
  void copy_chunks() {
    if (!chunks_) return;
    std::vector<ContinuationAtStop> all;
    const auto add = [&](std::optional<ContinuationAtStop> one) {
      if (one) all.push_back(std::move(*one));
    };
    if (const auto field = chunks_->entry_field()) {
      for (const std::size_t thread : java_threads_)
        if (const Address entry = word(thread, *field); entry != 0) add(chunks_->of_entry(entry));
    } else {
      for (const std::size_t stack : stacks_) add(chunks_->of_stack(copied_[stack].start, copied_[stack].bytes));
    }
    for (const ContinuationAtStop& one : all) {
      for (const auto& [start, end] : one.ranges)
        copied_.push_back(copy_range(inspection_.target().memory(), start, end));
      result_.continuations.insert(one.object);
    }
  }

  // Where the facts of waits are; looked up before the stop.
  void find_waits() {
    const Vm& vm = inspection_.vm();
    for (const char* field : {"_current_pending_monitor", "_current_waiting_monitor"})
      if (const auto offset = vm.types().offset({"JavaThread", "Thread"}, field)) monitor_fields_.push_back(*offset);
    const auto addresses = java_thread_addresses(vm);
    if (!addresses) return;
    const ObjectModel& objects = inspection_.objects();
    for (Address address : *addresses) {
      const auto object = objects.root_field(address, "JavaThread", "_threadObj");
      if (!object || *object == 0) continue;
      const auto klass = objects.klass_of(*object);
      const auto slot = objects.root_slot(address, "JavaThread", "_threadObj");
      if (!klass || !slot) continue;
      thread_field_ = *vm.types().offset("JavaThread", "_threadObj");
      thread_field_is_handle_ = *slot != address + thread_field_;
      if (const auto field = objects.classes().find_field(*klass, "parkBlocker")) blocker_offset_ = field->offset;
      find_status(*object, *klass);
      return;
    }
  }
  // Not where a collector moves objects while threads run: a reference may lead to the old copy, which is out of date.
  void find_status(Address thread, Address klass) {
    const std::string_view collector = inspection_.vm().collector();
    if (collector == "Z" || collector == "Shenandoah") return;
    const ObjectModel& objects = inspection_.objects();
    Address holder_class = klass;
    if (const auto field = objects.classes().find_field(klass, "holder")) {
      const auto holder = objects.reference(thread, "holder");
      const auto found = holder && *holder != 0 ? objects.klass_of(*holder) : Result<Address>(Address{0});
      if (!found || *found == 0) return;
      holder_offset_ = field->offset;
      holder_class = *found;
    }
    if (const auto field = objects.classes().find_field(holder_class, "threadStatus")) status_offset_ = field->offset;
  }
  Address word(std::size_t copy, std::uint64_t offset) const {
    Address value = 0;
    const std::vector<std::byte>& bytes = copied_[copy].bytes;
    if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  // The monitors that threads wait for: which object each is of, and who owns it.
  void copy_monitors() {
    const Vm& vm = inspection_.vm();
    const target::MemoryReader& memory = inspection_.target().memory();
    std::set<Address> monitors;
    for (std::size_t thread : java_threads_)
      for (std::uint64_t offset : monitor_fields_)
        if (const Address monitor = word(thread, offset); monitor != 0) monitors.insert(monitor);
    for (Address monitor : monitors) {
      copied_.push_back(copy_range(memory, monitor, monitor + monitor_size_));
      const auto slot = inspection_.objects().root_slot(monitor, "ObjectMonitor", "_object");
      if (!slot || *slot == 0) continue;
      copied_.push_back(copy_range(memory, *slot, *slot + sizeof(Address)));
      if (const auto raw = vm.memory().read<Address>(*slot)) waited_.push_back(inspection_.objects().from_root(*raw));
    }
  }
  // What the threads are parked for.
  void copy_blockers() {
    const target::ProcessMemory* memory = inspection_.target().process_memory();
    if (!blocker_offset_ || memory == nullptr) return java_threads_.clear();
    const ObjectModel& objects = inspection_.objects();
    std::vector<Address> slots, fields, raws(java_threads_.size());
    for (std::size_t thread : java_threads_)
      slots.push_back(thread_field_is_handle_ ? word(thread, thread_field_) : copied_[thread].start + thread_field_);
    memory->read_each(slots, sizeof(Address), std::as_writable_bytes(std::span(raws)));
    for (std::size_t i = 0; i < raws.size(); ++i) {
      const Address object = objects.from_root(raws[i]);
      if (object != 0) result_.parked.threads[object] = copied_[java_threads_[i]].start;
      fields.push_back(object == 0 ? 0 : object + *blocker_offset_);
    }
    const std::vector<Address> blockers = references_at(*memory, fields);
    copy_statuses(*memory, fields);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Address blocker = blockers[i];
      result_.parked.blockers[copied_[java_threads_[i]].start] = blocker;
      if (blocker != 0) waited_.push_back(blocker);
    }
    java_threads_.clear();
  }

  // 0 where there is no field.
  std::vector<Address> references_at(const target::ProcessMemory& memory, const std::vector<Address>& fields) const {
    const ObjectModel& objects = inspection_.objects();
    const std::size_t size = objects.reference_size();
    std::vector<std::byte> references(fields.size() * size);
    memory.read_each(fields, size, references);
    std::vector<Address> found;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      Address raw = 0;
      std::memcpy(&raw, references.data() + i * size, size);
      found.push_back(size == 4 ? objects.from_narrow(static_cast<std::uint32_t>(raw)) : objects.from_root(raw));
    }
    return found;
  }
  // `blocker_fields`: of the threads' java.lang.Thread, 0 if there is none.
  void copy_statuses(const target::ProcessMemory& memory, const std::vector<Address>& blocker_fields) {
    if (!status_offset_) return;
    std::vector<Address> holders;
    for (const Address field : blocker_fields)
      holders.push_back(field == 0 ? 0 : field - *blocker_offset_ + holder_offset_.value_or(0));
    if (holder_offset_) holders = references_at(memory, holders);
    for (Address& each : holders)
      if (each != 0) each += *status_offset_;
    std::vector<std::uint32_t> statuses(holders.size());
    memory.read_each(holders, sizeof(std::uint32_t), std::as_writable_bytes(std::span(statuses)));
    for (std::size_t i = 0; i < holders.size(); ++i)
      if (holders[i] != 0 && statuses[i] != 0) result_.parked.statuses[copied_[java_threads_[i]].start] = statuses[i];
  }

  // What is reserved; the address space of generational ZGC, whose frames have addresses without colours; the
  // pages of its young objects are soon taken again.
  void find_heap() {
    const Vm& vm = inspection_.vm();
    if (vm.collector() == "Z") {
      const auto z = ZVm::open(vm);
      if (!z || !z->generational()) return;
      heap_start_ = z->offset_mask() + 1;
      heap_end_ = 2 * heap_start_;
      return;
    }
    const auto reserved = reserved_heap(vm);
    if (!reserved) return;
    heap_start_ = reserved->start;
    heap_end_ = reserved->end;
  }
  // The words of the stacks, with compressed references each half of one, that may be addresses of objects.
  std::vector<Address> candidates() const {
    const ObjectModel& objects = inspection_.objects();
    const bool narrow = objects.reference_size() == 4;
    std::vector<Address> found;
    const auto add = [&](Address object) {
      if (object >= heap_start_ && object < heap_end_ && object % 8 == 0) found.push_back(object);
    };
    for (const std::size_t index : stacks_) {
      const std::vector<std::byte>& bytes = copied_[index].bytes;
      for (std::size_t at = 0; at + sizeof(Address) <= bytes.size(); at += sizeof(Address)) {
        Address word = 0;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        if (word == 0) continue;
        add(word);
        if (!narrow) continue;
        add(objects.from_narrow(static_cast<std::uint32_t>(word)));
        add(objects.from_narrow(static_cast<std::uint32_t>(word >> 32)));
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }
  // A lock's class is asked for when a collection may have moved the object. `all`: of what frames have, too.
  void copy_headers(bool all) {
    const target::ProcessMemory* memory = inspection_.target().process_memory();
    if (memory == nullptr) return;
    std::vector<Address> objects;
    if (all && heap_end_ != 0) objects = candidates();
    if (objects.size() > kMostHeaders) objects.resize(kMostHeaders);
    objects.insert(objects.end(), waited_.begin(), waited_.end());
    std::vector<std::byte> headers(objects.size() * HeadersAtStop::kSize);
    memory->read_each(objects, HeadersAtStop::kSize, headers);
    for (std::size_t i = 0; i < objects.size(); ++i)
      headers_->add(objects[i], std::span(headers).subspan(i * HeadersAtStop::kSize, HeadersAtStop::kSize));
  }

  const Inspection& inspection_;
  const target::Process& process_;
  CachedMemory& cache_;
  std::uint64_t java_size_;
  std::optional<std::uint64_t> virtual_thread_;  // offset of JavaThread::_vthread, 21 and later
  std::optional<ChunksAtStop> chunks_;           // of JDK 21 and later
  std::uint64_t monitor_size_;                   // 0: not known
  std::vector<std::uint64_t> monitor_fields_;    // offsets of JavaThread
  std::optional<std::uint64_t> blocker_offset_;  // of java.lang.Thread
  std::optional<std::uint64_t> holder_offset_;   // its Thread$FieldHolder, from 19 on
  std::optional<std::uint64_t> status_offset_;   // threadStatus, in the one or the other
  std::uint64_t thread_field_ = 0;               // of JavaThread: its java.lang.Thread, or the handle of it
  bool thread_field_is_handle_ = false;
  std::vector<Mapping> mappings_;
  std::map<Address, Address> java_stacks_;  // stack base -> JavaThread
  std::vector<Copied> copied_;
  // Of this batch:
  std::vector<std::size_t> stacks_;        // in copied_
  std::vector<std::size_t> java_threads_;  // in copied_
  std::vector<Address> waited_;            // objects that threads wait for
  Address heap_start_ = 0, heap_end_ = 0;
  std::shared_ptr<HeadersAtStop> headers_;
  ThreadCapture result_;
};

}  // namespace

Result<ThreadCapture> capture_threads(const Inspection& inspection, std::chrono::milliseconds max_stop,
                                      std::span<const pid_t> tids, bool headers) {
  return Capture(inspection, headers).run(max_stop, tids);
}

}  // namespace jtrace::coreinspect
