// The command table's row of heddle race.
#include "app/command/command_rows.h"
#include "app/command/commands.h"
#include "app/command/shared_options.h"

namespace heddle::app {

CommandSpec race_row() {
  using namespace spec;
  return {
      "race",
      "programs of a kernel against each other on the GPU: the best by the model, some unlike them, hand schedules, heuristics; in turn "
      "until ranks are settled",
      {"heddle race attention_forward_hopper h100 --out race.json --schedule fastest.json",
       "heddle race gemm_hopper h100 --best 10 --minutes 2 --json", "heddle race gemm_hopper h100 --racers race.json --on gpu-box"},
      {kKernel, kMachine, schedule(false)},
      with_recalled_solver_options(with_host_options(
          {integer("--best", "N", 0, 100, "programs of the least period by the model (default 6)"),
           integer("--far", "N", 0, 100, "beside them, programs within 10 percent of the least that differ most (default 2)"),
           toggle("--no-heuristics", "not what compilers and classical algorithms make of it, as heddle compare has them"),
           file("--racers", "", "the programs of an earlier race (heddle.race/1), and no others"),
           integer("--rounds", "N", 1, 10'000, "rounds at most (default 40); ranks are settled after eight at the earliest"),
           integer("--minutes", "N", 1, 1000, "for the rounds (default 5); choosing and compiling come before"),
           integer("--launches", "N", 1, 1'000'000, "of each program in each round, after a rest (default 20)"),
           integer("--warmups", "N", 1, 1'000'000, "launches before them (default 5)"),
           integer("--sustained", "N", 0, 1'000'000, "launches without a pause in each round (default 200; 0: none)"),
           toggle("--no-verify", "do not look at the results"),
           choice("--compiler", "NAME", {"auto", "nvrtc", "nvcc"}, "which compiler (default: NVRTC, else nvcc)"), kCluster, kNoTurns,
           kLeastRings, kCut, file("--out", "-o", "where to keep the race (heddle.race/1)"),
           file("--schedule", "", "where to write the winner, \"measured fastest of N\""), kJson})),
      run_race};
}

}  // namespace heddle::app
