// jtrace load: any agent, native or Java, into a running JVM.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <span>

#include "attach/agent_file.h"
#include "attach/delivery.h"
#include "attach/preflight.h"
#include "base/file.h"
#include "cli/attach_run.h"
#include "cli/commands.h"
#include "cli/in_parallel.h"
#include "cli/selector.h"
#include "target/buffer_memory.h"

namespace jtrace::cli {
namespace {

constexpr std::size_t kAgentLimit = 1u << 30;  // bytes of an agent that is delivered
constexpr int kFirstToWarn = 21;               // JEP 451

struct LoadArguments {
  AttachRunOptions run;
  std::string agent;
  std::string options;
  bool deliver = false;
};

// What is to be loaded: a path (absolute from here on), or a bare name that the JVM looks for among its own libraries.
struct Agent {
  std::string name;  // for messages
  std::string path;  // as the target sees it
  bool by_name = false;
  bool jar = false;
};

Result<Agent> agent_of(const LoadArguments& arguments) {
  Agent agent{.name = arguments.agent, .path = arguments.agent};
  agent.jar = arguments.agent.ends_with(".jar");
  const bool here = ::access(arguments.agent.c_str(), F_OK) == 0;
  const bool looks_like_path =
      agent.jar || arguments.agent.ends_with(".so") || arguments.agent.find('/') != std::string::npos;
  agent.by_name = !looks_like_path && !here;
  if (agent.by_name || agent.path.starts_with('/')) return agent;
  char* folder = ::get_current_dir_name();
  if (!folder) return fail(system_error("cannot tell the current directory"));
  agent.path = std::string(folder) + "/" + arguments.agent;
  ::free(folder);
  return agent;
}

attach::Request request_of(const Agent& agent, const std::string& options) {
  if (!agent.jar) return {.operation = "load", .arguments = {agent.path, agent.by_name ? "false" : "true", options}};
  // java.instrument's own agent takes "JAR=OPTIONS" (InvocationAdapter.c, parseArgumentTail).
  return {.operation = "load",
          .arguments = {"instrument", "false", options.empty() ? agent.path : agent.path + "=" + options}};
}

Result<> check_dynamic_loading(const target::Process& process, const target::Jvm& jvm) {
  const auto options = attach::options_of(process, &jvm);
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

// Said just before it happens. A library that is mapped already does not make the JVM warn again.
void announce_warning(const target::Process& process, const target::Jvm& jvm, const Agent& agent) {
  if (jvm.feature < kFirstToWarn || attach::options_of(process, &jvm).flag("EnableDynamicAgentLoading", false)) return;
  if (!agent.jar && is_mapped(process, agent)) return;
  log_warning("process " + std::to_string(process.pid()) + " (JDK " + std::to_string(jvm.feature) +
              ") will print a warning about the dynamically loaded agent on its stderr (JEP 451); started with "
              "-XX:+EnableDynamicAgentLoading it would not");
}

Result<> check_jar(const target::Process& process, const std::string& path) {
  auto file = process.open_in_root(path, O_PATH);
  if (file) return {};
  Error error = file.error().with_context("the JVM cannot open the agent's jar");
  error.category = ErrorCategory::kAgent;
  if (::access(path.c_str(), R_OK) == 0)
    error.help = "it is here, but not where the JVM lives: --deliver copies it there";
  return fail(std::move(error));
}

Result<attach::DeliveredFile> deliver_agent(const target::Process& process, const Agent& agent) {
  JTRACE_ASSIGN_OR_RETURN(const std::string bytes, read_file(agent.path, kAgentLimit));
  const auto span = std::as_bytes(std::span(bytes));
  if (!agent.jar) JTRACE_RETURN_IF_ERROR(attach::check_agent_bytes(process, target::BufferMemory(0, span), agent.path));
  return attach::deliver(process, span, agent.path.substr(agent.path.rfind('/') + 1));
}

// instrument's reply names the library, ours names the jar.
Result<> judge(const attach::Reply& reply, const attach::Request& request, const Agent& agent) {
  if (reply.cut) return attach::check_reply(request, reply);
  const auto verdict = attach::judge_load(reply.code, reply.data);
  if (verdict.ok()) return {};
  return fail(attach::load_error(verdict, agent.name));
}

Result<> load(pid_t pid, Agent agent, const LoadArguments& arguments, int cancel_fd) {
  JTRACE_ASSIGN_OR_RETURN(const target::Process process, target::Process::open(pid));
  JTRACE_ASSIGN_OR_RETURN(const target::Jvm jvm, attach::preflight(process));
  JTRACE_RETURN_IF_ERROR(check_dynamic_loading(process, jvm));
  std::optional<attach::DeliveredFile> delivered;
  if (arguments.deliver) {
    JTRACE_ASSIGN_OR_RETURN(attach::DeliveredFile file, deliver_agent(process, agent));
    agent.path = file.path();
    delivered.emplace(std::move(file));
  } else if (agent.jar) {
    JTRACE_RETURN_IF_ERROR(check_jar(process, agent.path));
  } else if (!agent.by_name) {
    JTRACE_RETURN_IF_ERROR(attach::check_agent_file(process, agent.path));
  }
  const attach::Request request = request_of(agent, arguments.options);
  JTRACE_RETURN_IF_ERROR(attach::check_words(request));
  JTRACE_ASSIGN_OR_RETURN(const auto session,
                          attach::AttachSession::open(process, attach_options(arguments.run, {request}, cancel_fd)));
  announce_warning(process, jvm, agent);
  JTRACE_ASSIGN_OR_RETURN(const attach::Reply reply, session.execute(request));
  return judge(reply, request, agent);
}

ExitStatus run(const LoadArguments& arguments) {
  if (selects_all(arguments.run.selectors) && !arguments.run.confirmed)
    return report(Error{
        .category = ErrorCategory::kUsage, .text = "'all' would load the agent into each JVM", .help = "say --yes"});
  const auto agent = agent_of(arguments);
  if (!agent) return report(agent.error());
  if (arguments.deliver && agent->by_name)
    return report(
        Error{.category = ErrorCategory::kNotFound, .text = "no such library to deliver", .path = agent->path});
  const auto pids = select_jvms(arguments.run.selectors);
  if (!pids) return report(pids.error());
  const ScopedCancel cancel;
  std::vector<ExitStatus> statuses;
  InParallel<Result<>> loads(pids->size(),
                             [&](std::size_t i) { return load((*pids)[i], *agent, arguments, cancel.fd()); });
  for (std::size_t i = 0; i < pids->size(); ++i) {
    const auto loaded = loads.wait(i);
    const std::string who = "process " + std::to_string((*pids)[i]);
    if (loaded) log_info(who + " loaded " + agent->name + ": Agent_OnAttach returned 0");
    else report(pids->size() > 1 ? loaded.error().with_context(who) : loaded.error());
    statuses.push_back(loaded ? ExitStatus::kOk : exit_status(loaded.error()));
  }
  return combined_status(statuses);
}

}  // namespace

void add_load_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<LoadArguments>();
  CLI::App* command = app.add_subcommand("load", "load a native agent (.so) or a Java agent (.jar) into a running JVM");
  command
      ->add_option("JVM", arguments->run.selectors, "process id or part of the main class; several with commas, or all")
      ->required();
  command->add_option("AGENT", arguments->agent, "library or jar, a path; a bare name is looked for by the JVM")
      ->required();
  command->add_option("OPTIONS", arguments->options, "handed to the agent");
  command->add_flag("--deliver", arguments->deliver, "copy it into the target's file system for the moment");
  command->add_option("--timeout", arguments->run.timeout, "seconds for start and reply")->check(positive_number());
  command->add_flag("--yes", arguments->run.confirmed, "needed by 'all'");
  command->fallthrough();
  command->footer("Example: jtrace load 4711 ./libmyagent.so verbose=1 --deliver");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
