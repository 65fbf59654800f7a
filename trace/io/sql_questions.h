// The questions that `jtrace sql FILE --question N` asks, counted from 1. docs/sql.md has the same with answers, which
// a test compares. A :name is given by --set; without it, it is NULL.
#pragma once

#include <string_view>

namespace jtrace::trace::io {

struct SqlQuestion {
  std::string_view question, sql;
};

inline constexpr SqlQuestion kSqlQuestions[] = {
    {"Which calls were slow, and with which arguments?",
     R"(SELECT ms, waited_ms, method, arguments, thread FROM calls
  WHERE method LIKE coalesce(:method, '%') ORDER BY ms DESC)"},
    {"Which methods take the time, and how long are they usually?",
     R"(SELECT method, calls, counted, self_ms, coalesce(median_ms, median_bound) AS median_ms,
       coalesce(p99_ms, p99_bound) AS p99_ms, longest_ms FROM methods
  WHERE method LIKE coalesce(:method, '%') ORDER BY total_ms DESC)"},
    {"For which argument is a method slow?",
     R"(SELECT calls.method, arguments.value AS first_argument, count(*) AS calls, max(calls.ms) AS longest_ms FROM calls
  JOIN arguments ON arguments.call = calls.id AND arguments.position = 0
  WHERE calls.method LIKE coalesce(:method, '%') GROUP BY 1, 2 ORDER BY longest_ms DESC)"},
    {"What does a slow call wait for?",
     R"(SELECT calls.method, calls.arguments, calls.ms, waits.kind, waits.class, waits.owner, waits.ms AS waited_ms,
       max(calls.depth) AS depth  -- of the calls in which the wait was, the innermost
  FROM calls JOIN waits USING (agent, thread_id)
  WHERE waits.started >= calls.started AND waits.ended <= calls.ended AND calls.method LIKE coalesce(:method, '%')
  GROUP BY agent, thread_id, waits.started ORDER BY waited_ms DESC)"},
    {"Which thread waits for which, and how long?",
     R"(SELECT thread, owner, class, count(*) AS times, sum(ms) AS ms, max(ms) AS longest_ms FROM waits
  WHERE kind = 'blocked' GROUP BY 1, 2, 3 ORDER BY ms DESC)"},
    {"Which exceptions are swallowed, and where?",
     R"(SELECT class, thrown || ':' || thrown_line AS thrown, caught || ':' || caught_line AS caught, count(*) AS times,
       min(message) AS example
  FROM exceptions WHERE swallowed GROUP BY 1, 2, 3 ORDER BY times DESC)"},
    {"What becomes of the exceptions of a class?",
     R"(SELECT class, end, other, count(*) AS times FROM exceptions
  WHERE class LIKE coalesce(:class, '%') GROUP BY 1, 2, 3 ORDER BY times DESC)"},
    {"Who makes the objects of a class?",
     R"(SELECT class, site, thread, round(sum(objects)) AS objects, round(sum(bytes)) AS bytes, kind FROM allocations
  WHERE class LIKE coalesce(:class, '%') GROUP BY class, site, thread, kind ORDER BY bytes DESC)"},
    {"What share of the time is spent in pauses, and which is the longest?",
     R"(SELECT count(*) AS pauses, sum(ms) AS ms, max(ms) AS longest_ms,
       100 * sum(ms) / (SELECT (max(time) - min(time)) / 1e6 FROM event WHERE element IN ('traceStart', 'traceEnd')) AS percent
  FROM pauses)"},
    {"Which calls were under way during a pause?",
     R"(SELECT calls.method, calls.thread, pauses.ms AS pause_ms FROM pauses
  JOIN calls ON calls.started < pauses.ended AND calls.ended > pauses.started ORDER BY pause_ms DESC)"},
};

}  // namespace jtrace::trace::io
