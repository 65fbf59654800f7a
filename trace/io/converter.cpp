#include "trace/io/converter.h"

#include "trace/schema.h"

namespace jtrace::trace::io {

void Converter::lose(const Event& event) { ++lost_[std::string(element_info(element_kind(event)).name)]; }

}  // namespace jtrace::trace::io
