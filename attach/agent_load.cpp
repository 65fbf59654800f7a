#include "attach/agent_load.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "attach/agent_file.h"
#include "attach/delivery.h"
#include "attach/preflight.h"
#include "attach/request_run.h"
#include "base/file.h"
#include "target/buffer_memory.h"

namespace jtrace::attach {
namespace {

constexpr std::size_t kAgentLimit = 1u << 30;  // bytes of an agent that is delivered
constexpr int kFirstToWarn = 21;               // JEP 451

Result<> check_dynamic_loading(const target::Process& process, const target::Jvm& jvm) {
  const auto options = options_of(process, &jvm);
  constexpr std::string_view kFlag = "EnableDynamicAgentLoading";
  if (jvm.feature >= 9 && !options.flag(kFlag, true))
    return fail(ErrorCategory::kAgent,
                "dynamic agent loading is off in process " + std::to_string(process.pid()) +
                    " (-XX:-EnableDynamicAgentLoading)",
                "start the JVM with -XX:+EnableDynamicAgentLoading");
  return {};
}

bool is_mapped(const target::Process& process, const Agent& agent) {
  const auto mappings = process.maps();
  const std::string of_name = "lib" + agent.path + ".so";
  return mappings && std::any_of(mappings->begin(), mappings->end(), [&](const target::Mapping& mapping) {
           return agent.by_name ? mapping.file_name() == of_name : process.path_inside(mapping.path) == agent.path;
         });
}

// The JVM does not warn again about a library that is already mapped.
bool will_warn(const target::Process& process, const target::Jvm& jvm, const Agent& agent) {
  if (jvm.feature < kFirstToWarn || options_of(process, &jvm).flag("EnableDynamicAgentLoading", false)) return false;
  return agent.jar || !is_mapped(process, agent);
}

Result<> check_jar(const target::Process& process, const std::string& path) {
  auto file = process.open_in_root(path, O_PATH);
  if (file) return {};
  Error error = file.error().with_context("the JVM cannot open the agent's jar");
  error.category = ErrorCategory::kAgent;
  if (::access(path.c_str(), R_OK) == 0)
    error.help = "it is here, but not in the JVM's file system: --deliver copies it there";
  return fail(std::move(error));
}

Result<DeliveredFile> deliver_agent(const target::Process& process, const Agent& agent) {
  JTRACE_ASSIGN_OR_RETURN(const std::string bytes, read_file(agent.path, kAgentLimit));
  const auto span = std::as_bytes(std::span(bytes));
  if (!agent.jar) JTRACE_RETURN_IF_ERROR(check_agent_bytes(process, target::BufferMemory(0, span), agent.path));
  return deliver(process, span, agent.path.substr(agent.path.rfind('/') + 1));
}

// The reply of java.instrument names the library; this message names the jar.
Result<> judge(const Reply& reply, const Request& request, const Agent& agent) {
  if (reply.cut) return check_reply(request, reply);
  const auto verdict = judge_load(reply.code, reply.data);
  if (verdict.ok()) return {};
  return fail(load_error(verdict, agent.name));
}

}  // namespace

Result<Agent> find_agent(const std::string& word) {
  Agent agent{.name = word, .path = word};
  agent.jar = word.ends_with(".jar");
  const bool here = ::access(word.c_str(), F_OK) == 0;
  const bool looks_like_path = agent.jar || word.ends_with(".so") || word.find('/') != std::string::npos;
  agent.by_name = !looks_like_path && !here;
  if (agent.by_name || agent.path.starts_with('/')) return agent;
  char* folder = ::get_current_dir_name();
  if (!folder) return fail(system_error("cannot find the current directory"));
  agent.path = std::string(folder) + "/" + word;
  ::free(folder);
  return agent;
}

Request load_request(const Agent& agent, const std::string& options) {
  if (!agent.jar) return {.operation = "load", .arguments = {agent.path, agent.by_name ? "false" : "true", options}};
  // java.instrument's own agent takes "JAR=OPTIONS" (InvocationAdapter.c, parseArgumentTail).
  return {.operation = "load",
          .arguments = {"instrument", "false", options.empty() ? agent.path : agent.path + "=" + options}};
}

Result<> load_agent(pid_t pid, Agent agent, const LoadOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(const target::Process process, target::Process::open(pid));
  JTRACE_ASSIGN_OR_RETURN(const target::Jvm jvm, preflight(process));
  JTRACE_RETURN_IF_ERROR(check_dynamic_loading(process, jvm));
  std::optional<DeliveredFile> delivered;
  if (options.deliver) {
    JTRACE_ASSIGN_OR_RETURN(DeliveredFile file, deliver_agent(process, agent));
    agent.path = file.path();
    delivered.emplace(std::move(file));
  } else if (agent.jar) {
    JTRACE_RETURN_IF_ERROR(check_jar(process, agent.path));
  } else if (!agent.by_name) {
    JTRACE_RETURN_IF_ERROR(check_agent_file(process, agent.path));
  }
  const Request request = load_request(agent, options.options);
  JTRACE_RETURN_IF_ERROR(check_words(request));
  JTRACE_ASSIGN_OR_RETURN(const auto session,
                          AttachSession::open(process, bounds_of({request}, options.timeout, options.cancel_fd)));
  if (options.before_warning && will_warn(process, jvm, agent)) options.before_warning(process, jvm);
  JTRACE_ASSIGN_OR_RETURN(const Reply reply, session.execute(request));
  return judge(reply, request, agent);
}

}  // namespace jtrace::attach
