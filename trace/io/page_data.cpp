#include "trace/io/report_page.h"

namespace jtrace::trace::io {

std::string page_with(std::string_view json, std::string_view page) {
  const std::size_t at = page.find(kReportDataMark);
  std::string result(page.substr(0, at));
  for (const char c : json) {
    if (c == '<') result += "\\u003c";
    else result += c;
  }
  return result.append(page.substr(at + kReportDataMark.size()));
}

}  // namespace jtrace::trace::io
