# hsperf: performance counters; one file per subcommand. Included by cli/CMakeLists.txt.
add_executable(hsperf
  command.cpp units.cpp unit_lines.cpp completion.cpp option_tables.cpp shell_code.cpp hsperf_check.cpp hsperf_common.cpp hsperf_list.cpp hsperf_main.cpp hsperf_output.cpp hsperf_poll.cpp
  hsperf_push.cpp hsperf_restore.cpp hsperf_serve.cpp hsperf_snap.cpp hsperf_stat.cpp hsperf_top.cpp naming_arguments.cpp output_name.cpp overwriting.cpp push_headers.cpp selector.cpp stop_signals.cpp task_map.cpp word_scopes.cpp fleet_arguments.cpp fleet_program.cpp shipped_output.cpp hsperf_check_text.cpp)
target_link_libraries(hsperf PRIVATE jtrace::session jtrace::coreinspect jtrace::trace_io jtrace::perfdata jtrace::cli11)
jtrace_text_and_rules(hsperf)
if(JTRACE_STATIC)
  target_link_options(hsperf PRIVATE -static)
  jtrace_quick_start(hsperf)
endif()
install(TARGETS hsperf RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
