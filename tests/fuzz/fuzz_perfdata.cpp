// libFuzzer program: any bytes as an hsperfdata region, complete and partial; every value of an accepted region is
// read.
#include <cstdint>
#include <span>

#include "perfdata/snapshot.h"
#include "target/buffer_memory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jtrace::perfdata;
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const bool partial : {false, true}) {
    auto snapshot = read_snapshot(jtrace::target::BufferMemory(0, bytes), 0, {.partial = partial});
    if (!snapshot) continue;
    std::size_t sum = 0;
    for (const Counter& counter : snapshot->layout().counters()) {
      sum += static_cast<std::size_t>(snapshot->long_value(counter)) + snapshot->text_value(counter).size();
      for (std::byte value : snapshot->raw_value(counter)) sum += std::to_integer<std::size_t>(value);
      for (char c : counter.name) sum += static_cast<std::size_t>(c);
    }
    volatile std::size_t kept = sum;
    (void)kept;
  }
  return 0;
}
