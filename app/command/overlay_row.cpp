// Arguments of heddle overlay.
#include "app/command/command_rows.h"
#include "app/command/commands.h"
#include "app/command/shared_options.h"

namespace heddle::app {

CommandSpec overlay_row() {
  using namespace spec;
  return {"overlay",
          "lay what another profiler recorded inside a kernel over a schedule: a Chrome or Perfetto trace as JSON",
          {"heddle overlay attention_forward_hopper h100 proton.chrome_trace --out measured.json",
           "heddle overlay attention_forward_hopper h100 trace.json fa3.json --map names.json"},
          {kKernel,
           kMachine,
           {"TRACE",
            "path of the trace: Triton's Proton writes one; of FlashInfer's profiler, what traceconv makes of it",
            PositionalType::Name,
            true,
            {}},
           schedule(false)},
          with_recalled_solver_options(
              {file("--map", "", "which op their names stand for, and what their times count (heddle.trace_map/1)"),
               file("--out", "-o", "write the measurement (heddle.measurement/1), which the window lays over the chart"), kJson}),
          run_overlay};
}

}  // namespace heddle::app
