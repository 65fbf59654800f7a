// Command sets 11, 12, 15 and 16: threads, their groups, requests for events, frames.
#include <algorithm>

#include "coreinspect/runtime/const_method.h"
#include "coreinspect/runtime/descriptor.h"
#include "debug/handlers.h"

namespace jtrace::debug {
namespace {

using coreinspect::Frame;

void write_location(Request& request, const Frame& frame) {
  const LoadedClass* type = request.world.classes().find(frame.method->holder);
  const auto kind = type != nullptr ? type->kind : TypeKind::kClass;
  request.out.u1(static_cast<std::uint8_t>(kind)).id(frame.method->holder).id(frame.method->address);
  request.out.u8(frame.method->is_native() ? ~std::uint64_t{0} : static_cast<std::uint64_t>(frame.bci));
}

// The declared type of the variable that has this slot here; "" if none has. Without a table: of the argument.
std::string declared_type(Request& request, const Frame& frame, std::uint32_t slot) {
  const auto tables = coreinspect::read_const_method(request.world.inspection().classes(), *frame.method);
  if (!tables || tables->locals.empty()) return coreinspect::argument_type(*frame.method, slot);
  for (const auto& [start, length, name, descriptor, generic, at] : tables->locals)
    if (at == slot && frame.bci >= start && frame.bci < start + length)
      return request.world.classes().constant(frame.method->holder, descriptor);
  return {};
}

void write_local(Request& request, const Frame& frame, std::uint32_t slot, const std::string& type) {
  World& world = request.world;
  world.write_local(request.out, frame, world.locals().value(frame, slot, type.front()), type);
}

void write_ids(Request& request, const std::vector<Address>& objects) {
  request.out.u4(objects.size());
  for (const Address object : objects) request.out.id(request.world.ids().of(object));
}

}  // namespace

JdwpError thread_name(Request& request) {
  JTRACE_ARGUMENT(const Address object, read_tagged(request, Tag::kThread, JdwpError::kInvalidThread));
  const DebugThread* thread = request.world.threads().find(object);
  request.out.text(thread ? thread->name
                          : request.world.inspection().objects().text_field(object, "name").value_or(""));
  return JdwpError::kNone;
}

JdwpError thread_status(Request& request) {
  JTRACE_ARGUMENT(const DebugThread* thread, read_thread(request));
  request.out.u4(thread ? thread->status : 0).u4(1);  // suspended
  return JdwpError::kNone;
}

JdwpError thread_group(Request& request) {
  JTRACE_ARGUMENT(const DebugThread* thread, read_thread(request));
  request.out.id(request.world.ids().of(thread ? thread->group : 0));
  return JdwpError::kNone;
}

// A range that is not there is refused, never made smaller: clients count on it.
JdwpError thread_frames(Request& request) {
  JTRACE_ARGUMENT(const DebugThread* thread, read_thread(request));
  const std::int64_t start = request.in.i4(), wanted = request.in.i4();
  const auto all = static_cast<std::int64_t>(thread ? thread->frames.size() : 0);
  if (start == 0 && wanted == -1 && all == 0) return request.out.u4(0), JdwpError::kNone;
  if (start < 0 || start >= all) return JdwpError::kInvalidIndex;
  const std::int64_t count = wanted == -1 ? all - start : wanted;
  if (count < 0 || start + count > all) return JdwpError::kInvalidLength;
  request.out.u4(static_cast<std::uint64_t>(count));
  for (std::int64_t i = start; i < start + count; ++i) {
    request.out.id(request.world.threads().frame_id(*thread, static_cast<std::size_t>(i)));
    write_location(request, *thread->frames[static_cast<std::size_t>(i)]);
  }
  return JdwpError::kNone;
}

JdwpError thread_frame_count(Request& request) {
  JTRACE_ARGUMENT(const DebugThread* thread, read_thread(request));
  request.out.u4(thread ? thread->frames.size() : 0);
  return JdwpError::kNone;
}

JdwpError thread_owned_monitors(Request& request) {
  JTRACE_ARGUMENT(const DebugThread* thread, read_thread(request));
  if (request.world.objects_have_moved()) return JdwpError::kInvalidObject;
  std::vector<Address> locks;
  for (const auto& [lock, depth] : thread ? request.world.threads().owned(*thread) : ThreadIndex::Owned())
    if (std::find(locks.begin(), locks.end(), lock) == locks.end()) locks.push_back(lock);
  request.out.u4(locks.size());
  for (const Address lock : locks) request.world.write_object(request.out, lock);
  return JdwpError::kNone;
}

JdwpError thread_owned_monitors_depth(Request& request) {
  JTRACE_ARGUMENT(const DebugThread* thread, read_thread(request));
  if (request.world.objects_have_moved()) return JdwpError::kInvalidObject;
  const auto owned = thread ? request.world.threads().owned(*thread) : ThreadIndex::Owned();
  request.out.u4(owned.size());
  for (const auto& [lock, depth] : owned) {
    request.world.write_object(request.out, lock);
    request.out.u4(depth);
  }
  return JdwpError::kNone;
}

// A monitor that it wants to enter; up to 21 also one that it waits on (JDK-8256314). Not what it is parked for.
JdwpError thread_contended_monitor(Request& request) {
  JTRACE_ARGUMENT(const DebugThread* thread, read_thread(request));
  if (request.world.objects_have_moved()) return JdwpError::kInvalidObject;
  const coreinspect::Wait* wait = thread ? request.world.threads().locks().wait_of(thread->key) : nullptr;
  const bool waits = request.world.inspection().vm().feature() < 22;
  const bool monitor = wait != nullptr && (wait->kind == "monitor" || (waits && wait->kind == "wait"));
  request.world.write_object(request.out, monitor ? wait->object : 0);
  return JdwpError::kNone;
}

JdwpError thread_suspend_count(Request& request) {
  JTRACE_ARGUMENT([[maybe_unused]] const DebugThread* thread, read_thread(request));
  request.out.u4(1);
  return JdwpError::kNone;
}

JdwpError thread_is_virtual(Request& request) {
  JTRACE_ARGUMENT(const Address object, read_tagged(request, Tag::kThread, JdwpError::kInvalidThread));
  const auto& model = request.world.inspection().classes();
  Address klass = request.world.type_of(object)->klass;
  bool is_virtual = false;
  for (int depth = 0; klass != 0 && depth < 1000 && !is_virtual; ++depth) {
    is_virtual = model.internal_name(klass).value_or("") == "java/lang/BaseVirtualThread";
    klass = model.super(klass).value_or(0);
  }
  request.out.flag(is_virtual);
  return JdwpError::kNone;
}

JdwpError group_name(Request& request) {
  JTRACE_ARGUMENT(const Address group, read_tagged(request, Tag::kThreadGroup, JdwpError::kInvalidThreadGroup));
  request.out.text(request.world.threads().group(group).name);
  return JdwpError::kNone;
}

JdwpError group_parent(Request& request) {
  JTRACE_ARGUMENT(const Address group, read_tagged(request, Tag::kThreadGroup, JdwpError::kInvalidThreadGroup));
  request.out.id(request.world.ids().of(request.world.threads().group(group).parent));
  return JdwpError::kNone;
}

JdwpError group_children(Request& request) {
  JTRACE_ARGUMENT(const Address group, read_tagged(request, Tag::kThreadGroup, JdwpError::kInvalidThreadGroup));
  std::vector<Address> threads, groups = request.world.threads().group(group).groups;
  // Without virtual threads, as of the JVM's own agent: a client takes these from the list of all threads.
  for (const DebugThread& thread : request.world.threads().all())
    if (thread.group == group && !thread.is_virtual) threads.push_back(thread.object);
  for (const auto& [object, each] : request.world.threads().groups())
    if (each.parent == group && std::find(groups.begin(), groups.end(), object) == groups.end())
      groups.push_back(object);
  write_ids(request, threads);
  write_ids(request, groups);
  return JdwpError::kNone;
}

// Any event that a debugger requests: it gets a request id, and the event never comes.
JdwpError event_set(Request& request) {
  const std::uint8_t kind = request.in.u1();
  (void)request.in.u1();  // which threads to suspend
  constexpr std::uint8_t kKinds[] = {1, 2, 4, 6, 7, 8, 9, 20, 21, 40, 41, 42, 43, 44, 45, 46, 90, 99};
  if (request.in.failed()) return JdwpError::kIllegalArgument;
  if (std::find(std::begin(kKinds), std::end(kKinds), kind) == std::end(kKinds)) return JdwpError::kInvalidEventType;
  const std::int32_t modifiers = request.in.i4();
  for (std::int32_t i = 0; i < modifiers; ++i) {
    PacketReader& in = request.in;
    switch (in.u1()) {
      case 1:
      case 2: in.i4(); break;
      case 3:
      case 4:
      case 11: in.id(); break;
      case 5:
      case 6:
      case 12: in.text(); break;
      case 7: in.u1(), in.id(), in.id(), in.u8(); break;
      case 8: in.id(), in.u1(), in.u1(); break;
      case 9: in.id(), in.id(); break;
      case 10: in.id(), in.i4(), in.i4(); break;
      case 13: break;
      default: return JdwpError::kIllegalArgument;
    }
    if (in.failed()) return JdwpError::kIllegalArgument;
  }
  request.out.u4(request.client.next_event_request++);
  return JdwpError::kNone;
}

JdwpError frame_get_values(Request& request) {
  JTRACE_ARGUMENT(const DebugThread* thread, read_thread(request));
  if (thread == nullptr) return JdwpError::kInvalidFrame;
  JTRACE_ARGUMENT(const Frame* frame, read_frame(request, *thread));
  const std::uint32_t count = request.in.count(5);
  if (frame->method->is_native()) return JdwpError::kOpaqueFrame;
  request.out.u4(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::int32_t slot = request.in.i4();
    const std::uint8_t tag = request.in.u1();
    if (slot < 0 || static_cast<std::uint32_t>(slot) >= frame->method->max_locals) return JdwpError::kInvalidSlot;
    if (!is_tag(tag) || tag == 'V') return JdwpError::kIllegalArgument;
    const std::string type = declared_type(request, *frame, static_cast<std::uint32_t>(slot));
    if (type.empty()) return JdwpError::kInvalidSlot;
    const bool wants_reference = is_reference(static_cast<Tag>(tag));
    if (wants_reference != (type.front() == 'L' || type.front() == '[')) return JdwpError::kTypeMismatch;
    if (!wants_reference && tag != static_cast<std::uint8_t>(type.front())) return JdwpError::kTypeMismatch;
    write_local(request, *frame, static_cast<std::uint32_t>(slot), type);
  }
  return JdwpError::kNone;
}

JdwpError frame_this_object(Request& request) {
  JTRACE_ARGUMENT(const DebugThread* thread, read_thread(request));
  if (thread == nullptr) return JdwpError::kInvalidFrame;
  JTRACE_ARGUMENT(const Frame* frame, read_frame(request, *thread));
  if (frame->method->is_static() || frame->method->is_native()) {
    request.world.write_object(request.out, 0);
    return JdwpError::kNone;
  }
  const auto* holder = request.world.classes().find(frame->method->holder);
  write_local(request, *frame, 0, holder ? holder->signature : "Ljava/lang/Object;");
  return JdwpError::kNone;
}

}  // namespace jtrace::debug
