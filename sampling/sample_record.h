// SampleRecord: one PERF_RECORD_SAMPLE as PerfEvents asks for it (linux/perf_event.h, "struct { ... } for sample").
// SwitchRecord: one PERF_RECORD_SWITCH. NameRecord: one PERF_RECORD_COMM. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "target/registers.h"

namespace jtrace::sampling {

// Points into the record.
struct SampleRecord {
  std::uint64_t event = 0;  // PERF_EVENT_IOC_ID of the event, of an inherited one that of its first ancestor
  std::uint32_t pid = 0, tid = 0;
  std::uint64_t time = 0;             // CLOCK_MONOTONIC, ns
  std::uint64_t period = 0;           // ns of the clock that ran until this sample
  std::vector<std::uint64_t> kernel;  // innermost first; empty where it ran in user space, or must not be shown
  bool has_registers = false;         // not of a thread that is just ending
  target::Registers registers;        // in user space
  std::span<const std::byte> stack;   // from registers.sp() on, as far as it was copied
  bool stack_is_full = false;         // as much as was asked for
};

// A thread got a processor, or lost it.
struct SwitchRecord {
  std::uint64_t event = 0;
  std::uint32_t pid = 0, tid = 0;
  std::uint64_t time = 0;  // CLOCK_MONOTONIC, ns
  bool out = false;
  bool preempted = false;  // out, but it could have run
};

// A thread got a name, of at most 15 characters.
struct NameRecord {
  std::uint32_t pid = 0, tid = 0;
  std::uint64_t time = 0;  // CLOCK_MONOTONIC, ns
  std::string name;
};

// False for a record that does not have the fields that were asked for.
bool read_sample(std::span<const std::byte> body, SampleRecord& sample);
// `misc`: of the record's header.
bool read_switch(std::uint16_t misc, std::span<const std::byte> body, SwitchRecord& record);
bool read_name(std::span<const std::byte> body, NameRecord& record);

}  // namespace jtrace::sampling
