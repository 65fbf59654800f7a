// The page of a bundle: one HTML file that refers to nothing outside. Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "diagnose/collect.h"

namespace jtrace::diagnose {

// The page without its data: made of diagnose/page and the parts of the page of jtrace report.
std::string_view page_frame();
// With the data of these members; a member that is missing, or too large for a page, leaves its section out.
std::string page_of(std::span<const Part> members);

}  // namespace jtrace::diagnose
