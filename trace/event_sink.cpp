#include "trace/event_sink.h"

#include <numeric>
#include <type_traits>

#include "trace/schema.h"

namespace jtrace::trace {
namespace {

template <class F>
Result<> for_all(const std::vector<EventSink*>& sinks, F f) {
  Result<> first;
  for (EventSink* sink : sinks) {
    Result<> result = f(*sink);
    if (first && !result) first = std::move(result);
  }
  return first;
}

}  // namespace

std::uint64_t CountingSink::total() const { return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0}); }

Result<> TeeSink::write(const Event& event) {
  return for_all(sinks_, [&](EventSink& sink) { return sink.write(event); });
}
Result<> TeeSink::finish() {
  return for_all(sinks_, [](EventSink& sink) { return sink.finish(); });
}

Text CaptureSink::owned_text(Text text) { return text.present() ? Text(texts_.emplace_back(text.view())) : text; }

// Replaces everything that `element` borrows by copies that this sink owns.
template <class Element>
Element CaptureSink::owned(Element element) {
  for_each_attribute(element, [&](const AttributeInfo&, auto& member) {
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(member)>, Text>) member = owned_text(member);
  });
  if constexpr (requires { element.invocationContext; }) {
    if (element.invocationContext)
      element.invocationContext = &contexts_.emplace_back(owned(*element.invocationContext));
  }
  if constexpr (requires { element.values; }) {
    std::vector<Value> copies;
    for (const Value& value : element.values) copies.push_back(owned(value));
    element.values = values_.emplace_back(std::move(copies));
  }
  if constexpr (requires { element.items; }) {
    std::vector<MethodBodyItem> copies;
    for (const MethodBodyItem& item : element.items)
      copies.push_back(std::visit([&](const auto& child) { return MethodBodyItem{owned(child)}; }, item.element));
    element.items = items_.emplace_back(std::move(copies));
  }
  if constexpr (requires { element.text; }) element.text = owned_text(element.text);
  return element;
}

Result<> CaptureSink::write(const Event& event) {
  std::visit([&](const auto& element) { events_.emplace_back(owned(element)); }, event);
  return {};
}

}  // namespace jtrace::trace
