// What stands between the program and a terminal: control characters, and how the program is called in messages.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>
#include <string>

#include "app/command/called.h"
#include "app/command/printable_stream.h"
#include "app/command/terminal.h"
#include "tests/app/cli_support.h"

using namespace heddle::app;
using heddle::test::contains;
using heddle::test::run_heddle;

namespace {

std::string through(const std::vector<std::string>& pieces, PrintableStream::Keeps keeps = {}) {
  std::ostringstream to;
  PrintableStream stream(to, keeps);
  for (const std::string& piece : pieces) stream << piece;
  stream << std::flush;
  return to.str();
}

/// "heddle" again at its end.
struct Called {
  explicit Called(const char* first_word, const char* named = "") {
    ::setenv("HEDDLE_CALLED", named, 1);
    called_as(first_word);
  }
  ~Called() {
    ::setenv("HEDDLE_CALLED", "heddle", 1);
    called_as(nullptr);
    ::unsetenv("HEDDLE_CALLED");
  }
};

}  // namespace

TEST_CASE("control characters do not pass, whichever way they come in pieces", "[app]") {
  const std::string text = "a\u009bb\u2066c\bd\x1b[31me\u00e9\n\tf\x9b\u20ac";
  const std::string safe = "a??b?c?d?[31me\u00e9\n\tf?\u20ac";
  CHECK(through({text}) == safe);
  std::vector<std::string> bytes;
  for (const char c : text) bytes.push_back(std::string(1, c));
  CHECK(through(bytes) == safe);
}

TEST_CASE("colours pass where there are colours, and a line may be redrawn where that was said", "[app]") {
  const std::string text = "\x1b[31mred\x1b[0m\r\x1b[K\x1b[2J\x1b]0;title\x07";
  CHECK(through({text}, {true, false}) == "\x1b[31mred\x1b[0m??[K?[2J?]0;title?");
  CHECK(through({text}, {false, true}) == "?[31mred?[0m\r\x1b[K?[2J?]0;title?");
  CHECK(through({"\x1b", "[3", "1m"}, {true, false}) == "\x1b[31m");
  CHECK(through({"\x1b"}, {true, false}) == "?");
  CHECK(through({"\x1b[" + std::string(40, '1') + "m"}, {true, false}) == "?[" + std::string(40, '1') + "m");
}

TEST_CASE("data keeps its bytes, unless it goes to a screen", "[app]") {
  const std::string bytes = "a\x1b[2J\u2066\xff";
  std::ostringstream file, screen;
  {
    PrintableStream to_file(file), to_screen(screen, {}, true);
    to_file << "before " << std::string("\xc2");
    to_file.data() << bytes;
    to_screen.data() << bytes;
  }
  CHECK(file.str() == "before \xc2" + bytes);
  CHECK(screen.str() == "a?[2J?\xff");
}

TEST_CASE("a message of several lines goes on indented, so that none looks like another message", "[app]") {
  std::ostringstream text;
  PrintableStream out(text), err(text);
  Terminal{out, err, {}}.complain("one\nheddle: two\n\n");
  CHECK(text.str() == "heddle: one\n        heddle: two\n");
}

TEST_CASE("commands in messages are what was typed", "[app]") {
  CHECK(as_called("see heddle list") == "see heddle list");
  CHECK(program_called() == "heddle");
  {
    const Called called("build/release/heddle");
    CHECK(as_called("see heddle list, heddle solve x.json; (heddle check)") ==
          "see build/release/heddle list, build/release/heddle solve x.json; (build/release/heddle check)");
    CHECK(as_called("heddle eval.") == "build/release/heddle eval.");
    // These are no commands.
    for (const char* other : {"heddle on box is version 1", "./heddle list", "x/heddle solve", "my-heddle list", "heddle list.json",
                              "heddle solves", "heddle list/x", "heddle: list", "heddle", "heddle "})
      CHECK(as_called(other) == other);
    CHECK(contains(run_heddle({"--help"}).out, "build/release/heddle COMMAND [arguments]"));
    CHECK(contains(run_heddle({"solve", "--help"}).out, "  build/release/heddle solve toy_fig1 toy --json\n"));
    CHECK(contains(run_heddle({"solve"}).err, "usage: build/release/heddle solve KERNEL"));
    CHECK(contains(run_heddle({"new", "gemm", "x"}).err, "build/release/heddle new PATTERN --list has the names"));
  }
  {
    const Called called("folder of mine/heddle-gui");
    CHECK(program_called() == "'folder of mine/heddle'");
  }
  {
    const Called called("build/release/heddle", "./run.sh --no-install");
    CHECK(as_called("heddle list") == "./run.sh --no-install list");
  }
  {
    const Called called("a\x1b[2J/heddle");
    CHECK(program_called().find('\x1b') == std::string::npos);
  }
}
