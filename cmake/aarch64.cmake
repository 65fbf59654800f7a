# Toolchain file: builds for AArch64 on another machine (preset arm64). scripts/setup --arch arm64 installs the compiler, makes
# the sysroot (scripts/arm64_machine.py: Debian's packages of arm64, unpacked) and installs qemu-user, which runs what the build
# and its tests have to run.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(jtrace_arm64 /var/cache/jtrace/arm64)
if(NOT "$ENV{JTRACE_ARM64}" STREQUAL "")
  set(jtrace_arm64 $ENV{JTRACE_ARM64})
endif()
set(CMAKE_SYSROOT ${jtrace_arm64}/trees/sysroot)
if(NOT EXISTS ${CMAKE_SYSROOT}/.complete)
  message(FATAL_ERROR "no sysroot ${CMAKE_SYSROOT}: scripts/setup --arch arm64 makes it")
endif()
set(CMAKE_FIND_ROOT_PATH ${CMAKE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Otherwise the files of this machine's packages answer.
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)

find_program(JTRACE_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
if(JTRACE_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${JTRACE_QEMU} -L ${CMAKE_SYSROOT})
endif()
