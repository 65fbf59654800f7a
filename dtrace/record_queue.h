// RecordQueue: puts records with their texts into the order of time. The ring returns them in the order in which they
// were begun, which is nearly that of time; records of the last moments are held back, because an earlier one may still
// follow. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "dtrace/probe_source.h"

namespace jtrace::dtrace {

class RecordQueue {
 public:
  explicit RecordQueue(const std::vector<TracedSite>& sites) : sites_(sites) {}

  // Sets the text that is at an address from now on.
  void define_text(std::uint64_t address, std::uint32_t length, std::string_view text, bool missing);
  // The texts of the record are those that are defined now.
  void add(std::uint32_t site, std::uint32_t tid, std::uint64_t time, std::span<const std::uint64_t> operands,
           std::unique_ptr<CopiedStack> stack = nullptr);
  // Passes everything before `time` (monotonic, ns) to `function`, in the order of time.
  Result<> release(std::uint64_t time, const RecordFunction& function);

 private:
  struct KeyHash {
    std::size_t operator()(const std::pair<std::uint64_t, std::uint32_t>& key) const {
      return static_cast<std::size_t>((key.first * 0x9e3779b97f4a7c15u) ^ key.second);
    }
  };
  struct Held {
    std::uint64_t time;
    std::uint32_t site, tid;
    std::uint32_t first;  // in values_ and texts_
    std::uint32_t count;
    std::unique_ptr<CopiedStack> stack;
  };

  const std::vector<TracedSite>& sites_;
  std::unordered_set<std::string> interned_;  // nodes do not move
  std::unordered_map<std::pair<std::uint64_t, std::uint32_t>, ProbeText, KeyHash> texts_by_place_;
  std::vector<Held> held_;
  std::vector<std::uint64_t> values_;
  std::vector<ProbeText> texts_;
};

}  // namespace jtrace::dtrace
