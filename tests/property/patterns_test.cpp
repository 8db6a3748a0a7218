// What heddle new writes can be used at once: read, solved, judged by the checker, and executed as its formula says, for options drawn
// at random.
#include <catch2/catch.hpp>

#include <iostream>
#include <random>

#include "core/check/checker.h"
#include "core/formats/kernel_json.h"
#include "core/kernel/evaluate.h"
#include "core/library/library.h"
#include "core/patterns/pattern.h"
#include "core/problem/resolve.h"
#include "solver/search/solve.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

constexpr std::uint64_t kSeed = 20261123;
constexpr int kRounds = 5;  ///< of each pattern; the first with nothing said

std::string text_of(const PatternChoices& choices) {
  std::string text;
  for (const auto& [name, value] : choices) text += " " + name + "=" + value;
  return text;
}

/// Most options as usual; sizes small, because heddle eval runs them.
PatternChoices drawn(const Pattern& pattern, std::mt19937_64& random) {
  PatternChoices choices;
  for (const PatternOption& option : pattern.options) {
    if (random() % 2 == 0) continue;
    if (option.type != PatternOption::Type::Integer)
      choices[option.name] = option.choices[random() % option.choices.size()];
    else if (option.name == "columns")
      choices[option.name] = std::to_string(256 * (1 + random() % 4));
    else if (option.name == "group")
      choices[option.name] = std::to_string(1 + random() % 3);
    else if (option.name != "q_len" && option.name != "kv_len")
      choices[option.name] = std::to_string(option.step * (1 + random() % 100));
  }
  choices.erase("kv");  // a tile of keys must divide the keys, and leave room for the heads
  return choices;
}

}  // namespace

TEST_CASE("kernels from patterns are read, solved, valid and compute their formula", "[property]") {
  const auto machine = load_machine(test::repository_path("assets/machines/h100.json"));
  REQUIRE(machine.ok());
  std::mt19937_64 random(kSeed);
  for (const Pattern& pattern : patterns())
    for (int round = 0; round < kRounds; ++round) {
      const PatternChoices choices = round == 0 ? PatternChoices{} : drawn(pattern, random);
      CAPTURE(kSeed, round, pattern.name + text_of(choices));
      const auto made = kernel_of(pattern, choices);
      REQUIRE(made.ok());
      const auto kernel = parse_kernel(kernel_text(*made), "k.json", nullptr);
      REQUIRE(kernel.ok());
      REQUIRE(kernel_text(*kernel) == kernel_text(*made));

      const auto report = evaluate(*kernel);
      INFO((report.ok() ? report->tensors.at(0).worst : to_string(report.error())));
      REQUIRE(report.ok());
      CHECK(report->pass);
      // Blocks of keys that a table lists, in groups of heads, are no formula that is known.
      const auto is = [&](const char* option, const char* value) { return choices.contains(option) && choices.at(option) == value; };
      const bool unknown = is("mask", "blocks") && choices.contains("group") && !is("group", "1");
      CHECK(report->tensors.at(0).compared == !unknown);

      const auto problem = resolve(*kernel, *machine);
      INFO((problem.ok() ? std::string() : to_string(problem.error())));
      REQUIRE(problem.ok());
      solver::SolveRequest request;
      request.problem = *problem;
      request.objectives = {};  // a schedule of least II; which of them is another test's subject, and takes a minute for some
      const SolveOutcome outcome = solver::solve(request);
      REQUIRE(outcome.schedule.has_value());
      CHECK(check(*problem, *outcome.schedule).valid());
    }
}
