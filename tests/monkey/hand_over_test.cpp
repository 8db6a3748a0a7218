// Answers that meet documents which are gone: many short lives of a window, with pauses where threads hand over to it, left with
// everything at work. HEDDLE_SEED=N replaces the first seed, HEDDLE_RUNS=N the number of lives.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "app/session/environment.h"
#include "app/session/proposal_commands.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "core/triton/audit/comparison.h"
#include "core/triton/read/program.h"
#include "tests/monkey/monkey.h"
#include "tests/monkey/pauses.h"
#include "tests/support/last_inputs.h"
#include "tests/support/paths.h"
#include "tests/support/sweep_files.h"
#include "tests/support/truth_files.h"
#include "tests/support/wait.h"
#include "tests/support/window/invariants.h"

using namespace heddle;
using namespace heddle::app;
using namespace heddle::test;

namespace {

int runs_or(int usual) {
  const char* given = std::getenv("HEDDLE_RUNS");
  return given && *given ? std::atoi(given) : usual;
}

/// What begins work, ends it, or takes away what it is about.
Command rash_command(Random& random, const Session& session, const Cage& cage, const std::string& history) {
  static const std::vector<std::string> kKernels{"toy_fig1", "toy_fig1", "gemm_hopper", "attention_forward_hopper"};
  static const std::vector<std::string> kMachines{"h100", "h200", "toy", "b200"};
  static const std::vector<BottomTab> kTabs{BottomTab::Graph, BottomTab::Cuda,  BottomTab::Slack, BottomTab::Explain, BottomTab::WhatIf,
                                            BottomTab::Sweep, BottomTab::Audit, BottomTab::Truth, BottomTab::Triton,  BottomTab::Layout};
  static const std::vector<std::string> kTexts{"gemm_descriptors.sm90.scheduled.ttgir", "attention_forward.sm90.scheduled.ttgir",
                                               "swiglu_dual.sm100.scheduled.ttgir", "layer_norm.sm90.scheduled.ttgir"};
  static const std::vector<double> kSeconds{0.01, 0.1, 1, 60};
  const bool yes = chance(random, 2);
  switch (pick(random, 27)) {
    case 0:
    case 1: {
      const std::string& kernel = pick_of(random, kKernels);
      return OpenPair{kernel, kernel == "toy_fig1" ? "toy" : "h100", !chance(random, 3)};
    }
    case 2: return CloseDocument{};
    case 3: return ProveShown{};
    case 4: return yes ? Command(StartSolve{}) : Command(ContinueSolve{});
    case 5: return CancelSolve{};
    case 6:
    case 7:
    case 8: {
      Ask ask;
      ask.topic = kTopics[pick(random, std::size(kTopics))];
      ask.options.timeout_seconds = pick_of(random, kSeconds);
      return ask;
    }
    case 9: return CancelAsk{kTopics[pick(random, std::size(kTopics))]};
    case 10: return SwitchMachine{pick_of(random, kMachines), yes};
    case 11:
    case 12: return Undo{};
    case 13: return Redo{};
    case 14: return RemoveSchedule{pick(random, 3)};
    case 15: return WriteKernel{yes};
    case 16: return CheckKernel{static_cast<std::int64_t>(1 + pick(random, 50)), chance(random, 4)};
    case 17: return yes ? Command(BuildKernel{}) : Command(CancelKernel{static_cast<KernelStep>(pick(random, 4))});
    case 18:
    case 19: return show_tab(pick_of(random, kTabs));
    case 20:
      return yes                 ? Command(OpenSweep{history})
             : chance(random, 2) ? Command(CloseSweep{})
                                 : Command(OpenPoint{pick(random, 5), chance(random, 2)});
    case 21: return TogglePin{OpId(pick(random, 6))};
    case 22: return SelectOp{OpId(pick(random, 6)), yes};
    case 23:
      return yes                 ? Command(Validate{})
             : chance(random, 2) ? Command(CancelValidation{})
             : chance(random, 2) ? Command(SelectPublished{pick(random, 3)})
                                 : Command(OpenPublished{pick(random, 3)});
    case 24: return OpenFile{repository_path("tests/triton/texts/" + pick_of(random, kTexts)), yes};
    case 25:
      return yes                 ? Command(ShowSide{triton::kAllWhose[pick(random, triton::kAllWhose.size())]})
             : chance(random, 2) ? Command(CancelTriton{})
             : chance(random, 2) ? Command(CompareTriton{})
                                 : Command(ShowPart{{{}, {}, chance(random, 2) ? "free" : "triton"}});
    default: return random_command(random, session, cage.files());
  }
}

void live_and_leave(std::uint64_t seed, const Cage& cage, const std::string& history, const TruthTools& truth) {
  Random random(seed);
  const RandomPauses pauses(seed);
  Environment environment;
  environment.ask = built_in_answers();
  environment.truth = truth;
  environment.autosave_folder = (cage.folder() / "autosave").string();
  Harness h(chance(random, 2) ? warm_solver() : built_in_solver(), 1280, 720, std::move(environment));
  begin_inputs(fmt::format("a life with HEDDLE_SEED={}", seed));
  for (std::size_t n = 5 + pick(random, 30); n-- > 0;) {
    Command command = rash_command(random, h.session(), cage, history);
    if (name_of(command) == "use_scale") continue;  // a new font atlas each
    remember_input(name_of(command));
    h.window().ui().commands.push(std::move(command));
    h.frame(static_cast<int>(pick(random, 4)));
    h.session().requests().quit = false;
  }
  INFO("HEDDLE_SEED=" << seed << ", the last inputs:\n" << last_inputs());
  CHECK(broken_invariants(h.session()) == std::vector<std::string>());
  CHECK(h.session().close(kPatience));
}

void live_often(int runs) {
  const std::uint64_t first = seed_or(1);
  runs = runs_or(runs);
  fmt::print("{} short lives from HEDDLE_SEED={}\n", runs, first);
  std::fflush(stdout);
  Random random(first);
  const Cage cage(random);
  const auto problem = resolve(*load_kernel("toy_fig1"), *load_machine("toy"));
  REQUIRE(problem.ok());
  const std::string history = (cage.folder() / "h.tuning.jsonl").string();
  std::ofstream(history) << toy_history(*problem);
  const TruthFiles truth;
  for (int i = 0; i < runs; ++i) live_and_leave(first + static_cast<std::uint64_t>(i), cage, history, truth.tools());
}

}  // namespace

TEST_CASE("answers that meet documents which are gone are dropped", "[ui]") { live_often(30); }
TEST_CASE("thousands of answers that meet documents which are gone are dropped", "[ui][.slow]") { live_often(3000); }
