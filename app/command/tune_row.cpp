// Options of heddle tune.
#include "app/command/command_rows.h"
#include "app/command/commands.h"
#include "app/command/shared_options.h"

namespace heddle::app {

CommandSpec tune_row() {
  using namespace spec;
  return {
      "tune",
      "which configuration is best: tile sizes, sub-tiling, groups, stages, persistent CTAs; the solver inside, bounds that exclude with "
      "proof",
      {"heddle tune gemm_hopper h100", "heddle tune attention_forward_tile_hopper h100 --budget 30 --history tuning.jsonl",
       "heddle tune gemm_hopper h100 --space space.json --method exhaustive --json", "heddle tune --show tuning.jsonl"},
      {optional(kKernel), optional(kMachine)},
      {file("--space", "", "what may vary (heddle.space/1; default: what the kernel file suggests)"),
       toggle("--print-space", "print the space and do nothing else: a beginning for a file of one's own"),
       integer("--budget", "N", 1, 1'000'000, "evaluations (default 40; exhaustive: all)"),
       choice(
           "--method", "METHOD", {"baco", "random", "bandit", "exhaustive"},
           "constrained Bayesian optimisation (default), uniform random search, a bandit over mutations and steps, or one after the other"),
       choice("--fidelity", "RUNG", {"bound", "heuristic", "evaluator", "simulator", "solver", "gpu"},
              "how a configuration is judged: its lower bound; a schedule placed without proof, at its II, at its sustained period, or run "
              "on the whole "
              "grid; the solver's schedule, run on the whole grid (default); or compiled and timed on this machine's GPU"),
       choice(
           "--objective", "NAME", {"cycles", "steady", "microseconds"},
           "cycles of the whole kernel on the whole machine (default), the same at II with all SMs busy, or measured microseconds (gpu)"),
       choice("--require", "WHAT", {"nothing", "written", "compiled"},
              "schedules that cannot be written as CUDA, or do not compile clean, are refused, and the tuner learns to avoid them (default "
              "nothing; gpu: compiled)"),
       choice("--arbitration", "RULE", {"scheduled", "first-come", "interleaved"},
              "of the simulator, as in heddle simulate (default interleaved)"),
       kParam,
       kSet,
       kLayout,
       kInstruction,
       file("--history", "", "append every evaluation to FILE (heddle.tuning/1) and go on from what it holds"),
       file("--show", "", "print what a history says, and evaluate nothing"),
       {"--timeout", "", "S", "seconds for everything together (default: no limit)", ValueType::Seconds, {}, 0, kMostSeconds, false},
       {"--solve-timeout",
        "",
        "S",
        "seconds of the solver for one configuration (default 10)",
        ValueType::Seconds,
        {},
        0,
        kMostSeconds,
        false},
       integer("--seed", "N", 0, kMost, "seed of the search and of the solver (default 0)"),
       toggle("--no-prune", "evaluate also what is proved not to win"),
       toggle("--no-ladder", "choose among promising configurations without asking the simulator first"),
       kNoStore,
       file("--out", "-o", "save the best configuration's schedule (heddle.schedule/1)"),
       kJson},
      run_tune};
}

}  // namespace heddle::app
