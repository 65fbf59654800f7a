// HttpServer: answers GET requests of a few clients at a time, from one thread, never blocking on any of them.
//
// HTTP/1.1, one request a connection. A client that is slow, sends too much or too many is cut off: kMaxRequest bytes,
// kMaxClients connections, kPatience for the whole exchange. Ownership: owns its sockets. Threads: one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace::perfdata {

struct HttpRequest {
  std::string method;
  std::string path;    // without the query
  std::string accept;  // the Accept header; "" if there is none
  std::string host;
};
struct HttpResponse {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
};
// False if the bytes are not a complete request.
bool parse_http_request(std::string_view text, HttpRequest& request);

class HttpServer {
 public:
  static constexpr std::size_t kMaxRequest = 16384;
  static constexpr std::size_t kMaxClients = 32;
  static constexpr std::chrono::seconds kPatience{10};

  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  // "127.0.0.1:9797", "[::1]:9797", ":0" (all addresses, a free port). Errors: kUsage, kSystem (in use, not allowed).
  static Result<HttpServer> listen(const std::string& address, Handler handler);

  std::string address() const;  // with the port that is used
  bool is_loopback() const { return loopback_; }
  // Serves until `stop_fd` is readable; calls `idle` at least every `idle_interval`.
  Result<> run(int stop_fd, std::chrono::milliseconds idle_interval, const std::function<void()>& idle);

 private:
  struct Client {
    UniqueFd fd;
    std::string in, out;
    std::size_t sent = 0;
    std::chrono::steady_clock::time_point until;
  };
  HttpServer() = default;
  void accept_all();
  // False if the client is finished.
  bool serve(Client& client, short events);
  void answer(Client& client);

  UniqueFd socket_;
  Handler handler_;
  bool loopback_ = false;
  std::list<Client> clients_;
};

}  // namespace jtrace::perfdata
