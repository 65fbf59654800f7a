// Announcements: definitions that are written at their own time, even if no event refers to them. One thread.
#pragma once

#include <deque>

#include "session/document/event_part.h"

namespace jtrace::session {

class Announcements : private EventPart {
 public:
  explicit Announcements(const BuilderContext& context) : EventPart(context) {}

  void add_thread(std::uint64_t id, std::uint64_t time) { due_.push_back({time, id, false}); }
  void add_class(std::uint64_t id, std::uint64_t time) { due_.push_back({time, id, true}); }

  Result<> write_until(std::uint64_t time) {
    for (; !due_.empty() && due_.front().time <= time; due_.pop_front()) {
      const Announced due = due_.front();
      JTRACE_RETURN_IF_ERROR(due.is_class ? definitions_.need_class(due.id, due.time)
                                          : definitions_.announce_thread(due.id, due.time));
    }
    return {};
  }

 private:
  struct Announced {
    std::uint64_t time;
    std::uint64_t id;
    bool is_class;
  };
  std::deque<Announced> due_;
};

}  // namespace jtrace::session
