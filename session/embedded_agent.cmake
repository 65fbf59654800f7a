# jtrace::embedded_agent: the built agent as data, assembled again whenever the agent is.
set(jtrace_agent_copy ${CMAKE_CURRENT_BINARY_DIR}/embedded_agent.so)
add_custom_command(OUTPUT ${jtrace_agent_copy}
  COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:jtrace_agent> ${jtrace_agent_copy}
  DEPENDS jtrace_agent)
add_library(jtrace_embedded_agent STATIC
  ${CMAKE_CURRENT_LIST_DIR}/embedded_agent.cpp ${CMAKE_CURRENT_LIST_DIR}/embedded_agent.S ${jtrace_agent_copy})
add_library(jtrace::embedded_agent ALIAS jtrace_embedded_agent)
target_link_libraries(jtrace_embedded_agent PRIVATE jtrace_flags)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/embedded_agent.S PROPERTIES
  LANGUAGE C
  COMPILE_OPTIONS "-x;assembler-with-cpp"
  COMPILE_DEFINITIONS "JTRACE_AGENT_FILE=\"${jtrace_agent_copy}\""
  OBJECT_DEPENDS ${jtrace_agent_copy})
