// What findings about deadlocks and pools have in common. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "diagnose/facts.h"

namespace jtrace::diagnose {

// The threads that wait for those of the circle, or for one that does, at the last `looks` looks, and cannot go on
// either.
std::set<ThreadKey> stuck_after(const Facts& facts, const std::set<ThreadKey>& circle, std::size_t looks);
// "3 other threads wait for these, and cannot go on either: http-1, http-2, http-3".
std::string stuck_words(const Facts& facts, const std::set<ThreadKey>& stuck);
// Lines of evidence: who else is stuck at all of its looks, and how long it has lasted. `looks`: at how many looks,
// back from the last one, there is this circle; at least 1.
std::vector<std::string> extent_of(const Facts& facts, const std::set<ThreadKey>& circle, std::size_t looks);

// The pool with these threads; null: there is none. A collection may move a pool: it is known by its threads.
const PoolFact* pool_with(const ThreadsLook& look, const std::vector<ThreadKey>& threads);
// 'all 2 threads of the pool "io-*"'
std::string all_of(const ThreadsLook& look, const PoolFact& pool);
// "order-exec-*"; "": its threads have no name in common (coreinspect::pool_name).
std::string name_of(const ThreadsLook& look, const PoolFact& pool);
// "the pool <0x40> has 41 tasks in its queue"; only if their number is known.
std::string tasks_of(const PoolFact& pool);

}  // namespace jtrace::diagnose
