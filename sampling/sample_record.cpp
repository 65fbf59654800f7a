#include "sampling/sample_record.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "target/native_registers.h"

namespace jtrace::sampling {
namespace {

// Among the addresses of a call chain: where those of the kernel begin, where those of user space.
bool is_marker(std::uint64_t address) { return address >= static_cast<std::uint64_t>(PERF_CONTEXT_MAX); }

void read_kernel_chain(ByteReader& reader, SampleRecord& sample) {
  const auto count = reader.read<std::uint64_t>();
  bool kernel = false;
  sample.kernel.clear();
  for (std::uint64_t i = 0; i < count && !reader.failed(); ++i) {
    const auto address = reader.read<std::uint64_t>();
    if (is_marker(address)) kernel = address == static_cast<std::uint64_t>(PERF_CONTEXT_KERNEL);
    else if (kernel) sample.kernel.push_back(address);
  }
}

void read_registers(ByteReader& reader, target::Registers& registers) {
  registers = {};
  for (const std::size_t word : target::kPerfOrder) registers.words[word] = reader.read<std::uint64_t>();
}

}  // namespace

bool read_sample(std::span<const std::byte> body, SampleRecord& sample) {
  ByteReader reader(body);
  sample.event = reader.read<std::uint64_t>();
  (void)reader.read<std::uint64_t>();  // the instruction: in the registers, or in the chain
  sample.pid = reader.read<std::uint32_t>();
  sample.tid = reader.read<std::uint32_t>();
  sample.time = reader.read<std::uint64_t>();
  sample.period = reader.read<std::uint64_t>();
  read_kernel_chain(reader, sample);
  const auto abi = reader.read<std::uint64_t>();
  sample.has_registers = abi == PERF_SAMPLE_REGS_ABI_64;
  if (abi != PERF_SAMPLE_REGS_ABI_NONE) read_registers(reader, sample.registers);
  const auto size = reader.read<std::uint64_t>();
  sample.stack = reader.read_bytes(size);
  sample.stack_is_full = true;
  if (size > 0) {
    const auto copied = std::min<std::uint64_t>(reader.read<std::uint64_t>(), sample.stack.size());
    sample.stack_is_full = copied == size;
    sample.stack = sample.stack.first(copied);
  }
  return !reader.failed();
}

// The body is the sample_id of every record (sample_id_all): only the fields of sample_type that it may have.
bool read_switch(std::uint16_t misc, std::span<const std::byte> body, SwitchRecord& record) {
  ByteReader reader(body);
  record.pid = reader.read<std::uint32_t>();
  record.tid = reader.read<std::uint32_t>();
  record.time = reader.read<std::uint64_t>();
  record.event = reader.read<std::uint64_t>();
  record.out = (misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
  record.preempted = (misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
  return !reader.failed();
}

// The name is filled up with zeros to a multiple of 8 bytes; the sample_id follows.
bool read_name(std::span<const std::byte> body, NameRecord& record) {
  constexpr std::size_t kNumbers = 8, kSampleId = 24;
  if (body.size() < kNumbers + kSampleId) return false;
  ByteReader reader(body);
  record.pid = reader.read<std::uint32_t>();
  record.tid = reader.read<std::uint32_t>();
  const std::span<const std::byte> name = reader.read_bytes(body.size() - kNumbers - kSampleId);
  const auto* text = reinterpret_cast<const char*>(name.data());
  record.name.assign(text, ::strnlen(text, name.size()));
  (void)reader.read<std::uint64_t>();  // pid and tid of who gave it
  record.time = reader.read<std::uint64_t>();
  return !reader.failed();
}

}  // namespace jtrace::sampling
