// NativeNames: the function and module of a native pc.
//
// A name only where a symbol's size covers the address: else module and offset. Symbols are those of the mapped file,
// or of the file with its debug information, each only where its build id is that of the image in memory. Ownership:
// borrows the target, keeps the files open. Threads: one at a time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coreinspect/unwind/java_walker.h"
#include "coreinspect/unwind/native_unwinder.h"
#include "target/elf_image.h"
#include "target/target.h"

namespace jtrace::coreinspect {

class NativeNames {
 public:
  explicit NativeNames(const target::Target& target) : target_(target) {}
  // kind kNative. Of a return address the call before it counts.
  Frame frame_of(const NativeFrame& native);

 private:
  using Images = std::vector<target::ElfImage>;  // the debug file, the file itself
  const Images& images_of(const target::Mapping& mapping);
  Images open_images(const target::Mapping& mapping) const;

  const target::Target& target_;
  std::map<std::string, Images> images_;
};

}  // namespace jtrace::coreinspect
