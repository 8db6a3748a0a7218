// Plain text: names that cannot steer a terminal, tables whose last column is a sentence, counts.
#include <catch2/catch.hpp>

#include "core/base/text_style.h"

using namespace heddle;

TEST_CASE("names cannot turn the direction of writing or begin a new line", "[core]") {
  CHECK(printable("a\u202eb\u2066c\u2028d") == "a?b?c?d");
  CHECK(printable("a\x1b[31mb\u0085c\xe2\x80") == "a?[31mb??c\xe2\x80");
  CHECK(printable("a \u2013 b \u00b7 c") == "a \u2013 b \u00b7 c");
  CHECK(printable("a\u200eb\u200fc\u061cd\be\x7f") == "a?b?c?d?e?");
  CHECK(printable("a\x9b"
                  "31m\xff") == "a?31m\xff");
  CHECK(printable("\U0001F9F5\u010d\u20ac") == "\U0001F9F5\u010d\u20ac");
}

TEST_CASE("the last column of a table goes on in further lines where there is no room", "[core]") {
  const std::vector<TextColumn> columns{{"n", true}, {"why"}};
  const std::vector<std::vector<std::string>> rows{{"7", "nobody knows for certain why this is so long"}, {"12", "short"}};
  CHECK(text_table(columns, rows, 34) ==
        "   n  why\n"
        "   7  nobody knows for certain why\n"
        "      this is so long\n"
        "  12  short\n");
  CHECK(text_table(columns, rows) ==
        "   n  why\n"
        "   7  nobody knows for certain why this is so long\n"
        "  12  short\n");
}

TEST_CASE("one query, two queries", "[core]") {
  CHECK(count_of(1, "query", "queries") == "1 query");
  CHECK(count_of(0, "query", "queries") == "0 queries");
  CHECK(count_of(2, "cycle") == "2 cycles");
}
