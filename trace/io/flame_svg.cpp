#include "trace/io/flame_svg.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <vector>

#include "base/strings.h"

namespace jtrace::trace::io {
namespace {

// In pixels: the picture, its margin, a row, the narrowest frame that is drawn, a character of the labels.
constexpr double kWidth = 1200, kMargin = 10, kRow = 17, kLeast = 0.25, kCharacter = 6.7;
constexpr double kHead = 52;

struct Frame {
  double weight = 0;  // with what it calls
  std::map<std::string_view, std::unique_ptr<Frame>> callees;
};

void add_stack(Frame& root, std::string_view stack, double weight) {
  root.weight += weight;
  Frame* frame = &root;
  for (std::size_t at = 0; at <= stack.size();) {
    const std::size_t end = std::min(stack.find(';', at), stack.size());
    std::unique_ptr<Frame>& callee = frame->callees[stack.substr(at, end - at)];
    if (!callee) callee = std::make_unique<Frame>();
    frame = callee.get();
    frame->weight += weight;
    at = end + 1;
  }
}

std::string escaped(std::string_view text) {
  std::string out;
  append_xml_escaped(out, printable(std::string(text)));
  return out;
}

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

// A warm colour that is the same for a name in every picture; what is not a method is grey.
std::string colour_of(std::string_view name) {
  if (name.starts_with('[') || name.starts_with('(')) return "hsl(215 12% 72%)";
  unsigned hue = 0;
  for (const char c : name) hue = (hue * 31 + static_cast<unsigned char>(c)) % 50;
  return formatted("hsl(%u 78%% %u%%)", 10 + hue, 60 + hue / 8);
}

// As many characters of UTF-8 as have room.
std::string label(std::string_view name, double width) {
  const auto room = static_cast<std::size_t>(std::max(0.0, (width - 6) / kCharacter));
  if (room < 3) return {};
  std::size_t characters = 0, cut = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if ((static_cast<unsigned char>(name[i]) & 0xc0) == 0x80) continue;
    if (characters == room - 2) cut = i;
    if (++characters > room) return std::string(name.substr(0, cut)) + "..";
  }
  return std::string(name);
}

class Picture {
 public:
  explicit Picture(const StackProfile& profile) : unit_(profile.unit) {
    for (const auto& [stack, weight] : profile.stacks) add_stack(root_, stack, weight);
  }

  std::string text(std::string_view title, std::string_view note) {
    draw(root_, "all", kMargin, 0);
    const double height = kHead + (static_cast<double>(depth_) + 1) * kRow + kMargin;
    std::string below(note);
    if (left_out_ != 0)
      below += (below.empty() ? "" : "; ") + counted(left_out_, "frame") + " too narrow to see " + is_are(left_out_) +
               " left out";
    std::string out = formatted(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" "
        "font-family=\"DejaVu Sans Mono,Menlo,Consolas,monospace\" font-size=\"11\">\n",
        kWidth, height, kWidth, height);
    out += "<title>" + escaped(title) +
           "</title>\n<style>g:hover rect{stroke:#000}text{pointer-events:none;fill:#111}</style>\n";
    out += formatted("<rect width=\"%g\" height=\"%g\" fill=\"#fbfaf7\"/>\n", kWidth, height);
    out += formatted("<text x=\"%g\" y=\"22\" font-size=\"15\">", kMargin) + escaped(title) + "</text>\n";
    out += formatted("<text x=\"%g\" y=\"40\">", kMargin) + escaped(below) + "</text>\n";
    for (const Rectangle& each : rectangles_) out += rectangle(each, height);
    return out + "</svg>\n";
  }

 private:
  struct Rectangle {
    std::string_view name;
    double x, weight;
    std::size_t depth;
  };
  double width_of(double weight) const { return root_.weight > 0 ? (kWidth - 2 * kMargin) * weight / root_.weight : 0; }

  void draw(const Frame& frame, std::string_view name, double x, std::size_t depth) {
    rectangles_.push_back({name, x, frame.weight, depth});
    depth_ = std::max(depth_, depth);
    for (const auto& [callee, below] : frame.callees) {
      const double width = width_of(below->weight);
      if (width >= kLeast) draw(*below, callee, x, depth + 1);
      else ++left_out_;
      x += width;
    }
  }
  std::string amount(double weight) const {
    if (unit_ == "ns") return formatted("%.3f ms", weight / 1e6);
    return formatted("%.0f %s", weight, unit_.c_str());
  }
  // The thread's first frame is at the bottom.
  std::string rectangle(const Rectangle& each, double height) const {
    const double width = width_of(each.weight);
    const double y = height - kMargin - (static_cast<double>(each.depth) + 1) * kRow;
    std::string out = "<g><title>" + escaped(each.name) + " (" + amount(each.weight) +
                      formatted(", %.2f %%)</title>", root_.weight > 0 ? 100 * each.weight / root_.weight : 0.0);
    out += formatted("<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%g\" rx=\"1\" fill=\"%s\"/>", each.x, y,
                     std::max(width - 0.4, 0.2), kRow - 1, colour_of(each.name).c_str());
    if (const std::string text = label(each.name, width); !text.empty())
      out += formatted("<text x=\"%.2f\" y=\"%.1f\">", each.x + 3, y + 12) + escaped(text) + "</text>";
    return out + "</g>\n";
  }

  std::string unit_;
  Frame root_;
  std::vector<Rectangle> rectangles_;
  std::size_t depth_ = 0, left_out_ = 0;
};

}  // namespace

std::string flame_svg(const StackProfile& profile, std::string_view title, std::string_view note) {
  return Picture(profile).text(title, note);
}

}  // namespace jtrace::trace::io
