#include "debug/command.h"

#include <algorithm>

#include "debug/handlers.h"

namespace jtrace::debug {
namespace {

JdwpError nothing(Request&) { return JdwpError::kNone; }

// By set and number. What is missing here changes the target or is not known: NOT_IMPLEMENTED, the one refusal that
// clients word well.
constexpr Command kCommands[] = {
    {1, 1, "VirtualMachine.Version", vm_version},
    {1, 2, "VirtualMachine.ClassesBySignature", vm_classes_by_signature},
    {1, 3, "VirtualMachine.AllClasses", vm_all_classes},
    {1, 4, "VirtualMachine.AllThreads", vm_all_threads},
    {1, 5, "VirtualMachine.TopLevelThreadGroups", vm_top_level_thread_groups},
    {1, 6, "VirtualMachine.Dispose", vm_goodbye},
    {1, 7, "VirtualMachine.IDSizes", vm_id_sizes},
    {1, 8, "VirtualMachine.Suspend", nothing},
    {1, 10, "VirtualMachine.Exit", vm_goodbye},
    {1, 11, "VirtualMachine.CreateString", vm_create_string},
    {1, 12, "VirtualMachine.Capabilities", vm_capabilities},
    {1, 13, "VirtualMachine.ClassPaths", vm_class_paths},
    {1, 14, "VirtualMachine.DisposeObjects", nothing},
    {1, 15, "VirtualMachine.HoldEvents", nothing},
    {1, 16, "VirtualMachine.ReleaseEvents", nothing},
    {1, 17, "VirtualMachine.CapabilitiesNew", vm_capabilities_new},
    {1, 19, "VirtualMachine.SetDefaultStratum", nothing},
    {1, 20, "VirtualMachine.AllClassesWithGeneric", vm_all_classes_with_generic},
    {1, 21, "VirtualMachine.InstanceCounts", vm_instance_counts},
    {1, 22, "VirtualMachine.AllModules", vm_all_modules},
    {2, 1, "ReferenceType.Signature", type_signature},
    {2, 2, "ReferenceType.ClassLoader", type_class_loader},
    {2, 3, "ReferenceType.Modifiers", type_modifiers},
    {2, 4, "ReferenceType.Fields", type_fields},
    {2, 5, "ReferenceType.Methods", type_methods},
    {2, 6, "ReferenceType.GetValues", type_get_values},
    {2, 7, "ReferenceType.SourceFile", type_source_file},
    {2, 8, "ReferenceType.NestedTypes", type_nested_types},
    {2, 9, "ReferenceType.Status", type_status},
    {2, 10, "ReferenceType.Interfaces", type_interfaces},
    {2, 11, "ReferenceType.ClassObject", type_class_object},
    {2, 12, "ReferenceType.SourceDebugExtension", type_source_debug_extension},
    {2, 13, "ReferenceType.SignatureWithGeneric", type_signature_with_generic},
    {2, 14, "ReferenceType.FieldsWithGeneric", type_fields_with_generic},
    {2, 15, "ReferenceType.MethodsWithGeneric", type_methods_with_generic},
    {2, 16, "ReferenceType.Instances", type_instances},
    {2, 17, "ReferenceType.ClassFileVersion", type_class_file_version},
    {2, 18, "ReferenceType.ConstantPool", type_constant_pool},
    {2, 19, "ReferenceType.Module", type_module},
    {3, 1, "ClassType.Superclass", class_superclass},
    {3, 3, "ClassType.InvokeMethod", class_invoke_method},
    {5, 1, "InterfaceType.InvokeMethod", class_invoke_method},
    {6, 1, "Method.LineTable", method_line_table},
    {6, 2, "Method.VariableTable", method_variable_table},
    {6, 3, "Method.Bytecodes", method_bytecodes},
    {6, 4, "Method.IsObsolete", method_is_obsolete},
    {6, 5, "Method.VariableTableWithGeneric", method_variable_table_with_generic},
    {9, 1, "ObjectReference.ReferenceType", object_reference_type},
    {9, 2, "ObjectReference.GetValues", object_get_values},
    {9, 5, "ObjectReference.MonitorInfo", object_monitor_info},
    {9, 6, "ObjectReference.InvokeMethod", object_invoke_method},
    {9, 7, "ObjectReference.DisableCollection", nothing},
    {9, 8, "ObjectReference.EnableCollection", nothing},
    {9, 9, "ObjectReference.IsCollected", object_is_collected},
    {9, 10, "ObjectReference.ReferringObjects", object_referring_objects},
    {10, 1, "StringReference.Value", string_value},
    {11, 1, "ThreadReference.Name", thread_name},
    {11, 2, "ThreadReference.Suspend", nothing},
    {11, 4, "ThreadReference.Status", thread_status},
    {11, 5, "ThreadReference.ThreadGroup", thread_group},
    {11, 6, "ThreadReference.Frames", thread_frames},
    {11, 7, "ThreadReference.FrameCount", thread_frame_count},
    {11, 8, "ThreadReference.OwnedMonitors", thread_owned_monitors},
    {11, 9, "ThreadReference.CurrentContendedMonitor", thread_contended_monitor},
    {11, 12, "ThreadReference.SuspendCount", thread_suspend_count},
    {11, 13, "ThreadReference.OwnedMonitorsStackDepthInfo", thread_owned_monitors_depth},
    {11, 15, "ThreadReference.IsVirtual", thread_is_virtual},
    {12, 1, "ThreadGroupReference.Name", group_name},
    {12, 2, "ThreadGroupReference.Parent", group_parent},
    {12, 3, "ThreadGroupReference.Children", group_children},
    {13, 1, "ArrayReference.Length", array_length},
    {13, 2, "ArrayReference.GetValues", array_get_values},
    {14, 1, "ClassLoaderReference.VisibleClasses", loader_visible_classes},
    {15, 1, "EventRequest.Set", event_set},
    {15, 2, "EventRequest.Clear", nothing},
    {15, 3, "EventRequest.ClearAllBreakpoints", nothing},
    {16, 1, "StackFrame.GetValues", frame_get_values},
    {16, 3, "StackFrame.ThisObject", frame_this_object},
    {17, 1, "ClassObjectReference.ReflectedType", class_object_reflected_type},
    {18, 1, "ModuleReference.Name", module_name},
    {18, 2, "ModuleReference.ClassLoader", module_class_loader},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command* find_command(std::uint8_t set, std::uint8_t command) {
  const auto found = std::find_if(std::begin(kCommands), std::end(kCommands),
                                  [&](const Command& each) { return each.set == set && each.command == command; });
  return found == std::end(kCommands) ? nullptr : &*found;
}

std::string answer(World& world, Client& client, const CommandHeader& header, std::span<const std::byte> body) {
  const Command* command = find_command(header.set, header.command);
  if (command == nullptr) return reply_packet(header.id, JdwpError::kNotImplemented, {});
  PacketReader in(body);
  PacketWriter out;
  Request request{world, client, in, out};
  JdwpError error = command->handler(request);
  if (in.failed()) error = JdwpError::kIllegalArgument;
  if (error == JdwpError::kNone && out.size() > kMaxReply) error = JdwpError::kOutOfMemory;
  return reply_packet(header.id, error, out.bytes());
}

Argument<const LoadedClass*> read_type(Request& request) {
  const Id id = request.in.id();
  if (request.in.failed()) return tl::unexpected(JdwpError::kIllegalArgument);
  if (id == 0) return tl::unexpected(JdwpError::kInvalidClass);
  const LoadedClass* type = request.world.classes().find(id);
  if (type != nullptr && request.world.has(*type)) return type;
  // An object that is not a class, or nothing at all.
  return tl::unexpected(request.world.ids().find(id) ? JdwpError::kInvalidClass : JdwpError::kInvalidObject);
}

Argument<ObjectArgument> read_object(Request& request) {
  const Id id = request.in.id();
  if (request.in.failed()) return tl::unexpected(JdwpError::kIllegalArgument);
  const ObjectIds::Entry* entry = request.world.ids().find(id);
  if (entry == nullptr || entry->gone) return tl::unexpected(JdwpError::kInvalidObject);
  ObjectArgument object{.address = entry->object, .text = entry->text};
  if (entry->frame != nullptr) {
    object.apart = request.world.apart(id);
    object.type = object.apart != nullptr ? object.apart->type : nullptr;
  } else {
    object.type = object.text ? request.world.string_class() : request.world.type_of(object.address);
  }
  if (object.type == nullptr) return tl::unexpected(JdwpError::kInvalidObject);
  return object;
}

Argument<Address> read_tagged(Request& request, Tag tag, JdwpError otherwise) {
  const auto object = read_object(request);
  if (!object) return tl::unexpected(object.error());
  if (object->address == 0 || object->type->tag != tag) return tl::unexpected(otherwise);
  return object->address;
}

Argument<const DebugThread*> read_thread(Request& request) {
  const auto object = read_tagged(request, Tag::kThread, JdwpError::kInvalidThread);
  if (!object) return tl::unexpected(object.error());
  // A thread that the snapshot lacks has ended, or was not started.
  return request.world.threads().find(*object);
}

Argument<const coreinspect::Frame*> read_frame(Request& request, const DebugThread& thread) {
  const Id id = request.in.id();
  if (request.in.failed()) return tl::unexpected(JdwpError::kIllegalArgument);
  const auto depth = request.world.threads().depth_of(thread, id);
  if (!depth) return tl::unexpected(JdwpError::kInvalidFrame);
  return thread.frames[*depth];
}

Argument<const coreinspect::JavaMethod*> read_method(Request& request, const LoadedClass& type) {
  const Id id = request.in.id();
  if (request.in.failed()) return tl::unexpected(JdwpError::kIllegalArgument);
  const auto* method = request.world.classes().method(type, id);
  if (method == nullptr) return tl::unexpected(JdwpError::kInvalidMethod);
  return method;
}

}  // namespace jtrace::debug
