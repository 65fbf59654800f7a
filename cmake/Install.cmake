# cmake --install: bin/ the tools, lib/jtrace/ the agent; trace/CMakeLists.txt adds share/jtrace/, the languages it writes.
# Included last, when all targets are known.
foreach(tool jtrace hsperf)
  if(TARGET ${tool})
    install(TARGETS ${tool} RUNTIME DESTINATION bin)
  endif()
endforeach()
if(TARGET jtrace_agent)
  install(TARGETS jtrace_agent LIBRARY DESTINATION lib/jtrace)
endif()
