// What is copied of a live JVM's heap while its threads are stopped: the beginnings of objects that frames and waits
// refer to, and what each thread is parked for. A lock has another owner a moment later, and owners of different
// moments make deadlocks that never were.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <unordered_map>

#include "target/memory_reader.h"

namespace jtrace::coreinspect {

using target::Address;

// Reads beginnings of objects as they were at the stop; the rest of the memory is `below`, as it is now. Borrows it.
class HeadersAtStop final : public target::MemoryReader {
 public:
  // Mark word and class, and AbstractOwnableSynchronizer.exclusiveOwnerThread, the first field of such an object.
  static constexpr std::size_t kSize = 32;

  explicit HeadersAtStop(const target::MemoryReader& below) : below_(&below) {}
  void add(Address object, std::span<const std::byte> header);
  bool has(Address object) const { return headers_.contains(object); }
  Result<std::size_t> read_some(Address address, std::span<std::byte> out) const override;

 private:
  const target::MemoryReader* below_;
  std::unordered_map<Address, std::array<std::byte, kSize>> headers_;
};

// Addresses are those of the stop.
struct ParkedAtStop {
  std::unordered_map<Address, Address> blockers;  // JavaThread -> Thread.parkBlocker; 0: none
  std::unordered_map<Address, Address> threads;   // java.lang.Thread -> JavaThread
  // JavaThread -> threadStatus, which changes as soon as the thread runs on: its frames are those of the stop.
  std::unordered_map<Address, std::uint32_t> statuses;
};

}  // namespace jtrace::coreinspect
