// The shipped hand schedules: made from tests/solver/baselines/hand_programs.cpp, judged by the checker and by the event graph.
// HEDDLE_UPDATE_GOLDENS=1 test_solver "[hand]" writes the files anew.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "core/analysis/period.h"
#include "core/check/checker.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "tests/solver/baselines/hand_programs.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

std::string path_of(const test::HandProgram& hand) {
  return test::repository_path("kernels/schedules/" + hand.kernel + "/" + hand.name + ".json");
}

std::string text_of_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("the shipped hand schedules are what their programs give", "[solver][hand]") {
  const char* update = std::getenv("HEDDLE_UPDATE_GOLDENS");
  std::set<std::string> known;
  for (const test::HandProgram& hand : test::hand_programs()) {
    const Problem problem = test::problem_of(hand);
    const std::string text = schedule_text(problem, test::schedule_of(hand, problem)), path = path_of(hand);
    known.insert(std::filesystem::path(path).lexically_normal().string());
    if (update && *update) {
      std::filesystem::create_directories(std::filesystem::path(path).parent_path());
      std::ofstream(path, std::ios::binary) << text;
    }
    INFO(path);
    CHECK(text_of_file(path) == text);
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::repository_path("kernels/schedules")))
    if (entry.is_regular_file()) {
      INFO(entry.path().string() << " has no program");
      CHECK(known.count(entry.path().lexically_normal().string()) == 1);
    }
}

TEST_CASE("hand schedules are legal but for the violations that their program names, and their period is within II", "[solver][hand]") {
  for (const test::HandProgram& hand : test::hand_programs()) {
    INFO(hand.kernel << "/" << hand.name);
    const Problem problem = test::problem_of(hand);
    const auto schedule = read_schedule(path_of(hand), problem);
    REQUIRE(schedule);
    CHECK(schedule->provenance.kind == "hand");
    CHECK_FALSE(schedule->provenance.note.empty());
    std::set<std::string> families;
    for (const Violation& violation : check(problem, *schedule).violations) {
      families.insert(violation.family);
      UNSCOPED_INFO(violation.message);
    }
    CHECK(families == std::set<std::string>(hand.violations.begin(), hand.violations.end()));
    const Period period = sustainable_period(problem, *schedule);
    CHECK_FALSE(period.deadlock);
    CHECK(period.cycles() <= schedule->ii);
  }
}
