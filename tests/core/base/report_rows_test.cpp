// Markdown of foreign words: whatever a file holds stays text.
#include <catch2/catch.hpp>

#include "core/base/report_rows.h"

using namespace heddle;

TEST_CASE("in Markdown foreign words are text: no link, tag, stress, code, formula, mention or end of a cell", "[core]") {
  CHECK(markdown_safe("[x](javascript:alert(1)):33") == "\\[x\\](javascript:alert(1)):33");
  CHECK(markdown_safe("![x][y] [y]: z") == "!\\[x\\]\\[y\\] \\[y\\]: z");
  CHECK(markdown_safe("<a href=x>&lt;") == "&lt;a href=x>&amp;lt;");
  CHECK(markdown_safe("a|b `c` *d* ~~e~~ $f$ \\|") == "a\\|b \\`c\\` \\*d\\* \\~\\~e\\~\\~ \\$f\\$ \\\\\\|");
  // What a reader makes into a link or a mention by itself.
  CHECK(markdown_safe("https://a.b FTP://a") == "https:<!-- -->//a.b FTP:<!-- -->//a");
  CHECK(markdown_safe("www.a.b Www.a") == "www<!-- -->.a.b Www<!-- -->.a");
  CHECK(markdown_safe("@team a@b.c") == "@<!-- -->team a@<!-- -->b.c");
  CHECK(markdown_safe("two\nlines\x1b[31m") == "two?lines?\\[31m");
}

TEST_CASE("names and numbers stay as they are in Markdown", "[core]") {
  for (const char* plain : {"ttng.warp_group_dot", "kernels.py:125", "II 2048 -> 1024, 3.5 % less", "a: b (line 3)", "C:/x", "4 x 128 #0"})
    CHECK(markdown_safe(plain) == plain);
  CHECK(markdown_safe("__init__ _x_ a_") == "\\_\\_init\\_\\_ \\_x\\_ a\\_");
}

TEST_CASE("rows of a report have three cells whatever their words are", "[core]") {
  const std::string table = rows_markdown({{RowMark::Wrong, "a|b", "c|d", {"e|f", "[g](h)"}}});
  CHECK(table.ends_with("| ✗ | a\\|b | c\\|d<br>e\\|f<br>\\[g\\](h) |\n"));
}
