# The rewriter of classes, which four libraries are built with: the agent, the JVMPI bridge, and two of the tests.
set(jtrace_rewriter_sources bytecode.cpp class_file.cpp class_rewriter.cpp code_places.cpp code_callouts.cpp code_rewriter.cpp
  code_tables.cpp handler_use.cpp method_code.cpp)
# What completes the stack maps of a method, for those that ask for it: not the agent.
set(jtrace_stack_map_sources class_frames.cpp frame_types.cpp frame_writer.cpp type_flow.cpp)
list(TRANSFORM jtrace_rewriter_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
list(TRANSFORM jtrace_stack_map_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
