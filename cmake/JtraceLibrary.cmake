# jtrace_library(NAME source... [TEXT source...] [LINK target...]): the static library jtrace_NAME with alias jtrace::NAME;
# TEXT: those of its sources that are text and rules (below).
# Includes are written from the root of the tree ("base/result.h"), so that an include names the folder it reaches into;
# scripts/check_layers.py holds the directions. The global property JTRACE_LIBRARIES names them all.
add_library(jtrace_flags INTERFACE)
target_include_directories(jtrace_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
target_compile_options(jtrace_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wcast-align -Wunused -Woverloaded-virtual -Wconversion
  -Wno-missing-field-initializers
  # False alarms of g++ 12 in optimised builds: string literal + std::string (GCC bug 105651), values out of tl::expected.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-maybe-uninitialized>
  # char has a sign on x86-64: the code may lean on it.
  $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},aarch64>:-fsigned-char>
  # Grouped sources see each other's names: what shadows what is looked for where each is compiled by itself. And g++ takes
  # them for headers, whose types must not have parts that they keep to themselves.
  $<$<BOOL:${JTRACE_UNITY}>:-Wno-shadow>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${JTRACE_UNITY}>>:-Wno-subobject-linkage>
  $<$<BOOL:${JTRACE_WERROR}>:-Werror>)
target_compile_definitions(jtrace_flags INTERFACE _GNU_SOURCE JTRACE_VERSION="${PROJECT_VERSION}")

# jtrace_text_and_rules(TARGET): what a target does is arguments, rules and text, and no data passes in bulk. A release then takes
# -O1: a third less time to build (scripts/demo, packages), a fifth less code, the same speed.
function(jtrace_text_and_rules target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

function(jtrace_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "TEXT;LINK")
  add_library(jtrace_${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(jtrace::${name} ALIAS jtrace_${name})
  set_property(GLOBAL APPEND PROPERTY JTRACE_LIBRARIES jtrace_${name})
  target_link_libraries(jtrace_${name} PUBLIC jtrace_flags ${ARG_LINK})
  if(ARG_TEXT)
    add_library(jtrace_${name}_text OBJECT ${ARG_TEXT})
    target_link_libraries(jtrace_${name}_text PRIVATE jtrace_flags ${ARG_LINK})
    jtrace_text_and_rules(jtrace_${name}_text)
    target_sources(jtrace_${name} PRIVATE $<TARGET_OBJECTS:jtrace_${name}_text>)
    set_property(GLOBAL APPEND PROPERTY JTRACE_LIBRARIES jtrace_${name}_text)
  endif()
endfunction()
