// hsperf push: metrics of JVMs, sent to a collector of OpenTelemetry.
#include <unistd.h>

#include <array>
#include <memory>

#include "base/clock.h"
#include "base/descriptor_limit.h"
#include "base/strings.h"
#include "base/wait_readable.h"
#include "cli/hsperf_commands.h"
#include "cli/hsperf_common.h"
#include "cli/hsperf_output.h"
#include "cli/naming_arguments.h"
#include "cli/push_headers.h"
#include "perfdata/metrics_sender.h"
#include "perfdata/named_page.h"
#include "perfdata/otlp_json.h"

namespace jtrace::cli {
namespace {

struct PushArguments {
  SourceArguments sources;
  NamingArguments naming;
  std::string to = "http://127.0.0.1:4318/v1/metrics";
  std::string headers;
  std::chrono::nanoseconds every = std::chrono::seconds(10);
  std::chrono::milliseconds timeout{10'000};
  std::uint64_t count = 0, most_kept = 16u << 20;
};

// What is left is sent for so long at the end.
constexpr std::chrono::milliseconds kLastPatience{5000};

Result<perfdata::HttpPost> post_of(const PushArguments& arguments) {
  perfdata::HttpPost post;
  JTRACE_ASSIGN_OR_RETURN(post.url, perfdata::parse_http_url(arguments.to));
  JTRACE_RETURN_IF_ERROR(perfdata::check_host(post.url));  // no waiting gives it an address
  if (post.url.path == "/") post.url.path = "/v1/metrics";
  JTRACE_ASSIGN_OR_RETURN(post.headers, push_headers(arguments.headers));
  post.patience = arguments.timeout;
  if (!post.headers.empty() && !post.url.is_loopback())
    log_warning("the headers go to " + post.url.authority() + " as they are, without TLS");
  return post;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

class Pushing {
 public:
  Pushing(const PushArguments& arguments, perfdata::HttpPost post, std::set<pid_t> pids)
      : arguments_(arguments),
        all_(pids.empty()),
        page_(
            {.naming = perfdata::Naming::kOtel, .inner = arguments.naming.inner(), .only = std::move(pids)},
            options(arguments), [](const std::string& line) { log_debug(line); },
            [](const std::string& line) { log_warning(line); }),
        sender_({.post = std::move(post), .most_kept = arguments.most_kept, .say = [](const std::string& line) {
                   log_warning(line);
                 }}) {}

  // Until a signal, the last one of --count, or the end of the JVMs that were named.
  ExitStatus run(int stop_fd) {
    const auto every = static_cast<std::uint64_t>(arguments_.every.count());
    const std::uint64_t look = std::chrono::nanoseconds(perfdata::NamedPage::kInterval).count();
    page_.look();
    std::uint64_t next_push = monotonic_ns(), next_look = next_push + look;
    for (std::uint64_t pushed = 0;;) {
      if (monotonic_ns() >= next_push) {
        if (!push() && !all_) break;
        if (++pushed == arguments_.count) break;
        next_push = std::max(next_push + every, monotonic_ns());
      }
      if (wait_readable(stop_fd, std::min(next_push, next_look))) {
        push();
        break;
      }
      if (monotonic_ns() < next_look) continue;
      page_.look();
      next_look = monotonic_ns() + look;
    }
    return status_of(sender_.finish(kLastPatience));
  }

 private:
  static perfdata::SourceOptions options(const PushArguments& arguments) {
    perfdata::SourceOptions options = arguments.sources.options();
    options.wait = std::chrono::milliseconds(0);  // a JVM that is starting is found at the next look
    return options;
  }

  // False if there is no JVM.
  bool push() {
    const auto& jvms = page_.jvms();
    const std::uint64_t now = realtime_ns();
    if (!jvms.empty()) sender_.add({.taken = now, .body = perfdata::otlp_request(jvms, now, host_)});
    return !jvms.empty();
  }

  ExitStatus status_of(const perfdata::SendTotals& totals) const {
    log_info("sent " + counted(totals.sent, "sample") +
             (totals.lost > 0 ? ", lost " + std::to_string(totals.lost) : "") +
             (totals.rejected > 0 ? ", " + counted(totals.rejected, "point") + " not kept by the server" : ""));
    if (totals.lost == 0 && totals.rejected == 0) return status_of_jvms(totals.sent > 0);
    if (totals.sent > 0 || !totals.failure) return ExitStatus::kPartial;
    return exit_status({.category = *totals.failure, .text = {}});
  }

  // All that there was is sent.
  ExitStatus status_of_jvms(bool any) const {
    if (!any)
      return report(
          {.category = ErrorCategory::kNotFound, .text = "no JVM whose counters can be read", .help = "hsperf list"});
    return page_.refused().empty() ? ExitStatus::kOk : ExitStatus::kPartial;
  }

  const PushArguments& arguments_;
  const bool all_;
  const std::string host_ = host_name();
  perfdata::NamedPage page_;
  perfdata::MetricsSender sender_;
};

Result<std::set<pid_t>> pids_of(const PushArguments& arguments, ExitStatus& status) {
  std::set<pid_t> pids;
  if (arguments.sources.selectors.empty() || arguments.sources.selectors == std::vector<std::string>{"all"})
    return pids;
  for (const perfdata::CounterSource& each : open_all(arguments.sources, status)) {
    if (each.pid() == 0)
      return fail(ErrorCategory::kUsage, each.name() + " is no running JVM: it has no metrics to send");
    pids.insert(each.pid());
  }
  return pids;
}

Result<ExitStatus> push(const PushArguments& arguments) {
  JTRACE_ASSIGN_OR_RETURN(perfdata::HttpPost post, post_of(arguments));
  raise_descriptor_limit();
  ExitStatus status = ExitStatus::kOk;
  JTRACE_ASSIGN_OR_RETURN(std::set<pid_t> pids, pids_of(arguments, status));
  if (pids.empty() && status != ExitStatus::kOk) return status;
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd stop, stop_signals());
  log_info("sending to http://" + post.url.authority() + post.url.path);
  Pushing pushing(arguments, std::move(post), std::move(pids));
  const ExitStatus pushed = pushing.run(stop.get());
  return pushed == ExitStatus::kOk ? status : pushed;
}

}  // namespace

void add_hsperf_push(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<PushArguments>();
  auto* command = app.add_subcommand("push", "send metrics to a collector of OpenTelemetry (OTLP over HTTP)");
  add_source_arguments(*command, arguments->sources, true);
  command->get_option("JVM")->required(false);
  command->add_option("--to", arguments->to, "address of the collector")->capture_default_str();
  add_time(*command, "--interval,--every", arguments->every, "time between samples (10s)",
           {.least = std::chrono::milliseconds(100)});
  command->add_option("-n,--count", arguments->count, "number of samples (default: until a signal)");
  add_inside_option(*command, arguments->naming);
  command->add_option("--headers", arguments->headers,
                      "file with headers to send, a line each, for example Authorization: Bearer ...");
  add_time(*command, "--timeout", arguments->timeout, "how long one request may take (10s)",
           {.least = std::chrono::milliseconds(1), .most = std::chrono::hours(1)});
  add_size(*command, "--max-kept", arguments->most_kept, "memory for samples that cannot be sent yet (16M)");
  command->footer("example: hsperf push app.Main --to http://127.0.0.1:4318/v1/metrics --interval 30s");
  command->callback([arguments, &status] {
    auto done = push(*arguments);
    status = done ? *done : report(done.error());
  });
}

}  // namespace jtrace::cli
