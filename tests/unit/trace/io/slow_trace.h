// A trace of one agent for the tests of slow calls; times are ms since its start.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "trace/io/slow_text.h"
#include "trace/io/statistics.h"

namespace jtrace::trace::io {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class SlowTrace : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kMs = 1'000'000, kSecond = 1000 * kMs;

  SlowTrace() {
    write(AgentCreate{.agentId = "a", .processIdRef = "p", .agentName = "jtrace", .time = at(0)});
    write(TraceStart{.traceId = "t", .agentIdRef = "a", .time = at(0)});
    write(ThreadStart{.threadId = ThreadId(9), .time = at(0), .threadName = "holder"});
  }
  static Time at(std::uint64_t ms) { return Time(kSecond + ms * kMs); }
  void write(const Event& event) { EXPECT_TRUE(statistics_.write(event)); }
  void define(std::uint64_t id, std::string_view name, bool takes_monitor = false) {
    write(MethodDef{.name = name, .isSynchronized = takes_monitor, .methodId = MethodId(id)});
  }
  void enter(std::uint64_t method, std::uint64_t ms, const std::vector<Value>& values = {}) {
    write(MethodEntry{.threadIdRef = ThreadId(1),
                      .time = at(ms),
                      .methodIdRef = MethodId(method),
                      .ticket = ++ticket_,
                      .values = values});
    open_.push_back({method, ticket_});
  }
  void leave(std::uint64_t ms, const std::vector<Value>& values = {}) {
    write(MethodExit{.threadIdRef = ThreadId(1),
                     .time = at(ms),
                     .ticket = open_.back().second,
                     .methodIdRef = MethodId(open_.back().first),
                     .values = values});
    open_.pop_back();
  }
  void block(std::uint64_t from, std::uint64_t to) {
    write(MonContendedEnter{
        .threadIdRef = ThreadId(1), .time = at(from), .objIdRef = ObjectId(7), .threadOwner = ThreadId(9)});
    write(MonContendedEntered{.threadIdRef = ThreadId(1), .time = at(to), .objIdRef = ObjectId(7)});
  }
  void sleep(std::uint64_t from, std::uint64_t to) {
    write(MonWait{.threadIdRef = ThreadId(1), .time = at(from), .objIdRef = ObjectId::sleep(), .timeout = 50});
    write(MonWaited{.threadIdRef = ThreadId(1), .time = at(to), .objIdRef = ObjectId::sleep(), .timeout = 50});
  }
  // For the object 8, of that class.
  void park(const char* type, std::uint64_t from, std::uint64_t to) {
    write(ClassDef{.classId = ClassId(8), .name = type});
    write(ObjDef{.objId = ObjectId(8), .classIdRef = ClassId(8)});
    write(MonWait{.threadIdRef = ThreadId(1),
                  .time = at(from),
                  .objIdRef = ObjectId(8),
                  .timeout = 50,
                  .threadOwner = ThreadId(0)});
    write(MonWaited{.threadIdRef = ThreadId(1), .time = at(to), .objIdRef = ObjectId(8), .timeout = 50});
  }
  json calls(std::uint64_t over_ms = 0, std::size_t rows = 20, bool with_idle = false) {
    EXPECT_TRUE(statistics_.finish());
    const SlowLimits limits{.over = over_ms * kMs, .rows = rows, .with_idle = with_idle};
    text_ = slow_text(statistics_, limits);
    all_ = json::parse(slow_json(statistics_, "x", limits))["data"][0];
    return all_["slowCalls"];
  }

  Statistics statistics_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> open_;
  std::uint64_t ticket_ = 0;
  std::string text_;
  json all_;
};

}  // namespace jtrace::trace::io
