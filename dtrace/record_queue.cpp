#include "dtrace/record_queue.h"

#include <algorithm>

namespace jtrace::dtrace {

void RecordQueue::define_text(std::uint64_t address, std::uint32_t length, std::string_view text, bool missing) {
  const std::string& kept = *interned_.emplace(text).first;
  texts_by_place_[{address, length}] = {kept, !missing && kept.size() < length, missing};
}

void RecordQueue::add(std::uint32_t site, std::uint32_t tid, std::uint64_t time,
                      std::span<const std::uint64_t> operands, std::unique_ptr<CopiedStack> stack) {
  held_.push_back({time, site, tid, static_cast<std::uint32_t>(values_.size()),
                   static_cast<std::uint32_t>(operands.size()), std::move(stack)});
  const std::size_t first = values_.size();
  values_.insert(values_.end(), operands.begin(), operands.end());
  texts_.resize(values_.size());
  for (const ProbeArgument& argument : sites_[site].probe->description.arguments) {
    if (!argument.is_text() || argument.operand + 1 >= operands.size()) continue;
    const auto found =
        texts_by_place_.find({operands[argument.operand], static_cast<std::uint32_t>(operands[argument.operand + 1])});
    texts_[first + argument.operand] = found != texts_by_place_.end() ? found->second : ProbeText{"", false, true};
  }
}

Result<> RecordQueue::release(std::uint64_t time, const RecordFunction& function) {
  std::stable_sort(held_.begin(), held_.end(), [](const Held& a, const Held& b) { return a.time < b.time; });
  std::size_t done = 0;
  Result<> result;
  for (; done < held_.size() && held_[done].time < time && result; ++done) {
    const Held& held = held_[done];
    result = function({held.site, held.tid, held.time, std::span(values_).subspan(held.first, held.count),
                       std::span(texts_).subspan(held.first, held.count), held.stack.get()});
  }
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(done));
  if (held_.empty()) {
    values_.clear();
    texts_.clear();
    return result;
  }
  // Records that are held back move to the front.
  std::vector<std::uint64_t> values;
  std::vector<ProbeText> texts;
  for (Held& held : held_) {
    const auto first = static_cast<std::ptrdiff_t>(held.first), last = first + held.count;
    held.first = static_cast<std::uint32_t>(values.size());
    values.insert(values.end(), values_.begin() + first, values_.begin() + last);
    texts.insert(texts.end(), texts_.begin() + first, texts_.begin() + last);
  }
  values_ = std::move(values);
  texts_ = std::move(texts);
  return result;
}

}  // namespace jtrace::dtrace
