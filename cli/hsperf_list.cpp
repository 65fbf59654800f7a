// hsperf list: every JVM of this machine and the place of its counters; with -q -l -m -v -V the lines of the JDK's jps.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/json_answer.h"
#include "base/secrets.h"
#include "base/strings.h"
#include "base/utc_text.h"
#include "cli/hsperf_commands.h"
#include "cli/hsperf_common.h"
#include "cli/one_of.h"
#include "perfdata/jvm_listing.h"
#include "perfdata/snapshot_text.h"

namespace jtrace::cli {
namespace {

using perfdata::ListedJvm;

struct ListArguments {
  bool quiet = false, full_names = false, arguments = false, vm_arguments = false, vm_flags = false;
  bool show_secrets = false;
  std::string format = "text";

  bool like_jps() const { return quiet || full_names || arguments || vm_arguments || vm_flags; }
};

std::string text_of(const ListedJvm& listed, std::string_view counter, bool show_secrets) {
  const auto text = listed.source->first().text_value(counter);
  if (!text) return "Unknown";
  const std::string utf8 = utf8_from_modified(*text);
  return show_secrets ? utf8 : mask_secrets(utf8);
}

std::string without_newlines(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n') line += "\\n";
    else if (c == '\r') line += "\\r";
    else line += c;
  }
  return line;
}

void append_words(std::string& out, std::string_view words) {
  if (!words.empty()) out.append(" ").append(without_newlines(words));
}

void append_jps_line(std::string& out, const ListedJvm& listed, const ListArguments& arguments) {
  append_decimal(out, listed.jvm.pid);
  if (!arguments.quiet && !listed.source) {
    out += " -- process information unavailable";
  } else if (!arguments.quiet) {
    const std::string command = text_of(listed, "sun.rt.javaCommand", arguments.show_secrets);
    out += ' ';  // also if the name is empty, as jps does
    out += without_newlines(perfdata::main_class_of(command, arguments.full_names));
    if (arguments.arguments) append_words(out, perfdata::main_arguments_of(command));
    if (arguments.vm_arguments) append_words(out, text_of(listed, "java.rt.vmArgs", arguments.show_secrets));
    if (arguments.vm_flags) append_words(out, text_of(listed, "java.rt.vmFlags", arguments.show_secrets));
  }
  out += '\n';
}

std::string_view source_of(const ListedJvm& listed) {
  return listed.source ? perfdata::source_name(listed.source->kind()) : "none";
}

using Cells = std::vector<std::string>;

Cells cells_of(const ListedJvm& listed) {
  const target::Jvm& jvm = listed.jvm;
  std::string main;
  perfdata::append_one_line(main, jvm.main_class.empty() ? "-" : jvm.main_class);
  if (!listed.source) main.append("  (").append(listed.reason).append(")");
  return {std::to_string(jvm.pid),
          std::to_string(jvm.nspid),
          jvm.user,
          jvm.version.empty() ? "-" : jvm.version,
          std::string(source_of(listed)),
          jvm.container.empty() ? "-" : jvm.container,
          main};
}

void append_table(std::string& out, const std::vector<Cells>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Cells& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const Cells& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      out += row[i];
      out.append(widths[i] - row[i].size() + 2, ' ');
    }
    out.append(row.back()).append("\n");
  }
}

std::string text_view(const perfdata::Listing& listing) {
  std::vector<Cells> rows = {{"PID", "NSPID", "USER", "JDK", "COUNTERS", "CONTAINER", "MAIN"}};
  for (const ListedJvm& listed : listing.jvms) rows.push_back(cells_of(listed));
  std::string out;
  append_table(out, rows);
  for (const perfdata::StaleFile& file : listing.stale)
    out.append("stale file ")
        .append(file.path)
        .append(" of a JVM that has ended, last changed ")
        .append(utc_text(file.facts.modified_ns, kIsoSeconds)) += '\n';
  return out;
}

void append_json_jvm(JsonWriter& json, const ListedJvm& listed) {
  const target::Jvm& jvm = listed.jvm;
  json.begin_object().member("pid", jvm.pid).member("nspid", jvm.nspid).member("user", jvm.user);
  json.member("version", jvm.version).member("main", jvm.main_class).member("path", jvm.libjvm);
  json.member("container", jvm.container).member("counters", source_of(listed));
  if (listed.source) json.member("source", listed.source->name());
  else json.member("reason", listed.reason);
  json.end_object();
}

std::string json_view(const perfdata::Listing& listing) {
  std::string out;
  JsonWriter json(out);
  std::vector<std::string> missing;
  if (listing.hidden != 0) missing.push_back(counted(listing.hidden, "process", "processes") + " may not be examined");
  begin_answer(json, "list").begin_object().end_object();
  write_missing(json, missing).key("data").begin_array();
  for (const ListedJvm& listed : listing.jvms) append_json_jvm(json, listed);
  json.end_array().key("stale").begin_array();
  for (const perfdata::StaleFile& file : listing.stale)
    json.begin_object()
        .member("path", file.path)
        .member("changed", utc_text(file.facts.modified_ns, kIsoSeconds))
        .end_object();
  json.end_array().end_object();
  return out + "\n";
}

ExitStatus run_list(const ListArguments& arguments) {
  perfdata::SourceOptions options;
  options.wait = std::chrono::milliseconds(0);
  const perfdata::Listing listing = perfdata::list_jvms(options);
  std::string out;
  if (arguments.like_jps()) {
    for (const ListedJvm& listed : listing.jvms) append_jps_line(out, listed, arguments);
  } else {
    out = arguments.format == "json" ? json_view(listing) : text_view(listing);
  }
  if (listing.hidden != 0)
    log_debug(counted(listing.hidden, "process", "processes") + " may not be examined: run as root to see their JVMs");
  auto printed = print_out(out);
  return printed ? ExitStatus::kOk : report(printed.error());
}

}  // namespace

void add_hsperf_list(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<ListArguments>();
  auto* command = app.add_subcommand("list", "every JVM and where its counters are; -q -l -m -v -V as in jps");
  command->add_flag("-q", arguments->quiet, "pids only");
  command->add_flag("-l", arguments->full_names, "full class or jar name");
  command->add_flag("-m", arguments->arguments, "arguments of main");
  command->add_flag("-v", arguments->vm_arguments, "arguments of the JVM");
  command->add_flag("-V", arguments->vm_flags, "flags of the JVM from a flags file");
  command->add_option("--format", arguments->format, "text or json")
      ->check(one_of({"text", "json"}))
      ->capture_default_str();
  command->add_flag("--show-secrets", arguments->show_secrets, "do not mask what looks like a password");
  command->footer("example: hsperf list -lm");
  command->callback([arguments, &status] { status = run_list(*arguments); });
}

}  // namespace jtrace::cli
