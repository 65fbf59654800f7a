// The keys of `option` elements that jtrace defines (docs/trace_format.md describes their values, and a test
// looks for a row of each).
#pragma once

#include <string_view>

namespace jtrace::trace {

inline constexpr std::string_view kKindKey = "jtrace.kind";  // kSnapshotKind, or absent: a trace over time
inline constexpr std::string_view kSnapshotKind = "snapshot";
// What agentParameters of jtrace profile's documents begin with: one without samples has no snapshot.
inline constexpr std::string_view kProfileParameters = "profile ";
inline constexpr std::string_view kVmKey = "jtrace.vm";            // which JVM: "pid=1,createVmBeginTime=..."
inline constexpr std::string_view kClockKey = "jtrace.clock";      // clock_option.h
inline constexpr std::string_view kDroppedKey = "jtrace.dropped";  // events lost since the last such option
inline constexpr std::string_view kGapKey = "jtrace.gap";          // gap_option.h
// Declares that jtrace.gap reports losses: jtrace.dropped is then their sum, and closes nothing.
inline constexpr std::string_view kGapsKey = "jtrace.gaps";
inline constexpr std::string_view kGapsByThread = "by thread";
// The thread that ends the JVM (System.exit, Runtime.halt). It comes before the threadEnd of that thread, which is
// inside its calls.
inline constexpr std::string_view kExitKey = "jtrace.exit";
inline constexpr std::string_view kCollectionKey = "jtrace.collection";  // collection_option.h
inline constexpr std::string_view kCpuTimeKey = "jtrace.cpuTime";
inline constexpr std::string_view kContinuesKey = "jtrace.continues";      // traceId of the document before
inline constexpr std::string_view kPausedKey = "jtrace.paused";            // true, false
inline constexpr std::string_view kFiltersKey = "jtrace.filters";          // number of rules that follow
inline constexpr std::string_view kCountedKey = "jtrace.counted";          // what methodCount covers
inline constexpr std::string_view kUncountedKey = "jtrace.uncounted";      // why there are no counts
inline constexpr std::string_view kMaskedKey = "jtrace.masked";            // number of masked values
inline constexpr std::string_view kStrictDtdKey = "strict-dtd";            // the option of attach: no extensions
inline constexpr std::string_view kUnavailableKey = "jtrace.unavailable";  // what this JVM does not give
inline constexpr std::string_view kJdkKey = "jtrace.jdk";  // the number of the JDK (17), where figures depend on it
inline constexpr std::string_view kCutStackKey = "jtrace.cutStack";        // threadId
inline constexpr std::string_view kThreadStateKey = "jtrace.threadState";  // "THREADID STATE"
inline constexpr std::string_view kThreadMetKey = "jtrace.threadMet";      // "THREADID KIND"
inline constexpr std::string_view kMetPlatform = "platform", kMetVirtual = "virtual";
inline constexpr std::string_view kSuppressedKey = "jtrace.suppressed";  // "OBJID by OBJID": exceptions
inline constexpr std::string_view kStackKey = "jtrace.stack";            // of a hit of a USDT probe
inline constexpr std::string_view kProbesKey = "jtrace.probes";
inline constexpr std::string_view kBackEndKey = "jtrace.backend";
inline constexpr std::string_view kShortContentionsKey = "jtrace.shortContentions";  // short_contentions.h
inline constexpr std::string_view kVirtualThreadsKey = "jtrace.virtualThreads";

// Of the documents of hsperf poll (docs/hsperf.md).
inline constexpr std::string_view kCounterSourceKey = "hsperf.source";
inline constexpr std::string_view kPrologueKey = "hsperf.prologue";
inline constexpr std::string_view kStableKey = "hsperf.stable";
inline constexpr std::string_view kSeriesKey = "hsperf.kind";  // kPausesSeries, or absent: samples
inline constexpr std::string_view kPausesSeries = "pauses";
inline constexpr std::string_view kTicksKey = "hsperf.vm.clock";
inline constexpr std::string_view kIntervalKey = "hsperf.interval";
inline constexpr std::string_view kPauseIntervalKey = "hsperf.gcInterval";
inline constexpr std::string_view kFullKey = "hsperf.full";
inline constexpr std::string_view kCounterFilterKey = "hsperf.filter";
inline constexpr std::string_view kMissedPausesKey = "hsperf.gc.missed";  // pauses of which only the number is known

// Reports of the agent about its callouts in the bytecode, as text.
inline constexpr std::string_view kRewrittenKey = "jtrace.rewritten";      // result for the classes that were loaded
inline constexpr std::string_view kUnrewrittenKey = "jtrace.unrewritten";  // a method with no callouts or fewer
inline constexpr std::string_view kLateKey = "jtrace.late";  // classes whose first calls came before their callouts
inline constexpr std::string_view kUnwatchedKey = "jtrace.unwatched";        // number of calls that were not measured
inline constexpr std::string_view kCallsEndKey = "jtrace.callsEnd";          // S.N: when they stopped to write
inline constexpr std::string_view kUnseenStacksKey = "jtrace.unseenStacks";  // number of stacks that were not read

}  // namespace jtrace::trace
