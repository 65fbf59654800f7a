// Any bytes as a core: headers, notes, memory, the images in it and their tables.
#include <array>
#include <span>

#include "coreinspect/types/type_database.h"
#include "target/core_memory.h"
#include "target/loaded_image.h"
#include "target/target.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace jtrace;
  auto core = target::CoreFile::of_view(std::as_bytes(std::span(data, size)), "core");
  if (!core) return 0;
  // Nothing of this machine is read: the files that NT_FILE names are searched in a directory that does not exist.
  const target::CoreFileOptions nowhere{.sysroot = "/nonexistent", .libjvm = {}};
  const target::CoreMemory memory(*core, nowhere);
  for (const target::CoreSegment& segment : core->segments()) {
    std::array<std::byte, 64> bytes;
    (void)memory.read_some(segment.start, bytes);
    (void)memory.read_cstring(segment.start, 256);
  }
  for (const target::CoreMappedFile& file : core->files()) {
    const auto image = target::LoadedImage::read(memory, file.start);
    if (!image) continue;
    (void)coreinspect::TypeDatabase::read(memory, [&](std::string_view name) { return image->find_exported(name); });
  }
  (void)target::Target::of_core(std::move(*core), nowhere);
  return 0;
}
