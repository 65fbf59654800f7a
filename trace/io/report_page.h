// The page of jtrace report as it is built in: trace/io/page/report.html with its style and script put in.
#pragma once

#include <string_view>

namespace jtrace::trace::io {

// Where the data belong.
inline constexpr std::string_view kReportDataMark = "@DATA@";
std::string_view report_page();

}  // namespace jtrace::trace::io
