#include "perfdata/jvm_listing.h"

#include <fcntl.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/file.h"

namespace jtrace::perfdata {
namespace {

// One /tmp; scanned once, even if several processes share it.
class StaleSearch {
 public:
  explicit StaleSearch(std::vector<ino_t> mapped) : mapped_(std::move(mapped)) {}

  void look(Result<UniqueFd> tmp, const std::string& shown) {
    struct stat stat {};
    if (!tmp || ::fstat(tmp->get(), &stat) != 0 || !seen_.insert({stat.st_dev, stat.st_ino}).second) return;
    for (StaleFile& file : find_stale_files(std::move(*tmp), shown, mapped_)) found.push_back(std::move(file));
  }

  std::vector<StaleFile> found;

 private:
  std::vector<ino_t> mapped_;
  std::set<std::pair<dev_t, ino_t>> seen_;
};

constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

std::vector<StaleFile> stale_files(const std::vector<ListedJvm>& jvms) {
  std::vector<ino_t> mapped;
  for (const ListedJvm& listed : jvms)
    if (listed.source && listed.source->file()) mapped.push_back(listed.source->file()->facts().inode);
  StaleSearch search(std::move(mapped));
  search.look(open_file("/tmp", kDirectoryFlags), "/tmp");
  for (const ListedJvm& listed : jvms)
    if (listed.source)
      search.look(listed.source->process()->open_in_root("/tmp", kDirectoryFlags),
                  listed.source->process()->proc_path("root/tmp"));
  return std::move(search.found);
}

}  // namespace

std::string main_class_of(std::string_view java_command, bool full_path) {
  std::string_view name = java_command;
  if (const std::size_t blank = name.find(' '); blank != name.npos && blank > 0) name = name.substr(0, blank);
  if (full_path) return std::string(name);
  if (const std::size_t slash = name.find_last_of("/\\"); slash != name.npos && slash > 0)
    name.remove_prefix(slash + 1);
  const std::size_t dot = name.rfind('.');
  if (dot != name.npos && dot > 0 && name.substr(dot + 1) != "jar") name.remove_prefix(dot + 1);
  return std::string(name);
}

std::string main_arguments_of(std::string_view java_command) {
  const std::size_t blank = java_command.find(' ');
  if (blank != java_command.npos && blank > 0) return std::string(java_command.substr(blank + 1));
  return java_command == "Unknown" ? "Unknown" : "";
}

Listing list_jvms(const SourceOptions& options) {
  Listing listing;
  target::Discovery discovery = target::discover_jvms();
  listing.hidden = discovery.hidden;
  for (target::Jvm& jvm : discovery.jvms) {
    auto source = CounterSource::of_process(jvm.pid, options);
    ListedJvm listed{.jvm = std::move(jvm)};
    if (source) listed.source = std::move(*source);
    else if (source.error().category == ErrorCategory::kNotFound) continue;  // it has ended in the meantime
    else listed.reason = source.error().message();
    listing.jvms.push_back(std::move(listed));
  }
  listing.stale = stale_files(listing.jvms);
  return listing;
}

}  // namespace jtrace::perfdata
