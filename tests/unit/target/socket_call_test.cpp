// The descriptor for which a thread waits.
#include "target/socket_call.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

#include "target/process.h"
#include "target/process_memory.h"

namespace jtrace::target {
namespace {

std::string text_of(long call, const void* first, std::uint64_t second) {
  char text[128];
  std::snprintf(text, sizeof text, "%ld 0x%llx 0x%llx 0xffffffff 0x0 0x0 0x0 0x7ffe10 0x7f4a9c\n", call,
                static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(first)),
                static_cast<unsigned long long>(second));
  return text;
}

TEST(DescriptorOfASyscall, IsTheFirstArgumentOrTheOnlyOneThatIsPolled) {
  const auto process = Process::open(::getpid());
  ASSERT_TRUE(process);
  const ProcessMemory own(*process);
  EXPECT_EQ(descriptor_of_syscall(text_of(SYS_read, reinterpret_cast<void*>(7), 100), own), 7);
  EXPECT_EQ(descriptor_of_syscall(text_of(SYS_connect, reinterpret_cast<void*>(8), 100), own), 8);
  const pollfd polled[2] = {{.fd = 9, .events = POLLIN, .revents = 0}, {.fd = 10, .events = POLLIN, .revents = 0}};
  EXPECT_EQ(descriptor_of_syscall(text_of(SYS_ppoll, polled, 1), own), 9);
  EXPECT_FALSE(descriptor_of_syscall(text_of(SYS_ppoll, polled, 2), own)) << "which of the two?";
  EXPECT_FALSE(descriptor_of_syscall(text_of(SYS_ppoll, nullptr, 1), own)) << "cannot be read";
}

TEST(DescriptorOfASyscall, IsNoneOfOtherCallsAndTexts) {
  const auto process = Process::open(::getpid());
  ASSERT_TRUE(process);
  const ProcessMemory own(*process);
  EXPECT_FALSE(descriptor_of_syscall(text_of(SYS_futex, reinterpret_cast<void*>(7), 0), own));
  for (const char* text : {"running\n", "", "-1 0x7ffe10 0x7f4a9c\n", "0 7 8 0x3 0x4 0x5 0x6 0x7 0x8\n"})
    EXPECT_FALSE(descriptor_of_syscall(text, own)) << text;
}

}  // namespace
}  // namespace jtrace::target
