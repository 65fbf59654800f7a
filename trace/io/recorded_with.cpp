#include "trace/io/recorded_with.h"

#include <algorithm>

namespace jtrace::trace::io {
namespace {

std::string rule_of(const Filter& filter) {
  const std::string methods = filter.methodPattern.view().empty() ? "" : " " + std::string(filter.methodPattern.view());
  return std::string(filter.pattern.view()) + methods + " " + std::string(filter.mode.view());
}

}  // namespace

const std::string* RecordedWith::find(std::string_view key) const {
  const auto found = std::find_if(options.begin(), options.end(), [&](const auto& each) { return each.first == key; });
  return found == options.end() ? nullptr : &found->second;
}

Result<> OptionsSink::write(const Event& event) {
  if (!is_over_) note(event);
  return next_.write(event);
}

void OptionsSink::note(const Event& event) {
  if (const auto* agent = std::get_if<AgentCreate>(&event)) {
    is_over_ = !found_.agent.empty();
    if (is_over_) return;
    found_.agent = agent->agentName.view();
    found_.parameters = agent->agentParameters.view();
  } else if (const auto* option = std::get_if<Option>(&event)) {
    // After the user's options come the producer's, as jtrace.vm.
    if (option->key.view().find('.') != std::string_view::npos) is_over_ = !found_.options.empty();
    else found_.options.emplace_back(option->key.view(), option->value.view());
  } else if (const auto* filter = std::get_if<Filter>(&event)) {
    found_.filters.push_back(rule_of(*filter));
  } else {
    is_over_ = !std::holds_alternative<Node>(event) && !std::holds_alternative<ProcessCreate>(event) &&
               !std::holds_alternative<TraceStart>(event);
  }
}

}  // namespace jtrace::trace::io
