#include "perfdata/expression.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>

namespace jtrace::perfdata {

// Truth has three values: a comparison with an unknown value is unknown.
struct Expression::Node {
  enum class Kind {
    kNumber,
    kName,
    kNegate,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kEqual,
    kNotEqual,
    kNot,
    kAnd,
    kOr
  };
  Kind kind = Kind::kNumber;
  double number = 0;
  Name name = {};
  std::shared_ptr<const Node> left = {};
  std::shared_ptr<const Node> right = {};
  Unit unit = Unit::kNumber;       // of a number
  std::size_t begin = 0, end = 0;  // its place in the text

  bool is_condition() const { return kind >= Kind::kLess; }
  std::optional<double> value(const Values& values) const;
  std::optional<bool> truth(const Values& values) const;
  struct Check {
    const Units& units;
    const std::string& text;
    std::optional<Misfit> misfit = {};
  };
  Unit checked_unit(Check& check) const;
  Misfit::Part part(const Check& check, Unit of) const {
    return {check.text.substr(begin, end - begin), of, kind == Kind::kName ? &name : nullptr};
  }
};

std::optional<double> Expression::Node::value(const Values& values) const {
  if (kind == Kind::kNumber) return number;
  if (kind == Kind::kName) return values(name);
  const auto a = left->value(values);
  if (kind == Kind::kNegate) return a ? std::optional(-*a) : std::nullopt;
  const auto b = right->value(values);
  if (!a || !b) return std::nullopt;
  switch (kind) {
    case Kind::kAdd: return *a + *b;
    case Kind::kSubtract: return *a - *b;
    case Kind::kMultiply: return *a * *b;
    default: return *b == 0 ? std::nullopt : std::optional(*a / *b);
  }
}

std::optional<bool> Expression::Node::truth(const Values& values) const {
  if (kind == Kind::kAnd || kind == Kind::kOr) {
    const auto a = left->truth(values), b = right->truth(values);
    const bool decides = kind == Kind::kOr;  // the value that decides the result alone
    if (a == decides || b == decides) return decides;
    return a && b ? std::optional(!decides) : std::nullopt;
  }
  if (kind == Kind::kNot) {
    const auto a = left->truth(values);
    return a ? std::optional(!*a) : std::nullopt;
  }
  const auto a = left->value(values), b = right->value(values);
  if (!a || !b) return std::nullopt;
  switch (kind) {
    case Kind::kLess: return *a < *b;
    case Kind::kLessEqual: return *a <= *b;
    case Kind::kGreater: return *a > *b;
    case Kind::kGreaterEqual: return *a >= *b;
    case Kind::kEqual: return *a == *b;
    default: return *a != *b;
  }
}

Unit Expression::Node::checked_unit(Check& check) const {
  if (kind == Kind::kNumber) return unit;
  if (kind == Kind::kName) return check.units(name);
  const Unit a = left->checked_unit(check);
  if (kind == Kind::kNegate || kind == Kind::kNot) return a;
  const Unit b = right->checked_unit(check);
  if (kind == Kind::kMultiply) return product(a, b);
  if (kind == Kind::kDivide) return quotient(a, b);
  if (kind >= Kind::kAnd) return Unit::kUnknown;
  if (!fits(a, b) && !check.misfit) check.misfit = {left->part(check, a), right->part(check, b)};
  return is_condition() ? Unit::kUnknown : sum(a, b);
}

std::optional<Expression::Misfit> Expression::misfit(const Units& units) const {
  Node::Check check{units, text_};
  root_->checked_unit(check);
  return std::move(check.misfit);
}

bool Expression::is_known(const Values& values) const { return root_->truth(values).has_value(); }

bool Expression::holds(const Values& values) const { return root_->truth(values).value_or(false); }

class ExpressionParser {
  using Node = Expression::Node;
  using Kind = Node::Kind;
  using Pointer = std::shared_ptr<const Node>;

 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {}

  Result<Expression> parse() {
    expression_.text_ = text_;
    expression_.root_ = disjunction(0);
    skip_blanks();
    if (error_.empty() && at_ < text_.size()) fault("this was not expected here");
    if (error_.empty() && !expression_.root_->is_condition()) fault("a comparison is missing, for example > 0");
    if (error_.empty()) return std::move(expression_);
    return fail(ErrorCategory::kUsage,
                "'" + std::string(text_) + "' at character " + std::to_string(error_at_ + 1) + ": " + error_);
  }

 private:
  static constexpr int kMaxDepth = 100;  // the text may come from anybody

  Pointer fault(std::string what) {
    if (error_.empty()) {
      error_ = std::move(what);
      error_at_ = at_;
    }
    at_ = text_.size();
    return std::make_shared<Node>();
  }
  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  static bool in_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$';
  }

  bool take(std::string_view sign) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(sign)) return false;
    const bool word = std::isalpha(static_cast<unsigned char>(sign.front()));
    if (word && at_ + sign.size() < text_.size() && in_name(text_[at_ + sign.size()])) return false;
    at_ += sign.size();
    return true;
  }

  Pointer join(Kind kind, Pointer left, Pointer right) {
    const std::size_t begin = left->begin, end = right ? right->end : left->end;
    Node node{.kind = kind, .left = std::move(left), .right = std::move(right), .begin = begin, .end = end};
    return std::make_shared<const Node>(std::move(node));
  }
  Pointer condition(Pointer node) {
    return error_.empty() && !node->is_condition() ? fault("a comparison is missing before this") : node;
  }
  Pointer number(Pointer node) {
    return error_.empty() && node->is_condition() ? fault("before this must be a number, not a comparison") : node;
  }

  Pointer disjunction(int depth) {
    Pointer left = conjunction(depth);
    while (error_.empty() && (take("or") || take("||")))
      left = join(Kind::kOr, condition(left), condition(conjunction(depth)));
    return left;
  }
  Pointer conjunction(int depth) {
    Pointer left = negation(depth);
    while (error_.empty() && (take("and") || take("&&")))
      left = join(Kind::kAnd, condition(left), condition(negation(depth)));
    return left;
  }
  Pointer negation(int depth) {
    if (depth > kMaxDepth) return fault("nested too deep");
    skip_blanks();
    const bool unequal = text_.substr(at_).starts_with("!=");
    if (!unequal && (take("not") || take("!"))) return join(Kind::kNot, condition(negation(depth + 1)), nullptr);
    return comparison(depth);
  }
  Pointer comparison(int depth) {
    Pointer left = sum(depth);
    static constexpr std::pair<std::string_view, Kind> kSigns[] = {
        {"<=", Kind::kLessEqual}, {">=", Kind::kGreaterEqual}, {"==", Kind::kEqual}, {"!=", Kind::kNotEqual},
        {"<", Kind::kLess},       {">", Kind::kGreater},       {"=", Kind::kEqual}};
    for (const auto& [sign, kind] : kSigns)
      if (error_.empty() && take(sign)) return join(kind, number(left), number(sum(depth)));
    return left;
  }
  Pointer sum(int depth) {
    Pointer left = product(depth);
    for (;;) {
      if (!error_.empty()) return left;
      if (take("+")) left = join(Kind::kAdd, number(left), number(product(depth)));
      else if (take("-")) left = join(Kind::kSubtract, number(left), number(product(depth)));
      else return left;
    }
  }
  Pointer product(int depth) {
    Pointer left = primary(depth);
    for (;;) {
      if (!error_.empty()) return left;
      if (take("*")) left = join(Kind::kMultiply, number(left), number(primary(depth)));
      else if (take("/")) left = join(Kind::kDivide, number(left), number(primary(depth)));
      else return left;
    }
  }
  Pointer primary(int depth) {
    if (depth > kMaxDepth) return fault("nested too deep");
    if (take("-")) return join(Kind::kNegate, number(primary(depth + 1)), nullptr);
    if (take("(")) {
      const std::size_t begin = at_ - 1;
      Node inner = *disjunction(depth + 1);
      if (!take(")") && error_.empty()) return fault("a closing parenthesis is missing");
      inner.begin = begin;
      inner.end = at_;
      return std::make_shared<const Node>(std::move(inner));
    }
    skip_blanks();
    if (at_ >= text_.size()) return fault("something is missing at the end");
    if (std::isdigit(static_cast<unsigned char>(text_[at_]))) return literal();
    if (std::isalpha(static_cast<unsigned char>(text_[at_]))) return name();
    return fault("a name or a number is missing");
  }

  std::string_view word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && in_name(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  Pointer literal() {
    Node node{.begin = at_};
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), node.number);
    if (error != std::errc()) return fault("not a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    struct Suffix {
      std::string_view text;
      double factor;
      Unit unit;
    };
    static constexpr Unit kTime = Unit::kSeconds, kSize = Unit::kScaled;
    static constexpr Suffix kSuffixes[] = {
        {"ns", 1e-9, kTime},  {"us", 1e-6, kTime},  {"ms", 1e-3, kTime},  {"s", 1, kTime},     {"m", 60, kTime},
        {"min", 60, kTime},   {"h", 3600, kTime},   {"d", 86400, kTime},  {"K", 1024, kSize},  {"k", 1024, kSize},
        {"M", 0x1p20, kSize}, {"G", 0x1p30, kSize}, {"g", 0x1p30, kSize}, {"T", 0x1p40, kSize}};
    if (at_ < text_.size() && text_[at_] == '%') {
      ++at_;
      node.number /= 100;
      node.unit = Unit::kShare;
    } else if (const std::size_t start = at_; !word().empty()) {
      const std::string_view written = text_.substr(start, at_ - start);
      const auto found = std::find_if(std::begin(kSuffixes), std::end(kSuffixes), [&](const Suffix& each) {
        const std::string unit(each.text);
        return written == unit || (each.unit == kSize && (written == unit + "B" || written == unit + "iB"));
      });
      if (found == std::end(kSuffixes)) {
        at_ = start;
        return fault("no such unit (%, ns, us, ms, s, m, h, d, K, M, G, T)");
      }
      node.number *= found->factor;
      node.unit = found->unit;
    }
    node.end = at_;
    return std::make_shared<const Node>(std::move(node));
  }

  Pointer name() {
    Node node{.kind = Kind::kName, .begin = at_};
    node.name.text = word();
    if (node.name.text == "rate" && take("(")) {
      skip_blanks();
      node.name.text = word();
      node.name.rate = true;
      if (node.name.text.empty()) return fault("rate() needs a name");
      if (!take(")")) return fault("a closing parenthesis is missing");
    }
    auto& names = expression_.names_;
    if (std::find(names.begin(), names.end(), node.name) == names.end()) names.push_back(node.name);
    node.end = at_;
    return std::make_shared<const Node>(std::move(node));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_;
  std::size_t error_at_ = 0;
  Expression expression_;
};

Result<Expression> Expression::parse(std::string_view text) { return ExpressionParser(text).parse(); }

}  // namespace jtrace::perfdata
