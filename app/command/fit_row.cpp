// The command table's row of heddle fit.
#include "app/command/command_rows.h"
#include "app/command/commands.h"
#include "app/command/shared_options.h"

namespace heddle::app {

CommandSpec fit_row() {
  using namespace spec;
  return {"fit",
          "the numbers that a machine file marks as fitted, estimated again from measured kernels, or those of contention from races, with "
          "the error for what is left out",
          {"heddle fit h100", "heddle fit h100 --kind gemm --out my_h100.json", "heddle fit my_gpu.json measured.jsonl --json",
           "heddle fit h100 race.json --out my_h100.json"},
          {kMachine,
           {"FILES",
            "measurements, as for heddle validate, or races (heddle.race/1); those measurements that ship with Heddle when left out",
            PositionalType::Files,
            false,
            {}}},
          {{"--kind",
            "",
            "KIND",
            "only rows of this kind (gemm, attention_forward_causal ...); may be given several times",
            ValueType::Name,
            {},
            0,
            0,
            true},
           file("--out", "-o",
                "write the machine file with the fitted numbers, nothing else in it moves but, with races, their sources; - writes it to "
                "standard output"),
           file("--ground", "", "what the machines' names stand for (heddle.validation/1; default: shipped)"),
           {"--timeout", "", "S", "seconds for everything together (default: no limit)", ValueType::Seconds, {}, 0, kMostSeconds, false},
           kNoStore,
           kJson},
          run_fit};
}

}  // namespace heddle::app
