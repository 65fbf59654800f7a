// JfrWriter: samples and waits as a recording that the JDK's `jfr` and Mission Control read: one chunk of version 2.0.
//
// The layout is that of jdk.jfr.internal.consumer (ChunkHeader, MetadataReader, ChunkParser) of JDK 11 to 27: a header,
// events, a checkpoint with the pools that events refer to, the metadata that describes all types. Samples of CPU time
// are jdk.ExecutionSample; parks, sleeps, waits and contended monitors are the JDK's events of them; other waits are
// jtrace.OffCpu. Native and kernel frames are methods of a class with the library's name. Pure; one thread. Memory:
// each distinct stack once, and some 32 bytes a sample.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "coreinspect/tools/thread_snapshot.h"
#include "sampling/profile_writers.h"
#include "sampling/wait_kind.h"

namespace jtrace::sampling {

class JfrWriter {
 public:
  // `time`: ns since the epoch; `process`: "" if there is one alone.
  void add(const coreinspect::ThreadReport& thread, std::uint64_t time, std::uint64_t weight, WaitKind wait,
           const std::string& process);
  // The whole file.
  std::string bytes(const ProfileHead& head) const;

 private:
  struct Thread {
    std::string name;
    pid_t tid = 0;
    std::int64_t java_id = 0;
    bool is_java = false;
    auto operator<=>(const Thread&) const = default;
  };
  struct Method {
    std::uint32_t holder = 0, name = 0, signature = 0;
    std::uint32_t modifiers = 0;
    auto operator<=>(const Method&) const = default;
  };
  struct Frame {
    std::uint32_t method = 0, line = 0, bci = 0, kind = 0;
    auto operator<=>(const Frame&) const = default;
  };
  struct Stack {
    bool truncated = false;
    std::vector<Frame> frames;  // innermost first
    auto operator<=>(const Stack&) const = default;
  };
  struct Event {
    WaitKind wait;
    std::uint32_t thread, stack;
    std::uint64_t time, weight;
  };
  // Numbers from 1 on, as keys of a pool: 0 is "none" there.
  template <class T>
  class Pool {
   public:
    std::uint32_t number_of(const T& value) {
      return numbers_.try_emplace(value, static_cast<std::uint32_t>(numbers_.size() + 1)).first->second;
    }
    const std::map<T, std::uint32_t>& entries() const { return numbers_; }

   private:
    std::map<T, std::uint32_t> numbers_;
  };
  Frame frame_of(const coreinspect::Frame& frame);
  std::string pools() const;
  std::string events() const;

  Pool<std::string> symbols_;
  Pool<std::uint32_t> classes_;  // by symbol
  Pool<Method> methods_;
  Pool<Stack> stacks_;
  Pool<Thread> threads_;
  std::vector<Event> events_;
};

}  // namespace jtrace::sampling
