// Expressions: the grammar, exact arithmetic, and refusals instead of wrong numbers.
#include "core/base/expr.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace heddle;

namespace {
std::int64_t value_of(const std::string& text, const Scope& scope = {}) {
  INFO(text);
  const auto expr = Expr::parse(text);
  REQUIRE(expr.ok());
  const auto value = expr->evaluate(scope);
  if (!value) FAIL(to_string(value.error()));
  return *value;
}
std::string error_of(const std::string& text, const Scope& scope = {}) {
  INFO(text);
  const auto expr = Expr::parse(text);
  if (!expr) return to_string(expr.error());
  const auto value = expr->evaluate(scope);
  REQUIRE(!value.ok());
  return to_string(value.error());
}
std::string repeated(const std::string& piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}
}  // namespace

TEST_CASE("expressions follow the usual precedence and associate to the left", "[core]") {
  CHECK(value_of("1+2*3") == 7);
  CHECK(value_of("(1+2)*3") == 9);
  CHECK(value_of("10-3-2") == 5);
  CHECK(value_of("100/10/5") == 2);
  CHECK(value_of("-2*-3") == 6);
  CHECK(value_of("--4") == 4);
  CHECK(value_of(" 2 * ( N + 1 ) ", {{"N", 4}}) == 10);
  CHECK(value_of("1 + 2 < 4") == 1);
  CHECK(value_of("(1 < 2) + (2 >= 3)") == 1);
  CHECK(value_of("3 == 3") == 1);
  CHECK(value_of("3 != 3") == 0);
}

TEST_CASE("division and remainder round towards minus infinity", "[core]") {
  CHECK(value_of("7/2") == 3);
  CHECK(value_of("-7/2") == -4);
  CHECK(value_of("7/-2") == -4);
  CHECK(value_of("-7 % 3") == 2);
  CHECK(value_of("7 % -3") == -2);
  CHECK(value_of("ceil_div(7, 2)") == 4);
  CHECK(value_of("ceil_div(-7, 2)") == -3);
  CHECK(value_of("ceil_div(8, 2)") == 4);
}

TEST_CASE("functions take the arguments that they say", "[core]") {
  CHECK(value_of("max(1, N, 3)", {{"N", 9}}) == 9);
  CHECK(value_of("min(4, 2)") == 2);
  CHECK(value_of("if(N > 2, 10, 20)", {{"N", 3}}) == 10);
  CHECK(value_of("if(0, 1/0, 5)") == 5);  // the branch not taken is not evaluated
  CHECK(error_of("ceil_div(1)") == "ceil_div takes 2 arguments, found 1 at column 12 of \"ceil_div(1)\"");
  CHECK(error_of("max()") == "max takes at least 1 argument, found 0 at column 6 of \"max()\"");
  CHECK(error_of("mx(1,2)") ==
        "unknown function 'mx' (known: min, max, ceil_div, cbrt or if) at column 1 of \"mx(1,2)\" (did you mean 'max'?)");
}

TEST_CASE("overflow and division by zero are errors, never wrapped", "[core]") {
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  CHECK(value_of("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  CHECK(value_of("-9223372036854775808") == kMin);
  CHECK(value_of("N % -1", {{"N", kMin}}) == 0);
  CHECK(error_of("9223372036854775808").find("does not fit 64 bits") != std::string::npos);
  CHECK(error_of("9223372036854775807 + 1") == "9223372036854775807 + 1 does not fit 64 bits in \"9223372036854775807 + 1\"");
  CHECK(error_of("N * N", {{"N", std::int64_t{1} << 40}}).find("does not fit") != std::string::npos);
  CHECK(error_of("N / -1", {{"N", kMin}}).find("does not fit") != std::string::npos);
  CHECK(error_of("ceil_div(N, -1)", {{"N", kMin}}).find("does not fit") != std::string::npos);
  CHECK(error_of("-N", {{"N", kMin}}).find("does not fit") != std::string::npos);
  CHECK(error_of("4 / (N - 2)", {{"N", 2}}) == "division by zero: 4 / 0 in \"4 / (N - 2)\"");
  CHECK(error_of("4 % 0").find("division by zero") != std::string::npos);
}

TEST_CASE("mistakes in expressions are named with their column", "[core]") {
  CHECK(error_of("1 + ") == "expected a number, a name or '(', found the end at column 5 of \"1 + \"");
  CHECK(error_of("").find("found the end") != std::string::npos);
  CHECK(error_of("1 2") == "expected an operator, found '2' at column 3 of \"1 2\"");
  CHECK(error_of("(1") == "expected ')' at column 3 of \"(1\"");
  CHECK(error_of("1.5").find("whole numbers") != std::string::npos);
  CHECK(error_of("1 < 2 < 3").find("do not chain") != std::string::npos);
  CHECK(error_of("Heads", {{"heads", 1}}) == "unknown name 'Heads' in \"Heads\" (did you mean 'heads'?)");
  CHECK(error_of(std::string("1\0", 2)).find("expected an operator") != std::string::npos);
}

TEST_CASE("deep and long expressions are refused, long flat ones are not", "[core]") {
  CHECK(error_of(repeated("(", 300) + "1" + repeated(")", 300)).find("nested deeper than 200") != std::string::npos);
  CHECK(error_of(repeated("-", 4000) + "x").find("nested deeper than 200") != std::string::npos);
  CHECK(error_of(repeated("1+", 3000) + "1").find("longer than the limit") != std::string::npos);
  CHECK(value_of(repeated("1+", 2000) + "1") == 2001);
  CHECK(value_of(repeated("(", 150) + "1" + repeated(")", 150)) == 1);
}

TEST_CASE("cube roots are whole numbers, rounded down", "[core]") {
  CHECK(value_of("cbrt(0)") == 0);
  CHECK(value_of("cbrt(26)") == 2);
  CHECK(value_of("cbrt(27)") == 3);
  CHECK(value_of("cbrt(-8)") == -2);
  CHECK(value_of("cbrt(-9)") == -3);
  CHECK(value_of("cbrt(9223372036854775807)") == 2097151);
  CHECK(error_of("cbrt(1, 2)").find("cbrt takes 1 argument") != std::string::npos);
}

TEST_CASE("an expression knows its text, its names and whether it is a number", "[core]") {
  const auto expr = Expr::parse("max(b, a) + b");
  REQUIRE(expr.ok());
  CHECK(expr->names() == std::vector<std::string>{"a", "b"});
  CHECK(expr->text() == "max(b, a) + b");
  CHECK_FALSE(expr->is_constant());
  CHECK(Expr(-5).text() == "-5");
  CHECK(Expr(-5).is_constant());
  CHECK(Expr::parse("-12")->is_constant());
  CHECK(Expr().evaluate({}).value() == 0);
}
