// Rules about threads that wait for something outside of the JVM, or for a processor.
#include <algorithm>
#include <array>
#include <map>

#include "base/strings.h"
#include "diagnose/cpu_share.h"
#include "diagnose/rules.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

constexpr std::size_t kSameThreads = 5;  // that wait at the same place at every look

bool reads_socket(const ThreadFact& thread) {
  // 8 and 11; 13 and later (JEP 353).
  constexpr std::array<std::string_view, 4> kCalls = {
      "java.net.SocketInputStream.socketRead0", "java.net.PlainSocketImpl.socketConnect",
      "sun.nio.ch.NioSocketImpl.implRead", "sun.nio.ch.NioSocketImpl.connect"};
  return std::any_of(thread.frames.begin(), thread.frames.end(), [&](const FrameFact& frame) {
    return std::find(kCalls.begin(), kCalls.end(), frame.method) != kCalls.end();
  });
}

// Those that read at the same place, with the same stack, at every look.
std::map<std::string, std::vector<const ThreadFact*>> readers_of(const Facts& facts) {
  std::map<std::string, std::vector<const ThreadFact*>> readers;
  for (const ThreadFact& each : facts.looks.back().threads) {
    if (each.key == 0 || !reads_socket(each)) continue;
    const bool same = std::all_of(facts.looks.begin(), facts.looks.end(), [&](const ThreadsLook& look) {
      const ThreadFact* then = look.find(each.key);
      return then && then->frames == each.frames;
    });
    if (same) readers[own_place(each.frames)].push_back(&each);
  }
  return readers;
}

}  // namespace

void find_kernel_waits(const Facts& facts, std::vector<Finding>& found) {
  if (facts.process.size() < 2) return;
  const auto& before = facts.process.front().waits;
  for (const KernelWaitFact& each : facts.process.back().waits) {
    if (std::find(before.begin(), before.end(), each) == before.end()) continue;
    found.push_back(
        {.rule = "kernel-wait",
         .sentence = "The thread " + quoted(each.name) +
                     " waits in the kernel and handles no signal: it needs a disk, a network file system or "
                     "another process.",
         .evidence = {"thread " + std::to_string(each.tid) + " was in state D at 2 looks and has not run in between" +
                      (each.place.empty() ? "" : ", in " + printable(each.place))},
         .confidence = Confidence::kCertain,
         .next = "cat /proc/" + facts.target + "/task/" + std::to_string(each.tid) + "/stack"});
  }
}

void find_socket_readers(const Facts& facts, std::vector<Finding>& found) {
  if (facts.looks.size() < 3 || stands_still(facts)) return;
  for (const auto& [place, threads] : readers_of(facts)) {
    if (threads.size() < kSameThreads) continue;
    found.push_back(
        {.rule = "network",
         .sentence = std::to_string(threads.size()) + " threads wait for an answer from the network at the same place.",
         .evidence = {quoted(threads.front()->name) + " and others, at " + place + " in all of " +
                          counted(facts.looks.size(), "sample"),
                      "connections that idle look the same"},
         .confidence = Confidence::kHint,
         .next = "jtrace stack " + facts.target + " --java --group"});
  }
}

void find_unclosed_sockets(const Facts& facts, std::vector<Finding>& found) {
  constexpr std::uint64_t kMany = 100;
  if (facts.sockets.size() < 2 || facts.sockets.front().unclosed < kMany || facts.sockets.back().unclosed < kMany)
    return;
  const SocketFact& now = facts.sockets.back();
  found.push_back({.rule = "unclosed-sockets",
                   .sentence = std::to_string(now.unclosed) +
                               " sockets are still open whose peers have closed the connection: the program does "
                               "not close them.",
                   .evidence = {"in state CLOSE_WAIT at 2 looks, " + std::to_string(now.of_peer) + " of them of " +
                                printable(now.peer)},
                   .confidence = Confidence::kCertain,
                   .next = "jtrace inspect " + facts.target + " histogram --class Socket"});
}

void find_full_disks(const Facts& facts, std::vector<Finding>& found) {
  constexpr std::uint64_t kLittle = 16u << 20;  // bytes: less than any heap dump
  constexpr double kAlmostAll = 0.99;
  if (!facts.disks) return;
  for (const DiskFact& each : *facts.disks) {
    if (each.free >= kLittle || share_of(each.size - each.free, each.size) < kAlmostAll) continue;
    found.push_back({.rule = "disk-full",
                     .sentence = "The file system of " + printable(each.path) + " is full: " + mib_text(each.free) +
                                 " of " + mib_text(each.size) + " are free.",
                     .evidence = {"the JVM writes there: " + each.use},
                     .confidence = Confidence::kCertain,
                     .next = "df -h /proc/" + facts.target +
                             (each.path.starts_with("/") ? "/root" + printable(each.path) : std::string("/cwd"))});
  }
}

void find_waits_for_processor(const Facts& facts, std::vector<Finding>& found) {
  constexpr double kHalf = 0.5, kMost = 0.9;  // of the time in which threads could have run
  constexpr double kWorks = 0.01;             // of the time on a processor
  if (facts.looks.size() < 2 || stands_still(facts)) return;
  double ran = 0, queued = 0;
  for (const ThreadFact& each : facts.looks.back().threads)
    // Each stop for stacks makes all threads ready at once: those that have no work queue too, and run for nothing.
    if (const auto share = share_between(facts.looks.front(), facts.looks.back(), each.key);
        share && share->ran > kWorks) {
      ran += share->ran;
      queued += share->queued;
    }
  if (ran + queued < kWholeProcessor || queued < kHalf * (ran + queued)) return;
  found.push_back({.rule = "processors",
                   .sentence = "The threads wait for a processor for " + percent(queued / (ran + queued)) +
                               " of the time in which they could run.",
                   .evidence = {"on average " + std::to_string(ran).substr(0, 4) + " Java threads ran and " +
                                std::to_string(queued).substr(0, 4) + " were ready and had no processor"},
                   .confidence = queued >= kMost * (ran + queued) ? Confidence::kLikely : Confidence::kHint,
                   .next = "top, for what else runs on this machine; jtrace top " + facts.target});
}

}  // namespace jtrace::diagnose
