// Keeps the agent loadable on old systems: selects the oldest symbol version of the functions that glibc 2.34 moved
// from libpthread and libdl into libc with a new version (glibc NEWS, 2.34). musl has the same functions without
// versions. This is the only place of the agent that depends on the instruction set: x86-64's first version is 2.2.5,
// aarch64's is 2.17.
#pragma once

#if defined(__GLIBC__) || __has_include(<gnu/libc-version.h>)
#if defined(__x86_64__)
#define JTRACE_OLDEST(function) __asm__(".symver " #function "," #function "@GLIBC_2.2.5")
#elif defined(__aarch64__)
#define JTRACE_OLDEST(function) __asm__(".symver " #function "," #function "@GLIBC_2.17")
#else
#error "the agent's libc floor is not known for this instruction set"
#endif
JTRACE_OLDEST(pthread_key_create);
JTRACE_OLDEST(pthread_getspecific);
JTRACE_OLDEST(pthread_setspecific);
JTRACE_OLDEST(pthread_sigmask);
JTRACE_OLDEST(dlopen);
JTRACE_OLDEST(dlsym);
JTRACE_OLDEST(dlerror);
#undef JTRACE_OLDEST
#endif
