// Arguments of heddle layout.
#include "app/command/command_rows.h"
#include "app/command/commands.h"
#include "app/command/shared_options.h"

namespace heddle::app {

CommandSpec layout_row() {
  using namespace spec;
  const auto name = [](std::string flag, std::string value, std::string about) {
    return OptionSpec{std::move(flag), "", std::move(value), std::move(about), ValueType::Name, {}, 0, 0, false};
  };
  PositionalSpec kernel = kKernel;
  kernel.about =
      "shipped kernel or path, as for the other commands; or a layout by itself: CuTe's \"Sw<3,3,3> o (64,64):(64,1)\", Triton's "
      "\"{register = [[0, 1]], lane = ...}\" or \"#ttg.blocked<{...}>\", or a name (with --shape): \"accumulator\", \"panels 128\"";
  PositionalSpec machine = optional(kMachine);
  machine.about += "; a layout by itself takes its instructions from there (default h100)";
  return {
      "layout",
      "how a tile lies in registers, lanes, warps, bytes and banks, where lanes meet in a bank and why, and what else could be chosen",
      {"heddle layout attention_backward_hopper h100", "heddle layout attention_backward_hopper h100 --value dqs0",
       "heddle layout gemm_hopper h100 --op stage0 --svg stage0.svg --colour bank",
       "heddle layout \"Sw<3,3,3> o (64,64):(64,1)\" --type f16 --access ldmatrix.x4",
       "heddle layout \"panels 128\" --shape 64,64 --type f32 --with accumulator --access st.shared.8",
       "heddle layout \"(64,64):(64,1)\" --access ldmatrix.x4 --compare \"Sw<3,3,3> o (64,64):(64,1)\" --png pair.png"},
      {kernel,
       machine,
       {"SCHEDULE",
        "shipped schedule or path, whose layouts and instructions are meant; without one the default ones",
        PositionalType::Schedule,
        false,
        {}}},
      {name("--value", "VALUE", "show this value of the kernel (without --value and --op: a table of all)"),
       name("--op", "OP", "show how this op moves it; alone: the value in shared memory that it moves"),
       name("--compare", "OTHER", "beside another: a value of the kernel, a schedule, or, of a layout by itself, another layout"),
       name("--type", "TYPE", "of a layout by itself: type of its elements: f32, bf16, f16, f8e4m3, f8e5m2, i32, i8, i4 (default f16)"),
       name("--shape", "ROWS,COLUMNS", "of a layout by itself: its tile, where the text does not say it"),
       name("--access", "INSTRUCTION",
            "of a layout by itself: the instruction that moves it, ldmatrix.x4 or st.shared.16. Without --with, registers follow from the "
            "instruction: matrices as its fragment has them, further ones below, then beside; ld and st.shared.N with N bytes per lane "
            "side by "
            "side in a row, lanes along the row, then down; one warp, from left to right, then downwards"),
       name("--with", "LAYOUT",
            "of a layout by itself: the layout on the other side: registers of a tile in memory, or the other way round"),
       name("--machine", "MACHINE", "of a layout by itself: whose instructions (as MACHINE)"),
       choice("--colour", "WHAT", {"warp", "lane", "register", "bank", "phase"}, "what colours show (default lane; of memory alone bank)"),
       toggle("--all", "the whole grid and all alternatives, however long"),
       toggle("--csv", "print a row per element: row,column,warp,lane,register,copies,byte,bank,issue,phase"),
       file("--svg", "", "write the picture"),
       file("--png", "", "write the picture as pixels"),
       choice("--theme", "THEME", {"light", "dark"}, "colours of the picture (default light)"),
       kParam,
       kSubtile,
       kLoop,
       kPass,
       kReading,
       kSet,
       kLayout,
       kInstruction,
       kJson},
      run_layout};
}

}  // namespace heddle::app
