#include "fleet/nats/broker.h"

#include <cstdlib>

#include "base/file.h"
#include "base/strings.h"

namespace jtrace::fleet {
namespace {

constexpr int kConnectTimeout = 2000;    // ms
constexpr int kReconnectWait = 250;      // ms
constexpr int kPingInterval = 10'000;    // ms: a peer that is gone is noticed in 20 s
constexpr int kReconnectBuffer = 65536;  // bytes: the spool is the truth, not this

struct FreeOptions {
  void operator()(natsOptions* options) const { natsOptions_Destroy(options); }
};
using Options = std::unique_ptr<natsOptions, FreeOptions>;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// The first line of a file that holds a secret.
Result<std::string> secret_of(const std::string& path) {
  JTRACE_ASSIGN_OR_RETURN(const std::string text, read_file(path, 65536));
  return std::string(trimmed(text.substr(0, text.find('\n'))));
}

Result<> set(natsStatus status, std::string_view what) {
  if (status == NATS_OK) return {};
  return fail(ErrorCategory::kUsage, std::string(what) + ": " + nats_words(status));
}

Result<> set_identity(natsOptions* options, const BrokerOptions& wanted) {
  std::string password = environment("JTRACE_NATS_PASSWORD"), token = environment("JTRACE_NATS_TOKEN");
  const std::string user = wanted.user.empty() ? environment("JTRACE_NATS_USER") : wanted.user;
  if (!wanted.password_file.empty()) {
    JTRACE_ASSIGN_OR_RETURN(password, secret_of(wanted.password_file));
  }
  if (!wanted.token_file.empty()) {
    JTRACE_ASSIGN_OR_RETURN(token, secret_of(wanted.token_file));
  }
  if (!wanted.credentials.empty()) {
    JTRACE_RETURN_IF_ERROR(open_file(wanted.credentials, 0));
    JTRACE_RETURN_IF_ERROR(set(natsOptions_SetUserCredentialsFromFiles(options, wanted.credentials.c_str(), nullptr),
                               "the credentials cannot be used"));
  }
  if (!user.empty())
    JTRACE_RETURN_IF_ERROR(set(natsOptions_SetUserInfo(options, user.c_str(), password.c_str()), "user"));
  if (!token.empty()) JTRACE_RETURN_IF_ERROR(set(natsOptions_SetToken(options, token.c_str()), "token"));
  return {};
}

Result<> set_tls(natsOptions* options, const BrokerOptions& wanted) {
  for (const std::string* file : {&wanted.ca, &wanted.certificate, &wanted.key})
    if (!file->empty()) JTRACE_RETURN_IF_ERROR(open_file(*file, 0));
  if (wanted.url.find("tls://") != std::string::npos || !wanted.ca.empty() || !wanted.certificate.empty())
    JTRACE_RETURN_IF_ERROR(set(natsOptions_SetSecure(options, true), "TLS"));
  if (!wanted.ca.empty())
    JTRACE_RETURN_IF_ERROR(
        set(natsOptions_LoadCATrustedCertificates(options, wanted.ca.c_str()), "the CA " + wanted.ca));
  if (wanted.certificate.empty()) return {};
  return set(natsOptions_LoadCertificatesChain(options, wanted.certificate.c_str(), wanted.key.c_str()),
             "the certificate " + wanted.certificate);
}

Error refusal(natsStatus status, const std::string& url) {
  const std::string where = "cannot connect to " + url + ": ";
  switch (status) {
    case NATS_NO_SERVER:
    case NATS_TIMEOUT:
    case NATS_IO_ERROR:
      return {.category = ErrorCategory::kTimeout,
              .text = where + "no server answers there",
              .help = "is nats-server running, is the port right?"};
    case NATS_CONNECTION_AUTH_FAILED:
    case NATS_NOT_PERMITTED:
      return {.category = ErrorCategory::kPermission,
              .text = where + "the server refuses this user (" + nats_words(status) + ")",
              .help = "--user with --password-file, --token-file, --creds, or --cert and --key"};
    case NATS_SSL_ERROR:
    case NATS_SECURE_CONNECTION_REQUIRED:
    case NATS_SECURE_CONNECTION_WANTED:
      return {.category = ErrorCategory::kPermission,
              .text = where + "TLS: " + nats_words(status),
              .help = "--ca FILE names who signed the server's certificate; tls:// asks for TLS"};
    default: return {.category = ErrorCategory::kRefused, .text = where + nats_words(status)};
  }
}

}  // namespace

std::string nats_words(natsStatus status) {
  natsStatus last = NATS_OK;
  const char* text = nats_GetLastError(&last);
  std::string words = natsStatus_GetText(status);
  if (text != nullptr && *text != '\0' && last == status) words += ": " + printable(text);
  return words;
}

Result<std::unique_ptr<Broker>> Broker::connect(const BrokerOptions& wanted) {
  natsOptions* made = nullptr;
  JTRACE_RETURN_IF_ERROR(set(natsOptions_Create(&made), "libnats"));
  const Options options(made);
  std::unique_ptr<Broker> broker(new Broker);
  broker->url_ = wanted.url;
  JTRACE_RETURN_IF_ERROR(set(natsOptions_SetURL(made, wanted.url.c_str()), "the URL " + wanted.url));
  JTRACE_RETURN_IF_ERROR(set_identity(made, wanted));
  JTRACE_RETURN_IF_ERROR(set_tls(made, wanted));
  natsOptions_SetName(made, wanted.name.c_str());
  natsOptions_SetTimeout(made, kConnectTimeout);
  natsOptions_SetMaxReconnect(made, -1);
  natsOptions_SetReconnectWait(made, kReconnectWait);
  natsOptions_SetReconnectJitter(made, kReconnectWait, kReconnectWait);
  natsOptions_SetPingInterval(made, kPingInterval);
  natsOptions_SetReconnectBufSize(made, kReconnectBuffer);
  natsOptions_SetErrorHandler(made, &Broker::on_error, broker.get());
  natsOptions_SetReconnectedCB(made, &Broker::on_reconnect, broker.get());
  natsOptions_SetClosedCB(made, &Broker::on_closed, broker.get());
  if (const natsStatus status = natsConnection_Connect(&broker->connection_, made); status != NATS_OK)
    return fail(refusal(status, wanted.url));
  if (const natsStatus status = natsConnection_JetStream(&broker->jetstream_, broker->connection_, nullptr);
      status != NATS_OK)
    return fail(refusal(status, wanted.url));
  return broker;
}

Broker::~Broker() {
  if (connection_ != nullptr) {
    natsConnection_Close(connection_);
    // The callbacks have this object: not before the last of them ended.
    for (int i = 0; i < 200 && !closed_; ++i) nats_Sleep(10);
  }
  jsCtx_Destroy(jetstream_);
  natsConnection_Destroy(connection_);
}

bool Broker::is_connected() const { return natsConnection_Status(connection_) == NATS_CONN_STATUS_CONNECTED; }

Result<> Broker::state() const {
  const std::lock_guard lock(mutex_);
  if (!refused_.empty())
    return fail(ErrorCategory::kPermission, "the server at " + url_ + " refuses: " + refused_,
                "its configuration says what this user may do");
  if (closed_) return fail(ErrorCategory::kRefused, "the server at " + url_ + " has ended the connection for good");
  return {};
}

void Broker::on_error(natsConnection* connection, natsSubscription*, natsStatus status, void* self) {
  if (status != NATS_NOT_PERMITTED && status != NATS_CONNECTION_AUTH_FAILED) return;
  auto* broker = static_cast<Broker*>(self);
  const char* words = nullptr;
  natsConnection_GetLastError(connection, &words);
  const std::lock_guard lock(broker->mutex_);
  if (broker->refused_.empty())
    broker->refused_ = words != nullptr && *words != '\0' ? printable(words) : natsStatus_GetText(status);
}

void Broker::on_reconnect(natsConnection*, void* self) { ++static_cast<Broker*>(self)->reconnects_; }
void Broker::on_closed(natsConnection*, void* self) { static_cast<Broker*>(self)->closed_ = true; }

}  // namespace jtrace::fleet
