#include "agent/handshake.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "agent/control_socket.h"
#include "agent/control_thread.h"

namespace jtrace::agent {
namespace {

constexpr unsigned kHandshakeSeconds = 10;

void send_answer_to_start(int socket, record::StartStatus status, std::uint64_t events, std::string_view text) {
  send_frame(socket,
             record::StartedFields{.status = static_cast<std::uint32_t>(status), .events = events, .text = text});
}

// Whether a copy of the agent, of another version or of the same by another path, has mapped a pool (PoolFile names it
// jtrace-PID-TICKS-ID.pool): it knows nothing of this one's sessions.
bool other_copy_traces() {
  if (AgentSession::has_leaked()) return false;  // that is ours
  FILE* maps = fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  char line[4096 + 128];
  bool found = false;
  while (!found && fgets(line, sizeof line, maps) != nullptr) {
    const char* name = strrchr(line, '/');
    found = name != nullptr && strncmp(name, "/jtrace-", 8) == 0 && strstr(name, ".pool") != nullptr;
  }
  fclose(maps);
  return found;
}

bool send_hello(JavaVM* vm, int socket, bool live, std::string_view options) {
  void* env = nullptr;
  jint version = 0;
  if (vm->GetEnv(&env, JVMTI_VERSION_1_2) == JNI_OK) {
    auto* jvmti = static_cast<jvmtiEnv*>(env);
    jvmti->GetVersionNumber(&version);
    jvmti->DisposeEnvironment();
  }
  return send_frame(socket, record::HelloFields{.version = record::kControlVersion,
                                                .nspid = static_cast<std::uint32_t>(getpid()),
                                                .jvmti_version = static_cast<std::uint32_t>(version),
                                                .at_start = static_cast<std::uint8_t>(live ? 0 : 1),
                                                .agent_version = JTRACE_VERSION,
                                                .options = options});
}

const char* read_start(Frame& frame, Config& config, Reason& error) {
  if (frame.type == record::FrameType::kRefused) {
    ByteReader reader(frame.payload);
    record::RefusedFields refused;
    read_fields(reader, refused);
    error.set(refused.text);
    return error.text;
  }
  if (frame.type != record::FrameType::kStart || frame.payload.size() < sizeof(std::uint32_t))
    return "jtrace's answer is not Start";
  ByteReader reader(frame.payload);
  if (reader.read<std::uint32_t>() != record::kControlVersion) return "this agent and jtrace are of different versions";
  if (!decode_config(static_cast<std::vector<std::byte>&&>(frame.payload), config)) return "Start is malformed";
  if (!frame.descriptor) return "no pool came with Start";
  return nullptr;
}

}  // namespace

void Reason::set(std::string_view why) {
  snprintf(text, sizeof text, "%.*s", static_cast<int>(why.size()), why.data());
}

void send_started(int socket, std::uint64_t events, std::string_view left_out) {
  send_answer_to_start(socket, record::StartStatus::kTraces, events, left_out);
}

void send_failure(int socket, record::StartStatus status, std::string_view failure) {
  send_answer_to_start(socket, status, 0, failure);
}

void complain(const char* why) {
  char line[sizeof(Reason) + 64];
  const int length = snprintf(line, sizeof line, "jtrace: not traced: %s", why);
  // It repeats text of others, and must stay one line.
  for (int i = 0; i < length; ++i)
    if (static_cast<unsigned char>(line[i]) < 0x20 || line[i] == 0x7f) line[i] = '?';
  line[length] = '\n';
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, line, static_cast<std::size_t>(length) + 1);
}

std::unique_ptr<AgentSession> begin_session(JavaVM* vm, UniqueFd control, bool live, std::string_view options,
                                            Reason& error) {
  const int socket = control.get();
  set_time_out(socket, kHandshakeSeconds);
  Frame frame;
  if (!send_hello(vm, socket, live, options) || !receive_frame(socket, frame)) {
    error.set("jtrace hung up before it answered");
    return nullptr;
  }
  auto session = std::make_unique<AgentSession>(vm, static_cast<UniqueFd&&>(control));
  const char* failure = read_start(frame, session->config, error);
  if (failure == nullptr && (CallbackGuard::current().load() != nullptr || other_copy_traces())) {
    failure = "this JVM is being traced already";
    error.status = record::StartStatus::kAlreadyTraced;
  }
  if (failure == nullptr) failure = session->start(static_cast<UniqueFd&&>(frame.descriptor), live);
  if (failure == nullptr) return session;
  if (failure != error.text) error.set(failure);
  if (frame.type == record::FrameType::kStart) send_failure(socket, error.status, failure);
  if (session->jvmti != nullptr) session->jvmti->DisposeEnvironment();
  // Nobody has used it yet. One that stayed would make each later trace believe that the JVM is being traced.
  if (session->writer.pool) munmap(session->writer.pool.base(), session->pool_size);
  return nullptr;
}

const char* bring_live(std::unique_ptr<AgentSession> session, JNIEnv* jni) {
  const char* failure = session->go_live(jni);
  if (failure == nullptr && !run_control_thread(session)) failure = "the agent's thread could not be started";
  if (failure != nullptr) abandon_session(std::move(session), failure);
  return failure;
}

void abandon_session(std::unique_ptr<AgentSession> session, const char* failure) {
  CallbackGuard::current().store(nullptr, std::memory_order_seq_cst);
  const bool empty = CallbackGuard::wait_until_empty(5000);
  session->jvmti->DisposeEnvironment();
  send_failure(session->control.get(), record::StartStatus::kFailed, failure);
  if (!empty) {  // a callback may still use it: leaked
    AgentSession::has_leaked() = true;
    session.release();
    return;
  }
  munmap(session->writer.pool.base(), session->pool_size);
}

}  // namespace jtrace::agent
