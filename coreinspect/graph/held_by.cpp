#include "coreinspect/graph/held_by.h"

#include "base/strings.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kNameLength = 60, kLongPath = 12, kPathEnd = 5;  // steps

}  // namespace

std::string HeldBy::thread(std::uint32_t object) const {
  const std::string name = fields_.text(fields_.reference(object, "name"), kNameLength);
  return "thread \"" + printable(name) + "\"";
}

std::string HeldBy::anchor(std::uint32_t from, const std::string& edge) const {
  if (graph_.is_class(from)) {
    const std::uint32_t its = graph_.class_of_mirror(from);
    if (its == kNoObject || !edge.starts_with("static ")) return "";
    return "static " + printable(graph_.classes()[its].name) + "." + printable(edge.substr(7));
  }
  // A thread that does not run, such as a shutdown hook, is an object that something else holds.
  if (!graph_.is_thread(from) || graph_.root_name(from).empty()) return "";
  if (edge == ".threadLocals" || edge == ".inheritableThreadLocals") return "a thread-local of " + thread(from);
  if (edge == "<local>") return "a local variable of " + thread(from);
  return "." == edge.substr(0, 1) ? "the field " + edge.substr(1) + " of " + thread(from) : "";
}

std::string HeldBy::holder(std::uint32_t object) const {
  const auto steps = paths_.to(object);
  for (std::size_t i = steps.size(); i > 1; --i)
    if (std::string text = anchor(steps[i - 2].object, steps[i - 1].edge); !text.empty()) return text;
  if (steps.empty()) return "nothing";
  const std::uint32_t root = steps.front().object;
  if (graph_.is_thread(root)) return thread(root);
  return "a root (" + paths_.root_name(root) + ")";
}

std::string HeldBy::below(std::uint32_t above, std::uint32_t object) const {
  if (above == kNoObject) return holder(object);
  const std::uint32_t i = graph_.find_edge(above, object);
  if (i == kNoObject) return holder(object);
  const std::string edge = graph_.edge_name(above, i);
  if (std::string text = anchor(above, edge); !text.empty()) return text;
  return printable(graph_.name(above)) + (edge.starts_with(".") ? "" : " ") + printable(edge);
}

std::string HeldBy::path(std::uint32_t object) const {
  const auto steps = paths_.to(object);
  std::string text;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps.size() > kLongPath && i == kPathEnd) {
      text += " ... " + std::to_string(steps.size() - 2 * kPathEnd) + " more ...";
      i = steps.size() - kPathEnd;
    }
    if (i == 0) text = printable(graph_.name(steps[i].object)) + " (" + paths_.root_name(steps[i].object) + ")";
    else text += " " + printable(steps[i].edge) + " " + printable(graph_.name(steps[i].object));
  }
  return text;
}

}  // namespace jtrace::coreinspect
