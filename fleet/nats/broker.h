// Broker: a connection to NATS servers, and what its library reports in callbacks only. It reconnects by itself, for
// ever.
//
// Environment: JTRACE_NATS_USER, JTRACE_NATS_PASSWORD, JTRACE_NATS_TOKEN. No secret is taken from a command line, where
// everybody could read it. Threads: the library's own call back; the members may be called from one thread.
#pragma once

#include <nats/nats.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"

namespace jtrace::fleet {

struct BrokerOptions {
  std::string url;            // nats://HOST:PORT or tls://HOST:PORT, several separated by commas; without a password
  std::string name;           // of this client, for the server's log
  std::string credentials;    // file of a user's JWT and seed
  std::string password_file;  // its first line; the user is JTRACE_NATS_USER or `user`
  std::string user;
  std::string token_file;
  std::string ca, certificate, key;  // files (PEM)
};

class Broker {
 public:
  // kPermission: the server refuses this user or its certificate is not trusted; kTimeout: no server answers; kUsage.
  static Result<std::unique_ptr<Broker>> connect(const BrokerOptions& options);
  ~Broker();
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  natsConnection* connection() { return connection_; }
  jsCtx* jetstream() { return jetstream_; }
  bool is_connected() const;
  // How often the connection was made again.
  unsigned reconnects() const { return reconnects_; }
  // Set when the server forbids something, or ends the connection for good.
  Result<> state() const;
  const std::string& url() const { return url_; }

 private:
  Broker() = default;
  static void on_error(natsConnection*, natsSubscription*, natsStatus status, void* self);
  static void on_reconnect(natsConnection*, void* self);
  static void on_closed(natsConnection*, void* self);

  std::string url_;
  natsConnection* connection_ = nullptr;
  jsCtx* jetstream_ = nullptr;
  std::atomic<unsigned> reconnects_{0};
  std::atomic<bool> closed_{false};
  mutable std::mutex mutex_;
  std::string refused_;  // the server's words
};

// The library's words for a failure of a call.
std::string nats_words(natsStatus status);

}  // namespace jtrace::fleet
