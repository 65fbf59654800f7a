// jtrace list: the JVMs of this machine.
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "base/json_answer.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/one_of.h"
#include "cli/summaries.h"
#include "target/jvm_discovery.h"

namespace jtrace::cli {
namespace {

struct ListArguments {
  std::string format = "text";
  bool quiet = false;
  bool verbose = false;
};

std::string printable_or(std::string text, std::string_view when_empty) {
  return text.empty() ? std::string(when_empty) : printable(std::move(text));
}

std::vector<std::string> missing_of(const target::Discovery& discovery) {
  std::vector<std::string> missing;
  const auto hidden =
      std::count_if(discovery.jvms.begin(), discovery.jvms.end(), [](const auto& jvm) { return jvm.libjvm.empty(); });
  if (hidden > 0) missing.push_back("version and path of " + std::to_string(hidden) + " JVMs of other users");
  if (discovery.hidden > 0)
    missing.push_back(std::to_string(discovery.hidden) + (discovery.hidden == 1 ? " process" : " processes") +
                      " that we may not look into");
  return missing;
}

void write_json(std::string& out, const target::Discovery& discovery) {
  const auto missing = missing_of(discovery);
  JsonWriter json(out);
  begin_answer(json, "list").begin_object().member("kind", "machine").member("bootId", target::boot_id()).end_object();
  write_missing(json, missing).key("data").begin_array();
  for (const target::Jvm& jvm : discovery.jvms) {
    json.begin_object().member("pid", jvm.pid).member("nspid", jvm.nspid).member("user", jvm.user);
    json.member("uid", jvm.uid).member("version", jvm.version).member("main", jvm.main_class);
    json.member("path", jvm.libjvm).member("container", jvm.container);
    if (const auto enabled = jvm.attach_enabled()) json.member("attachable", *enabled);
    json.end_object();
  }
  json.end_array().end_object();
  out += '\n';
}

void write_pids(std::string& out, const target::Discovery& discovery) {
  for (const target::Jvm& jvm : discovery.jvms) out += std::to_string(jvm.pid) + '\n';
}

// Columns are as wide as their widest cell; the last is not padded.
void write_table(std::string& out, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      const bool number = i < 2;
      out += number ? padding + row[i] : row[i];
      if (i + 1 < row.size()) out += (number ? "" : padding) + "  ";
    }
    out += '\n';
  }
}

void write_text(std::string& out, const target::Discovery& discovery, bool verbose) {
  if (discovery.jvms.empty()) return;
  std::vector<std::vector<std::string>> rows = {{"PID", "NSPID", "USER", "JDK", "CONTAINER", "MAIN"}};
  if (verbose) rows.front().emplace_back("LIBJVM");
  for (const target::Jvm& jvm : discovery.jvms) {
    // The first 12 digits of an id, as container tools print it.
    const std::size_t id = jvm.container.rfind('/') + 1;
    const std::string container = verbose ? jvm.container : jvm.container.substr(id, 12);
    rows.push_back({std::to_string(jvm.pid), std::to_string(jvm.nspid), printable_or(jvm.user, "-"),
                    printable_or(jvm.version, "?"), printable_or(container, "-"), printable_or(jvm.main_class, "?")});
    if (verbose) rows.back().push_back(printable_or(jvm.libjvm, "?"));
  }
  write_table(out, rows);
}

ExitStatus run(const ListArguments& arguments) {
  const target::Discovery discovery = target::discover_jvms();
  std::string out;
  if (arguments.format == "json") write_json(out, discovery);
  else if (arguments.quiet) write_pids(out, discovery);
  else write_text(out, discovery, arguments.verbose);
  std::fwrite(out.data(), 1, out.size(), stdout);
  if (arguments.verbose && arguments.format != "json")
    for (const std::string& what : missing_of(discovery)) log_info("not seen: " + what);
  if (discovery.jvms.empty() && arguments.format != "json" && !arguments.quiet) log_info("no JVM on this machine");
  return ExitStatus::kOk;
}

}  // namespace

void add_list_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<ListArguments>();
  CLI::App* command = app.add_subcommand("list", summary_of("list"));
  command->add_option("--format", arguments->format, "text or json")->check(one_of({"text", "json"}));
  command->add_flag("-q,--quiet", arguments->quiet, "only process ids");
  command->add_flag("-v,--verbose", arguments->verbose, "full container ids, the libjvm.so, what could not be read");
  command->footer("Example: jtrace list --format json");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
