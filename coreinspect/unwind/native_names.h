// NativeNames: the function and module of a native pc.
//
// A pc has a name only if a symbol's size covers it; otherwise module and offset, its own and its function's. Symbols
// come from the mapped file or from the file with its debug information, each only if its build id is that of the image
// in memory. Ownership: borrows the target, keeps the files open. Threads: one at a time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "coreinspect/unwind/java_walker.h"
#include "coreinspect/unwind/native_unwinder.h"
#include "target/elf_image.h"
#include "target/target.h"

namespace jtrace::coreinspect {

class NativeNames {
 public:
  explicit NativeNames(const target::Target& target) : target_(target) {}
  // Of kind kNative. For a return address, the call before it counts.
  Frame frame_of(const NativeFrame& native);

 private:
  using Images = std::vector<target::ElfImage>;  // the debug file, the file itself
  const Images& images_of(const target::Mapping& mapping);

  Frame look_up(const NativeFrame& native);
  static void name(Frame& frame, const Images& images, std::uint64_t offset);

  static constexpr std::size_t kMostKnown = 65536;
  const target::Target& target_;
  std::unordered_map<target::Address, Frame> known_;  // by pc, shifted, and whether it is exact
  std::map<std::string, Images> images_;
};

}  // namespace jtrace::coreinspect
