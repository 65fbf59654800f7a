// What each subcommand of jtrace is for, in a line of its help.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace jtrace::cli {

struct Summary {
  std::string_view command;
  const char* text;  // "": it is not in the help
};

inline constexpr Summary kSummaries[] = {
    {"list", "JVMs on this machine: pid, inner pid, user, JDK, container, main class"},
    {"attach", "trace a running JVM, until --duration, Ctrl-C or its end"},
    {"ctl", "control a running trace"},
    {"recover", "recover the trace of a killed jtrace; without FILE: list what was left"},
    {"cmd", "any attach operation: threaddump, inspectheap, dumpheap, properties, jcmd ..."},
    {"load", "load a native agent (.so) or a Java agent (.jar) into a running JVM"},
    {"jmx", "start the local management agent if needed, print its service URL"},
    {"inspect", "look into a live JVM, a core or a heap dump: threads, flags, classes, heap, ..."},
    {"stack", "stacks of all threads of a live JVM or a core; works on a JVM that hangs"},
    {"profile", "sample the stacks of a live JVM, without an agent"},
    {"top", "threads of a live JVM by processor time, with their top frames"},
    {"probes", "the USDT probes of a libjvm.so: sites, arguments, flags"},
    {"probe", "trace a JVM through its USDT probes, without an agent"},
    {"agent-child", ""},
    {"convert", "write a trace in another format"},
    {"merge", "merge several streams: by collationValue within a trace, by clock across traces"},
    {"report", "make one HTML page of a trace: timeline, flame graph, tables"},
    {"validate", "check a trace: structure, references, balance, collation, time"},
    {"stats", "summarize a trace: events by kind, pauses, threads, contention, methods, allocations"},
    {"slow", "which calls took long, what they waited for, which callee took the time"},
    {"exceptions", "which exceptions are thrown, where they end, which are swallowed"},
    {"allocations", "who allocates: by class, site, stack and thread"},
    {"diff", "compare two traces, profiles or histograms: what is slower, more often, bigger"},
    {"sql", "ask a trace with SQL: calls, waits, exceptions, pauses, ... as tables"},
    {"doctor", "what this machine and this user can do, and what each missing capability blocks"},
    {"heap", "what objects hold, and who holds them; what has grown between two heaps"},
    {"diagnose", "what is wrong with a live JVM or a core: a verdict in a few seconds; and a bundle of it"},
    {"debug", "jdb or an IDE on a core or a live JVM: a debugger's server, read-only"},
    {"core", "write a core of a live JVM: resident memory, or a few MiB (--small)"},
    {"ship", "send a trace to a NATS server, where jtrace collect takes it"},
    {"collect", "take the traces that jtrace ship has sent: one document each"},
};

// One that is not there does not compile.
consteval const char* summary_of(std::string_view command) {
  return std::find_if(std::begin(kSummaries), std::end(kSummaries),
                      [&](const Summary& each) { return each.command == command; })
      ->text;
}

}  // namespace jtrace::cli
