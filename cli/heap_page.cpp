#include "cli/heap_page.h"

#include "base/json.h"
#include "trace/io/report_page.h"

namespace jtrace::cli {

std::string heap_page(const std::string& title, const coreinspect::ViewResult& result) {
  std::string data;
  JsonWriter json(data);
  json.begin_object().member("title", title).member("version", JTRACE_VERSION).key("missing").begin_array();
  for (const std::string& line : result.missing) json.value(line);
  json.end_array().key("heap");
  data += result.out;
  json.end_object();
  return trace::io::page_with(data, trace::io::heap_page());
}

}  // namespace jtrace::cli
