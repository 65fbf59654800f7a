#include "target/symbol_files.h"

#include "target/debug_file.h"

namespace jtrace::target {

std::vector<ElfImage> open_symbol_files(const Target& target, const Mapping& mapping) {
  std::vector<ElfImage> images;
  auto fd = target.open_mapped(mapping);
  if (!fd) return images;
  const Process* process = target.process();
  auto file = ElfImage::from_fd(std::move(*fd), process ? process->path_inside(mapping.path) : mapping.path);
  if (!file) return images;
  for (const Mapping& other : target.mappings()) {
    if (other.path != mapping.path || other.offset != 0) continue;
    const auto loaded = LoadedImage::read(target.memory(), other.start);
    if (loaded && loaded->build_id() != file->build_id()) return images;
    break;
  }
  if (!file->has_symbol_table()) {
    const UniqueFd root = target.open_root();
    const int inside = process ? process->root_fd() : root ? root.get() : -1;
    auto debug = open_debug_file(*file, inside);
    if (!debug && inside >= 0) debug = open_debug_file(*file, -1);  // this machine may have it
    if (debug) images.push_back(std::move(*debug));
  }
  images.push_back(std::move(*file));
  return images;
}

}  // namespace jtrace::target
