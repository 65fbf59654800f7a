#include "agent/handshake.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/control_socket.h"

namespace jtrace::agent {
namespace {

constexpr unsigned kHandshakeSeconds = 10;
constexpr int kErrorSize = 256;

bool send_hello(JavaVM* vm, int socket, bool live, std::string_view options) {
  void* env = nullptr;
  jint version = 0;
  if (vm->GetEnv(&env, JVMTI_VERSION_1_2) == JNI_OK) {
    auto* jvmti = static_cast<jvmtiEnv*>(env);
    jvmti->GetVersionNumber(&version);
    jvmti->DisposeEnvironment();
  }
  ByteBuffer hello;
  hello.put(record::kControlVersion);
  hello.put(static_cast<std::uint32_t>(getpid()));
  hello.put(static_cast<std::uint32_t>(version));
  hello.put(static_cast<std::uint8_t>(live ? 0 : 1));
  hello.put_text(JTRACE_VERSION);
  hello.put_text(options);
  return send_frame(socket, record::FrameType::kHello, hello);
}

const char* read_start(Frame& frame, Config& config, char* error) {
  if (frame.type == record::FrameType::kRefused) {
    ByteReader reader(frame.payload);
    const std::string_view text = reader.read_text(reader.read<std::uint32_t>());
    snprintf(error, kErrorSize, "%.*s", static_cast<int>(text.size()), text.data());
    return error;
  }
  if (frame.type != record::FrameType::kStart || frame.payload.size() < sizeof(std::uint32_t))
    return "jtrace answered with something else than Start";
  ByteReader reader(frame.payload);
  if (reader.read<std::uint32_t>() != record::kControlVersion) return "this agent and jtrace are of different versions";
  if (!decode_config(std::span(frame.payload).subspan(sizeof(std::uint32_t)), config)) return "Start is malformed";
  if (!frame.descriptor) return "no pool came with Start";
  return nullptr;
}

}  // namespace

void send_started(int socket, std::uint64_t events, std::string_view failure) {
  ByteBuffer payload;
  payload.put(std::uint32_t{failure.empty() ? 0u : 1u});
  payload.put(events);
  payload.put_text(failure);
  send_frame(socket, record::FrameType::kStarted, payload);
}

AgentSession* begin_session(JavaVM* vm, UniqueFd control, bool live, std::string_view options, char* error) {
  const int socket = control.get();
  set_time_out(socket, kHandshakeSeconds);
  Frame frame;
  if (!send_hello(vm, socket, live, options) || !receive_frame(socket, frame)) {
    snprintf(error, kErrorSize, "jtrace hung up before it answered");
    return nullptr;
  }
  auto* session = new AgentSession(vm, static_cast<UniqueFd&&>(control));
  const char* failure = read_start(frame, session->config, error);
  if (failure == nullptr && AgentSession::current().load() != nullptr) failure = record::kAlreadyTraced;
  if (failure == nullptr) failure = session->start(static_cast<UniqueFd&&>(frame.descriptor), live);
  if (failure == nullptr) return session;
  if (failure != error) snprintf(error, kErrorSize, "%s", failure);
  if (frame.type == record::FrameType::kStart) send_started(socket, 0, failure);
  if (session->jvmti != nullptr) session->jvmti->DisposeEnvironment();
  delete session;
  return nullptr;
}

void abandon_session(AgentSession& session, const char* failure) {
  AgentSession::current().store(nullptr, std::memory_order_seq_cst);
  const bool empty = CallbackGuard::wait_until_empty(5000);
  session.jvmti->DisposeEnvironment();
  send_started(session.control.get(), 0, failure);
  if (!empty) return;  // leaked rather than pulled away under a callback
  munmap(session.writer.pool.base(), session.pool_size);
  delete &session;
}

}  // namespace jtrace::agent
