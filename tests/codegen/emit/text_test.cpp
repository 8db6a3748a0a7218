// Text in parts that are put together in another order than they are written in: lines, indentation, and whose lines are whose.
#include "codegen/emit/text.h"

#include <catch2/catch.hpp>

using namespace heddle::codegen;

namespace {

SourceSpan of_role(std::size_t role) {
  SourceSpan span;
  span.role = role;
  return span;
}

}  // namespace

TEST_CASE("lines stand as far to the right as what is open around them", "[codegen]") {
  CudaText text;
  text.open("for (int i = {}; i < {}; ++i) {{", 0, 4);
  text.open();
  text.raw("a[i] = 0;");
  text.close();
  text.close("}  // all");
  CHECK(text.str() == "for (int i = 0; i < 4; ++i) {\n  {\n    a[i] = 0;\n  }\n}  // all\n");
}

TEST_CASE("what is written apart leaves the text as it was, and stands where it is appended", "[codegen]") {
  CudaText text;
  text.open("{{");
  const CudaText later = text.apart([&] { text.raw("second"); });
  const CudaText deeper = text.apart([&] { text.open("deeper {{"); }, 1);  // and what it leaves open
  text.raw("first");
  text.append(later);
  text.append(deeper);
  text.close();
  CHECK(text.str() == "{\n  first\n  second\n    deeper {\n}\n");
  CHECK(text.mentions("second"));
  CHECK_FALSE(text.mentions("third"));
}

TEST_CASE("spans are lines of the whole text, however it was put together", "[codegen]") {
  CudaText text;
  const CudaText steps = text.apart([&] {
    text.begin_span(of_role(1));
    text.line("one\nand {}", "two");  // a line may have line ends of its own
    text.end_span();
    text.raw("nobody's");
    text.begin_span(of_role(2));
    text.raw("four");
    text.end_span();
  });
  text.raw("head");
  text.begin_span(of_role(0));
  text.raw("own");
  text.end_span();
  text.append("as it is\n");
  text.append(steps);
  REQUIRE(text.spans().size() == 3);
  const auto lines = [&](std::size_t span) { return std::pair{text.spans()[span].first_line, text.spans()[span].last_line}; };
  CHECK(lines(0) == std::pair{2, 2});
  CHECK(lines(1) == std::pair{4, 5});
  CHECK(lines(2) == std::pair{7, 7});
  for (std::size_t span = 0; span < 3; ++span) CHECK(text.spans()[span].role == span);
  CHECK(text.str() == "head\nown\nas it is\none\nand two\nnobody's\nfour\n");
}

TEST_CASE("a step that writes nothing has no span", "[codegen]") {
  CudaText text;
  text.begin_span(of_role(0));
  text.end_span();
  CHECK(text.spans().empty());
}
