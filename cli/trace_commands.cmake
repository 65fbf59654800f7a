# The subcommands of jtrace that read traces.
target_sources(jtrace PRIVATE brief_trace.cpp command_allocations.cpp command_convert.cpp command_diff.cpp command_exceptions.cpp command_merge.cpp command_report.cpp command_slow.cpp command_sql.cpp command_stats.cpp command_validate.cpp live_recording.cpp recording_input.cpp trace_input.cpp trace_output.cpp)
target_link_libraries(jtrace PRIVATE jtrace::trace_io)
