// A server that takes what `hsperf push` sends, keeps it, and answers what the test wants.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

namespace jtrace::test {

struct CollectedRequest {
  std::string head, body;
};

class CollectorServer {
 public:
  // The bytes of the answer to request `number` (from 0), after which the connection is closed.
  using Script = std::function<std::string(std::size_t number)>;
  CollectorServer();  // takes everything
  explicit CollectorServer(Script script);
  ~CollectorServer();
  CollectorServer(const CollectorServer&) = delete;
  CollectorServer& operator=(const CollectorServer&) = delete;

  static std::string answer(int status, const std::string& body, const std::string& headers = "");

  std::uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1/metrics"; }
  std::vector<CollectedRequest> requests() const;

 private:
  void run();
  void serve(int fd);

  Script script_;
  UniqueFd listening_, stop_;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::vector<CollectedRequest> requests_;
  std::thread thread_;
};

// What is wrong with a request by opentelemetry-proto (metrics.proto, and the rules for JSON); one line each.
std::vector<std::string> otlp_faults(const nlohmann::json& request);

// All values of a metric of one process: attributes as "key=value,..." and the number; of a histogram its count.
std::vector<std::pair<std::string, double>> otlp_values(const nlohmann::json& request, const std::string& pid,
                                                        const std::string& metric);

}  // namespace jtrace::test
