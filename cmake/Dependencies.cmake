# Third parties, all Debian packages (scripts/setup installs them by name), as imported targets with system includes.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
if(JTRACE_STATIC)
  # -static takes no .so: the archives, and what they need in turn (pkg-config names it for --static alone).
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()
pkg_check_modules(uuid REQUIRED IMPORTED_TARGET uuid)
pkg_check_modules(libelf REQUIRED IMPORTED_TARGET libelf)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
# The remote part of libunwind alone: the local one clashes with the compiler's own unwinder. By name, so that a static
# program takes the archive (which reads compressed symbol tables by liblzma) and the others the shared one: the archive is
# not position independent.
# It is for native frames of x86-64. Those of AArch64 need none of it, and distributions of AArch64 have none for x86-64.
find_library(JTRACE_UNWIND unwind-x86_64)
add_library(jtrace_unwind INTERFACE)
if(JTRACE_UNWIND)
  target_link_libraries(jtrace_unwind INTERFACE -lunwind-x86_64 -llzma)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  message(FATAL_ERROR "no libunwind-x86_64: scripts/setup installs libunwind-dev")
endif()
pkg_check_modules(expat REQUIRED IMPORTED_TARGET expat)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(lz4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3)
if(JTRACE_STATIC)
  # As a target: CMake does not order archives that are given as paths.
  add_library(jtrace_libelf STATIC IMPORTED)
  set_target_properties(jtrace_libelf PROPERTIES IMPORTED_LOCATION ${libelf_LINK_LIBRARIES}
    INTERFACE_LINK_LIBRARIES PkgConfig::zlib)
  set_target_properties(PkgConfig::libelf PROPERTIES INTERFACE_LINK_LIBRARIES jtrace_libelf)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .so .a)
endif()
# Shared, for jtrace-fleet alone.
pkg_check_modules(nats QUIET IMPORTED_TARGET libnats)
if(NOT nats_FOUND)
  message(STATUS "jtrace-fleet, which jtrace ship and collect need, is left out: there is no libnats; Debian has it in libnats-dev")
endif()
find_package(CLI11 REQUIRED)
include(cmake/Cli11.cmake)
if(JTRACE_TESTS)
  find_package(GTest REQUIRED)
endif()
