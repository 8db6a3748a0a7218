// The command table's row of heddle period.
#include "app/command/command_rows.h"
#include "app/command/commands.h"
#include "app/command/shared_options.h"

namespace heddle::app {

CommandSpec period_row() {
  using namespace spec;
  return {
      "period",
      "the program with the least period, where warp groups take tensor core, registers and turns from each other; hand schedules beside "
      "it",
      {"heddle period attention_forward_hopper h100", "heddle period attention_forward_hopper h100 --param KV=176 --out least.json",
       "heddle period attention_forward_hopper h100 --if exp0.duration=-10% --if TC.capacity=+1",
       "heddle period gemm_hopper h100 gemm_hopper/cutlass-pingpong --json"},
      {kKernel, kMachine, schedule(false)},
      with_recalled_solver_options(
          {integer("--programs", "N", 0, 1'000'000'000, "compare at most so many (default 10000000)"),
           {"--if",
            "",
            "NUMBER=VALUE",
            "also: what becomes of the period, in the answer's order and at its least, if this number alone were another "
            "one (as for --set); may be given several times",
            ValueType::Change,
            {},
            0,
            0,
            true},
           file("--out", "", "write the answer's schedule"),
           kJson}),
      run_period};
}

}  // namespace heddle::app
