#include "dtrace/libjvm.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/file.h"
#include "coreinspect/vm/vm.h"
#include "target/jvm_discovery.h"
#include "target/target.h"

namespace jtrace::dtrace {
namespace {

Result<> read_file_of(Libjvm& libjvm) {
  JTRACE_ASSIGN_OR_RETURN(ProbeImage image, read_probe_image(libjvm.file.get(), libjvm.path));
  libjvm.build_id = std::move(image.build_id);
  libjvm.skipped = image.skipped;
  libjvm.has_notes = image.has_notes;
  libjvm.load_base -= image.first_address;
  libjvm.probes = group_probes(std::move(image.sites));
  return {};
}

// Reads the JVM's own tables (coreinspect).
Result<> read_flags(Libjvm& libjvm, const target::Process& process) {
  JTRACE_ASSIGN_OR_RETURN(target::Process again, target::Process::open(process.pid()));
  JTRACE_ASSIGN_OR_RETURN(const auto opened, target::Target::open_process(std::move(again)));
  JTRACE_ASSIGN_OR_RETURN(const auto vm, coreinspect::Vm::open(*opened));
  for (const coreinspect::VmFlag& flag : vm->flags())
    if (flag.name.starts_with("DTrace") || flag.name.starts_with("ExtendedDTrace"))
      libjvm.flags[flag.name] = {flag.value == "true", flag.address};
  libjvm.feature = vm->feature();
  libjvm.compiles = vm->flag("UseCompiler") == nullptr || vm->flag_is_true("UseCompiler");
  return {};
}

}  // namespace

std::optional<bool> Libjvm::enabled(const Probe& probe) const {
  if (load_base == 0) return std::nullopt;
  if (probe.description.flag.empty()) return true;
  const auto flag = flags.find(std::string(probe.description.flag));
  if (flag == flags.end()) return std::nullopt;
  return flag->second.on;
}

std::size_t Libjvm::site_count() const {
  std::size_t count = 0;
  for (const Probe& probe : probes) count += probe.sites.size();
  return count;
}

Result<Libjvm> libjvm_of_process(const target::Process& process) {
  JTRACE_ASSIGN_OR_RETURN(const target::Mapping mapping, target::libjvm_mapping(process));
  Libjvm libjvm;
  auto file = process.open_mapped(mapping);
  if (!file && (file.error().errnum == EACCES || file.error().errnum == EPERM))
    return fail(file.error().with_help("it takes the user of the JVM, or CAP_SYS_PTRACE"));
  if (!file) return fail(file.error());
  libjvm.file = std::move(*file);
  libjvm.path = process.path_inside(mapping.path);
  libjvm.load_base = mapping.start;
  JTRACE_RETURN_IF_ERROR(read_file_of(libjvm));
  if (const auto read = read_flags(libjvm, process); !read)
    libjvm.flag_error = read.error().with_context("cannot read the JVM's flags");
  return libjvm;
}

Result<Libjvm> libjvm_of_file(const std::string& path) {
  Libjvm libjvm;
  // A FIFO must not block this process.
  JTRACE_ASSIGN_OR_RETURN(libjvm.file, open_file(path, O_RDONLY | O_NONBLOCK));
  struct stat info {};
  if (::fstat(libjvm.file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    Error error{ErrorCategory::kMalformed, "cannot read ELF file: it is not a regular file"};
    error.path = path;
    return fail(std::move(error));
  }
  libjvm.path = path;
  JTRACE_RETURN_IF_ERROR(read_file_of(libjvm));
  libjvm.load_base = 0;
  return libjvm;
}

Error no_probes(const Libjvm& libjvm) {
  Error error{ErrorCategory::kRefused, "this libjvm.so has no probes: it was built without --enable-dtrace"};
  if (libjvm.has_notes) error.text = "this libjvm.so has no probes that can be read";
  error.path = libjvm.path;
  error.help = "Debian's and Oracle's JDK 8 have none; jtrace attach needs no probes";
  return error;
}

}  // namespace jtrace::dtrace
