// What rows of the command table are made of: a function for each kind of option, the options and positionals that several commands
// share, and lists of them: how a kernel runs, what the solver is asked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "app/command/command_table.h"

namespace heddle::app::spec {

inline constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kMostSeconds = 7 * 24 * 3600;

inline OptionSpec integer(std::string flag, std::string value, std::int64_t low, std::int64_t high, std::string about) {
  return {std::move(flag), "", std::move(value), std::move(about), ValueType::Integer, {}, low, high, false};
}

inline OptionSpec toggle(std::string flag, std::string about) {
  return {std::move(flag), "", "", std::move(about), ValueType::Switch, {}, 0, 0, false};
}

inline OptionSpec file(std::string flag, std::string short_flag, std::string about) {
  return {std::move(flag), std::move(short_flag), "FILE", std::move(about), ValueType::File, {}, 0, 0, false};
}

inline OptionSpec choice(std::string flag, std::string value, std::vector<std::string> choices, std::string about) {
  return {std::move(flag), "", std::move(value), std::move(about), ValueType::Choice, std::move(choices), 0, 0, false};
}

inline constexpr std::int64_t kMostCycles = std::int64_t{1} << 31;

inline const OptionSpec kParam{
    "--param", "-p", "KEY=VALUE", "set a kernel parameter; may be given several times", ValueType::Assignment, {}, 0, 0, true};
inline const OptionSpec kSubtile{"--subtile",
                                 "",
                                 "PARAM=FACTOR",
                                 "cut the tile dimension PARAM into FACTOR equal sub-tiles; may be given several times",
                                 ValueType::Assignment,
                                 {},
                                 0,
                                 0,
                                 true};
inline const OptionSpec kLoop{"--loop",
                              "",
                              "N",
                              "which loop of a compiler's dump or a Triton text (FILE#N says the same, FILE#N,issue-slots names the "
                              "reading too)",
                              ValueType::Integer,
                              {},
                              0,
                              1'000'000,
                              false};
inline const OptionSpec kReading =
    choice("--reading", "READING", {"full", "issue-slots", "triton", "free"},
           "of a compiler's dump: full, with occupancies, hand-offs and credits (default), or issue-slots only, as the compiler; of a "
           "Triton text: triton, what Triton's passes can carry out, or free, all that the machine can do (default)");
inline const OptionSpec kPass{"--pass",
                              "",
                              "PASS",
                              "which text of a log of MLIR_ENABLE_DUMP=1, by the pass that it stands before, or which kernel of a folder "
                              "(FILE#PASS says the same; default: the last before tritongpu-pipeline; heddle list FILE has them all)",
                              ValueType::Name,
                              {},
                              0,
                              0,
                              false};
inline const OptionSpec kEmitter =
    toggle("--emitter",
           "of a compiler's dump: also what its emitter demands: results of mmas read in other groups, no channel out of the group of an "
           "inner loop, iterations one by one, and registers for groups of their width");
inline const OptionSpec kSet{
    "--set",
    "",
    "NUMBER=VALUE",
    "what if: exp0.latency=600, TC.capacity=+1, mma.ss.latency=+10%, limits.smem_bytes=200000, handoff.signal=-20, groups=2; a latency "
    "that is not always the same: tma_load.latency=270:80%,700:18%,1400:2%, scheduled for the 3rd: tma_load.latency_at=3; may "
    "be given several times",
    ValueType::Change,
    {},
    0,
    0,
    true};
inline const OptionSpec kLayout{
    "--layout",
    "",
    "VALUE=LAYOUT",
    "how a value lies, instead of as by default: dqs0=\"panels 64\", or CuTe's or Triton's notation; may be given several times",
    ValueType::Name,
    {},
    0,
    0,
    true};
inline const OptionSpec kInstruction{
    "--instruction",
    "",
    "OP=NAME",
    "in which instruction of the machine's catalogue an op is written: stage_dq0=st.shared.8; with lanes that exchange what they store "
    "stage_dq0=st.shared.8,LANE_BIT,REGISTER_BIT; may be given several times",
    ValueType::Name,
    {},
    0,
    0,
    true};
inline const OptionSpec kChoose{"--choose",
                                "",
                                "NAME",
                                "leave layouts and instructions to the solver: of a value in shared memory (dqs0), of what an op moves "
                                "(stage_dq0), or of \"all\"; what "
                                "--layout and --instruction say stays; may be given several times",
                                ValueType::Name,
                                {},
                                0,
                                0,
                                true};
inline const OptionSpec kJson = toggle("--json", "print one JSON object on standard output");
inline const OptionSpec kConstraints = file("--constraints", "", "demands on the schedule and changed numbers (heddle.constraints/1)");
inline const OptionSpec kDemand{
    "--demand",
    "",
    "SENTENCE",
    "a demand in words: \"pin S at 128\", \"S in group 2\", \"S before O by 64\", \"registers <= 240\", \"at most 3 stages\", "
    "\"layout dqs0 panels 32\", \"store dqs0 by st.shared.8\", \"prepack W off\"; may be given several times",
    ValueType::Name,
    {},
    0,
    0,
    true};
inline const OptionSpec kTrips = integer("--trips", "N", 1, 1'000'000, "trips of the loop (default: what the kernel says)");
inline const OptionSpec kCluster =
    integer("--cluster", "N", 1, 2, "blocks per cluster; 2: neighbours load what both need once, by multicast (default 1)");
inline const OptionSpec kClock{"--clock",
                               "",
                               "CLOCK",
                               "what turns cycles into time: sustained (what the load and the power limit leave; default), max, or MHz",
                               ValueType::Name,
                               {},
                               0,
                               0,
                               false};
inline const OptionSpec kMeasured{"--measured",
                                  "",
                                  "NAME=TFLOPS",
                                  "speed of a known kernel on this device, which scales the sustained clock: cublas_8192=795",
                                  ValueType::Name,
                                  {},
                                  0,
                                  0,
                                  false};
inline const OptionSpec kPower = integer("--power", "W", 1, 1'000'000, "power limit of the device (default: the machine file's)");
inline const OptionSpec kData =
    choice("--data", "DATA", {"random", "zeros"}, "what the tensors hold: zeros need less power (default random)");
inline const OptionSpec kNoTurns = toggle("--no-turns", "let warp groups issue wgmmas in any order: no named barriers keep it");
inline const OptionSpec kLeastRings =
    toggle("--least-rings", "rings as deep as the schedule has them, though shared memory is left for more slots");
inline const OptionSpec kSizes =
    choice("--sizes", "WHEN", {"fixed", "run-time"},
           "sizes that the schedule does not depend on as literals (default), or as an argument of the kernel");
inline const OptionSpec kCut{
    "--cut",
    "",
    "N",
    "where a role's loop begins: 0 is the place with the fewest copies, 1 the next; given several times, for one role after the "
    "other (default 0; compile, run and profile try others where ptxas spills or the audit objects)",
    ValueType::Integer,
    {},
    0,
    63,
    true};
inline const OptionSpec kAgain =
    toggle("--again", "where SCHEDULE cannot become a kernel, or ptxas spoils the kernel, solve again under demands that avoid it");
inline const OptionSpec kJudge{
    "--judge",
    "",
    "S",
    "where no SCHEDULE is given: seconds for compiling the next best orders, too, and comparing their machine code; "
    "the fastest as compiled is the answer; 0: none (default 15, or HEDDLE_JUDGE)",
    ValueType::Seconds,
    {},
    0,
    3600,
    false};
inline const OptionSpec kRecords =
    choice("--records", "WHAT", {"none", "loop", "ops"},
           "write the recording build that heddle run and heddle profile use: clock readings around the steady loop, or around "
           "every op in a window of it (default none)");
inline const OptionSpec kNoStore =
    toggle("--no-store", "search even if the answer is kept from an earlier search (heddle store), and keep none");
inline const OptionSpec kProve =
    toggle("--prove", "prove again what SCHEDULE's file says was proved: only what this run proves is called proved");
inline const PositionalSpec kKernel{
    "KERNEL",
    "shipped kernel or path of a heddle.kernel/1 file; a project (NAME.heddle.json) or a compiler's dump (FILE, "
    "FILE#LOOP, FILE#0,issue-slots) "
    "stands for MACHINE and SCHEDULE too; a Triton text (.ttgir, a log, a folder of its cache; FILE#PASS, FILE#LOOP, FILE#triton) for the "
    "machine of its target",
    PositionalType::Kernel,
    true,
    {}};
inline const PositionalSpec kMachine{"MACHINE", "shipped machine or path of a heddle.machine/1 file", PositionalType::Machine, true, {}};

/// How a kernel is run.
inline std::vector<OptionSpec> with_run_options(std::vector<OptionSpec> options) {
  const std::vector<OptionSpec> running{
      integer("--repeats", "N", 0, 10'000, "runs on the same data that must be bitwise equal (default 20)"),
      integer("--launches", "N", 1, 1'000'000, "launches per timed block (default 50)"),
      integer("--sustained", "N", 0, 1'000'000, "launches timed without a pause, after the blocks (default 500; 0: none)"),
      integer("--warmups", "N", 1, 1'000'000, "launches before the first timed block (default 10)"),
      integer("--blocks", "N", 1, 1000, "timed blocks, in turn with the library's (default 7)"),
      {"--pause",
       "",
       "S",
       "seconds of rest before each block, so that power does not decide (default 0.5)",
       ValueType::Seconds,
       {},
       0,
       60,
       false},
      toggle("--no-verify", "do not look at the results"),
      toggle("--no-library", "time no library beside the kernel"),
      {"--limit",
       "",
       "S",
       "seconds without a sign of life before the kernel's process is killed (default 60)",
       ValueType::Seconds,
       {},
       0,
       3600,
       false},
      integer("--trips", "N", 1, 1'000'000, "trips of the loop (default: what the kernel says); results are then not looked at"),
      kCluster,
      kNoTurns,
      kLeastRings,
      kCut,
      kAgain,
      kJudge,
      choice("--compiler", "NAME", {"auto", "nvrtc", "nvcc"}, "which compiler (default: NVRTC, else nvcc)"),
      file("--out", "-o", "write the measurement to FILE (heddle.measurement/1)"),
      kJson,
  };
  options.insert(options.end(), running.begin(), running.end());
  return options;
}

/// Where a kernel is run instead of here.
inline std::vector<OptionSpec> with_host_options(std::vector<OptionSpec> options) {
  options.push_back({"--on",
                     "",
                     "HOST",
                     "run it on another machine, which ssh reaches without a password (a host, USER@HOST, or a name of its configuration)",
                     ValueType::Name,
                     {},
                     0,
                     0,
                     false});
  options.push_back(file("--package", "",
                         "with --on: the package for servers that is copied there, once (default: what HEDDLE_PACKAGE names, else the one "
                         "in build/packages)"));
  options.push_back({"--remote-program",
                     "",
                     "PATH",
                     "with --on: a heddle that is there already, instead of the package; ~/ is the home there",
                     ValueType::Name,
                     {},
                     0,
                     0,
                     false});
  return options;
}

inline PositionalSpec optional(PositionalSpec positional) {
  positional.required = false;
  return positional;
}

inline PositionalSpec schedule(bool required) {
  return {"SCHEDULE",
          required ? "shipped schedule or path of a heddle.schedule/1 file" : "shipped schedule or path; without one it is solved first",
          PositionalType::Schedule,
          required,
          {}};
}

/// What every command that may start the solver accepts.
inline std::vector<OptionSpec> with_solver_options(std::vector<OptionSpec> options) {
  const std::vector<OptionSpec> solver{
      kParam,
      kSubtile,
      kLoop,
      kPass,
      kReading,
      kEmitter,
      kConstraints,
      kDemand,
      kSet,
      kLayout,
      kInstruction,
      integer("--ii", "N", 1, kMostCycles, "decide exactly this initiation interval, in cycles"),
      {"--timeout",
       "",
       "S",
       "seconds for the whole search (default 60, or HEDDLE_TIMEOUT)",
       ValueType::Seconds,
       {},
       0,
       kMostSeconds,
       false},
      integer("--seed", "N", 0, kMost, "seed of the solver; the same seed gives the same schedule (default 0)"),
      integer("--max-stages", "N", 1, 64, "at most N pipeline stages"),
      integer("--groups", "N", 1, 16, "at most N warp groups, the producer included (default: what the kernel says)"),
  };
  options.insert(options.end(), solver.begin(), solver.end());
  return options;
}

inline const OptionSpec kLeastIi = toggle(
    "--least-ii", "the solver's first schedule of least II, with the fewest stages, instead of the order that is predicted to be fastest");
inline const OptionSpec kRobust =
    toggle("--robust",
           "of the schedules of least II the one whose order stands uncertain numbers best, instead of the one with the fewest stages");
inline const OptionSpec kWithin =
    integer("--within", "N%", 0, 100,
            "where latencies are not always the same: the least shared memory with which the expected period is, for certain, at most N "
            "percent above the least II; else, and with --robust: as --robust, among the schedules whose II is up to N percent above the "
            "least (default 0)");

/// How a schedule is run on the whole grid by the simulator (app/cli/kernel_run_options.h reads them).
inline std::vector<OptionSpec> with_kernel_run_options(std::vector<OptionSpec> options) {
  std::vector<OptionSpec> all{
      integer("--trips", "N", 1, 1'000'000'000'000, "iterations of every tile's loop (default: what the kernel says)"),
      toggle("--causal", "triangular: the b-th of n tiles along the first grid dimension runs (b+1)/n of the iterations"),
      toggle("--persistent", "CTAs stay and take tile after tile; warp groups go on without waiting for each other"),
      toggle("--longest-first", "hand out tiles by falling length, not in the grid's order"),
      integer("--split", "N", 1, 1'000'000'000, "cut tiles of more than N iterations; what the pieces find is added up in global memory"),
      toggle("--second-pass", "pieces of cut tiles meet in a kernel of their own, not by adding"),
      integer("--ctas", "N", 1, 32, "CTAs resident on an SM (default: as many as fit)"),
      integer("--cluster", "N", 1, 16, "CTAs that load together, by multicast, what is the same for neighbours (default 1)"),
      kClock,
      kPower,
      kData,
      kMeasured,
      choice("--arbitration", "RULE", {"scheduled", "first-come", "interleaved", "contended"},
             "who gets a unit: as in the schedule; first come, first served, with queues for asynchronous ops; all who ask, a "
             "few instructions of each in turn (the loop alone then as in the schedule); or so that warp groups take time from each "
             "other, by the machine's contention (default where that was held against measured loops; else interleaved)"),
      kNoTurns,
      toggle("--around", "the time of the kernels before and after it in the same call counts"),
      integer("--jitter", "N", 0, 1000, "percent by which the latencies of loads vary (default 0: constant)"),
      choice("--jitter-shape", "SHAPE", {"uniform", "normal", "tail"},
             "up to N percent both ways (default), a deviation of N percent, or late only, by N percent in the mean"),
      toggle("--jitter-all", "the latencies of all ops vary")};
  all.insert(all.end(), options.begin(), options.end());
  return all;
}

/// The same for commands that want one schedule, which may be known from an earlier search.
inline std::vector<OptionSpec> with_recalled_solver_options(std::vector<OptionSpec> options) {
  options = with_solver_options(std::move(options));
  options.push_back(kChoose);
  options.push_back(kLeastIi);
  options.push_back(kRobust);
  options.push_back(kWithin);
  options.push_back(kNoStore);
  return options;
}

inline std::vector<OptionSpec> without(std::vector<OptionSpec> options, const std::string& flag) {
  std::erase_if(options, [&](const OptionSpec& option) { return option.flag == flag; });
  return options;
}

inline std::vector<OptionSpec> reworded(std::vector<OptionSpec> options, const std::string& flag, std::string about) {
  for (OptionSpec& option : options)
    if (option.flag == flag) option.about = about;
  return options;
}

inline constexpr const char* kEverything =
    "seconds for everything together, fallbacks included (default: 60 for all searches, no limit for the rest)";

}  // namespace heddle::app::spec
