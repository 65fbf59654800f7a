// ELF files of this process: the file read by libelf and the same image in memory agree.
#include "target/elf_image.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include "target/loaded_image.h"
#include "target/process.h"
#include "target/process_memory.h"
#include "tests/testlib/must.h"

namespace jtrace::target {
namespace {

using ::testing::HasSubstr;

// Where the C library lies in this process.
struct LibC {
  std::string path;
  Address base = 0;
};
LibC find_libc() {
  Dl_info info{};
  ::dladdr(reinterpret_cast<void*>(&::getpid), &info);
  return {info.dli_fname, reinterpret_cast<Address>(info.dli_fbase)};
}

TEST(ElfImage, KnowsBuildIdAndSymbols) {
  const LibC libc = find_libc();
  auto image = test::must(ElfImage::open(libc.path));
  EXPECT_GE(image.build_id().size(), 16u);
  EXPECT_FALSE(image.segments().empty());
  const Address getpid_at = reinterpret_cast<Address>(&::getpid) - libc.base;
  const ElfSymbol* symbol = image.symbol_at(getpid_at + 1);
  ASSERT_NE(symbol, nullptr);
  EXPECT_THAT(std::string(symbol->name), HasSubstr("getpid"));
  EXPECT_EQ(image.symbol_at(0x10), nullptr) << "no name for what no symbol's size covers";
}

TEST(ElfImage, RefusesWhatIsNoElfFile) {
  EXPECT_THAT(ElfImage::open("/proc/self/status").error().message(), HasSubstr("/proc/self/status"));
  EXPECT_EQ(exit_status(ElfImage::open("/nonexistent").error()), ExitStatus::kNotFound);
}

TEST(LoadedImage, ReadsTheSameFromMemory) {
  const LibC libc = find_libc();
  auto process = Process::open(::getpid());
  ASSERT_TRUE(process);
  const ProcessMemory memory(*process);
  auto loaded = test::must(LoadedImage::read(memory, libc.base));
  EXPECT_EQ(loaded.build_id(), ElfImage::open(libc.path)->build_id());
  auto address = test::must(loaded.find_exported("environ"));
  EXPECT_GT(address, libc.base);
  EXPECT_LT(address, loaded.end());
  const auto absent = loaded.find_exported("no_such_symbol_at_all");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().category, ErrorCategory::kNotAttachable) << "Vm tells a foreign libjvm.so by it";
}

}  // namespace
}  // namespace jtrace::target
