// The page of a heap: the data of the view `page`, in the frame of trace/io. Pure function, any thread.
#pragma once

#include <string>

#include "coreinspect/tools/views.h"

namespace jtrace::cli {

// `title`: what was asked.
std::string heap_page(const std::string& title, const coreinspect::ViewResult& result);

}  // namespace jtrace::cli
