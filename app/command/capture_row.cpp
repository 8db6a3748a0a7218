// Arguments of heddle capture.
#include "app/command/command_rows.h"
#include "app/command/commands.h"
#include "app/command/shared_options.h"

namespace heddle::app {

CommandSpec capture_row() {
  using namespace spec;
  return {"capture",
          "run a program of yours, without a GPU if need be, and write down what it launches: PTX, grid, parameters, tensor maps and small "
          "arrays, a heddle.launch/1 file each",
          {"heddle capture -o launches -- ./my_test --size 4096", "heddle capture --target sm_100a -- python3 my_script.py"},
          {{"PROGRAM", "the program and its arguments, behind --", PositionalType::Files, true, {}}},
          {{"--out", "-o", "FOLDER", "where the launches are written (default: launches)", ValueType::File, {}, 0, 0, false},
           toggle("--force", "the folder may hold launches of an earlier capture, which are removed"),
           choice("--target", "ARCH", {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_120a"},
                  "the GPU that the program is to believe in (default: the one that is here, else sm_90a)"),
           {"--texts",
            "",
            "FOLDER",
            "where a compiler kept the PTX of kernels of which the program has machine code only",
            ValueType::File,
            {},
            0,
            0,
            false},
           integer("--contents", "BYTES", 0, 1 << 24, "what memory of at most so many bytes holds is written, too (default 65536)"),
           integer("--most", "N", 1, 1'000'000, "stop writing after so many different launches (default 1000)"),
           toggle("--no-gpu", "launch nothing on the GPU that is here"),
           kJson},
          run_capture};
}

}  // namespace heddle::app
