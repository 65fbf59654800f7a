#include "session/counter_head.h"

#include <set>

#include "base/clock.h"
#include "base/secrets.h"
#include "base/strings.h"
#include "base/uuid.h"
#include "session/document/trace_identity.h"
#include "target/jvm_discovery.h"
#include "trace/trace_document.h"

namespace jtrace::session {
namespace {

// For a file whose host and process are not known.
TraceIdentity saved_identity(const perfdata::CounterSource& source, bool show_secrets) {
  const perfdata::Snapshot& snapshot = source.first();
  const std::string command = utf8_from_modified(snapshot.text_value("sun.rt.javaCommand").value_or(""));
  const std::string version(snapshot.text_value("java.property.java.vm.version").value_or(""));
  const std::int64_t begin = snapshot.long_value("sun.rt.createVmBeginTime").value_or(0);
  const std::string& path = source.name();
  TraceIdentity identity;
  if (const perfdata::CoreRegion* core = source.core()) {
    identity.node_id = core_node_uuid(core->libjvm_build_id);
    identity.process_id = core_process_uuid(core->libjvm_build_id, core->nspid, begin);
    identity.pid = core->nspid;
  } else {  // a file has the version of its libjvm.so, but not the path
    identity.node_id = name_based_uuid("jtrace saved node " + version);
    identity.process_id = name_based_uuid("jtrace saved process " + version + " " + std::to_string(begin));
    identity.pid = parse_decimal<int>(path.substr(path.find_last_of("/_") + 1)).value_or(0);
  }
  identity.process_name = command.substr(0, command.find(' '));
  identity.executable = show_secrets ? command : mask_secrets(command);
  identity.process_time = static_cast<std::uint64_t>(begin) * 1'000'000;
  identity.boot_time = identity.process_time;
  identity.timezone = 0;
  identity.agent_id = random_uuid();
  identity.agent_version = JTRACE_VERSION;
  return identity;
}

TraceIdentity live_identity(const target::Process& process, bool show_secrets) {
  TraceOptions options;
  options.show_secrets = show_secrets;
  auto jvm = target::examine_jvm(process);
  return identify(process, jvm ? *jvm : target::Jvm(), options);
}

// Passes on everything except a node that was defined before: several JVMs of one host are one node.
class NodesOnce final : public trace::EventSink {
 public:
  NodesOnce(trace::EventSink& next, std::set<std::string>& known) : next_(next), known_(known) {}
  Result<> write(const trace::Event& event) override {
    const auto* node = std::get_if<trace::Node>(&event);
    if (node && !known_.insert(std::string(node->nodeId.view())).second) return {};
    return next_.write(event);
  }

 private:
  trace::EventSink& next_;
  std::set<std::string>& known_;
};

}  // namespace

perfdata::WriteHead counter_head(std::string agent_parameters, bool show_secrets) {
  return [=, nodes = std::make_shared<std::set<std::string>>()](
             trace::EventSink& sink, const perfdata::CounterSource& source) -> Result<std::string> {
    TraceIdentity identity =
        source.process() ? live_identity(*source.process(), show_secrets) : saved_identity(source, show_secrets);
    identity.agent_name = "hsperf";
    identity.agent_parameters = agent_parameters;
    NodesOnce once(sink, *nodes);
    JTRACE_RETURN_IF_ERROR(trace::TraceDocument(once).begin(identity, realtime_ns()));
    return identity.agent_id;
  };
}

}  // namespace jtrace::session
