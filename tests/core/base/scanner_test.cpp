// The scanner under everything that is read by hand: where it stands after each step, and that no byte and no end surprises it.
#include <catch2/catch.hpp>

#include <cstdint>
#include <string>

#include "core/base/scanner.h"

using namespace heddle;

TEST_CASE("a scanner skips blanks before what it looks for, and stays where that is not", "[scanner]") {
  Scanner in("  a <= \t b1\n");
  CHECK(in.peek() == 'a');
  CHECK(in.at() == 2);
  CHECK(in.name() == "a");
  CHECK_FALSE(in.take("<<"));
  CHECK(in.at() == 4);
  CHECK(in.take("<="));
  CHECK(in.here() == ' ');
  CHECK(in.name() == "b1");
  CHECK(in.since(2) == "a <= \t b1");
  CHECK_FALSE(in.at_end());
  CHECK(in.done());
  CHECK(in.at_end());
}

TEST_CASE("what is blank is said once", "[scanner]") {
  Scanner in(" \n x", " ");
  CHECK(in.peek() == '\n');
  CHECK_FALSE(in.take('x'));
  CHECK(in.take('\n'));
  CHECK(in.take('x'));
}

TEST_CASE("names are ASCII and begin with no digit", "[scanner]") {
  Scanner in("_a9 9a \xC3\xA9");
  CHECK(in.name() == "_a9");
  CHECK(in.name().empty());
  CHECK(in.run(is_digit) == "9");
  CHECK(in.name() == "a");
  CHECK(in.name().empty());
  CHECK(in.rest() == "\xC3\xA9");
}

TEST_CASE("a number that does not fit is a fault and leaves the place", "[scanner]") {
  Scanner in("9223372036854775808 -12x");
  std::int64_t number = 5;
  CHECK(in.number(number) == std::errc::result_out_of_range);
  CHECK(in.at() == 0);
  std::uint64_t large = 0;
  CHECK(in.number(large) == std::errc());
  CHECK(large == std::uint64_t{1} << 63);
  CHECK(in.number(number) == std::errc::invalid_argument);  // a blank
  in.skip_blanks();
  CHECK(in.number(number) == std::errc());
  CHECK(number == -12);
  CHECK(in.rest() == "x");
}

TEST_CASE("a text is a number only as a whole", "[scanner]") {
  CHECK(read_number<int>("-7") == -7);
  CHECK(read_number<double>("1e3") == 1000.0);
  for (const char* text : {"", " 7", "7 ", "+7", "7x", "99999999999"}) CHECK_FALSE(read_number<int>(text));
}

TEST_CASE("strings end at their quote, with what is escaped inside", "[scanner]") {
  Scanner in(R"("a\"b\\" 'c"')");
  CHECK(Scanner(in).unquoted() == "a\"b\\");
  CHECK(in.string() == R"("a\"b\\")");
  CHECK(in.peek() == '\'');
  CHECK(in.unquoted() == "c\"");
  CHECK(in.at_end());
}

TEST_CASE("a string that nothing closes goes to the end", "[scanner]") {
  for (const std::string text : {"\"", "\"ab", "\"ab\\\"", "\"ab\\"}) {
    Scanner in(text);
    CHECK_FALSE(Scanner(in).unquoted());
    CHECK(in.string() == text);
    CHECK(in.at_end());
  }
}

TEST_CASE("NUL is a byte like others, and behind the end stands nothing", "[scanner]") {
  const std::string text("\0a", 2);
  Scanner in(text);
  CHECK(in.peek() == '\0');
  CHECK_FALSE(in.done());
  CHECK(in.take('\0'));
  CHECK(in.here(0) == 'a');
  CHECK(in.here(1) == '\0');
  in.go(99);
  CHECK(in.at() == 2);
  CHECK_FALSE(in.take('\0'));
  CHECK(in.here() == '\0');
  CHECK(in.string().empty());
  CHECK(in.name().empty());
  CHECK(in.rest().empty());
}
