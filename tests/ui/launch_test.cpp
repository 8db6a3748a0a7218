// A PTX in the window: dropped, checked, its hang read, found in the lanes and in the text, closed again.
#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "app/session/commands.h"
#include "app/session/launch_state.h"
#include "core/base/atomic_file.h"
#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"
#include "tests/support/window/harness.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;

namespace {

std::string hanging() { return test::repository_path("assets/ptx/hanging_gemm.ptx"); }

void open(Harness& h, const std::string& path) {
  h.drop(path);
  h.frame(2);
  h.wait_while([&] { return h.session().launch().active(); });
  h.frame(3);
}

}  // namespace

TEST_CASE("a dropped PTX is checked, and its hang leads to lanes and lines", "[ui]") {
  Harness h(test::solve_toy);
  open(h, hanging());
  REQUIRE(h.session().launch().answer());
  const ptx::Checked& checked = *h.session().launch().answer()->front().as.checked;
  CHECK(checked.verdict == ptx::CheckVerdict::NotInOrder);
  REQUIRE(checked.timeline);
  CHECK(checked.timeline->circle.size() == 2);
  REQUIRE(h.has("launch/finding/0"));
  h.click("launch/finding/0");
  h.frame(3);
  REQUIRE(h.has("launch/related/1"));
  h.click("launch/related/1");
  h.frame(3);
  // Zoom, move, and the whole again: nothing of it may go wrong at any size.
  h.wheel("launch/lanes", 6);
  h.drag("launch/lanes", 80, -40);
  h.double_click("launch/lanes");
  h.frame(2);
  h.click("launch/again");
  h.wait_while([&] { return h.session().launch().active(); });
  CHECK(h.session().launch().answer()->front().as.checked->findings.size() == checked.findings.size());
}

TEST_CASE("a PTX and a kernel take each other's place", "[ui]") {
  Harness h(test::solve_toy);
  h.session().apply(OpenPair{"toy_fig1", "toy", false});
  h.frame(2);
  open(h, test::repository_path("assets/ptx/hanging_gemm.json"));
  CHECK(h.session().launch().open());
  CHECK_FALSE(h.session().content().kernel);
  REQUIRE(h.has("launch/finding/0"));
  h.session().apply(Undo{});  // the kernel comes back, and stands before the launch
  h.frame(2);
  CHECK(h.session().content().kernel);
  CHECK_FALSE(h.has("launch/finding/0"));
  h.session().apply(CloseDocument{});
  h.frame(2);
  CHECK_FALSE(h.session().launch().open());
  CHECK(h.has("welcome/open"));
}

TEST_CASE("each kernel of a text with several is a launch to choose", "[ui]") {
  const std::string path = (std::filesystem::temp_directory_path() / fmt::format("heddle_launch_{}.ptx", ::getpid())).string();
  const std::string plain =
      ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry first() .reqntid 32, 1, 1\n{\n ret;\n}\n"
      ".visible .entry second(.param .u32 n) .reqntid 32, 1, 1\n{\n ret;\n}\n";
  Harness h(test::solve_toy);
  REQUIRE(write_file(path, plain));
  open(h, path);
  REQUIRE(h.session().launch().answer());
  const OpenedLaunches& launches = *h.session().launch().answer();
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].as.name.ends_with("#second"));  // not all of its parameters are known: it stands in front
  CHECK_FALSE(launches[0].as.checked);
  CHECK(launches[0].text);
  CHECK(launches[1].as.checked);
  h.click("launch/launch/1");
  h.frame(3);
  h.session().apply(CloseDocument{});
  open(h, path + "#first");
  REQUIRE(h.session().launch().answer());
  CHECK(h.session().launch().answer()->size() == 1);
  std::filesystem::remove(path);
}

TEST_CASE("a file that is no PTX says so, and nothing is lost", "[ui]") {
  Harness h(test::solve_toy);
  open(h, test::repository_path("README.md") + ".ptx");  // is not there
  CHECK_FALSE(h.session().launch().answer());
  REQUIRE(h.session().error());
  h.session().apply(DismissError{});
  open(h, hanging());
  CHECK(h.session().launch().answer());
}
