// Arguments of heddle emit, compile and interpret: from a schedule to a kernel.
#include "app/command/command_rows.h"
#include "app/command/commands.h"
#include "app/command/shared_options.h"

namespace heddle::app {

CommandSpec emit_row() {
  using namespace spec;
  return {"emit",
          "write the kernel that a schedule stands for as CUDA C++ (sm_90a or sm_100a, as the machine): the text that suits the compiler, "
          "where there is one",
          {"heddle emit gemm_hopper h100 -o gemm.cu", "heddle emit attention_forward_hopper h100 fa.json --program",
           "heddle emit attention_forward_hopper h100 --format package -o attention",
           "heddle emit gemm_hopper h100 -o gemm.cu --launch gemm.json"},
          {kKernel, kMachine, schedule(false)},
          reworded(with_recalled_solver_options(
                       {toggle("--program", "print the steps of every role as pseudocode instead"), kTrips, kCluster, kNoTurns, kLeastRings,
                        kSizes, kCut, kAgain, kJudge, kRecords,
                        toggle("--no-compile", "write the first text, whatever a compiler would have against it"),
                        choice("--format", "FORMAT", {"text", "package", "torch"},
                               "text: the kernel by itself (default); package: a folder with host code, a C interface, a "
                               "build file and an example; torch: an operator of PyTorch, for pip"),
                        file("--out", "-o", "where to write; - is standard output (the default); of a package the folder"),
                        toggle("--force", "write a package into a folder that holds other files, too"),
                        file("--schedule", "", "where to write the schedule that it is of: the last that was solved"),
                        file("--launch", "", "where to write how the text is launched (heddle.launch/1), for heddle check of its PTX")}),
                   "--timeout", "seconds for all searches together (default 60)"),
          run_emit};
}

CommandSpec compile_row() {
  using namespace spec;
  return {
      "compile",
      "compile the kernel that a schedule stands for with NVRTC or nvcc, and judge what ptxas says; needs no GPU",
      {"heddle compile gemm_hopper h100", "heddle compile attention_forward_hopper h100 fa.json --out fa.cubin --compiler nvcc"},
      {kKernel, kMachine, schedule(false)},
      reworded(
          with_recalled_solver_options(
              {choice("--compiler", "NAME", {"auto", "nvrtc", "nvcc"}, "which compiler (default: NVRTC, else nvcc)"),
               choice("--arch", "ARCH", {"sm_90a", "sm_100a", "sm_100f", "sm_103a"}, "architecture of the cubin (default: the machine's)"),
               toggle("--no-cache", "compile even if this very text has been compiled before"), kTrips, kCluster, kNoTurns, kLeastRings,
               kSizes, kCut, kAgain, kJudge, kRecords, file("--out", "-o", "where to write the cubin"),
               file("--cuda", "", "where to write the CUDA text that it is of"),
               file("--schedule", "", "where to write the schedule that it is of: the last that was solved"),
               toggle("--allow", "what ptxas and the audit have against the kernel is said, and no failure"), kJson}),
          "--timeout", kEverything),
      run_compile};
}

CommandSpec interpret_row() {
  using namespace spec;
  return {"interpret",
          "run the kernel's roles on the CPU in many interleavings and look for deadlocks and races",
          {"heddle interpret gemm_hopper h100 --trips 9", "heddle interpret attention_forward_hopper h100 fa.json --interleavings 10000"},
          {kKernel, kMachine, schedule(false)},
          reworded(with_recalled_solver_options(
                       {integer("--interleavings", "N", 1, 1'000'000'000, "how many orders of events to try (default 1000)"),
                        integer("--tiles", "N", 1, 64, "tiles that the block works through (default 2)"), kTrips, kCluster, kNoTurns,
                        kLeastRings, kSizes, kCut, kAgain,
                        toggle("--data", "with real data, at the kernel's evaluation sizes, compared with heddle eval (default 3 orders)"),
                        kJson}),
                   "--timeout", kEverything),
          run_interpret};
}

}  // namespace heddle::app
