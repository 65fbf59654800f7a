// The database of `jtrace convert --to sqlite` as SQL: tables of the events as they are, tables of what is derived from
// them, and views with plain names over both (docs/sql.md has their columns).
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace jtrace::trace::io {

// Before the first row: the tables, and the begin of the transaction.
std::string sqlite_tables();
// After the last row, before the views: a row for the losses of which no gap of a thread is known.
inline constexpr const char* kUnplacedLosses =
    "INSERT INTO loss SELECT id, NULL, NULL, NULL, rest FROM (SELECT a.id, a.dropped - "
    "(SELECT CAST(total(events) AS INTEGER) FROM loss l WHERE l.agent = a.id) AS rest FROM agent a) WHERE rest > 0;";
// After the last row: its end, indexes and views.
std::string sqlite_views();

// The views, which are also the files of the CSV output.
inline constexpr std::array<std::string_view, 13> kSqliteViews = {
    "calls",       "arguments", "methods",  "exceptions", "waits",  "allocations", "pauses",
    "collections", "threads",   "counters", "heap",       "losses", "notes"};

}  // namespace jtrace::trace::io
