// Options of heddle calibrate.
#include "app/command/command_rows.h"
#include "app/command/commands.h"
#include "app/command/shared_options.h"

namespace heddle::app {

CommandSpec calibrate_row() {
  using namespace spec;
  return {
      "calibrate",
      "measure what each kind of tile instruction costs on the GPU, and in what phases lanes go to shared memory, and write a machine "
      "file with those numbers",
      {"heddle calibrate h200 --out h200-measured.json", "heddle calibrate h100 --emit-only micro",
       "heddle calibrate h100 --contention all --out contention.json"},
      {kMachine},
      with_host_options(
          {{"--emit-only", "", "DIR", "write the micro-kernels into DIR and compile them; needs no GPU", ValueType::File, {}, 0, 0, false},
           choice("--contention", "WHAT", {"accepted", "served", "beside", "turn", "softmax", "shared-memory", "widths", "all"},
                  "instead: what warp groups take from each other, beside the machine file's numbers and their ranges; writes "
                  "heddle.contention/1"),
           choice("--compiler", "NAME", {"auto", "nvrtc", "nvcc"}, "which compiler (default: NVRTC, else nvcc)"),
           {"--limit",
            "",
            "S",
            "seconds without a sign of life before the kernels' process is killed (default 60)",
            ValueType::Seconds,
            {},
            0,
            3600,
            false},
           file("--out", "-o", "where to write the machine file, or the readings; - is standard output (the default)")}),
      run_calibrate};
}

}  // namespace heddle::app
