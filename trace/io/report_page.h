// The pages of jtrace report and of a heap, built into the program: trace/io/page/report.html with style and scripts.
#pragma once

#include <string>
#include <string_view>

namespace jtrace::trace::io {

// The place of the data in a page.
inline constexpr std::string_view kReportDataMark = "@DATA@";
std::string_view report_page();
std::string_view heap_page();
// The page with these data; nothing in them ends its script element.
std::string page_with(std::string_view json, std::string_view page = report_page());

}  // namespace jtrace::trace::io
