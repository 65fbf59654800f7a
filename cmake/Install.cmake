# cmake --install: bin/ the tools, lib/jtrace/ the agent and the JVMPI bridge,
# include/jtrace/ the header of JVMPI; share/jtrace/ what dashboards need;
# trace/CMakeLists.txt adds the languages it writes.
# Included last, when all targets are known.
foreach(tool jtrace hsperf)
  if(TARGET ${tool})
    install(TARGETS ${tool} RUNTIME DESTINATION bin)
  endif()
endforeach()
if(TARGET jtrace-fleet)
  install(TARGETS jtrace-fleet RUNTIME DESTINATION bin)
endif()
if(TARGET jtrace_agent)
  install(TARGETS jtrace_agent jtrace_jvmpi LIBRARY DESTINATION lib/jtrace)
  install(FILES ${PROJECT_SOURCE_DIR}/agent/jvmpi/jvmpi.h DESTINATION include/jtrace)
endif()
if(TARGET hsperf)
  install(FILES packaging/grafana/hsperf-otel.json packaging/prometheus/hsperf.yml packaging/prometheus/hsperf-targets.json
    DESTINATION ${CMAKE_INSTALL_DATADIR}/jtrace)
endif()
install(FILES LICENSE NOTICE THIRD_PARTY CHANGELOG.md TYPE DOC)
