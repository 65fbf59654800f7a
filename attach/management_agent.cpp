#include "attach/management_agent.h"

#include <string_view>

#include "attach/properties.h"

namespace jtrace::attach {
namespace {

// sun.management.jmxremote.ConnectorBootstrap and jdk.internal.agent.Agent, JDK 8 to 27.
constexpr std::string_view kAddress = "com.sun.management.jmxremote.localConnectorAddress";

// The address, or "" if the local agent does not run.
Result<std::string> connector_address(const AttachSession& session) {
  const Request request{.operation = "agentProperties"};
  JTRACE_ASSIGN_OR_RETURN(const Reply reply, session.execute(request));
  JTRACE_RETURN_IF_ERROR(check_reply(request, reply));
  for (const auto& [key, value] : parse_properties(reply.data))
    if (key == kAddress) return value;
  return std::string();
}

}  // namespace

Result<std::string> management_url(pid_t pid, const AttachOptions& bounds) {
  JTRACE_ASSIGN_OR_RETURN(const target::Process process, target::Process::open(pid));
  JTRACE_ASSIGN_OR_RETURN(const auto session, AttachSession::open(process, bounds));
  JTRACE_ASSIGN_OR_RETURN(std::string address, connector_address(session));
  if (!address.empty()) return address;
  const Request start{.operation = "jcmd", .arguments = {"ManagementAgent.start_local"}};
  JTRACE_ASSIGN_OR_RETURN(const Reply reply, session.execute(start));
  if (auto started = check_reply(start, reply); !started)
    return fail(started.error()
                    .with_context("the local management agent does not start")
                    .with_help("the JVM needs the module jdk.management.agent"));
  JTRACE_ASSIGN_OR_RETURN(address, connector_address(session));
  if (!address.empty()) return address;
  return fail(ErrorCategory::kRefused,
              "the local management agent started, but reports no address: " + reply.data.substr(0, 200));
}

}  // namespace jtrace::attach
