// What all parts of the session work on: what is said with its time, and what goes with the problem that it pointed into.
#include "app/session/open_document.h"

#include <catch2/catch.hpp>

using namespace heddle::app;
using namespace heddle;

namespace {

TEST_CASE("what is said carries the time since the session began, and a failure waits to be read", "[app]") {
  double time = 5;
  OpenDocument document([&] { return time; });
  time = 7;
  document.say(LogLevel::Good, "saved");
  document.fail("Cannot open a.json", Error::input("it is no file of ours"));
  REQUIRE(document.log.size() == 3);
  CHECK(document.log[0].seconds == 2);
  CHECK(document.log[1].text == "Cannot open a.json");
  CHECK(document.log[2].text.find("it is no file of ours") != std::string::npos);
  REQUIRE(document.error);
  CHECK(document.error->title == "Cannot open a.json");
}

TEST_CASE("what points into a problem goes with it", "[app]") {
  OpenDocument document({});
  document.selection.ops = {OpId(1)};
  document.view.highlight.ops = {OpId(2)};
  document.view.alignment.at = Alignment::At::Op;
  document.view.alignment.op = OpId(3);
  const std::uint64_t before = document.revision;
  document.changed();
  CHECK(document.revision > before);
  CHECK(document.selection.empty());
  CHECK(document.view.highlight.ops.empty());
  CHECK(document.view.alignment.at != Alignment::At::Op);
}

TEST_CASE("a warning stays in view until it is dismissed", "[app]") {
  OpenDocument document({});
  document.warn_aloud({{"folder/a.json", "", "the first", ""}, {"folder/b.json", "", "the last", ""}});
  CHECK(document.log.size() == 2);
  CHECK(document.view.notice == "b.json: the last");
}

}  // namespace
