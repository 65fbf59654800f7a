// The page of jtrace report, built into the program: trace/io/page/report.html with its style and script.
#pragma once

#include <string>
#include <string_view>

namespace jtrace::trace::io {

// The place of the data in the page.
inline constexpr std::string_view kReportDataMark = "@DATA@";
std::string_view report_page();
// The page with these data; nothing in them ends its script element.
std::string page_with(std::string_view json);

}  // namespace jtrace::trace::io
