#include "coreinspect/tools/at_stop.h"

#include <algorithm>

namespace jtrace::coreinspect {
namespace {

constexpr Address kWord = 8;  // objects are aligned to it

}  // namespace

void HeadersAtStop::add(Address object, std::span<const std::byte> header) {
  if (std::ranges::all_of(header, [](std::byte each) { return each == std::byte{0}; })) return;
  std::ranges::copy(header, headers_[object].begin());
}

Result<std::size_t> HeadersAtStop::read_some(Address address, std::span<std::byte> out) const {
  for (Address object = address; object + kSize > address; object -= kWord) {
    const auto found = headers_.find(object);
    if (found == headers_.end()) continue;
    const auto rest = std::span(found->second).subspan(address - object);
    const std::size_t count = std::min(out.size(), rest.size());
    std::copy_n(rest.begin(), count, out.begin());
    return count;
  }
  return below_->read_some(address, out);
}

}  // namespace jtrace::coreinspect
