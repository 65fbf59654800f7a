// TraceIdentity: who is traced by whom: the values of node, processCreate, agentCreate and traceStart.
//
// nodeId is the boot id, processId a name-based UUID of boot id, pid namespace, inner pid and start ticks, so that
// every producer on a host gives a process the same id. timezone: minutes WEST of Greenwich, as in the format; for
// zones east of it, where that would be negative, 1440 minus the minutes east (UTC+2 is 1320).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "session/options/options.h"
#include "target/jvm_discovery.h"
#include "target/process.h"
#include "trace/trace_document.h"

namespace jtrace::session {

// `pid` is that of this process's namespace.
struct TraceIdentity : trace::ProducerIdentity {
  int nspid = 0;  // in the JVM's own namespace
  std::uint64_t start_ticks = 0;
  std::string vm_begin_time;  // sun.rt.createVmBeginTime, ms since the epoch; "" if unknown
};

// For a live process. `jvm` has main class and command line if they are known.
TraceIdentity identify(const target::Process& process, const target::Jvm& jvm, const TraceOptions& options);

// To key=value lines and back; missing values stay unchanged. Longer values are cut to `longest_value` bytes.
std::string to_lines(const TraceIdentity& identity, std::size_t longest_value);
void read_line(TraceIdentity& identity, std::string_view key, std::string_view value);

std::uint32_t minutes_west(long seconds_east);
// For a core, whose host is not known: from the build id of libjvm.so, the inner pid and createVmBeginTime (ms).
std::string core_node_uuid(std::string_view build_id);
std::string core_process_uuid(std::string_view build_id, int nspid, std::int64_t vm_begin_time);
std::string process_uuid(std::string_view boot_id, std::uint64_t pid_namespace, int nspid, std::uint64_t start_ticks);

}  // namespace jtrace::session
