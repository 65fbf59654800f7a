// The options of `ship` and `collect`, of jtrace and of jtrace-fleet. Threads: one.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace jtrace::cli {

struct BrokerArguments {
  std::string url, user, password_file, token_file, credentials, ca, certificate, key;
};

struct ShipArguments {
  std::string input;
  BrokerArguments broker;
  std::string spool, spool_size = "1G", give_up = "30s";
};

struct CollectArguments {
  BrokerArguments broker;
  std::string output;
  std::string name = "collector", stream = "JTRACE";
  std::vector<unsigned> partitions;
  bool create = false, take_over = false;
  std::string max_bytes, max_age = "24h", until_idle, duration, gap_after = "120s";
  unsigned replicas = 1;
};

// What is wrong with the word as the address of a server; "" if nothing is. For CLI::Option::check().
std::string wrong_broker(const std::string& url);

// Each adds the command to `app`. The arguments live as long as it.
CLI::App* add_ship_arguments(CLI::App& app, ShipArguments& arguments);
CLI::App* add_collect_arguments(CLI::App& app, CollectArguments& arguments);

}  // namespace jtrace::cli
