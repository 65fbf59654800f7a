#include "cli/fleet_arguments.h"

#include "base/strings.h"
#include "cli/summaries.h"

namespace jtrace::cli {
namespace {

void add_broker(CLI::App& command, BrokerArguments& broker) {
  command.add_option("URL", broker.url, "nats://HOST:PORT or tls://HOST:PORT, several separated by commas")
      ->required()
      ->check(wrong_broker);
  command.add_option("--user", broker.user, "of the server (else JTRACE_NATS_USER)")->type_name("NAME");
  command
      .add_option("--password-file", broker.password_file,
                  "file with the password in its first line (else JTRACE_NATS_PASSWORD)")
      ->type_name("FILE");
  command.add_option("--token-file", broker.token_file, "file with a token (else JTRACE_NATS_TOKEN)")
      ->type_name("FILE");
  command.add_option("--creds", broker.credentials, "file with a user's JWT and seed")
      ->envname("JTRACE_NATS_CREDS")
      ->type_name("FILE");
  command.add_option("--ca", broker.ca, "TLS: who signed the server's certificate (PEM)")
      ->envname("JTRACE_NATS_CA")
      ->type_name("FILE");
  auto* certificate = command.add_option("--cert", broker.certificate, "TLS: our own certificate (PEM)")
                          ->envname("JTRACE_NATS_CERT")
                          ->type_name("FILE");
  auto* key =
      command.add_option("--key", broker.key, "TLS: its key (PEM)")->envname("JTRACE_NATS_KEY")->type_name("FILE");
  certificate->needs(key);
  key->needs(certificate);
}

}  // namespace

std::string wrong_broker(const std::string& url) {
  for (const std::string_view each : split(url, ',')) {
    if (each.find('@') != std::string_view::npos)
      return "it has a user or password, which every user of this machine can read; --user, --password-file, "
             "--token-file or --creds, or JTRACE_NATS_PASSWORD, JTRACE_NATS_TOKEN";
    if (!each.starts_with("nats://") && !each.starts_with("tls://"))
      return "'" + std::string(each) + "' is not a URL of a NATS server; nats://HOST:PORT or tls://HOST:PORT";
  }
  return "";
}

CLI::App* add_ship_arguments(CLI::App& app, ShipArguments& arguments) {
  CLI::App* command = app.add_subcommand("ship", summary_of("ship"));
  command
      ->add_option("IN", arguments.input,
                   "a trace that jtrace reads; -: standard input, while it is written; a folder of traces, or a spool "
                   "that an earlier jtrace ship has left")
      ->required();
  add_broker(*command, arguments.broker);
  command
      ->add_option("--spool", arguments.spool,
                   "folder that holds what is not acknowledged yet (XDG_STATE_HOME/jtrace/spool)")
      ->envname("JTRACE_SPOOL")
      ->type_name("DIR");
  command->add_option("--spool-size", arguments.spool_size, "how much it holds at most (1G)")
      ->envname("JTRACE_SPOOL_SIZE")
      ->type_name("SIZE");
  command
      ->add_option("--give-up", arguments.give_up,
                   "end if nothing is acknowledged for this long after the end of the input (30s)")
      ->envname("JTRACE_GIVE_UP")
      ->type_name("TIME");
  command->footer(
      "Exit status 9: batches were lost, or were left in the spool; 6: no server or no stream takes them; 5: the "
      "server refuses.\n"
      "Example: jtrace attach 4711 -o - | jtrace ship - nats://broker:4222");
  return command;
}

CLI::App* add_collect_arguments(CLI::App& app, CollectArguments& arguments) {
  CLI::App* command = app.add_subcommand("collect", summary_of("collect"));
  add_broker(*command, arguments.broker);
  command
      ->add_option("-o,--output", arguments.output,
                   "folder of the documents, and of the state with which a collector continues after a kill")
      ->type_name("DIR")
      ->required();
  command->add_flag("--create", arguments.create, "make the stream on the server where there is none");
  command->add_option("--max-size", arguments.max_bytes, "with --create: size of the stream")->type_name("SIZE");
  command
      ->add_option("--max-age", arguments.max_age, "with --create: how long it keeps messages, collected or not (24h)")
      ->type_name("TIME");
  command->add_option("--replicas", arguments.replicas, "with --create: servers that hold it (1)")->type_name("N");
  command->add_option("--stream", arguments.stream, "its name on the server (JTRACE)")->type_name("NAME");
  command->add_option("--name", arguments.name, "of this collector: its progress on the server (collector)")
      ->type_name("NAME");
  command->add_flag("--take-over", arguments.take_over, "continue in this folder after a collector of the same --name");
  command->add_option("--partition", arguments.partitions, "only these of the 16 partitions: several collectors")
      ->type_name("0-15")
      ->delimiter(',');
  command
      ->add_option("--gap-after", arguments.gap_after,
                   "how long a missing batch is waited for before it is a named gap (120s)")
      ->type_name("TIME");
  command->add_option("--until-idle", arguments.until_idle, "end when nothing has arrived for this long")
      ->type_name("TIME");
  command->add_option("--duration", arguments.duration, "end after this time")->type_name("TIME");
  command->footer(
      "Exit status 9: batches are missing or were parked; each is named.\n"
      "Example: jtrace collect nats://broker:4222 -o traces --create");
  return command;
}

}  // namespace jtrace::cli
