#include "target/debug_file.h"

#include <fcntl.h>

#include "base/file.h"
#include "target/root_directory.h"

namespace jtrace::target {
namespace {

constexpr std::string_view kDebugFolder = "/usr/lib/debug";

}  // namespace

std::vector<std::string> debug_file_paths(const std::string& path, const std::string& build_id,
                                          const std::string& debug_link) {
  std::vector<std::string> paths;
  const std::string debug(kDebugFolder);
  if (build_id.size() > 2)
    paths.push_back(debug + "/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug");
  const std::size_t slash = path.rfind('/');
  if (debug_link.empty() || debug_link.find('/') != debug_link.npos || slash == path.npos) return paths;
  const std::string folder = path.substr(0, slash);
  paths.push_back(folder + "/" + debug_link);
  paths.push_back(folder + "/.debug/" + debug_link);
  paths.push_back(debug + folder + "/" + debug_link);
  return paths;
}

Result<ElfImage> open_debug_file(const ElfImage& image, int root) {
  for (const std::string& path : debug_file_paths(image.path(), image.build_id(), image.debug_link())) {
    auto fd = root >= 0 ? open_in_root(root, path, O_RDONLY | O_NONBLOCK) : open_file(path, O_RDONLY | O_NONBLOCK);
    if (!fd) continue;
    auto found = ElfImage::from_fd(std::move(*fd), path);
    if (found && !image.build_id().empty() && found->build_id() == image.build_id()) return found;
  }
  return fail(ErrorCategory::kNotFound, "no file with the symbols of " + image.path());
}

}  // namespace jtrace::target
