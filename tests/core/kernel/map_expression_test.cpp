// Expressions of kind map: what they compute, how they are counted, and what is wrong with bad ones.
#include "core/kernel/map_expression.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/kernel/op_kind.h"
#include "core/kernel/rounding.h"

using namespace heddle;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

MapExpression parsed(std::string_view text, std::size_t inputs = 3) {
  const auto expression = MapExpression::parse(text, inputs);
  INFO(text << ": " << (expression ? "" : to_string(expression.error())));
  REQUIRE(expression);
  return *expression;
}

float value(std::string_view text, std::vector<float> x = {}) { return parsed(text, x.size()).evaluate(x, 0, 0); }

float at(const MapExpression& expression, const std::vector<float>& x, std::int64_t row, std::int64_t col,
         const std::vector<std::int64_t>& places) {
  return expression.evaluate(x, row, col, places);
}

std::string fault(std::string_view text, std::size_t inputs = 2) {
  const auto expression = MapExpression::parse(text, inputs);
  INFO(text);
  REQUIRE_FALSE(expression);
  CHECK(expression.error().kind == ErrorKind::Input);
  return to_string(expression.error());
}

std::string counted(std::string_view text) {
  const auto c = parsed(text).counts();
  return fmt::format("{} {} {}", c.fma, c.alu, c.mufu);
}

/// A random expression as text, and what it is of x0, x1, x2, computed as it is made.
struct Made {
  std::string text;
  float value = 0;
  int level = 0;  ///< 1: sum, 2: product, 3: a name, a call or in parentheses
};

class Maker {
 public:
  Maker(unsigned seed, std::vector<float> x) : random_(seed), x_(std::move(x)) {}

  Made make(int depth) {
    if (depth == 0 || one_of(5) == 0) return leaf();
    switch (one_of(6)) {
      case 0: {
        const Made a = at_least(make(depth - 1), 1), b = at_least(make(depth - 1), 2);
        return one_of(2) ? Made{a.text + " + " + b.text, a.value + b.value, 1} : Made{a.text + " - " + b.text, a.value - b.value, 1};
      }
      case 1: {
        const Made a = at_least(make(depth - 1), 2), b = at_least(make(depth - 1), 3);
        return one_of(2) ? Made{a.text + "*" + b.text, a.value * b.value, 2} : Made{a.text + " /" + b.text, a.value / b.value, 2};
      }
      case 2: {
        const Made a = at_least(make(depth - 1), 3);
        return {"-" + a.text, -a.value, 2};
      }
      case 3: {
        const Made a = at_least(make(depth - 1), 1), b = at_least(make(depth - 1), 1);
        // Times a float: a comparison alone is a whole number, which has no zero below zero.
        return {"1.0 * (" + a.text + " <= " + b.text + ")", a.value <= b.value ? 1.0f : 0.0f, 2};
      }
      case 4: {
        const Made a = make(depth - 1), b = make(depth - 1), c = make(depth - 1);
        switch (one_of(4)) {
          case 0: return {fmt::format("max({}, {})", a.text, b.text), a.value < b.value ? b.value : a.value, 3};
          case 1: return {fmt::format("min({},{})", a.text, b.text), b.value < a.value ? b.value : a.value, 3};
          case 2: return {fmt::format("fma({}, {}, {})", a.text, b.text, c.text), std::fma(a.value, b.value, c.value), 3};
          default: return {fmt::format("select({}, {}, {})", a.text, b.text, c.text), a.value != 0 ? b.value : c.value, 3};
        }
      }
      default: {
        const Made a = make(depth - 1);
        switch (one_of(6)) {
          case 0: return {fmt::format("exp2({})", a.text), std::exp2(a.value), 3};
          case 1: return {fmt::format("tanh({})", a.text), std::tanh(a.value), 3};
          case 2: return {fmt::format("abs( {} )", a.text), std::fabs(a.value), 3};
          case 3: return {fmt::format("floor({})", a.text), std::floor(a.value), 3};
          case 4: return {fmt::format("bf16({})", a.text), round_to(DType::Bf16, a.value), 3};
          default: return {fmt::format("sqrt(abs({}))", a.text), std::sqrt(std::fabs(a.value)), 3};
        }
      }
    }
  }

 private:
  std::size_t one_of(std::size_t n) { return random_() % n; }
  Made leaf() {
    if (one_of(3) == 0) {
      const float number = static_cast<float>(one_of(64)) / 8 + 0.5f;
      return {fmt::format("{:.4f}", number), number, 3};
    }
    const std::size_t k = one_of(x_.size());
    return {fmt::format("x{}", k), x_[k], 3};
  }
  static Made at_least(Made made, int level) {
    if (made.level < level) made = {"(" + made.text + ")", made.value, 3};
    return made;
  }

  std::mt19937 random_;
  std::vector<float> x_;
};

}  // namespace

TEST_CASE("an expression of a map is computed with the precedence that everyone expects", "[core]") {
  CHECK(value("x0 + x1 * x2", {1, 2, 3}) == 7);
  CHECK(value("(x0 + x1) * x2", {1, 2, 3}) == 9);
  CHECK(value("x0 - x1 - x2", {1, 2, 3}) == -4);
  CHECK(value("x0 / x1 / x2", {12, 2, 3}) == 2);
  CHECK(value("-x0 * -x1", {3, 4}) == 12);
  CHECK(value("--x0", {3}) == 3);
  CHECK(value("2 - -x0", {3}) == 5);
  CHECK(value("x0 + 1 < x1 * 2", {1, 2}) == 1);
  CHECK(value("(x0 < x1) + (x0 <= x0) + (x0 == x1) + (x0 != x1) + (x1 > x0) + (x1 >= x0)", {1, 2}) == 5);
  CHECK(value("select(x0 < 0, -x0, x0) * 0.5", {-3}) == 1.5f);
  CHECK(value("1e2 + .5 + 2.", {}) == 102.5f);
  CHECK(value("-inf", {}) == -kInfinity);
  CHECK(value("max(x0, x1) + min(x0, x1) * 100", {3, 7}) == 307);
  CHECK(value("fma(x0, x1, x2)", {2, 3, 4}) == 10);
  CHECK(value("1 / 2", {}) == 0.5f);
  CHECK(value("7 / 2 * 2", {}) == 7);
  CHECK(value(" t = x0 * x1; u = t + 1 ;t * u", {2, 3}) == 42);
}

TEST_CASE("every function of a map computes what its name says", "[core]") {
  const float x = 0.375f;
  for (const auto& [text, expected] : std::vector<std::pair<std::string, float>>{{"exp2(x0)", std::exp2(x)},
                                                                                 {"exp(x0)", std::exp(x)},
                                                                                 {"log2(x0)", std::log2(x)},
                                                                                 {"log(x0)", std::log(x)},
                                                                                 {"rsqrt(x0)", 1 / std::sqrt(x)},
                                                                                 {"sqrt(x0)", std::sqrt(x)},
                                                                                 {"recip(x0)", 1 / x},
                                                                                 {"abs(-x0)", x},
                                                                                 {"floor(-x0)", -1},
                                                                                 {"ceil(x0)", 1},
                                                                                 {"sin(x0)", std::sin(x)},
                                                                                 {"cos(x0)", std::cos(x)},
                                                                                 {"tanh(x0)", std::tanh(x)},
                                                                                 {"erf(x0)", std::erf(x)},
                                                                                 {"sigmoid(x0)", 1 / (1 + std::exp(-x))},
                                                                                 {"pow(x0, 3)", std::pow(x, 3.0f)},
                                                                                 {"bf16(x0 + 0.001)", round_to(DType::Bf16, x + 0.001f)},
                                                                                 {"f16(x0 + 0.0001)", round_to(DType::F16, x + 0.0001f)},
                                                                                 {"e4m3(x0 + 0.01)", round_to(DType::F8e4m3, x + 0.01f)},
                                                                                 {"e5m2(x0 + 0.03)", round_to(DType::F8e5m2, x + 0.03f)}}) {
    INFO(text);
    CHECK(value(text, {x}) == expected);
  }
  for (const MapFunctionName& f : map_functions()) {
    std::string call = fmt::format("{}(x0", f.name);
    for (std::size_t k = 1; k < f.operands; ++k) call += fmt::format(", x{}", k);
    INFO(call);
    CHECK_FALSE(std::isnan(value(call + ")", {0.25f, 0.5f, 0.75f})));
    CHECK_FALSE(MapExpression::parse(fmt::format("{}()", f.name), 3));
    CHECK_FALSE(MapExpression::parse(call + ", x0)", 3));
  }
}

TEST_CASE("coordinates are whole numbers, exact where floats are not", "[core]") {
  const auto causal = parsed("select(at1 + col <= at0 + row, x0, -inf)", 1);
  const std::vector<float> x{5};
  CHECK(at(causal, x, 2, 2, {10, 10}) == 5);
  CHECK(at(causal, x, 2, 3, {10, 10}) == -kInfinity);
  CHECK(at(causal, x, 0, 1, {(1 << 24) + 1, 1 << 24}) == 5);
  CHECK(at(causal, x, 0, 2, {(1 << 24) + 1, 1 << 24}) == -kInfinity);
  CHECK(causal.places() == 2);
  CHECK(causal.uses_coordinates());
  CHECK_FALSE(parsed("x0 * 2", 1).uses_coordinates());
  CHECK(parsed("row * 64 + col", 0).evaluate({}, 3, 5) == 197);
  CHECK(parsed("max(row, col) - min(row, col) + abs(-row)", 0).evaluate({}, 3, 5) == 5);
  CHECK(at(parsed("at0 * at1", 0), {}, 0, 0, {std::int64_t{1} << 62, std::int64_t{1} << 62}) == std::ldexp(1.0f, 62));
}

TEST_CASE("a mask of more than a row's and a column's place names as many numbers as it needs", "[core]") {
  const auto window = parsed("select(min(min(at0 + col < at1, at2 + row < at3), col - row + at4 >= 0), x0, 0)", 1);
  CHECK(window.places() == 5);
  CHECK(window.uses_place(4));
  CHECK_FALSE(window.uses_place(5));
  const std::vector<float> x{5};
  CHECK(at(window, x, 3, 2, {10, 13, 20, 24, 1}) == 5);
  CHECK(at(window, x, 3, 3, {10, 13, 20, 24, 1}) == 0);  // its column is beyond the end
  CHECK(at(window, x, 4, 2, {10, 13, 20, 24, 1}) == 0);  // its row is
  CHECK(at(window, x, 3, 1, {10, 13, 20, 24, 1}) == 0);  // it lies before the window
}

TEST_CASE("bits of whole numbers are taken apart as two's complement has them", "[core]") {
  CHECK(value("bit_and(shift_right(x0, 4), 15)", {0x5A}) == 5);
  CHECK(value("bit_and(x0, 15)", {-1}) == 15);
  CHECK(value("shift_right(x0, 1)", {-3}) == -2);
  CHECK(value("wrap(shift_left(x0, 4), 8)", {0x0F}) == -16);
  CHECK(value("shift_right(wrap(shift_left(x0, 4), 8), 4)", {0x09}) == -7);  // a signed number of four bits
  CHECK(value("wrap(x0, 8)", {255}) == -1);
  CHECK(value("wrap(x0, 32)", {2147483648.0f}) == -2147483648.0f);
  CHECK(value("bit_or(bit_xor(x0, 5), 16)", {6}) == 19);
  CHECK(value("bit_and(x0, 255)", {std::nanf("")}) == 0);
}

TEST_CASE("a map is counted as a compiler would write it", "[core]") {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"x0", "1 0 0"},                                        // a copy
           {"-x0", "1 0 0"},                                       //
           {"bit_and(shift_right(x0, 4), 15) - 8", "0 3 0"},       // of integers that were loaded
           {"x0 * x1 + x2", "1 0 0"},                              // one fused multiply-add
           {"x2 - x0 * x1", "1 0 0"},                              //
           {"-(x0 * x1) + x2", "1 0 0"},                           //
           {"x0 * x1 + x0 * x2", "2 0 0"},                         // one of the two products joins
           {"t = x0 * x1; t + t * x2", "2 0 0"},                   // used twice: computed once, by itself
           {"x0 * x1 + x2 * x0 + x1", "3 0 0"},                    // from left to right
           {"exp2(x0 * 0.125 - x1)", "1 0 1"},                     //
           {"exp(x0)", "1 0 1"},                                   //
           {"x0 / x1", "1 0 1"},                                   //
           {"x0 / 3", "1 0 0"},                                    // times a constant
           {"1 / x0", "0 0 1"},                                    //
           {"x0 * sigmoid(x0)", "3 0 2"},                          // as elementwise.silu
           {"max(x0, 0)", "0 1 0"},                                //
           {"select(x0 < x1, x0, x1)", "0 2 0"},                   //
           {"select(at1 + col <= at0 + row, x0, -inf)", "0 2 0"},  // sums of coordinates are free
           {"bf16(x0) * 2", "1 1 0"},                              //
           {"x0 * (1 + 2 * 3)", "1 0 0"},                          // constants are computed before
           {"x0 * exp2(at0)", "1 0 0"},                            // the same for all elements
           {"(x0 + x1) * (x0 + x1)", "2 0 0"},                     // equal parts once
           {"tanh(x0) + sqrt(x1) + log2(x2)", "2 0 3"},            //
       }) {
    INFO(text);
    CHECK(counted(text) == expected);
  }
  TileOp op;
  op.kind = "map";
  op.inputs = {{"a", 0}};
  op.attrs = {{"expr", std::string("exp2(x0)")}, {"alu", std::int64_t{7}}};
  CHECK(map_counts(op) == MapExpression::Counts{0, 7, 1});
}

TEST_CASE("a random expression of a map computes what its parts compute", "[core]") {
  const unsigned first = std::random_device{}();
  for (unsigned seed = first; seed < first + 500; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    std::vector<float> x;
    for (int k = 0; k < 3; ++k) x.push_back(static_cast<float>(static_cast<int>(random() % 4000) - 2000) / 256);
    const Made made = Maker(seed, x).make(5);
    INFO(made.text);
    const float found = parsed(made.text).evaluate(x, 0, 0);
    if (std::isnan(made.value))
      CHECK(std::isnan(found));
    else
      CHECK(found == made.value);
  }
}

TEST_CASE("what is wrong with an expression of a map is said with its column", "[core]") {
  CHECK_THAT(fault("x0 +"), Catch::Contains("found the end at column 5"));
  CHECK_THAT(fault("x0 $ x1"), Catch::Contains("expected an operator, found '$' at column 4"));
  CHECK_THAT(fault("x2 + 1"), Catch::Contains("'x2' is no input; the op has 2 at column 1"));
  CHECK_THAT(fault("ex2(x0)"), Catch::Contains("unknown function 'ex2'") && Catch::Contains("did you mean 'exp2'"));
  CHECK_THAT(fault("rowe * 2"), Catch::Contains("unknown name 'rowe'") && Catch::Contains("did you mean 'row'"));
  CHECK_THAT(fault("max(x0)"), Catch::Contains("max takes 2 arguments, found 1"));
  CHECK_THAT(fault("max(x0, x1"), Catch::Contains("expected ',' or ')'"));
  CHECK_THAT(fault("(x0"), Catch::Contains("expected ')'"));
  CHECK_THAT(fault("x0 < x1 < 3"), Catch::Contains("comparisons do not chain"));
  CHECK_THAT(fault("1e999"), Catch::Contains("does not fit 32-bit floating point"));
  CHECK_THAT(fault("12ab"), Catch::Contains("expected a decimal number"));
  CHECK_THAT(fault("t = x0; t = x1; t"), Catch::Contains("'t' has a meaning already at column 9"));
  CHECK_THAT(fault("exp = x0; exp"), Catch::Contains("'exp' has a meaning already"));
  CHECK_THAT(fault("t = x0"), Catch::Contains("expected ';'"));
  CHECK_THAT(fault("t = x0;"), Catch::Contains("found the end"));
  CHECK_THAT(fault(""), Catch::Contains("found the end at column 1"));
  CHECK_THAT(fault(std::string_view("x0\0x1", 5)), Catch::Contains("column 3"));
}

TEST_CASE("a hostile expression of a map is refused soon", "[core]") {
  CHECK_THAT(fault(std::string(MapExpression::kLongest + 1, ' ')), Catch::Contains("longer than the limit"));
  CHECK_THAT(fault(std::string(4000, '(') + "x0"), Catch::Contains("nested deeper than"));
  CHECK_THAT(fault(std::string(4000, '-') + "x0"), Catch::Contains("nested deeper than"));
  std::string many = "x0";
  for (int k = 0; k < 1100; ++k) many += fmt::format("+{}", k);
  CHECK_THAT(fault(many), Catch::Contains("more than 1024 parts"));
  // Doubled forty times it would be 2^40 products, were equal parts not one.
  std::string doubled = "t0 = x0;";
  for (int k = 1; k <= 40; ++k) doubled += fmt::format("t{} = t{} + t{};", k, k - 1, k - 1);
  CHECK(parsed(doubled + "t40", 1).evaluate(std::vector<float>{1}, 0, 0) == std::ldexp(1.0f, 40));
  const unsigned first = std::random_device{}();
  const std::string letters = "x012 ()+-*/<=!,.;rowcolatexpmaxinf\n\t$_";
  for (unsigned seed = first; seed < first + 20000; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    std::string text;
    for (std::size_t length = random() % 24; length > 0; --length) text += letters[random() % letters.size()];
    if (const auto expression = MapExpression::parse(text, 3))
      expression->evaluate(std::vector<float>{1, 2, 3}, 1, 2, std::vector<std::int64_t>{3, 4, 5, 6, 7, 8, 9, 10}), expression->counts();
    else
      CHECK_FALSE(expression.error().faults.empty());
  }
}

TEST_CASE("coordinates of an expression are moved by name, not by letters", "[core]") {
  CHECK(moved_map_expression("row + xrow + rows*row", "row", "64") == "(row + 64) + xrow + rows*(row + 64)");
  CHECK(moved_map_expression("select(at1+col<=at0+row,x0,1e5)", "col", "32") == "select(at1+(col + 32)<=at0+row,x0,1e5)");
  const auto moved = parsed(moved_map_expression("row * 10 + col", "row", "4"), 0);
  CHECK(moved.evaluate({}, 1, 2) == 52);
}
