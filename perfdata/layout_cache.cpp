#include "perfdata/layout_cache.h"

#include <algorithm>

namespace jtrace::perfdata {

Result<std::shared_ptr<const Layout>> LayoutCache::get(std::span<const std::byte> bytes, const ParseOptions& options) {
  const auto known =
      std::find_if(layouts_.begin(), layouts_.end(), [&](const auto& layout) { return layout->describes(bytes); });
  if (known != layouts_.end()) {
    layouts_.splice(layouts_.begin(), layouts_, known);
    return layouts_.front();
  }
  JTRACE_ASSIGN_OR_RETURN(Layout parsed, Layout::parse(bytes, options));
  auto layout = std::make_shared<const Layout>(std::move(parsed));
  if (!layout->complete() || !layout->warnings().empty()) return layout;
  layouts_.push_front(layout);
  if (layouts_.size() > kKept) layouts_.pop_back();
  return layout;
}

}  // namespace jtrace::perfdata
