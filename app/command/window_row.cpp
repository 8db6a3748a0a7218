// Options of heddle gui, which are those of heddle-gui.
#include "app/command/command_rows.h"
#include "app/command/commands.h"
#include "app/command/shared_options.h"

namespace heddle::app {

CommandSpec window_row() {
  using namespace spec;
  OptionSpec overlays = choice("--show", "OVERLAY", {"critical", "whiskers", "barriers", "tensor-memory", "queues", "dependences"},
                               "on the screenshot's chart; may be given several times");
  overlays.repeats = true;
  return {
      "gui",
      "open the window (heddle-gui), or make a picture of it without a display",
      {"heddle gui", "heddle gui gemm_hopper h100", "heddle gui toy_fig1 toy --solve --screenshot toy.png"},
      {{"KERNEL",
        "shipped kernel or any file of Heddle's (default: the welcome screen; of a screenshot attention_forward_hopper)",
        PositionalType::Kernel,
        false,
        {}},
       {"MACHINE", "shipped machine or path (default: the first that runs the kernel)", PositionalType::Machine, false, {}},
       {"SCHEDULE", "the schedule that is shown first", PositionalType::Schedule, false, {}}},
      {file("--schedule", "", "the same as SCHEDULE"),
       {"--kernel", "", "NAME", "of a PTX: which of its kernels (default: all)", ValueType::Name, {}, 0, 0, false},
       kConstraints,
       kParam,
       kLoop,
       kPass,
       kReading,
       kSet,
       kLayout,
       kInstruction,
       kDemand,
       toggle("--solve", "solve before the screenshot is taken (the window solves anyway)"),
       toggle("--no-solve", "do not solve at the start"),
       choice("--tab", "TAB", {"explain",     "slack",    "ops",          "units",    "machine", "log",    "what_if", "constraints",
                               "sensitivity", "pareto",   "alternatives", "family",   "compare", "triton", "audit",   "truth",
                               "graph",       "pipeline", "layout",       "simulate", "cuda",    "runs",   "sweep"},
              "the tab under the chart"),
       {"--select", "", "OP", "select this op", ValueType::Name, {}, 0, 0, false},
       choice("--mode", "MODE", {"steady", "unrolled", "pipeline", "contended"}, "of the chart"),
       integer("--iterations", "N", 1, 64, "of the unrolled and pipeline charts"),
       choice("--theme", "THEME", {"dark", "light", "high_contrast"}, "colours, for this time only"),
       integer("--scale", "PERCENT", 50, 300, "size of everything, for this time only"),
       toggle("--welcome", "start with the welcome screen"),
       file("--screenshot", "", "write a PNG instead of opening a window; needs no display"),
       {"--size", "", "WxH", "of the screenshot (default 1600x900)", ValueType::Name, {}, 0, 0, false},
       {"--do",
        "",
        "STEP",
        "before the screenshot: an action's id (solve, compare), click:NAME, right:NAME, hover:NAME, drag:NAME:DX:DY, drop, type:TEXT, or "
        "list, which prints the names; & behind it: without waiting for the solver; may be given several times",
        ValueType::Name,
        {},
        0,
        0,
        true},
       integer("--begin", "CYCLE", -kMostCycles, kMostCycles, "of the screenshot's chart: the first visible cycle, with --end"),
       integer("--end", "CYCLE", -kMostCycles, kMostCycles, "of the screenshot's chart: the last visible cycle, with --begin"),
       overlays,
       toggle("--chart-only", "the screenshot is of the chart, not of the whole window"),
       toggle("--contrasts", "print the contrasts of every colour in the three themes, and leave"),
       integer("--frames", "N", 1, 1'000'000, "leave after so many frames and say when the first was shown")},
      run_gui};
}

}  // namespace heddle::app
