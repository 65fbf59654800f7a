// hsperf serve: the counters of all JVMs of this machine over HTTP, for Prometheus and similar tools.

#include <memory>

#include "base/descriptor_limit.h"
#include "cli/hsperf_commands.h"
#include "cli/hsperf_common.h"
#include "cli/hsperf_output.h"
#include "cli/naming_arguments.h"
#include "perfdata/http_server.h"
#include "perfdata/jvm_set.h"
#include "perfdata/named_page.h"
#include "perfdata/openmetrics.h"

namespace jtrace::cli {
namespace {

struct ServeArguments {
  std::string listen = "127.0.0.1:9797";
  std::string filter;
  NamingArguments naming;
  bool with_arguments = false, show_secrets = false;
};

perfdata::SourceOptions source_options() {
  perfdata::SourceOptions options;
  options.wait = std::chrono::milliseconds(0);  // a JVM that is starting is found at the next scan
  return options;
}

void report_jvm(const std::string& line) { log_debug(line); }
void report_refusal(const std::string& line) { log_warning(line); }

class MetricsPage {
 public:
  static constexpr std::chrono::milliseconds kInterval{5000};

  MetricsPage(perfdata::MetricsOptions options)
      : jvms_(source_options(), report_jvm, report_refusal), writer_(std::move(options)) {}

  void look() { refresh(); }

  std::string text(perfdata::MetricsFormat format) {
    refresh();
    if (jvms_.read_all()) laid_out_ = false;
    if (!laid_out_) lay_out();
    std::vector<const perfdata::Snapshot*> snapshots;
    for (const auto& jvm : jvms_.jvms()) snapshots.push_back(&jvm->snapshot);
    std::string page;
    page.reserve(last_size_ + 4096);
    perfdata::append_jvm_counts(page, snapshots.size(), jvms_.refused().size());
    writer_.append(page, snapshots, format);
    last_size_ = page.size();
    return page;
  }

 private:
  void refresh() {
    if (jvms_.refresh()) laid_out_ = false;
  }
  void lay_out() {
    writer_.clear();
    for (const auto& jvm : jvms_.jvms()) writer_.add(jvm->snapshot, jvm->source.pid());
    laid_out_ = true;
  }

  perfdata::JvmSet jvms_;
  perfdata::MetricsWriter writer_;
  bool laid_out_ = false;
  std::size_t last_size_ = 0;
};

template <class Page>
perfdata::HttpResponse respond(Page& page, const perfdata::HttpRequest& request) {
  perfdata::HttpResponse response;
  if (request.path == "/metrics") {
    const bool open = request.accept.find("application/openmetrics-text") != std::string::npos;
    const auto format = open ? perfdata::MetricsFormat::kOpenMetrics : perfdata::MetricsFormat::kPrometheus;
    response.type = perfdata::content_type(format);
    response.body = page.text(format);
  } else if (request.path == "/") {
    response.body = "hsperf " JTRACE_VERSION ": the counters of this machine's JVMs are at /metrics\n";
  } else {
    response = {.status = 404, .body = "there is / and /metrics\n"};
  }
  return response;
}

template <class Page>
Result<> serve(const ServeArguments& arguments, Page page) {
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd stop, stop_signals());
  JTRACE_ASSIGN_OR_RETURN(
      perfdata::HttpServer server,
      perfdata::HttpServer::listen(arguments.listen, [&](const auto& request) { return respond(page, request); }));
  if (!server.is_loopback())
    log_warning("listening on " + server.address() + ": anybody who reaches it reads the counters");
  log_info("serving http://" + server.address() + "/metrics");
  page.look();
  return server.run(stop.get(), Page::kInterval, [&] { page.look(); });
}

Result<> serve_named(const ServeArguments& arguments, perfdata::Naming naming) {
  if (!arguments.filter.empty() || arguments.with_arguments || arguments.show_secrets)
    return fail(needs_counters("--counters, --with-arguments and --show-secrets"));
  return serve(arguments, perfdata::NamedPage({.naming = naming, .inner = arguments.naming.inner()}, source_options(),
                                              report_jvm, report_refusal));
}

Result<> serve(const ServeArguments& arguments) {
  JTRACE_ASSIGN_OR_RETURN(const perfdata::Naming naming, arguments.naming.parse());
  raise_descriptor_limit();
  if (naming != perfdata::Naming::kHotspot) return serve_named(arguments, naming);
  if (arguments.naming.inside)
    return fail(ErrorCategory::kUsage, "--inside needs --naming otel, micrometer or client_java");
  perfdata::MetricsOptions options{.arguments = arguments.with_arguments, .show_secrets = arguments.show_secrets};
  JTRACE_ASSIGN_OR_RETURN(options.filter, parse_filter(arguments.filter));
  return serve(arguments, MetricsPage(std::move(options)));
}

}  // namespace

void add_hsperf_serve(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<ServeArguments>();
  auto* command = app.add_subcommand("serve", "metrics of all JVMs over HTTP (OpenMetrics, Prometheus)");
  command->add_option("--listen", arguments->listen, "ADDRESS:PORT; port 0: any free port")->capture_default_str();
  add_counters_option(*command, arguments->filter);
  add_naming_options(*command, arguments->naming, "hotspot");
  command->add_flag("--with-arguments", arguments->with_arguments, "include command lines and properties");
  command->add_flag("--show-secrets", arguments->show_secrets, "do not mask what looks like a password");
  command->footer("example: hsperf serve --listen 127.0.0.1:9797");
  command->callback([arguments, &status] {
    auto done = serve(*arguments);
    status = done ? ExitStatus::kOk : report(done.error());
  });
}

}  // namespace jtrace::cli
