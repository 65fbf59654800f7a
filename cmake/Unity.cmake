# JTRACE_UNITY: the tools from few large sources, for a program that is built once (scripts/demo, packages): the headers that
# cost most (the schema table, CLI11, the standard library) are then read once a group and not once a source. The program is the
# same. Who works on the code builds without: a change would compile a whole group.
#
# Sources of a group share one anonymous namespace. So two sources that define the same name at the left margin come into
# different groups. What only the compiler finds ends the build: scripts/dev then takes that target out (JTRACE_UNITY_EXCEPT).

# jtrace_names_of(FILE OUT OVERLOADS): what the file defines at the left margin: types, constants, macros, functions; with
# OVERLOADS functions with the first line of their parameters.
function(jtrace_names_of file out overloads)
  file(STRINGS ${file} lines REGEX "^(#define |[A-Za-z_].*[({=;])")
  set(names "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^(#define|struct|class|enum class|enum|union|using) ([A-Za-z0-9_]+)")
      list(APPEND names ${CMAKE_MATCH_2})
    elseif(line MATCHES "^(namespace|extern|template|return|else|public|private)")
      continue()
    elseif(line MATCHES "^[^(={]*[ *&]([A-Za-z0-9_]+)[(]([^={]*)")
      set(name ${CMAKE_MATCH_1})  # the next line forgets it
      string(REGEX REPLACE "[^A-Za-z0-9_,<>:&*]" "" parameters "${CMAKE_MATCH_2}")
      if(overloads)
        string(APPEND name "(${parameters}")
      endif()
      list(APPEND names ${name})
    elseif(line MATCHES "^[^(={]*[ *&]([A-Za-z0-9_]+)(\\[[^]]*\\])?[ ]*[={;]")
      list(APPEND names ${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES names)
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# jtrace_unity(TARGET SIZE): groups of about SIZE of the target's own sources. The files of the commands each have a run() of
# their own arguments: there overloads go together.
function(jtrace_unity target size)
  set(overloads FALSE)
  if(target STREQUAL "jtrace" OR target STREQUAL "hsperf")
    set(overloads TRUE)
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(LENGTH sources count)
  math(EXPR last "(${count} + ${size} - 1) / ${size} - 1")
  math(EXPR next "0")
  foreach(group RANGE ${last})
    set(names_${group} "")
  endforeach()
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE BASE_DIR ${folder})
    if(NOT EXISTS ${path})  # made by the build
      continue()
    endif()
    jtrace_names_of(${path} names ${overloads})
    set(chosen "")
    foreach(step RANGE ${last})
      math(EXPR group "(${next} + ${step}) % (${last} + 1)")
      set(clash FALSE)
      foreach(name IN LISTS names)
        if(name IN_LIST names_${group})
          set(clash TRUE)
          break()
        endif()
      endforeach()
      if(NOT clash)
        set(chosen ${group})
        break()
      endif()
    endforeach()
    if(chosen STREQUAL "")  # stands alone
      continue()
    endif()
    list(APPEND names_${chosen} ${names})
    set_source_files_properties(${path} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${chosen})
    math(EXPR next "(${chosen} + 1) % (${last} + 1)")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

if(JTRACE_UNITY)
  foreach(target jtrace_base jtrace_trace jtrace_trace_record jtrace_trace_io jtrace_target jtrace_perfdata jtrace_attach
          jtrace_coreinspect jtrace_dtrace jtrace_session jtrace_agent jtrace_jvmpi jtrace hsperf)
    if(TARGET ${target} AND NOT target IN_LIST JTRACE_UNITY_EXCEPT)
      jtrace_unity(${target} ${JTRACE_UNITY})
    endif()
  endforeach()
endif()
