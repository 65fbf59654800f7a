// jtrace-fleet: `ship` and `collect`, which need libnats.
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/quoted_text.h"
#include "base/strings.h"
#include "base/time_text.h"
#include "cli/fleet_arguments.h"
#include "cli/stop_signals.h"
#include "cli/unit_lines.h"
#include "fleet/nats/collector.h"
#include "fleet/nats/shipment.h"
#include "fleet/spool_records.h"

namespace jtrace::cli {
namespace {

namespace fs = std::filesystem;

// How many signals asked for the end so far. Any thread.
class StopCount {
 public:
  Result<> open() {
    JTRACE_ASSIGN_OR_RETURN(fd_, stop_signals());
    return {};
  }
  unsigned count() {
    signalfd_siginfo info{};
    while (::read(fd_.get(), &info, sizeof info) == sizeof info) ++count_;
    return count_;
  }

 private:
  UniqueFd fd_;
  std::atomic<unsigned> count_{0};
};

fleet::BrokerOptions broker_options(const BrokerArguments& given, const std::string& what) {
  return {.url = given.url,
          .name = "jtrace " + what,
          .credentials = given.credentials,
          .password_file = given.password_file,
          .user = given.user,
          .token_file = given.token_file,
          .ca = given.ca,
          .certificate = given.certificate,
          .key = given.key};
}

Result<std::uint64_t> time_of(const std::string& text, std::string_view option) {
  if (text.empty()) return 0;
  if (const auto time = parse_seconds(text)) return *time;
  return fail(ErrorCategory::kUsage, std::string(option) + ": '" + text + "' is not a time", "30, 30s, 5m");
}
Result<std::uint64_t> size_of(const std::string& text, std::string_view option) {
  if (text.empty()) return 0;
  if (const auto size = parse_size(text)) return *size;
  return fail(ErrorCategory::kUsage, std::string(option) + ": '" + text + "' is not a size", "64M, 1G");
}

std::string default_spools() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/jtrace/spool";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::string(home) + "/.local/state/jtrace/spool";
  return "/var/tmp/jtrace-spool-" + std::to_string(::getuid());
}

std::string plural(std::uint64_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : word.ends_with("h") ? "es" : "s");
}

// Prints the result of one input, and returns the exit status for it.
ExitStatus report_shipment(const std::string& input, const Result<>& shipped, const fleet::ShipSummary& summary) {
  ExitStatus status = ExitStatus::kOk;
  if (!shipped) status = report(shipped.error().with_context("shipping " + input));
  if (summary.is_truncated) log_warning(input + " is cut off: what is in it was sent");
  if (summary.lost_batches != 0)
    log_warning(plural(summary.lost_elements, "element") + " in " + plural(summary.lost_batches, "batch") +
                " found no room in the spool or in a message, and are lost");
  if (summary.damaged_bytes != 0)
    log_warning(plural(summary.damaged_bytes, "byte") + " of the spool are damaged: their batches are lost");
  if (!summary.spool.empty())
    log_warning(plural(summary.sent.left, "batch") + " left in " + summary.spool + ": jtrace ship " +
                shell_word(summary.spool) + " URL sends what is there");
  const std::uint64_t done = summary.sent.stored + summary.sent.known;
  std::string text = input + ": " + plural(done, "batch") + " acknowledged";
  if (summary.elements != 0) text += ", " + plural(summary.elements, "element");
  if (summary.sent.known != 0) text += ", " + std::to_string(summary.sent.known) + " were there already";
  log_info(text + "; stream " + summary.stream);
  const bool partial =
      summary.is_truncated || summary.lost_batches != 0 || summary.damaged_bytes != 0 || !summary.spool.empty();
  return status == ExitStatus::kOk && partial ? ExitStatus::kPartial : status;
}

// The inputs that a word names: itself, the files of a folder, or the spools in it.
struct Inputs {
  std::vector<std::string> names;
  bool are_spools = false;
};
Result<Inputs> inputs_of(const std::string& word) {
  std::error_code error;
  if (word == "-" || !fs::is_directory(word, error)) return Inputs{{word}, false};
  if (auto spools = fleet::spool_folders(word); !spools.empty()) return Inputs{std::move(spools), true};
  Inputs inputs;
  for (const auto& entry : fs::directory_iterator(word, error))
    if (entry.is_regular_file(error) && !entry.path().filename().string().starts_with("."))
      inputs.names.push_back(entry.path().string());
  std::sort(inputs.names.begin(), inputs.names.end());
  if (!inputs.names.empty()) return inputs;
  return fail(
      Error{.category = ErrorCategory::kNotFound, .text = "no trace and no spool is in this folder", .path = word});
}

Result<fleet::ShipOptions> ship_options(const ShipArguments& arguments) {
  fleet::ShipOptions options;
  options.broker = broker_options(arguments.broker, "ship");
  options.spools = arguments.spool.empty() ? default_spools() : arguments.spool;
  JTRACE_ASSIGN_OR_RETURN(options.limits.size, size_of(arguments.spool_size, "--spool-size"));
  JTRACE_ASSIGN_OR_RETURN(options.give_up, time_of(arguments.give_up, "--give-up"));
  options.limits.file_size = std::clamp<std::uint64_t>(options.limits.size / 8, 1u << 20, options.limits.file_size);
  options.producer = "jtrace " JTRACE_VERSION;
  options.say = [](const std::string& line) { log_warning(line); };
  return options;
}

ExitStatus ship(const ShipArguments& arguments) {
  Result<fleet::ShipOptions> options = ship_options(arguments);
  if (!options) return report(options.error());
  const auto inputs = inputs_of(arguments.input);
  if (!inputs) return report(inputs.error());
  StopCount stops;
  if (const Result<> opened = stops.open(); !opened) return report(opened.error());
  options->stops = [&] { return stops.count(); };
  fleet::remove_sent_spools(options->spools);
  ExitStatus status = ExitStatus::kOk;
  for (const std::string& input : inputs->names) {
    fleet::ShipSummary summary;
    const Result<> shipped =
        inputs->are_spools ? fleet::ship_spool(input, *options, summary) : fleet::ship_input(input, *options, summary);
    const bool has_nothing = summary.elements == 0 && summary.lost_elements == 0 && summary.spool.empty();
    if (input == "-" && stops.count() > 1 && has_nothing)
      return ExitStatus::kPartial;  // the writer failed, and says why
    const ExitStatus reported = report_shipment(input, shipped, summary);
    if (reported != ExitStatus::kOk) status = reported;
    if (stops.count() != 0) break;
  }
  return status;
}

Result<fleet::CollectOptions> collect_options(const CollectArguments& arguments) {
  fleet::CollectOptions options;
  options.stream = arguments.stream;
  options.name = arguments.name;
  options.partitions = arguments.partitions;
  options.take_over = arguments.take_over;
  for (const unsigned partition : arguments.partitions)
    if (partition > 15) return fail(ErrorCategory::kUsage, "--partition: there are 0 to 15");
  JTRACE_ASSIGN_OR_RETURN(options.until_idle, time_of(arguments.until_idle, "--until-idle"));
  JTRACE_ASSIGN_OR_RETURN(options.duration, time_of(arguments.duration, "--duration"));
  options.say = [](const std::string& line) { log_info(line); };
  return options;
}

Result<> create(fleet::Broker& broker, const CollectArguments& arguments) {
  fleet::StreamOptions wanted{.stream = arguments.stream, .replicas = arguments.replicas};
  JTRACE_ASSIGN_OR_RETURN(wanted.max_bytes, size_of(arguments.max_bytes, "--max-size"));
  JTRACE_ASSIGN_OR_RETURN(wanted.max_age, time_of(arguments.max_age, "--max-age"));
  JTRACE_ASSIGN_OR_RETURN(const bool made, fleet::create_stream(broker, wanted));
  log_info("stream " + arguments.stream + (made ? " is made" : " is there already"));
  return {};
}

Result<ExitStatus> collect(const CollectArguments& arguments) {
  JTRACE_ASSIGN_OR_RETURN(fleet::CollectOptions options, collect_options(arguments));
  fleet::CollectionOptions limits;
  JTRACE_ASSIGN_OR_RETURN(limits.gap_after, time_of(arguments.gap_after, "--gap-after"));
  StopCount stops;
  JTRACE_RETURN_IF_ERROR(stops.open());
  options.should_stop = [&] { return stops.count() != 0; };
  JTRACE_ASSIGN_OR_RETURN(fleet::Collection collection, fleet::Collection::open(arguments.output, limits));
  JTRACE_ASSIGN_OR_RETURN(const auto broker, fleet::Broker::connect(broker_options(arguments.broker, "collect")));
  if (arguments.create) JTRACE_RETURN_IF_ERROR(create(*broker, arguments));
  log_info("collecting from " + broker->url() + " into " + arguments.output + "; Ctrl-C ends it");
  const Result<> collected = fleet::collect(*broker, collection, options);
  const fleet::CollectionTotals& totals = collection.totals();
  std::string text = plural(totals.elements, "element") + " in " + plural(totals.batches, "batch") + ", " +
                     plural(totals.finished, "trace") + " complete";
  if (totals.cut != 0) text += ", " + std::to_string(totals.cut) + " cut off";
  if (totals.duplicates != 0) text += "; " + plural(totals.duplicates, "repeat") + " dropped";
  if (totals.gaps != 0) text += "; " + plural(totals.gaps, "gap");
  if (totals.parked != 0)
    text += "; " + plural(totals.parked, "message") + " parked in " + arguments.output + "/parked";
  if (collection.held() != 0) text += "; " + plural(collection.held(), "batch") + " wait for others";
  log_info(text);
  if (!collected) return fail(collected.error());
  return totals.gaps != 0 || totals.parked != 0 || totals.cut != 0 ? ExitStatus::kPartial : ExitStatus::kOk;
}

int run(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  CLI::App app("sends and collects traces through NATS", "jtrace-fleet");
  app.set_version_flag("--version", "jtrace-fleet " JTRACE_VERSION ", libnats " + std::string(nats_GetVersion()));
  app.add_flag_callback("-q,--quiet", [] { set_log_level(LogLevel::kError); });
  app.add_flag_callback("-v,--verbose", [] { set_log_level(LogLevel::kDebug); });
  app.require_subcommand(1);
  ExitStatus status = ExitStatus::kOk;
  ShipArguments shipping;
  CollectArguments collecting;
  add_ship_arguments(app, shipping)->callback([&] { status = ship(shipping); });
  add_collect_arguments(app, collecting)->callback([&] {
    const auto collected = collect(collecting);
    status = collected ? *collected : report(collected.error());
  });
  const auto form = help_form();
  for (CLI::App* command : app.get_subcommands({})) command->fallthrough()->formatter(form);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    std::ostringstream text;
    const int code = app.exit(done, text, text);
    std::fputs(text.str().c_str(), stdout);
    return code;
  } catch (const CLI::ParseError& error) {
    log_error(std::string(error.what()) + "; see jtrace-fleet --help");
    return static_cast<int>(ExitStatus::kUsage);
  }
  return static_cast<int>(status);
}

}  // namespace
}  // namespace jtrace::cli

int main(int argc, char** argv) { return jtrace::cli::run(argc, argv); }
