#include "target/symbol_files.h"

#include <sys/mman.h>

#include <span>
#include <string>

#include "base/file.h"
#include "target/debug_file.h"

namespace jtrace::target {
namespace {

// libelf reads files.
Result<ElfImage> image_in_memory(const MemoryReader& memory, const Mapping& mapping) {
  constexpr std::uint64_t kMostBytes = 1u << 20;  // the vdso has two to four pages
  if (mapping.size() > kMostBytes) return fail(ErrorCategory::kMalformed, mapping.path + " is too large");
  std::string bytes(mapping.size(), '\0');
  JTRACE_RETURN_IF_ERROR(memory.read_exactly(mapping.start, std::as_writable_bytes(std::span(bytes))));
  UniqueFd file(::memfd_create("jtrace-image", MFD_CLOEXEC));
  if (!file) return fail(system_error("no memory for an image", mapping.path));
  JTRACE_RETURN_IF_ERROR(write_whole(file.get(), bytes, mapping.path));
  return ElfImage::from_fd(std::move(file), mapping.path);
}

std::vector<ElfImage> open_files(const Target& target, const Mapping& mapping) {
  std::vector<ElfImage> images;
  if (mapping.path == kVdso) {
    if (auto image = image_in_memory(target.memory(), mapping)) images.push_back(std::move(*image));
    return images;
  }
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

}  // namespace

std::vector<ElfImage> open_symbol_files(const Target& target, const Mapping& mapping, bool wanted) {
  auto images = open_files(target, mapping);
  if (wanted && images.empty()) target.note_unnamed(mapping);
  return images;
}

}  // namespace jtrace::target
