// Options of heddle bench.
#include "app/command/command_rows.h"
#include "app/command/commands.h"
#include "app/command/shared_options.h"

namespace heddle::app {

CommandSpec bench_row() {
  using namespace spec;
  return {"bench",
          "measure on the GPU: what decides the numbers of contention, then the shipped kernels, the simplest first (right results, speed "
          "beside "
          "cuBLAS and cuDNN, variants, profiles, machine costs); started again, it goes on",
          {"heddle bench h200 --minutes 10", "heddle bench h100 --list", "heddle bench h100 --minutes 15 --only contention",
           "heddle bench h100 --only prepare", "heddle bench h100 --only gemm --only gemm-pairs-small --out today"},
          {kMachine},
          {{"--out",
            "-o",
            "DIR",
            "where results go, and where those of an earlier run lie (default bench-MACHINE)",
            ValueType::File,
            {},
            0,
            0,
            false},
           {"--minutes", "", "N", "take what fits into N minutes (default: everything)", ValueType::Integer, {}, 1, 10'000, false},
           {"--only",
            "",
            "WHAT",
            "a step, all steps of a kind (prepare, contention, check, speed, compare, profile, calibrate, sanitize), or those of a kernel "
            "(gemm, attention ...); may be given several times",
            ValueType::Name,
            {},
            0,
            0,
            true},
           {"--schedules",
            "",
            "DIR",
            "schedules that were found before, as KERNEL.json (default: those of the package)",
            ValueType::File,
            {},
            0,
            0,
            false},
           kJudge,
           toggle("--again", "measure again what an earlier run has measured"),
           toggle("--list", "only list the steps"),
           kJson},
          run_bench_command};
}

}  // namespace heddle::app
