// JSON trees: exact integers, order of keys, duplicate keys, syntax errors with their place, and the layout of the
// printer.
#include <catch2/catch.hpp>
#include <limits>

#include "core/base/json.h"
#include "core/base/json_reader.h"
#include "core/base/text_style.h"

using namespace heddle;

namespace {
std::string error_of(const std::string& text) {
  const auto json = parse_json(text, "f.json");
  REQUIRE(!json.ok());
  return to_string(json.error());
}
std::string repeated(const std::string& piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}
}  // namespace

TEST_CASE("JSON keeps integers exact, keys in order, and foreign numbers in their own words", "[core]") {
  const std::string text =
      R"({"z": 9223372036854775807, "a": -9223372036854775808, "big": 18446744073709551615, "x": 1.50, "s": "\u00e9\n\"", "n": null, "l": [true, false, {}]})";
  const auto json = parse_json(text, "");
  REQUIRE(json.ok());
  CHECK(*json->find("z")->integer() == std::numeric_limits<std::int64_t>::max());
  CHECK(*json->find("a")->integer() == std::numeric_limits<std::int64_t>::min());
  CHECK(json->find("big")->number_text() == "18446744073709551615");
  CHECK(json->find("nothing") == nullptr);
  CHECK(json->line() ==
        "{\"z\": 9223372036854775807, \"a\": -9223372036854775808, \"big\": 18446744073709551615, \"x\": 1.50, "
        "\"s\": \"\u00e9\\n\\\"\", \"n\": null, \"l\": [true, false, {}]}");
}

TEST_CASE("doubles are written shortest and read back the same", "[core]") {
  CHECK(Json(0.1).line() == "0.1");
  CHECK(Json(2.0).line() == "2.0");
  CHECK(Json(1e300).line() == "1e+300");
  CHECK(Json(std::numeric_limits<double>::quiet_NaN()).line() == "null");
  CHECK(Json(std::numeric_limits<double>::infinity()).line() == "null");
  CHECK(Json(std::numeric_limits<std::uint64_t>::max()).line() == "18446744073709551615");
  CHECK(Json(-1).line() == "-1");
  CHECK(Json(std::size_t{3}).line() == "3");
}

TEST_CASE("syntax errors have line, column, pointer and a guess", "[core]") {
  CHECK(error_of("") ==
        "f.json: not valid JSON at line 1, column 1: unexpected end of input; expected '[', '{', or a literal "
        "(the file is empty)");
  CHECK(error_of("{\n  \"ops\": [1,\n   2") ==
        "f.json: /ops/2: not valid JSON at line 3, column 5: unexpected end of input; expected ']' (the file is cut "
        "short)");
  CHECK(error_of("[1, 2,]").find("remove the comma before the closing bracket") != std::string::npos);
  CHECK(error_of("{\"a\": 1,}").find("remove the comma before the closing bracket") != std::string::npos);
  CHECK(error_of("[1] 2").find("line 1, column 5") != std::string::npos);
  CHECK(error_of("[\"\x80\"]").find("UTF-8") != std::string::npos);
  CHECK(error_of("{\"a\": NaN}").find("not valid JSON at line 1, column 7") != std::string::npos);
  CHECK(error_of("1e999").find("not valid JSON") != std::string::npos);
}

TEST_CASE("text that is no UTF-8 is written with replacement characters", "[core]") {
  CHECK(Json("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\xA7\xB5").line() == "\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\xA7\xB5\"");
  CHECK(Json("a\xC3").line() == "\"a\uFFFD\"");                    // cut short
  CHECK(Json("\xFFz\x80").line() == "\"\uFFFDz\uFFFD\"");          // never a first byte
  CHECK(Json("\xC0\xAF").line() == "\"\uFFFD\uFFFD\"");            // overlong
  CHECK(Json("\xED\xA0\x80").line() == "\"\uFFFD\uFFFD\uFFFD\"");  // half a surrogate pair
}

TEST_CASE("every key given twice is found", "[core]") {
  CHECK(error_of(R"({"a": {"b": 1, "b": 2, "c": 3, "b": 4}, "a": 1})") ==
        "f.json: /a/b: key given twice in one object (keep one of the two)\n"
        "f.json: /a/b: key given twice in one object (keep one of the two)\n"
        "f.json: /a: key given twice in one object (keep one of the two)");
}

TEST_CASE("nesting without end is refused, not followed", "[core]") {
  CHECK(error_of(repeated("[", 100000)).find("nested deeper than 64 levels") != std::string::npos);
  CHECK(error_of(repeated("{\"a\":", 100000)).find("nested deeper than 64 levels") != std::string::npos);
  CHECK(parse_json(repeated("[", 64) + repeated("]", 64), "").ok());
}

TEST_CASE("the printer puts on one line what fits there", "[core]") {
  Json op = Json::object().set("name", "S").set("in", Json::array().push("q").push("k"));
  Json root = Json::object().set("schema", "x/1").set("empty", Json::array()).set("body", Json::array().push(op).push(op));
  root.set("one", Json::array().push(Json::object().set("a", 1)));
  CHECK(root.pretty() ==
        "{\n"
        "  \"schema\": \"x/1\",\n"
        "  \"empty\": [],\n"
        "  \"body\": [\n"
        "    {\"name\": \"S\", \"in\": [\"q\", \"k\"]},\n"
        "    {\"name\": \"S\", \"in\": [\"q\", \"k\"]}\n"
        "  ],\n"
        "  \"one\": [{\"a\": 1}]\n"
        "}\n");
  CHECK(Json::object().set("l", Json::array().push(10).push(20).push(30)).pretty(14) ==
        "{\n"
        "  \"l\": [\n"
        "    10, 20,\n"
        "    30\n"
        "  ]\n"
        "}\n");
  CHECK(Json().pretty() == "null\n");
  CHECK(Json::object().pretty() == "{\n}\n");
}

TEST_CASE("pointers escape what RFC 6901 escapes", "[core]") {
  CHECK(pointer_to("/a", "b/c~d") == "/a/b~1c~0d");
  CHECK(pointer_to("", std::size_t{3}) == "/3");
}

TEST_CASE("a document that is printed cannot steer a terminal, and is read again as it was", "[core]") {
  const std::string hostile = "a\u009bb\u2066c\u200ed\u061ce\x7f\b\x1b[2J\u20ac\U0001F9F5";
  const std::string text = Json(Json::Object{{hostile, hostile}}).pretty();
  CHECK(printable(text, true) == text);
  CHECK(text.find("\\u009bb\\u2066c\\u200ed\\u061ce\\u007f\\u0008\\u001b[2J\u20ac\U0001F9F5") != std::string::npos);
  const auto again = parse_json(text, "");
  REQUIRE(again.ok());
  CHECK(*again->find(hostile)->string() == hostile);
}

TEST_CASE("a compiler's text is called what it is, not broken JSON", "[core]") {
  const std::string ttgir = "#blocked = #ttg.blocked<{sizePerThread = [1]}>\nmodule { tt.func public @f() { tt.return } }\n";
  const auto json = parse_json(ttgir, "f.ttgir");
  REQUIRE_FALSE(json);
  CHECK(json.error().faults[0].message ==
        "this is TTGIR (MLIR of Triton's GPU dialects), a compiler's text and not JSON; it is not read yet");
  CHECK(json.error().faults[0].hint.find("schedule_graph") != std::string::npos);
  const auto broken = parse_json("{\"name\": \"ttg.local_load\"", "f.json");
  REQUIRE_FALSE(broken);
  CHECK(broken.error().faults[0].message.find("not valid JSON") == 0);
}
