// Command sets 9, 10, 13, 14, 17 and 18: objects, strings, arrays, loaders, class objects, modules.
#include <algorithm>

#include "coreinspect/runtime/descriptor.h"
#include "debug/handlers.h"
#include "debug/heap_search.h"
#include "debug/pure_calls.h"

namespace jtrace::debug {
namespace {

constexpr std::size_t kMaxText = 16u << 20;  // characters

// Bytes of one element; 0 for references.
std::size_t element_size(char type) { return type == 'L' || type == '[' ? 0 : size_of(static_cast<Tag>(type)); }

JdwpError write_primitives(Request& request, Address from, std::uint32_t count, char type) {
  const std::size_t size = element_size(type);
  std::vector<std::byte> bytes(std::size_t{count} * size);
  if (!request.world.inspection().vm().memory().read_exactly(from, bytes)) return JdwpError::kInvalidObject;
  request.out.u1(static_cast<std::uint8_t>(type)).u4(count);
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, size);
    request.out.primitive(static_cast<Tag>(type), bits);
  }
  return JdwpError::kNone;
}

// A field of an object that was taken apart.
void write_part(Request& request, const ApartObject& object, const coreinspect::JavaField& field) {
  for (const auto& part : object.object.parts)
    if (part.field.offset == field.offset && part.field.name == field.name)
      return request.world.write_local(request.out, *object.frame, part.value, field.signature);
  request.world.write_unavailable(request.out, field.signature.front(), "it is not described");
}

JdwpError write_parts(Request& request, const ApartObject& array, std::int64_t first, std::int64_t count) {
  const auto& parts = array.object.parts;
  const std::string type = array.type->signature.substr(1);
  const bool references = coreinspect::is_reference(type.front());
  request.out.u1(static_cast<std::uint8_t>(type.front())).u4(static_cast<std::uint64_t>(count));
  for (std::int64_t i = first; i < first + count; ++i) {
    const auto& value = parts[static_cast<std::size_t>(i)].value;
    if (!references && !value) return JdwpError::kInvalidObject;
    if (references) request.world.write_local(request.out, *array.frame, value, type);
    else request.out.primitive(static_cast<Tag>(type.front()), value->bits);
  }
  return JdwpError::kNone;
}

// An array, in the heap or taken apart.
Argument<ObjectArgument> read_array(Request& request) {
  auto array = read_object(request);
  if (array && !array->type->is_array()) return tl::unexpected(JdwpError::kInvalidArray);
  return array;
}

Result<std::uint32_t> length_of(Request& request, const ObjectArgument& array) {
  if (array.apart != nullptr) return static_cast<std::uint32_t>(array.apart->object.parts.size());
  return request.world.inspection().objects().array_length(array.address);
}

}  // namespace

JdwpError object_reference_type(Request& request) {
  JTRACE_ARGUMENT(const ObjectArgument object, read_object(request));
  request.out.u1(static_cast<std::uint8_t>(object.type->kind)).id(object.type->klass);
  return JdwpError::kNone;
}

JdwpError object_get_values(Request& request) {
  JTRACE_ARGUMENT(const ObjectArgument object, read_object(request));
  const std::uint32_t count = request.in.count(sizeof(Id));
  request.out.u4(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto declared = request.world.classes().field(request.in.id());
    if (!declared || declared->field->is_static()) return JdwpError::kInvalidField;
    if (!request.world.classes().is_subclass(object.type->klass, declared->klass)) return JdwpError::kInvalidField;
    const char kind = declared->field->signature.front();
    if (object.apart != nullptr) write_part(request, *object.apart, *declared->field);
    else if (object.text != nullptr) request.world.write_unavailable(request.out, kind, "a string made by jtrace");
    else request.world.write_value_at(request.out, object.address + declared->field->offset, kind);
  }
  return JdwpError::kNone;
}

// Its owner, how often it has it, and the threads that wait to enter or to be notified.
JdwpError object_monitor_info(Request& request) {
  JTRACE_ARGUMENT(const ObjectArgument object, read_object(request));
  World& world = request.world;
  Address owner = 0;
  std::uint32_t entries = 0;
  std::vector<Address> waiters;
  if (world.objects_have_moved()) return JdwpError::kInvalidObject;
  for (const DebugThread& thread : world.threads().all()) {
    if (object.address == 0) break;
    for (const auto& [lock, depth] : world.threads().owned(thread))
      if (lock == object.address) owner = thread.object, ++entries;
    const coreinspect::Wait* wait = world.threads().locks().wait_of(thread.key);
    if (wait != nullptr && wait->object == object.address && wait->kind != "park") waiters.push_back(thread.object);
  }
  request.out.id(world.ids().of(owner)).u4(entries).u4(waiters.size());
  for (const Address waiter : waiters) request.out.id(world.ids().of(waiter));
  return JdwpError::kNone;
}

JdwpError object_is_collected(Request& request) {
  PacketReader ahead = request.in;
  const ObjectIds::Entry* entry = request.world.ids().find(ahead.id());
  if (entry != nullptr && entry->gone) return request.out.flag(true), JdwpError::kNone;
  JTRACE_ARGUMENT([[maybe_unused]] const ObjectArgument object, read_object(request));
  request.out.flag(false);
  return JdwpError::kNone;
}

JdwpError object_referring_objects(Request& request) {
  JTRACE_ARGUMENT(const ObjectArgument object, read_object(request));
  const std::int32_t most = request.in.i4();
  if (most < 0) return JdwpError::kIllegalArgument;
  if (object.address == 0) return request.out.u4(0), JdwpError::kNone;
  const auto found = find_referrers(request.world, object.address, static_cast<std::size_t>(most),
                                    [&] { return request.client.is_gone(); });
  if (!found) return JdwpError::kInternal;
  request.out.u4(found->size());
  for (const Address from : *found) request.world.write_object(request.out, from);
  return JdwpError::kNone;
}

JdwpError string_value(Request& request) {
  JTRACE_ARGUMENT(const ObjectArgument object, read_object(request));
  if (object.type->tag != Tag::kString) return JdwpError::kInvalidString;
  if (object.text != nullptr) return request.out.text(*object.text), JdwpError::kNone;
  if (object.address == 0) return JdwpError::kInvalidString;
  const auto text = request.world.inspection().objects().text(object.address, kMaxText);
  if (!text) return JdwpError::kInvalidObject;
  request.out.text(*text);
  return JdwpError::kNone;
}

JdwpError array_length(Request& request) {
  JTRACE_ARGUMENT(const ObjectArgument array, read_array(request));
  const auto length = length_of(request, array);
  if (!length) return JdwpError::kInvalidObject;
  request.out.u4(*length);
  return JdwpError::kNone;
}

JdwpError array_get_values(Request& request) {
  JTRACE_ARGUMENT(const ObjectArgument array, read_array(request));
  const std::int64_t first = request.in.i4(), wanted = request.in.i4();
  if (request.in.failed()) return JdwpError::kIllegalArgument;
  const auto& objects = request.world.inspection().objects();
  const auto length = length_of(request, array);
  if (!length) return JdwpError::kInvalidObject;
  const std::int64_t count = wanted == -1 ? *length - first : wanted;
  if (first < 0 || first > *length) return JdwpError::kInvalidIndex;
  if (count < 0 || first + count > *length) return JdwpError::kInvalidLength;
  if (array.apart != nullptr) return write_parts(request, *array.apart, first, count);
  const auto base = objects.array_base(array.address);
  if (!base) return JdwpError::kInvalidObject;
  const char type = array.type->signature[1];
  const std::size_t size = element_size(type);
  if (static_cast<std::uint64_t>(count) * (size == 0 ? 9 : size) > kMaxReply - 64) return JdwpError::kInvalidLength;
  const std::size_t step = size == 0 ? objects.reference_size() : size;
  const Address from = *base + static_cast<Address>(first) * step;
  if (size != 0) return write_primitives(request, from, static_cast<std::uint32_t>(count), type);
  request.out.u1(static_cast<std::uint8_t>(type)).u4(static_cast<std::uint64_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    request.world.write_value_at(request.out, from + static_cast<Address>(i) * step, 'L');
  return JdwpError::kNone;
}

// Those that it has defined. 0: the boot loader.
JdwpError loader_visible_classes(Request& request) {
  Address loader = 0;
  PacketReader ahead = request.in;
  if (ahead.id() != 0) {
    JTRACE_ARGUMENT(loader, read_tagged(request, Tag::kClassLoader, JdwpError::kInvalidClassLoader));
  } else {
    (void)request.in.id();
  }
  coreinspect::Loaders loaders(request.world.inspection());
  const std::size_t count = request.out.later();
  std::uint32_t listed = 0;
  for (const LoadedClass* type : request.world.classes().all()) {
    if (loaders.of(type->klass).object != loader) continue;
    request.out.u1(static_cast<std::uint8_t>(type->kind)).id(type->klass);
    ++listed;
  }
  request.out.set_later(count, listed);
  return JdwpError::kNone;
}

JdwpError class_object_reflected_type(Request& request) {
  JTRACE_ARGUMENT(const Address mirror, read_tagged(request, Tag::kClassObject, JdwpError::kInvalidClass));
  const LoadedClass* type =
      request.world.classes().find(request.world.inspection().objects().klass_of_mirror(mirror).value_or(0));
  if (type == nullptr) type = request.world.classes().of_primitive(mirror);
  if (type == nullptr) return JdwpError::kInvalidClass;
  request.out.u1(static_cast<std::uint8_t>(type->kind)).id(type->klass);
  return JdwpError::kNone;
}

namespace {

Argument<Address> read_module(Request& request) {
  const auto object = read_object(request);
  if (!object) return tl::unexpected(object.error());
  if (object->address == 0 || object->type->signature != "Ljava/lang/Module;")
    return tl::unexpected(JdwpError::kInvalidModule);
  return object->address;
}

}  // namespace

JdwpError module_name(Request& request) {
  JTRACE_ARGUMENT(const Address module, read_module(request));
  request.out.text(request.world.inspection().objects().text_field(module, "name").value_or(""));
  return JdwpError::kNone;
}

JdwpError module_class_loader(Request& request) {
  JTRACE_ARGUMENT(const Address module, read_module(request));
  request.out.id(request.world.ids().of(request.world.inspection().objects().reference(module, "loader").value_or(0)));
  return JdwpError::kNone;
}

// Calls: nothing runs; those that only read are answered by reading.
JdwpError object_invoke_method(Request& request) {
  JTRACE_ARGUMENT(const ObjectArgument object, read_object(request));
  (void)request.in.id();  // the thread that would run it
  JTRACE_ARGUMENT(const LoadedClass* type, read_type(request));
  const auto* method = request.world.classes().method_or_inherited(*type, request.in.id());
  if (request.in.failed()) return JdwpError::kIllegalArgument;
  if (method == nullptr) return JdwpError::kInvalidMethod;
  std::vector<PacketReader::Value> arguments(request.in.count(1));
  for (auto& argument : arguments) argument = request.in.value();
  constexpr std::int32_t kNonVirtual = 2;
  const bool exactly = (request.in.i4() & kNonVirtual) != 0;
  if (request.in.failed()) return JdwpError::kIllegalArgument;
  if (!answer_call(request.world, object, *method, arguments, exactly, request.out)) return JdwpError::kNotImplemented;
  request.out.u1('L').id(0);  // no exception
  return JdwpError::kNone;
}

JdwpError class_invoke_method(Request& request) {
  JTRACE_ARGUMENT([[maybe_unused]] const LoadedClass* type, read_type(request));
  return JdwpError::kNotImplemented;
}

}  // namespace jtrace::debug
