// Views of the VM's surroundings: counters, symbols, mappings.
#include <algorithm>

#include "base/strings.h"
#include "coreinspect/tools/counters.h"
#include "coreinspect/tools/views.h"
#include "perfdata/snapshot_text.h"
#include "target/elf_image.h"

namespace jtrace::coreinspect {

Result<perfdata::Snapshot> read_counters(const Vm& vm) {
  JTRACE_ASSIGN_OR_RETURN(const Address start, vm.read_static<Address>("PerfMemory", "_start"));
  if (start == 0)
    return fail(ErrorCategory::kNotAttachable, "this JVM has no performance counters (-XX:-UsePerfData, or not yet)");
  auto snapshot = perfdata::read_snapshot(vm.memory(), start, {.partial = vm.target().core() != nullptr});
  if (!snapshot) return fail(snapshot.error().with_context("cannot read the counters of the JVM"));
  return snapshot;
}

Result<ViewResult> view_counters(Inspection& inspection, const ViewOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(const auto snapshot, read_counters(inspection.vm()));
  // Only counters that are in the memory: no pseudo counters.
  const perfdata::CounterTable table(snapshot, {}, false);
  ViewResult result;
  JsonWriter json(result.out);
  const perfdata::TextOptions text{.show_secrets = options.show_secrets, .raw = !options.json};
  if (options.json) perfdata::append_json_rows(json, table, snapshot, text);
  else perfdata::append_text(result.out, table, snapshot, text);
  if (!options.show_secrets)
    result.masked =
        static_cast<std::size_t>(std::count_if(table.rows().begin(), table.rows().end(), [&](const perfdata::Row& row) {
          return row.secret && table.text_value(snapshot, row, false) != table.text_value(snapshot, row, true);
        }));
  return result;
}

Result<ViewResult> view_symbols(Inspection& inspection, const ViewOptions& options) {
  const target::Target& target = inspection.target();
  const target::Mapping& mapping = target.libjvm_mapping();
  JTRACE_RETURN_IF_ERROR(target.check_mapped(mapping));
  JTRACE_ASSIGN_OR_RETURN(UniqueFd fd, target.open_mapped(mapping));
  JTRACE_ASSIGN_OR_RETURN(const auto image, target::ElfImage::from_fd(std::move(fd), mapping.path));
  const std::string& dumped = target.libjvm().build_id();
  if (!dumped.empty() && image.build_id() != dumped)
    return fail(ErrorCategory::kMalformed, "the file that is read for " + mapping.path + " has build id " +
                                               image.build_id() + ", the process had " + dumped);
  ViewResult result;
  JsonWriter json(result.out);
  for (const target::ElfSymbol& symbol : image.symbols()) {
    const std::string address = hex(target.libjvm().bias() + symbol.value);
    if (options.json)
      json.begin_object()
          .member("name", symbol.name)
          .member("address", address)
          .member("size", symbol.size)
          .member("function", symbol.is_function)
          .end_object();
    else
      result.out.append(address)
          .append(" ")
          .append(std::to_string(symbol.size))
          .append(symbol.is_function ? " f " : " d ")
          .append(symbol.name)
          .append("\n");
  }
  return result;
}

Result<ViewResult> view_pmap(Inspection& inspection, const ViewOptions& options) {
  ViewResult result;
  JsonWriter json(result.out);
  for (const target::Mapping& mapping : inspection.target().mappings()) {
    const std::string rights = {mapping.readable ? 'r' : '-', mapping.writable ? 'w' : '-',
                                mapping.executable ? 'x' : '-'};
    if (options.json)
      json.begin_object()
          .member("start", hex(mapping.start))
          .member("end", hex(mapping.end))
          .member("size", mapping.size())
          .member("rights", rights)
          .member("offset", mapping.offset)
          .member("path", mapping.path)
          .member("deleted", mapping.deleted)
          .end_object();
    else
      result.out.append(hex(mapping.start))
          .append("-")
          .append(hex(mapping.end))
          .append(" ")
          .append(std::to_string(mapping.size() >> 10))
          .append("K ")
          .append(rights)
          .append(" ")
          .append(printable(mapping.path))
          .append(mapping.deleted ? " (deleted)" : "")
          .append("\n");
  }
  return result;
}

}  // namespace jtrace::coreinspect
