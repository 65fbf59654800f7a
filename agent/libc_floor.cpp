// The few functions that the C++ headers need at run time. The agent is linked without libstdc++
// (agent/CMakeLists.txt), so they are here: allocation through malloc, and an end of the process where a container
// would throw, which is a bug of ours.
#include <stdlib.h>

#include <cstddef>
#include <new>

void* operator new(std::size_t size) {
  void* memory = malloc(size);
  if (memory == nullptr) abort();
  return memory;
}
void* operator new[](std::size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { free(memory); }
void operator delete[](void* memory) noexcept { free(memory); }
void operator delete(void* memory, std::size_t) noexcept { free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { free(memory); }

namespace std {
[[noreturn]] void __throw_length_error(const char*) { abort(); }
[[noreturn]] void __throw_bad_alloc() { abort(); }
[[noreturn]] void __throw_bad_array_new_length() { abort(); }
[[noreturn]] void __throw_out_of_range_fmt(const char*, ...) { abort(); }
}  // namespace std

extern "C" [[noreturn]] void __cxa_pure_virtual() { abort(); }
