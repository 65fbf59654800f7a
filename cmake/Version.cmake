# jtrace_version_stamp: cli/version_stamp.h in the build folder, which says from what the programs are built. It is asked for
# at each build, and written only when the answer is another one: a commit costs one small source and a link.
#
# The commit comes from -DJTRACE_COMMIT="HASH DATE", else from git, else from cmake/commit.txt, which `git archive` fills in.
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.25)
  set(commit "${JTRACE_COMMIT}")
  if(commit STREQUAL "" AND EXISTS ${SOURCE}/.git)
    # A checkout of another user is still only read.
    set(git git -c safe.directory=* -C ${SOURCE})
    execute_process(COMMAND ${git} log -1 --format=%h\ %cs --abbrev=12 OUTPUT_VARIABLE commit ERROR_QUIET
      OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
    execute_process(COMMAND ${git} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
    if(failed)
      set(commit "")
    elseif(changes)
      string(APPEND commit ", changed since")
    endif()
  elseif(commit STREQUAL "")
    file(STRINGS ${SOURCE}/cmake/commit.txt commit LIMIT_COUNT 1)
    if(commit MATCHES "Format")
      set(commit "")
    endif()
  endif()
  if(commit STREQUAL "")
    set(commit "not known")
  endif()
  file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "// Made by cmake/Version.cmake.\n#define JTRACE_COMMIT \"@commit@\"\n" @ONLY)
  return()
endif()

set(JTRACE_COMMIT "" CACHE STRING "the commit that --version names, with its date; empty: as git says")
set(jtrace_version_stamp ${PROJECT_BINARY_DIR}/cli/version_stamp.h)
add_custom_target(jtrace_version_stamp BYPRODUCTS ${jtrace_version_stamp}
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${jtrace_version_stamp} "-DJTRACE_COMMIT=${JTRACE_COMMIT}"
    -P ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "" VERBATIM)

# What is linked, as the packages found at configuring name their versions.
if(JTRACE_UNWIND)
  pkg_check_modules(unwind QUIET libunwind)
endif()
set(jtrace_linked "")
foreach(pair "libelf ${libelf_VERSION}" "libunwind ${unwind_VERSION}" "libuuid ${uuid_VERSION}" "expat ${expat_VERSION}"
        "zlib ${zlib_VERSION}" "zstd ${zstd_VERSION}" "lz4 ${lz4_VERSION}" "xxHash ${xxhash_VERSION}" "SQLite ${sqlite3_VERSION}"
        "CLI11 ${CLI11_VERSION}")
  if(pair MATCHES " .")  # what is not linked has no version
    string(APPEND jtrace_linked ", ${pair}")
  endif()
endforeach()

foreach(program jtrace hsperf)
  target_sources(${program} PRIVATE ${PROJECT_SOURCE_DIR}/cli/version.cpp)
  add_dependencies(${program} jtrace_version_stamp)
endforeach()
set_source_files_properties(${PROJECT_SOURCE_DIR}/cli/version.cpp TARGET_DIRECTORY jtrace hsperf PROPERTIES
  COMPILE_DEFINITIONS "JTRACE_LINKED=\"${jtrace_linked}\";JTRACE_LINKAGE=\"$<IF:$<BOOL:${JTRACE_STATIC}>,static,dynamic>\"")
