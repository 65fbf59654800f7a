#include "coreinspect/tools/thread_capture.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "coreinspect/gc/forwarded_objects.h"
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
constexpr std::size_t kStacksAtATime = 64;
constexpr std::size_t kMostHeaders = 20'000;       // of a batch
constexpr std::uint64_t kMostBetween = 512;        // bytes that are read for nothing rather than in another piece
constexpr std::chrono::milliseconds kAlone{1000};  // limit for a single thread to stop

struct Copied {
  Address start = 0;
  std::vector<std::byte> bytes;
  bool is_java_thread = false;
};

// The readable part of [start, end).
Copied copy_range(const target::MemoryReader& memory, Address start, Address end) {
  Copied copied{.start = start, .bytes = std::vector<std::byte>(end - start)};
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
        process_memory_(*inspection.target().process_memory()),
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
    for (Copied& part : copied_) lay_over(part);
    result_.headers = std::move(headers_);
    return std::move(result_);
  }

 private:
  // In older JDKs the reference to the java.lang.Thread is in the JavaThread itself, not in a handle elsewhere. It is
  // read as it is then, because the object is: a collection may move it.
  void lay_over(Copied& part) {
    const auto place = inspection_.objects().root_place("JavaThread", "_threadObj");
    const std::uint64_t end = place ? place->offset + sizeof(Address) : 0;
    if (part.is_java_thread && place && !place->is_handle && end <= part.bytes.size()) {
      cache_.overlay(part.start + end, {part.bytes.begin() + static_cast<std::ptrdiff_t>(end), part.bytes.end()});
      part.bytes.resize(place->offset);
    }
    cache_.overlay(part.start, std::move(part.bytes));
  }

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
    for (std::span<const ThreadRegisters> threads = stopped.threads(); !threads.empty();) {
      const bool is_late = stopped.time_left().count() < 0 && threads.size() < stopped.threads().size();
      const auto some = threads.first(std::min(threads.size(), kStacksAtATime));
      threads = threads.subspan(some.size());
      if (is_late)
        for (const ThreadRegisters& thread : some) left.push_back(thread.tid);
      else take_some(some);
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
    if (headers_) keep_headers();
    return left;
  }

  void take_some(std::span<const ThreadRegisters> threads) {
    std::vector<Address> tops;
    for (const ThreadRegisters& thread : threads) tops.push_back(thread.registers.sp());
    copy_threads(tops);
    result_.threads.insert(result_.threads.end(), threads.begin(), threads.end());
  }
  // The content of its stack counts only if the thread has not continued in the meantime.
  void take_held(const target::HeldThread& thread) {
    HeldCapture held{.thread = thread, .at = target::registers_if_blocked(process_, thread.tid)};
    if (held.at) {
      const std::size_t before = copied_.size(), stacks = stacks_.size(), threads = java_threads_.size();
      copy_threads({held.at->sp()});
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
  // `tops`: the stack pointers.
  void copy_threads(const std::vector<Address>& tops) {
    copy_stacks(tops);
    std::vector<Address> owners;
    for (const Address sp : tops)
      if (const auto owner = java_stacks_.lower_bound(sp); owner != java_stacks_.end()) owners.push_back(owner->second);
    copy_java_threads(owners);
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
    copy_java_threads(*addresses);
  }
  void copy_java_threads(const std::vector<Address>& addresses) {
    if (java_size_ == 0) return;
    const std::size_t first = copied_.size();
    copy_each(addresses, java_size_);
    std::vector<Address> slots;
    for (std::size_t copy = first; copy < first + addresses.size(); ++copy) {
      java_threads_.push_back(copy);
      copied_[copy].is_java_thread = true;
      // The virtual thread that it runs is in a slot elsewhere (OopHandle).
      if (const Address slot = virtual_thread_ ? word(copy, *virtual_thread_) : 0; slot != 0) slots.push_back(slot);
    }
    const std::size_t handles = copied_.size();
    copy_each(slots, sizeof(Address));
    copy_virtual_threads(handles);
  }
  // From the slots in copied_ onwards. A thread that runs no virtual thread is in its slot itself.
  void copy_virtual_threads(std::size_t handles) {
    std::vector<Address> objects;
    for (std::size_t handle = handles; handle < copied_.size(); ++handle)
      if (const Address object = inspection_.objects().from_root(word(handle, 0)); object != 0)
        objects.push_back(object);
    std::vector<std::array<std::byte, HeadersAtStop::kSize>> headers(objects.size());
    std::vector<target::ProcessMemory::Part> parts;
    for (std::size_t i = 0; i < objects.size(); ++i) parts.push_back({objects[i], headers[i]});
    process_memory_.read_parts(parts);
    std::vector<Address> found, places;
    for (std::size_t i = 0; i < objects.size(); ++i)
      if (is_virtual(objects[i], headers[i])) found.push_back(objects[i]);
    for (const Address each : found) places.push_back(each + state_offset_);
    std::vector<std::int32_t> states(found.size());
    process_memory_.read_each(places, sizeof(std::int32_t), std::as_writable_bytes(std::span(states)));
    for (std::size_t i = 0; i < found.size(); ++i) result_.virtual_threads[found[i]] = states[i];
  }
  bool is_virtual(Address object, std::span<const std::byte> bytes) {
    HeadersAtStop header(process_memory_);
    header.add(object, bytes);
    const ClassModel& classes = inspection_.classes();
    const auto klass = inspection_.objects().klass_in(header, object);
    if (!klass || *klass == 0) return false;
    if (virtual_class_ == 0 && classes.internal_name(*klass).value_or("") == "java/lang/VirtualThread") {
      const auto state = classes.find_field(*klass, "state");
      if (!state) return false;
      virtual_class_ = *klass;
      state_offset_ = state->offset;
    }
    return *klass == virtual_class_;
  }
  // What cannot be read is copied as zeros.
  void copy_each(const std::vector<Address>& places, std::size_t size) {
    std::vector<AddressRange> ranges;
    for (const Address place : places) ranges.push_back({place, place + size});
    copy_ranges(ranges);
  }
  void copy_ranges(const std::vector<AddressRange>& ranges) {
    std::vector<target::ProcessMemory::Part> parts;
    for (const AddressRange& range : ranges) {
      copied_.push_back({.start = range.start, .bytes = std::vector<std::byte>(range.end - range.start)});
      parts.push_back({range.start, copied_.back().bytes});  // stays there when copied_ grows
    }
    process_memory_.read_parts(parts);
  }
  void copy_stacks(const std::vector<Address>& tops) {
    std::vector<AddressRange> ranges;
    for (const Address sp : tops) {
      const Mapping* mapping = target::find_mapping(mappings_, sp);
      if (!mapping) continue;
      const Address start = std::max(mapping->start, sp - kRedZone);
      stacks_.push_back(copied_.size() + ranges.size());
      ranges.push_back({start, std::min(mapping->end, start + kMaxStackCopy)});
    }
    copy_ranges(ranges);
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
    if (const auto root = inspection_.objects().root_place("ObjectMonitor", "_object"); root) {
      monitor_object_ = root->offset;
      monitor_object_is_handle_ = root->is_handle;
    }
    const auto addresses = java_thread_addresses(vm);
    if (!addresses) return;
    const ObjectModel& objects = inspection_.objects();
    for (Address address : *addresses) {
      const auto object = objects.root_field(address, "JavaThread", "_threadObj");
      if (!object || *object == 0) continue;
      const auto klass = objects.klass_of(*object);
      const auto place = objects.root_place("JavaThread", "_threadObj");
      if (!klass || !place) continue;
      thread_field_ = place->offset;
      thread_field_is_handle_ = place->is_handle;
      if (const auto field = objects.classes().find_field(*klass, "parkBlocker")) blocker_offset_ = field->offset;
      find_status(*object, *klass);
      return;
    }
  }
  // Not where a reference may lead to an old copy, which is out of date.
  void find_status(Address thread, Address klass) {
    const ObjectModel& objects = inspection_.objects();
    if (!objects.knows_moved_objects()) return;
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
    std::vector<Address> monitors;
    for (std::size_t thread : java_threads_)
      for (std::uint64_t offset : monitor_fields_)
        if (const Address monitor = word(thread, offset); monitor != 0) monitors.push_back(monitor);
    std::sort(monitors.begin(), monitors.end());
    monitors.erase(std::unique(monitors.begin(), monitors.end()), monitors.end());
    const std::size_t first = copied_.size();
    copy_each(monitors, monitor_size_);
    if (!monitor_object_) return;
    if (monitor_object_is_handle_) {
      std::vector<Address> slots;
      for (std::size_t i = 0; i < monitors.size(); ++i)
        if (const Address slot = word(first + i, *monitor_object_); slot != 0) slots.push_back(slot);
      const std::size_t handles = copied_.size();
      copy_each(slots, sizeof(Address));
      for (std::size_t i = 0; i < slots.size(); ++i) add_waited(word(handles + i, 0));
    } else {
      for (std::size_t i = 0; i < monitors.size(); ++i) add_waited(word(first + i, *monitor_object_));
    }
  }
  void add_waited(Address raw) {
    if (raw != 0) waited_.push_back(inspection_.objects().from_root(raw));
  }
  // What the threads are parked for.
  void copy_blockers() {
    if (!blocker_offset_) return java_threads_.clear();
    const target::ProcessMemory* memory = &process_memory_;
    const ObjectModel& objects = inspection_.objects();
    std::vector<Address> slots, fields, raws(java_threads_.size());
    for (std::size_t thread : java_threads_)
      slots.push_back(thread_field_is_handle_ ? word(thread, thread_field_) : copied_[thread].start + thread_field_);
    memory->read_each(slots, sizeof(Address), std::as_writable_bytes(std::span(raws)));
    std::vector<Address> threads;
    for (const Address raw : raws) threads.push_back(objects.from_root(raw));
    follow_moved(*memory, threads);
    for (std::size_t i = 0; i < threads.size(); ++i) {
      const Address object = threads[i];
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
  // Shenandoah's old copies.
  void follow_moved(const target::ProcessMemory& memory, std::vector<Address>& objects) const {
    if (inspection_.vm().collector() != "Shenandoah") return;
    std::vector<Address> marks(objects.size());
    memory.read_each(objects, sizeof(Address), std::as_writable_bytes(std::span(marks)));
    for (std::size_t i = 0; i < objects.size(); ++i)
      if (objects[i] != 0) objects[i] = place_in_mark(marks[i], objects[i]);
  }
  // `blocker_fields`: of the threads' java.lang.Thread, 0 if there is none.
  void copy_statuses(const target::ProcessMemory& memory, const std::vector<Address>& blocker_fields) {
    if (!status_offset_) return;
    std::vector<Address> holders;
    for (const Address field : blocker_fields)
      holders.push_back(field == 0 ? 0 : field - *blocker_offset_ + holder_offset_.value_or(0));
    if (holder_offset_) {
      holders = references_at(memory, holders);
      follow_moved(memory, holders);
    }
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
    if (all && heap_end_ != 0) objects_ = candidates();
    if (objects_.size() > kMostHeaders) objects_.resize(kMostHeaders);
    objects_.insert(objects_.end(), waited_.begin(), waited_.end());
    std::sort(objects_.begin(), objects_.end());
    objects_.erase(std::unique(objects_.begin(), objects_.end()), objects_.end());
    std::size_t size = 0;
    for (const Address object : objects_) {
      if (runs_.empty() || object > runs_.back().end + kMostBetween) runs_.push_back({object, object});
      const Address end = object + HeadersAtStop::kSize;
      size += end - runs_.back().end;
      runs_.back().end = end;
    }
    headers_bytes_.resize(size);
    std::vector<target::ProcessMemory::Part> parts;
    for (std::size_t begin = 0; const AddressRange& run : runs_) {
      parts.push_back({run.start, std::span(headers_bytes_).subspan(begin, run.end - run.start)});
      begin += run.end - run.start;
    }
    process_memory_.read_parts(parts);
  }
  // After the stop.
  void keep_headers() {
    auto object = objects_.begin();
    for (std::size_t begin = 0; const AddressRange& run : runs_) {
      for (; object != objects_.end() && *object < run.end; ++object)
        headers_->add(*object, std::span(headers_bytes_).subspan(begin + (*object - run.start), HeadersAtStop::kSize));
      begin += run.end - run.start;
    }
    objects_.clear();
    runs_.clear();
    headers_bytes_.clear();
  }

  const Inspection& inspection_;
  const target::Process& process_;
  const target::ProcessMemory& process_memory_;
  CachedMemory& cache_;
  std::uint64_t java_size_;
  std::optional<std::uint64_t> virtual_thread_;  // offset of JavaThread::_vthread, 21 and later
  std::optional<ChunksAtStop> chunks_;           // of JDK 21 and later
  Address virtual_class_ = 0;                    // java.lang.VirtualThread; 0: none was seen
  std::uint64_t state_offset_ = 0;               // of such an object: its state
  std::uint64_t monitor_size_;                   // 0: not known
  std::vector<std::uint64_t> monitor_fields_;    // offsets of JavaThread
  std::optional<std::uint64_t> monitor_object_;  // of ObjectMonitor: its object, or the handle of it
  bool monitor_object_is_handle_ = false;
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
  std::vector<Address> objects_;          // whose headers are copied
  std::vector<AddressRange> runs_;        // of them: near ones are read together
  std::vector<std::byte> headers_bytes_;  // of the runs
  std::shared_ptr<HeadersAtStop> headers_;
  ThreadCapture result_;
};

}  // namespace

Result<ThreadCapture> capture_threads(const Inspection& inspection, std::chrono::milliseconds max_stop,
                                      std::span<const pid_t> tids, bool headers) {
  return Capture(inspection, headers).run(max_stop, tids);
}

}  // namespace jtrace::coreinspect
