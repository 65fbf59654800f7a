# bin/jtrace-fleet: what of jtrace speaks to NATS. A program of its own, because libnats is a shared library and jtrace is
# one static file. Included by cli/CMakeLists.txt.
if(TARGET jtrace_fleet_nats)
  add_executable(jtrace-fleet fleet_arguments.cpp fleet_main.cpp unit_lines.cpp stop_signals.cpp)
  target_link_libraries(jtrace-fleet PRIVATE jtrace::fleet_nats jtrace::fleet jtrace::trace_io jtrace::base jtrace::cli11 Threads::Threads)
  target_link_options(jtrace-fleet PRIVATE -static-libgcc -static-libstdc++)
endif()
