// The tables of a database that are derived from events: calls with their durations, waits, pauses, exceptions with
// their ends, methods, counters, the classes of a heap, losses. They follow Statistics, so that a query and
// `jtrace stats`, `slow` and `exceptions` give the same answer. One thread.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/io/sqlite_insert.h"
#include "trace/io/statistics.h"

namespace jtrace::trace::io {

class SqliteAnswers final : public Statistics {
 public:
  // `db` has the tables, and outlives this.
  explicit SqliteAnswers(sqlite3* db);

  // `seq` is that of the event in the table event. False if the database refuses a row.
  bool add(const Event& event, std::uint64_t seq);
  // The producer of the event that was added last; one without a name for nodes and processes.
  const Scope& scope() const { return scope_ != nullptr ? *scope_ : nobody_; }
  // Writes what is known only at the end.
  bool complete();
  // Of no agent. After complete().
  bool add_note(const std::string& text);

 private:
  void on_event(const Event& event, ScopeStatistics& statistics) override;
  void on_state(const ScopeStatistics& statistics, std::uint64_t thread, ThreadState state, std::uint64_t since,
                std::uint64_t until) override;
  void on_enter(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack) override;
  void on_leave(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack, std::uint64_t time,
                std::uint64_t cpu_time) override;
  void on_gap(Scope& scope, const Gap& gap) override;
  void on_first_wait(const ScopeStatistics& statistics, std::uint64_t thread, ThreadState state, std::uint64_t since,
                     std::uint64_t until, std::uint64_t monitor) override;
  void add_wait(const Scope& scope, std::uint64_t thread, const Wait& wait, bool is_complete);
  void add_exception(const Scope& scope, const EndedException& ended);
  void add_sample(const ScopeStatistics& statistics, const Value& value);
  void add_methods(const ScopeStatistics& statistics);
  void add_collections(const ScopeStatistics& statistics);
  void add_recorded(const ScopeStatistics& statistics);
  void add_note_of_agents();
  void add_notes(const ScopeStatistics& statistics);
  void done(bool written) { is_written_ = is_written_ && written; }

  Insert call_, wait_, gc_, exception_, method_, sample_, collection_, recorded_, heap_, loss_, note_;
  Scope nobody_;
  const Scope* scope_ = nullptr;
  std::uint64_t seq_ = 0;
  // The waits of a thread so far, in their order, each with the ns of all until its end.
  struct Waited {
    struct End {
      std::uint64_t since, until, sum;
    };
    std::vector<End> ends;
    std::uint64_t until(std::uint64_t time) const;  // ns of the waits before that time
  };
  std::map<std::pair<std::size_t, std::uint64_t>, Waited> waited_;  // scope, thread
  bool is_written_ = true;
};

}  // namespace jtrace::trace::io
