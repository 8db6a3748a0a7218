// Arguments of heddle traffic.
#include "app/command/command_rows.h"
#include "app/command/commands.h"
#include "app/command/shared_options.h"

namespace heddle::app {

CommandSpec traffic_row() {
  using namespace spec;
  return {"traffic",
          "rings as queues between warp groups: what passes in an iteration, how full they are and who waits for them, whether access or "
          "execution is busier, and what limits",
          {"heddle traffic gemm_hopper h100", "heddle traffic attention_forward_hopper h100 attention_forward_hopper/fa3",
           "heddle traffic gemm_hopper h100 --schedule shallow.json --schedule deep.json",
           "heddle traffic layernorm h100 --jitter 50 --jitter-shape tail --json"},
          {kKernel, kMachine, schedule(false)},
          reworded(with_recalled_solver_options(
                       with_kernel_run_options({{"--schedule",
                                                 "",
                                                 "SCHEDULE",
                                                 "one more schedule, with a row of its own in the balance; may be given several times",
                                                 ValueType::Name,
                                                 {},
                                                 0,
                                                 0,
                                                 true},
                                                toggle("--csv", "print a row per ring as CSV"),
                                                kJson})),
                   "--seed", "seed of the solver (default 0) and of the jitter (default 1)"),
          run_traffic};
}

}  // namespace heddle::app
