// The handlers of the table in command.cpp, by command set; the files are commands_*.cpp.
#pragma once

#include "debug/command.h"

namespace jtrace::debug {

JdwpError vm_version(Request& request);
JdwpError vm_classes_by_signature(Request& request);
JdwpError vm_all_classes(Request& request);
JdwpError vm_all_threads(Request& request);
JdwpError vm_top_level_thread_groups(Request& request);
JdwpError vm_goodbye(Request& request);
JdwpError vm_id_sizes(Request& request);
JdwpError vm_create_string(Request& request);
JdwpError vm_capabilities(Request& request);
JdwpError vm_class_paths(Request& request);
JdwpError vm_capabilities_new(Request& request);
JdwpError vm_all_classes_with_generic(Request& request);
JdwpError vm_instance_counts(Request& request);
JdwpError vm_all_modules(Request& request);
JdwpError type_signature(Request& request);
JdwpError type_class_loader(Request& request);
JdwpError type_modifiers(Request& request);
JdwpError type_fields(Request& request);
JdwpError type_methods(Request& request);
JdwpError type_get_values(Request& request);
JdwpError type_source_file(Request& request);
JdwpError type_nested_types(Request& request);
JdwpError type_status(Request& request);
JdwpError type_interfaces(Request& request);
JdwpError type_class_object(Request& request);
JdwpError type_source_debug_extension(Request& request);
JdwpError type_signature_with_generic(Request& request);
JdwpError type_fields_with_generic(Request& request);
JdwpError type_methods_with_generic(Request& request);
JdwpError type_instances(Request& request);
JdwpError type_class_file_version(Request& request);
JdwpError type_constant_pool(Request& request);
JdwpError type_module(Request& request);
JdwpError class_superclass(Request& request);
JdwpError class_invoke_method(Request& request);
JdwpError method_line_table(Request& request);
JdwpError method_variable_table(Request& request);
JdwpError method_bytecodes(Request& request);
JdwpError method_is_obsolete(Request& request);
JdwpError method_variable_table_with_generic(Request& request);
JdwpError object_reference_type(Request& request);
JdwpError object_get_values(Request& request);
JdwpError object_monitor_info(Request& request);
JdwpError object_invoke_method(Request& request);
JdwpError object_is_collected(Request& request);
JdwpError object_referring_objects(Request& request);
JdwpError string_value(Request& request);
JdwpError thread_name(Request& request);
JdwpError thread_status(Request& request);
JdwpError thread_group(Request& request);
JdwpError thread_frames(Request& request);
JdwpError thread_frame_count(Request& request);
JdwpError thread_owned_monitors(Request& request);
JdwpError thread_contended_monitor(Request& request);
JdwpError thread_suspend_count(Request& request);
JdwpError thread_owned_monitors_depth(Request& request);
JdwpError thread_is_virtual(Request& request);
JdwpError group_name(Request& request);
JdwpError group_parent(Request& request);
JdwpError group_children(Request& request);
JdwpError array_length(Request& request);
JdwpError array_get_values(Request& request);
JdwpError loader_visible_classes(Request& request);
JdwpError event_set(Request& request);
JdwpError frame_get_values(Request& request);
JdwpError frame_this_object(Request& request);
JdwpError class_object_reflected_type(Request& request);
JdwpError module_name(Request& request);
JdwpError module_class_loader(Request& request);

}  // namespace jtrace::debug
