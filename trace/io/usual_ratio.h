// How much longer than before the calls of most methods took: a busier machine, and the callouts themselves, make all
// of them longer, which is no change of the program. Rows that differ from that are what changed. Pure.
#pragma once

#include "trace/io/trace_diff.h"

namespace jtrace::trace::io {

// Of the methods that both have with many calls; UsualRatio::methods is 0 if they are too few to say.
UsualRatio usual_ratio(const FigureTable& before, const FigureTable& after);
// By its mean or its number of calls, and by so much that it matters among `all`, the table's sum of `after` (what
// `row` and the table have of it is scaled by `scale`).
bool differs_from(const UsualRatio& usual, const DiffRow& row, double scale, double all);
// What the row would have if all had become longer alike.
double expected_after(const UsualRatio& usual, const DiffRow& row, double scale);
// In words; "" if it is about 1, which is what one takes it for.
std::string usual_note(const DiffTable& table);

}  // namespace jtrace::trace::io
