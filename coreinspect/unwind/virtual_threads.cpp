#include "coreinspect/unwind/virtual_threads.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>

#include "base/strings.h"
#include "coreinspect/oops/java_collections.h"
#include "coreinspect/unwind/stack_chunks.h"

namespace jtrace::coreinspect {
namespace {

constexpr const char* kContainers = "jdk/internal/vm/ThreadContainers";
constexpr const char* kCounting = "jdk/internal/vm/ThreadContainers$RootContainer$CountingRootContainer";
constexpr const char* kTracking = "jdk/internal/vm/ThreadContainers$RootContainer$TrackingRootContainer";

constexpr int kTries = 4;

// What changes when a virtual thread is mounted, runs on, or is parked.
struct Moment {
  std::int32_t state = 0, sp = 0;
  Address continuation = 0, chunk = 0, pc = 0;
  bool mounted = false;
  bool operator==(const Moment&) const = default;
};

template <class T>
std::optional<T> field_in(const ObjectModel& objects, const target::MemoryReader& memory, Address object,
                          std::string_view name) {
  const auto klass = objects.klass_in(memory, object);
  const auto field = klass ? objects.classes().find_field(*klass, name) : Result<JavaField>(fail(klass.error()));
  const auto value = field ? memory.read<T>(object + field->offset) : Result<T>(fail(field.error()));
  return value ? std::optional<T>(*value) : std::nullopt;
}
std::optional<Address> reference_in(const ObjectModel& objects, const target::MemoryReader& memory, Address object,
                                    Address klass, std::string_view name) {
  const auto field = objects.classes().find_field(klass, name);
  const auto value = field ? objects.load_in(memory, object + field->offset) : Result<Address>(fail(field.error()));
  return value ? std::optional<Address>(*value) : std::nullopt;
}

std::optional<Moment> moment_in(const ObjectModel& objects, const target::MemoryReader& memory, Address thread,
                                Address klass) {
  Moment moment;
  const auto state = field_in<std::int32_t>(objects, memory, thread, "state");
  const auto continuation = reference_in(objects, memory, thread, klass, "cont");
  if (!state || !continuation) return std::nullopt;
  moment.state = *state;
  if (moment.continuation = *continuation; moment.continuation == 0) return moment;
  const auto mounted = field_in<std::uint8_t>(objects, memory, moment.continuation, "mounted");
  const auto own_klass = objects.klass_in(memory, moment.continuation);
  const auto chunk =
      own_klass ? reference_in(objects, memory, moment.continuation, *own_klass, "tail") : std::optional<Address>();
  if (!mounted || !chunk) return std::nullopt;
  moment.mounted = *mounted != 0;
  if (moment.chunk = *chunk; moment.chunk == 0) return moment;
  const auto sp = field_in<std::int32_t>(objects, memory, moment.chunk, "sp");
  const auto pc = field_in<std::uint64_t>(objects, memory, moment.chunk, "pc");
  if (!sp || !pc) return std::nullopt;
  moment.sp = *sp;
  moment.pc = *pc;
  return moment;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// One that parked or yielded itself has Continuation.yield innermost; one that waits for a monitor has any method. One
// that runs has frames on its carrier.
bool has_its_frames(const VirtualThread& thread) {
  if (thread.walk.incomplete() || thread.carrier != 0) return true;
  if (is_one_of(thread.vm_state, {"NEW", "STARTED", "TERMINATED"})) return true;
  const auto& frames = thread.walk.frames;
  const auto first = std::find_if(frames.begin(), frames.end(), [](const Frame& frame) { return frame.method; });
  if (first == frames.end()) return false;
  return !is_one_of(thread.vm_state, {"PARKED", "TIMED_PARKED", "UNPARKED", "YIELDED"}) ||
         first->method->class_name == "jdk.internal.vm.Continuation";
}

Error untracked() {
  return {.category = ErrorCategory::kPartial,
          .text = "this JVM keeps no list of those that no executor has started (-Djdk.trackAllThreads=false)"};
}

class Reader {
 public:
  Reader(const ObjectModel& objects, const JavaWalker& walker, const std::map<Address, std::int32_t>* of_stop)
      : objects_(objects), walker_(walker), of_stop_(of_stop) {}

  // Threads that were started without an executor.
  Result<> add_tracked() {
    const auto classes = objects_.classes().find(kTracking);
    if (!classes) return objects_.classes().find(kCounting) ? Result<>(fail(untracked())) : Result<>();
    JTRACE_ASSIGN_OR_RETURN(const Address set, static_reference(objects_, classes->front(), "VTHREADS"));
    return add_set(set);
  }
  // Threads of executors: containers register themselves by weak references.
  Result<> add_of_containers() {
    const auto classes = objects_.classes().find(kContainers);
    if (!classes) return {};
    JTRACE_ASSIGN_OR_RETURN(const Address registry, static_reference(objects_, classes->front(), "CONTAINER_REGISTRY"));
    return for_each_of_set(registry, [&](Address reference) {
      const Address container = objects_.reference(reference, "referent").value_or(0);
      if (container == 0) return;
      for (const char* field : {"threads", "virtualThreads"})
        if (const auto set = objects_.reference(container, field); set && *set != 0) (void)add_set(*set);
    });
  }
  std::vector<VirtualThread> take() && { return std::move(found_); }

 private:
  // A ConcurrentHashMap.KeySetView.
  Result<> for_each_of_set(Address set, const std::function<void(Address)>& use) {
    if (set == 0) return {};
    JTRACE_ASSIGN_OR_RETURN(const Address map, objects_.reference(set, "map"));
    JTRACE_ASSIGN_OR_RETURN(const std::size_t broken, for_each_map_node(objects_, map, [&](Address node) {
                              const auto key = objects_.reference(node, "key");
                              if (key && *key != 0) use(*key);
                            }));
    if (broken > 0) return fail(ErrorCategory::kPartial, counted(broken, "entry", "entries") + " could not be read");
    return {};
  }
  Result<> add_set(Address set) {
    return for_each_of_set(set, [&](Address thread) {
      const auto klass = objects_.klass_of(thread);
      if (klass && objects_.classes().find_field(*klass, "cont") && seen_.insert(thread).second) add(thread, *klass);
    });
  }
  void add(Address object, Address klass) {
    const bool moves = of_stop_ != nullptr && !of_stop_->contains(object);
    VirtualThread thread = read(object, klass);
    for (int tries = 1; moves && !is_of_one_moment(thread, klass); ++tries) {
      if (tries == kTries) {
        thread.walk = {.stopped = "the virtual thread ran on while it was read"};
        thread.pending = 0;
        break;
      }
      objects_.classes().vm().cached_memory()->forget();
      thread = read(object, klass);
    }
    found_.push_back(std::move(thread));
  }
  // The cached pages may be of several moments.
  bool is_of_one_moment(const VirtualThread& thread, Address klass) const {
    const Vm& vm = objects_.classes().vm();
    const auto used = moment_in(objects_, vm.memory(), thread.object, klass);
    if (!used || used != moment_in(objects_, vm.target().memory(), thread.object, klass)) return false;
    // It may have run and be parked in the same place again.
    return has_its_frames(thread);
  }
  VirtualThread read(Address object, Address klass) {
    VirtualThread thread{.object = object};
    auto name = objects_.text_field(object, "name");
    thread.has_name = name.has_value();
    thread.name = std::move(name).value_or("");
    thread.id = objects_.value<std::int64_t>(object, "tid").value_or(0);
    const auto at_stop = of_stop_ == nullptr ? std::nullopt : state_at_stop(object);
    const auto state = at_stop ? Result<std::int32_t>(*at_stop) : objects_.value<std::int32_t>(object, "state");
    if (state) thread.vm_state = state_name(klass, *state);
    if (at_stop) return thread;
    thread.carrier = objects_.reference(object, "carrierThread").value_or(0);
    if (thread.carrier != 0) thread.carrier_name = objects_.text_field(thread.carrier, "name").value_or("");
    if (const auto continuation = objects_.reference(object, "cont"); continuation && *continuation != 0) {
      if (const auto mounted = objects_.value<std::uint8_t>(*continuation, "mounted"); !mounted || *mounted == 0)
        walk_chunks(objects_, walker_, *continuation, thread.walk);
    }
    if (thread.state() == "BLOCKED") take_pending(thread);
    return thread;
  }
  std::optional<std::int32_t> state_at_stop(Address object) const {
    const auto found = of_stop_->find(object);
    return found == of_stop_->end() ? std::nullopt : std::optional(found->second);
  }
  // A frame that waits to enter a monitor already has it in its list of locks.
  static void take_pending(VirtualThread& thread) {
    const auto first = std::find_if(thread.walk.frames.begin(), thread.walk.frames.end(),
                                    [](const Frame& frame) { return frame.method != nullptr; });
    if (first == thread.walk.frames.end() || first->locks.empty()) return;
    thread.pending = first->locks.front();
    std::erase(first->locks, thread.pending);
  }
  // The numbers are constants of the class and differ by version. Bit 8 means suspended.
  std::string state_name(Address klass, std::int32_t state) {
    if (states_.empty()) {
      const auto fields = objects_.classes().fields(klass);
      const auto mirror = mirror_of(objects_, klass);
      for (std::size_t i = 0; fields && mirror && i < (*fields)->size(); ++i) {
        const JavaField& field = (**fields)[i];
        if (!field.is_static() || field.signature != "I" || field.name == "SUSPENDED") continue;
        const auto value = objects_.classes().vm().memory().read<std::int32_t>(*mirror + field.offset);
        if (value && std::all_of(field.name.begin(), field.name.end(),
                                 [](char c) { return c == '_' || (c >= 'A' && c <= 'Z'); }))
          states_.emplace(*value, field.name);
      }
    }
    const auto known = states_.find(state & 0xff);
    return known == states_.end() ? std::to_string(state) : known->second;
  }
  const ObjectModel& objects_;
  const JavaWalker& walker_;
  const std::map<Address, std::int32_t>* of_stop_;
  std::map<std::int32_t, std::string> states_;
  std::set<Address> seen_;
  std::vector<VirtualThread> found_;
};

}  // namespace

std::string_view VirtualThread::state() const {
  const std::string_view word = vm_state;
  if (word == "NEW") return "NEW";
  if (word == "TERMINATED") return "TERMINATED";
  if (word == "TIMED_PARKED" || word == "TIMED_PINNED" || word == "TIMED_WAIT") return "TIMED_WAITING";
  if (word == "PARKED" || word == "PINNED" || word == "WAIT") return "WAITING";
  if (word == "BLOCKED") return "BLOCKED";
  return word == "RUNNING" && !carrier_state.empty() ? carrier_state : "RUNNABLE";
}

std::vector<VirtualThread> read_virtual_threads(const ObjectModel& objects, const JavaWalker& walker,
                                                std::vector<std::string>& missing,
                                                const std::map<Address, std::int32_t>* of_stop) {
  if (objects.classes().vm().feature() < 21) return {};
  Reader reader(objects, walker, of_stop);
  for (const Result<>& done : {reader.add_tracked(), reader.add_of_containers()})
    if (!done) missing.push_back(done.error().with_context("virtual threads").message());
  return std::move(reader).take();
}

}  // namespace jtrace::coreinspect
