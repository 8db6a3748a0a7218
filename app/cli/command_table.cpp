// The table itself.
#include "app/cli/command_table.h"

#include <algorithm>

#include "app/cli/batch_rows.h"
#include "app/cli/commands.h"
#include "app/cli/option_specs.h"
#include "app/cli/schemas.h"
#include "app/cli/tune_rows.h"

namespace heddle::app {
namespace {

using spec::choice;
using spec::file;
using spec::integer;
using spec::kMost;
using spec::kMostSeconds;
using spec::toggle;

constexpr std::int64_t kMostCycles = std::int64_t{1} << 31;

std::vector<std::string> schema_names() {
  std::vector<std::string> names;
  for (const SchemaKind& kind : schema_kinds()) names.emplace_back(kind.name);
  return names;
}

const OptionSpec kParam{"--param", "-p", "KEY=VALUE", "set a kernel parameter; may be given several times", ValueType::Assignment, {},
                        0,         0,    true};
const OptionSpec kSubtile{"--subtile",
                          "",
                          "PARAM=FACTOR",
                          "cut the tile dimension PARAM into FACTOR equal sub-tiles; may be given several times",
                          ValueType::Assignment,
                          {},
                          0,
                          0,
                          true};
const OptionSpec kLoop{"--loop",
                       "",
                       "N",
                       "which loop of a compiler's dump (FILE#N says the same, FILE#N,issue-slots names the reading too)",
                       ValueType::Integer,
                       {},
                       0,
                       1'000'000,
                       false};
const OptionSpec kReading =
    choice("--reading", "READING", {"full", "issue-slots"},
           "of a compiler's dump: occupancies, hand-offs and credits (default), or issue slots only, as the compiler");
const OptionSpec kEmitter = toggle(
    "--emitter",
    "of a compiler's dump: also what its emitter demands: results of products read in other groups, no channel out of the group of an "
    "inner loop, iterations one by one, and registers for groups of their width");
const OptionSpec kSet{
    "--set",
    "",
    "NUMBER=VALUE",
    "what if: exp0.latency=600, TC.capacity=+1, mma.ss.latency=+10%, limits.smem_bytes=200000, handoff.signal=-20, groups=2; may "
    "be given several times",
    ValueType::Change,
    {},
    0,
    0,
    true};
const OptionSpec kJson = toggle("--json", "print one JSON object on standard output");
const OptionSpec kConstraints = file("--constraints", "", "demands on the schedule and changed numbers (heddle.constraints/1)");
const OptionSpec kDemand{
    "--demand",
    "",
    "SENTENCE",
    "a demand in words: \"pin S at 128\", \"S in group 2\", \"S before O by 64\", \"registers <= 240\", \"at most 3 stages\"; may be "
    "given several times",
    ValueType::Name,
    {},
    0,
    0,
    true};
const OptionSpec kTrips = integer("--trips", "N", 1, 1'000'000, "trips of the loop (default: what the kernel says)");
const OptionSpec kCluster =
    integer("--cluster", "N", 1, 2, "blocks per cluster; 2: neighbours load what both need once, by multicast (default 1)");
const OptionSpec kNoTurns = toggle("--no-turns", "let warp groups issue wgmmas in any order");
const OptionSpec kCut{
    "--cut",
    "",
    "N",
    "where a role's loop begins: 0 is the place with the fewest copies, 1 the next; given several times, for one role after the "
    "other (default 0; compile, run and profile try others where ptxas spills)",
    ValueType::Integer,
    {},
    0,
    63,
    true};
const OptionSpec kAgain =
    toggle("--again", "where SCHEDULE cannot become a kernel, or one that ptxas spoils, solve under the demands that mend it");
const OptionSpec kRecords =
    choice("--records", "WHAT", {"none", "loop", "ops"},
           "write the recording build that heddle run and heddle profile use: clock readings around the steady loop, or around "
           "every op in a window of it (default none)");
const OptionSpec kNoStore = spec::no_store();
const OptionSpec kProve = toggle("--prove", "prove again what SCHEDULE's file says was proved: only what this run proves is called proved");
const PositionalSpec kKernel{"KERNEL",
                             "shipped kernel or path of a heddle.kernel/1 file; a project (NAME.heddle.json) or a compiler's dump (FILE, "
                             "FILE#LOOP, FILE#0,issue-slots) "
                             "stands for MACHINE and SCHEDULE too",
                             PositionalType::Kernel,
                             true,
                             {}};
const PositionalSpec kMachine{"MACHINE", "shipped machine or path of a heddle.machine/1 file", PositionalType::Machine, true, {}};

/// How a kernel is run.
std::vector<OptionSpec> with_run_options(std::vector<OptionSpec> options) {
  const std::vector<OptionSpec> running{
      integer("--repeats", "N", 0, 10'000, "runs on the same data that must be bitwise equal (default 20)"),
      integer("--launches", "N", 1, 1'000'000, "launches per timed block (default 50)"),
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
      kCut,
      kAgain,
      choice("--compiler", "NAME", {"auto", "nvrtc", "nvcc"}, "which compiler (default: NVRTC, else nvcc)"),
      file("--out", "-o", "write the measurement to FILE (heddle.measurement/1)"),
      kJson,
  };
  options.insert(options.end(), running.begin(), running.end());
  return options;
}

PositionalSpec optional(PositionalSpec positional) {
  positional.required = false;
  return positional;
}

PositionalSpec schedule(bool required) {
  return {"SCHEDULE",
          required ? "shipped schedule or path of a heddle.schedule/1 file" : "shipped schedule or path; without one it is solved first",
          PositionalType::Schedule,
          required,
          {}};
}

/// What every command that may start the solver accepts.
std::vector<OptionSpec> with_solver_options(std::vector<OptionSpec> options) {
  const std::vector<OptionSpec> solver{
      kParam,
      kSubtile,
      kLoop,
      kReading,
      kEmitter,
      kConstraints,
      kDemand,
      kSet,
      integer("--ii", "N", 1, kMostCycles, "decide exactly this initiation interval, in cycles"),
      {"--timeout", "", "S", "seconds for the whole search (default 60)", ValueType::Seconds, {}, 0, kMostSeconds, false},
      integer("--seed", "N", 0, kMost, "seed of the solver; the same seed gives the same schedule (default 0)"),
      integer("--max-stages", "N", 1, 64, "at most N pipeline stages"),
      integer("--groups", "N", 1, 16, "at most N warp groups, the producer included (default: what the kernel says)"),
  };
  options.insert(options.end(), solver.begin(), solver.end());
  return options;
}

/// The same for commands that want one schedule, which may be known from an earlier search.
std::vector<OptionSpec> with_recalled_solver_options(std::vector<OptionSpec> options) {
  options = with_solver_options(std::move(options));
  options.push_back(kNoStore);
  return options;
}

std::vector<OptionSpec> without(std::vector<OptionSpec> options, const std::string& flag) {
  std::erase_if(options, [&](const OptionSpec& option) { return option.flag == flag; });
  return options;
}

std::vector<OptionSpec> reworded(std::vector<OptionSpec> options, const std::string& flag, std::string about) {
  for (OptionSpec& option : options)
    if (option.flag == flag) option.about = about;
  return options;
}

constexpr const char* kEverything =
    "seconds for everything together, fallbacks included (default: 60 for all searches, no limit for the rest)";

std::vector<CommandSpec> make_table() {
  const OptionSpec mode = choice("--mode", "MODE", {"steady", "unrolled", "pipeline"},
                                 "one II window, overlapping iterations, or a run from cold start to drain (default steady)");
  const OptionSpec iterations =
      integer("--iterations", "N", 1, 64, "iterations in unrolled and pipeline mode (default 3) and in traces (default 8)");
  const OptionSpec width = integer("--width", "N", 40, 2000, "columns of the timeline (default: the terminal's)");
  return {
      {"solve",
       "find the best schedule and prove it",
       {"heddle solve attention_forward_hopper h100", "heddle solve gemm_hopper h100 --param TILE_N=128 --timeout 10 --out gemm.json",
        "heddle solve toy_fig1 toy --json"},
       {kKernel, kMachine},
       with_recalled_solver_options({file("--out", "-o", "save the schedule (heddle.schedule/1); - writes it to standard output"),
                                     toggle("--require-optimal", "exit with 5 unless the schedule is proved optimal"), kJson}),
       run_solve},
      {"check",
       "judge a schedule by the rules, independently of the solver; exit 0 valid, 4 not",
       {"heddle check toy_fig1 toy schedule.json", "heddle check attention_forward_hopper h100 mine.json --json"},
       {kKernel, kMachine, schedule(true)},
       {kParam, kSubtile, kLoop, kReading, kEmitter, kConstraints, kDemand, kSet, kJson},
       run_check},
      {"audit",
       "what is wrong with the schedules that a compiler dumped: broken dependences, the period they sustain, memory; exit 0 in order, 4 "
       "not",
       {"heddle audit schedule_graph.json", "heddle audit fa.schedule_graph.json --markdown > comment.md",
        "heddle audit dumps/*.json --quiet --no-solve"},
       {{"FILES",
         "dumps: ddg-0.1, schedule_graph 0.1, curated-ddg-0.2, joint-solver-0.1 and 0.2; FILE#N is one loop, FILE#0,issue-slots one by the "
         "compiler's own reading",
         PositionalType::Files,
         true,
         {}}},
       {kLoop,
        toggle("--no-solve", "do not solve the loops anew"),
        {"--timeout",
         "",
         "S",
         "seconds for solving all loops together (default: 10 for one loop in one reading)",
         ValueType::Seconds,
         {},
         0,
         kMostSeconds,
         false},
        integer("--seed", "N", 0, kMost, "seed of the solver; the same seed gives the same schedule (default 0)"),
        toggle("--markdown", "for pasting into a pull request"),
        kJson},
       run_audit},
      {"diff",
       "two schedules side by side: numbers, ops, and where their programs part; exit 0 same program, 4 not",
       {"heddle diff attention_forward_hopper h100 mine.json", "heddle diff gemm_hopper h100 old.json new.json --align MMA1",
        "heddle diff toy_fig1 toy a.json b.json --json"},
       {kKernel,
        kMachine,
        {"A", "shipped schedule or path of a heddle.schedule/1 file", PositionalType::Schedule, true, {}},
        {"B", "the same; without one the solver's schedule", PositionalType::Schedule, false, {}}},
       with_recalled_solver_options({{"--align",
                                      "",
                                      "AT",
                                      "which cycles face each other: start (of the iteration, the default), most (as many ops as "
                                      "possible agree), or an op's name",
                                      ValueType::Name,
                                      {},
                                      0,
                                      0,
                                      false},
                                     toggle("--swap", "A and B the other way round: the solver's schedule, say, as A"),
                                     toggle("--all", "list the ops that do not differ too"),
                                     kJson}),
       run_diff},
      {"compare",
       "hand schedules and heuristics against the optimum: one checker, one evaluator, one table",
       {"heddle compare attention_forward_hopper h100", "heddle compare gemm_hopper h100 mine.json theirs.json --out board.html",
        "heddle compare attention_forward_blackwell b200 --format markdown"},
       {kKernel, kMachine, {"SCHEDULES", "shipped schedules or files that take part too", PositionalType::Files, false, {}}},
       with_solver_options(
           {{"--baseline",
             "",
             "NAME",
             "only this heuristic, with options if wanted (tawa:D=4,P=2); may be given several times (default: all that there are)",
             ValueType::Name,
             {},
             0,
             0,
             true},
            toggle("--no-baselines", "without heuristics"),
            toggle("--no-hand", "without the shipped hand schedules"),
            toggle("--no-solve", "without the solver's own schedule; the bound is then arithmetic only"),
            choice("--format", "FORMAT", {"text", "json", "csv", "markdown", "html"},
                   "of the scoreboard (default: by the name of --out, else text); html has the charts too"),
            file("--out", "-o", "where to write; - is standard output (the default)"),
            choice("--theme", "THEME", {"light", "dark"}, "colours of the charts (default light)"),
            toggle("--all", "say also where each schedule comes from and what a heuristic decided"),
            kJson}),
       run_compare},
      {"analyze",
       "lower bounds on II by arithmetic: units, recurrences, issue",
       {"heddle analyze attention_forward_hopper h100", "heddle analyze gemm_blackwell b200 --json"},
       {kKernel, kMachine},
       {kParam, kSubtile, kLoop, kReading, kSet, kJson},
       run_analyze},
      {"explain",
       "why II is not smaller: what cannot hold together, and what giving way on each would buy",
       {"heddle explain attention_forward_blackwell b200", "heddle explain layernorm h100 --ii 440",
        "heddle explain gemm_hopper h100 --groups 2 --json"},
       {kKernel, kMachine},
       with_solver_options({{"--relax-seconds",
                             "",
                             "S",
                             "at most S seconds for what giving way would buy (default: the time that is left)",
                             ValueType::Seconds,
                             {},
                             0,
                             kMostSeconds,
                             false},
                            toggle("--no-relax", "leave out what giving way would buy"),
                            kJson}),
       run_explain},
      {"slack",
       "how far every op can move at this II: alone, by longest paths, and with --exact over every legal schedule",
       {"heddle slack attention_forward_hopper h100", "heddle slack toy_fig1 toy --exact",
        "heddle slack gemm_hopper h100 --exact --op MMA1 --json"},
       {kKernel, kMachine, schedule(false)},
       with_recalled_solver_options(
           {toggle("--exact", "earliest and latest start over every legal schedule, proved by the solver"),
            {"--op", "", "NAME", "only this op; may be given several times", ValueType::Name, {}, 0, 0, true},
            {"--anchor", "", "NAME", "the op that stands still (default: the one that starts first)", ValueType::Name, {}, 0, 0, false},
            kJson}),
       run_slack},
      {"price",
       "what each user constraint costs in cycles, stages, warps, memory and registers",
       {"heddle price attention_forward_hopper h100 --max-stages 2", "heddle price toy_fig1 toy --max-stages 1 --groups 1 --json",
        "heddle price gemm_hopper h100 --constraints demands.json"},
       {kKernel, kMachine},
       with_solver_options({kJson}),
       run_price},
      {"show",
       "draw the timeline as text",
       {"heddle show toy_fig1 toy", "heddle show attention_forward_hopper h100 --mode pipeline --iterations 4",
        "heddle show gemm_hopper h100 gemm.json --width 160"},
       {kKernel, kMachine, schedule(false)},
       with_recalled_solver_options({mode, iterations, width}),
       run_show},
      {"simulate",
       "run a schedule on the whole grid: cycles, period, stalls; how it bears jitter, wrong numbers and shallow rings",
       {"heddle simulate attention_forward_hopper h100", "heddle simulate gemm_hopper h100 gemm.json --persistent",
        "heddle simulate attention_forward_hopper h100 --causal --longest-first --arbitration first-come",
        "heddle simulate gemm_hopper h100 --jitter 30 --jitter-shape tail", "heddle simulate gemm_hopper h100 --study depth"},
       {kKernel, kMachine, schedule(false)},
       reworded(
           with_recalled_solver_options(
               {integer("--trips", "N", 1, 1'000'000'000'000, "iterations of every tile's loop (default: what the kernel says)"),
                toggle("--causal", "triangular: the b-th of n tiles along the first grid dimension runs (b+1)/n of the iterations"),
                toggle("--persistent", "CTAs stay and take tile after tile; warp groups go on without waiting for each other"),
                toggle("--longest-first", "hand out tiles by falling length, not in the grid's order"),
                integer("--ctas", "N", 1, 32, "CTAs resident on an SM (default: as many as fit)"),
                choice("--arbitration", "RULE", {"scheduled", "first-come"},
                       "who gets a unit: in the schedule's order (default), or first come, first served, with queues for asynchronous ops"),
                integer("--jitter", "N", 0, 1000, "percent by which the latencies of loads vary (default 0: constant)"),
                choice("--jitter-shape", "SHAPE", {"uniform", "normal", "tail"},
                       "up to N percent both ways (default), a deviation of N percent, or late only, by N percent in the mean"),
                toggle("--jitter-all", "the latencies of all ops vary"),
                choice("--study", "STUDY", {"jitter", "numbers", "depth"},
                       "period against jitter, against errors of each machine number, or against ring depths under jitter"),
                integer("--percent", "N", 1, 99, "of --study numbers: how far each number is taken off, both ways (default 10)"),
                integer("--iterations", "N", 1, 10000, "iterations in the exported timeline (default 8)"),
                file("--svg", "", "write the simulated timeline as a picture"),
                file("--trace", "", "write the simulated timeline as a Chrome/Perfetto trace"),
                toggle("--csv", "print the table of ops, or the study, as CSV"), kJson}),
           "--seed", "seed of the solver (default 0) and of the jitter (default 1)"),
       run_simulate},
      {"export",
       "write a timeline, trace, graph or table for other programs",
       {"heddle export toy_fig1 toy --format svg -o toy.svg", "heddle export gemm_hopper h100 gemm.json --format trace -o gemm.trace.json",
        "heddle export attention_forward_hopper h100 --format dot | dot -Tsvg > graph.svg",
        "heddle export gemm_hopper h100 --format pipeline"},
       {kKernel, kMachine, schedule(false)},
       with_recalled_solver_options(
           {choice(
                "--format", "FORMAT",
                {"svg", "trace", "dot", "csv", "text", "pipeline", "json", "schedule_graph", "variants", "joint-solver"},
                "picture, Chrome/Perfetto trace, Graphviz graph (unsolved without SCHEDULE), op table, timeline, "
                "prologue, steady state and epilogue of every warp group as pseudocode, schedule; of a compiler's dump: the dump with this "
                "schedule in it, several as variants, the answer to a joint-solver problem"),
            {"--also",
             "",
             "SCHEDULE",
             "with variants: this one too; may be given several times (default: alternatives of equal II)",
             ValueType::Name,
             {},
             0,
             0,
             true},
            integer("--count", "N", 1, 1000, "with variants: how many alternatives to look for (default 5)"),
            file("--out", "-o", "where to write; - is standard output (the default)"),
            mode,
            iterations,
            integer("--width", "N", 40, 20000, "columns of the text timeline, or pixels of the picture (default 1200)"),
            integer("--begin", "N", -kMostCycles, kMostCycles, "first cycle of the picture (default: all of it)"),
            integer("--end", "N", -kMostCycles, kMostCycles, "last cycle of the picture"),
            choice("--theme", "THEME", {"light", "dark"}, "colours of the picture (default light)"),
            {"--below",
             "",
             "SCHEDULE",
             "draw this one too, under the first on the same axis; a project means its B",
             ValueType::Name,
             {},
             0,
             0,
             false},
            {"--align", "", "AT", "with --below: start, most, or an op's name, as for diff", ValueType::Name, {}, 0, 0, false}}),
       run_export},
      {"emit",
       "write the kernel that a schedule stands for as CUDA C++ (sm_90a)",
       {"heddle emit gemm_hopper h100 -o gemm.cu", "heddle emit attention_forward_hopper h100 fa.json --program"},
       {kKernel, kMachine, schedule(false)},
       reworded(with_recalled_solver_options(
                    {toggle("--program", "print the steps of every role as pseudocode instead"), kTrips, kCluster, kNoTurns, kCut, kAgain,
                     kRecords, file("--out", "-o", "where to write; - is standard output (the default)"),
                     file("--schedule", "", "where to write the schedule that it is of: the last that was solved")}),
                "--timeout", "seconds for all searches together (default 60)"),
       run_emit},
      {"compile",
       "compile the kernel that a schedule stands for with NVRTC or nvcc, and judge what ptxas says; needs no GPU",
       {"heddle compile gemm_hopper h100", "heddle compile attention_forward_hopper h100 fa.json --out fa.cubin --compiler nvcc"},
       {kKernel, kMachine, schedule(false)},
       reworded(
           with_recalled_solver_options(
               {choice("--compiler", "NAME", {"auto", "nvrtc", "nvcc"}, "which compiler (default: NVRTC, else nvcc)"),
                toggle("--no-cache", "compile even if this very text has been compiled before"), kTrips, kCluster, kNoTurns, kCut, kAgain,
                kRecords, file("--out", "-o", "where to write the cubin"), file("--cuda", "", "where to write the CUDA text that it is of"),
                file("--schedule", "", "where to write the schedule that it is of: the last that was solved"), kJson}),
           "--timeout", kEverything),
       run_compile},
      {"interpret",
       "run the kernel's roles on the CPU in many interleavings and look for deadlocks and races",
       {"heddle interpret gemm_hopper h100 --trips 9", "heddle interpret attention_forward_hopper h100 fa.json --interleavings 10000"},
       {kKernel, kMachine, schedule(false)},
       reworded(
           with_recalled_solver_options(
               {integer("--interleavings", "N", 1, 1'000'000'000, "how many orders of events to try (default 1000)"),
                integer("--tiles", "N", 1, 64, "tiles that the block works through (default 2)"), kTrips, kCluster, kNoTurns, kCut, kAgain,
                toggle("--data", "with real data, at the kernel's evaluation sizes, compared with heddle eval (default 3 orders)"), kJson}),
           "--timeout", kEverything),
       run_interpret},
      {"run",
       "run the kernel that a schedule stands for on the GPU: verified, then timed beside the vendor's library",
       {"heddle run gemm_hopper h200 --out gemm.json",
        "heddle run attention_forward_hopper h200 fa.json -p Q_LEN=8192 -p KV_LEN=8192 --json"},
       {kKernel, kMachine, schedule(false)},
       with_recalled_solver_options(with_run_options({toggle("--no-time", "verify only")})),
       run_run},
      {"profile",
       "run the recording build of a kernel on the GPU: what each op did when, beside what the schedule says",
       {"heddle profile gemm_hopper h200",
        "heddle profile attention_forward_hopper h200 fa.json --trace fa-trace.json --out fa-profile.json"},
       {kKernel, kMachine, schedule(false)},
       with_recalled_solver_options(
           with_run_options({file("--trace", "", "write the measured timeline and the prediction as a Chrome/Perfetto trace")})),
       run_profile},
      {"adopt",
       "make the latencies that a profile measured changes of a kernel's numbers, to solve again with",
       {"heddle adopt gemm_hopper h200 gemm-profile.json --out measured.json"},
       {kKernel, kMachine, {"MEASUREMENT", "path of a heddle.measurement/1 file with a profile", PositionalType::Name, true, {}}},
       {file("--out", "-o", "where to write the changes (heddle.constraints/1); - is standard output (the default)")},
       run_adopt},
      {"calibrate",
       "measure what each kind of tile instruction costs on the GPU and write a machine file with those numbers",
       {"heddle calibrate h200 --out h200-measured.json", "heddle calibrate h100 --emit-only micro"},
       {kMachine},
       {{"--emit-only", "", "DIR", "write the micro-kernels into DIR and compile them; needs no GPU", ValueType::File, {}, 0, 0, false},
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
        file("--out", "-o", "where to write the machine file; - is standard output (the default)")},
       run_calibrate},
      {"eval",
       "run a kernel on the CPU and compare it with a direct formula in double precision",
       {"heddle eval attention_forward_hopper", "heddle eval gemm_hopper --param K=128 --json",
        "heddle eval attention_forward_tile_hopper --subtile Q_ROWS=2"},
       {kKernel},
       {kParam,
        kSubtile,
        integer("--seed", "N", 0, kMost, "seed of the random inputs (default 1)"),
        {"--timeout",
         "",
         "S",
         "seconds for everything; exit 5 where they are not enough (default: no limit)",
         ValueType::Seconds,
         {},
         0,
         kMostSeconds,
         false},
        kJson},
       run_eval},
      {"alternatives",
       "schedules as good as the best that differ in groups, order or overlap of iterations",
       {"heddle alternatives attention_forward_hopper h100 --count 5", "heddle alternatives gemm_hopper h100 --differ groups --out-dir .",
        "heddle alternatives toy_fig1 toy --equal ii --json"},
       {kKernel, kMachine},
       with_solver_options(
           {integer("--count", "N", 1, 1000, "stop after N schedules, the first included (default 10)"),
            choice("--differ", "WHAT", {"groups", "order", "stages", "any"},
                   "what tells two schedules apart: the groups of ops; also the order in each; or also the iterations "
                   "that overlap; or all of it (default any)"),
            choice("--equal", "WHAT", {"all", "ii"}, "equal II, stages, warps, memory and registers, or equal II only (default all)"),
            {"--out-dir", "", "DIR", "save each schedule as DIR/KERNEL-1.json, -2 ...", ValueType::File, {}, 0, 0, false},
            kJson}),
       run_alternatives},
      {"latency",
       "how far an op's latency may change before the schedule breaks, and the least II as a step function of it",
       {"heddle latency attention_forward_hopper h100 exp0", "heddle latency attention_forward_hopper h100 QK0 --from 0 --to 4000",
        "heddle latency gemm_hopper h100 load_a gemm.json --json"},
       {kKernel,
        kMachine,
        {"OP", "op of the loop body", PositionalType::Name, true, {}},
        {"SCHEDULE", "whose range to find; without one the optimal schedule's", PositionalType::Schedule, false, {}}},
       with_solver_options({integer("--from", "N", 0, kMostCycles, "least latency asked about (default half the present one)"),
                            integer("--to", "N", 0, kMostCycles, "greatest latency asked about (default twice the present one)"), kJson}),
       run_latency},
      {"family",
       "solve a family of kernels: tile sizes, sub-tiling and warp groups as decisions",
       {"heddle family gemm_hopper h100 --vary TILE_N --vary TILE_K",
        "heddle family attention_forward_tile_hopper h100 --vary subtile:Q_ROWS=1,2 --vary groups=2..4",
        "heddle family attention_forward_hopper,attention_forward_tile_hopper h100 --all-choices --json"},
       {{"KERNELS", "shipped kernels or paths of heddle.kernel/1 files, separated by commas", PositionalType::Kernel, true, {}}, kMachine},
       {{"--vary",
         "",
         "KEY=VALUES",
         "what varies: PARAM=128,192 (PARAM alone: its choices), groups=2..5, subtile:PARAM=1,2,4",
         ValueType::File,
         {},
         0,
         0,
         true},
        toggle("--all-choices", "vary every parameter that lists choices"),
        kParam,
        kSubtile,
        kSet,
        {"--objective",
         "",
         "NAME",
         "what breaks ties first; may be given several times (default stages, warps, smem, tmem, registers; traffic: bytes from "
         "and to global memory per work, before all others)",
         ValueType::Choice,
         {"traffic", "stages", "warps", "smem", "tmem", "registers"},
         0,
         0,
         true},
        {"--timeout", "", "S", "seconds for the whole family (default 60)", ValueType::Seconds, {}, 0, kMostSeconds, false},
        {"--member-timeout",
         "",
         "S",
         "seconds for one member (default: 2 at first, longer in later rounds)",
         ValueType::Seconds,
         {},
         0,
         kMostSeconds,
         false},
        integer("--seed", "N", 0, kMost, "seed of the solver (default 0)"),
        integer("--max-stages", "N", 1, 64, "at most N pipeline stages"),
        integer("--jobs", "N", 1, 64, "members solved at a time (default 1)"),
        toggle("--exhaustive", "solve every member to the end, also those that cannot win"),
        file("--out", "-o", "save the best member's schedule (heddle.schedule/1)"),
        kJson},
       run_family},
      tune_row(optional(kKernel), optional(kMachine), kParam, kSet, kJson),
      {"sensitivity",
       "which machine number, 10 % wrong, changes the least II or the order of the ops",
       {"heddle sensitivity attention_forward_hopper h100", "heddle sensitivity gemm_hopper h100 --percent 25 --all",
        "heddle sensitivity toy_fig1 toy --percent 50 --json"},
       {kKernel, kMachine},
       with_solver_options({integer("--percent", "N", 1, 99, "how far each number is taken off, both ways (default 10)"),
                            toggle("--all", "list the numbers without any effect too"), kJson}),
       run_sensitivity},
      {"pareto",
       "what a smaller II costs: its front against warps, registers, memory or stages, point by point",
       {"heddle pareto gemm_hopper h100 --against smem", "heddle pareto attention_forward_hopper h100 --against registers --against warps",
        "heddle pareto layernorm h100 --out front.json --timeout 2", "heddle pareto layernorm h100 --out front.json --resume"},
       {kKernel, kMachine},
       without(
           with_solver_options(
               {{"--against",
                 "",
                 "RESOURCE",
                 "warps, registers (per thread), smem (bytes), stages or tmem (columns); several make one front of "
                 "all together (default smem)",
                 ValueType::Choice,
                 {"warps", "registers", "smem", "stages", "tmem"},
                 0,
                 0,
                 true},
                integer("--max-ii-factor", "N", 1, 1000000, "do not go beyond N times the least II (default 4)"),
                file("--out", "-o", "keep the front in a file (heddle.pareto/1), rewritten after every step"),
                toggle("--resume", "go on from the file that --out names; what it says was proved is believed, and called the file's word"),
                toggle("--prove", "with --resume: prove all of it again"),
                {"--out-dir", "", "DIR", "save the schedule of each point as DIR/KERNEL-1.json, -2 ...", ValueType::File, {}, 0, 0, false},
                kJson}),
           "--ii"),
       run_pareto},
      {"paper",
       "schedule as the Twill paper does, to the letter, and compare with native cycles",
       {"heddle paper toy_fig1 toy", "heddle paper attention_forward_hopper h100 --u 100",
        "heddle paper gemm_hopper h100 --switch floor=one --json", "heddle paper --list-switches"},
       {optional(kKernel), optional(kMachine)},
       {integer("--u", "N", 1, 1'000'000, "limit on the sum of the normalized costs (default 300)"),
        {"--switch",
         "",
         "NAME=VALUE",
         "decide one point that the paper leaves open; may be given several times",
         ValueType::Name,
         {},
         0,
         0,
         true},
        {"--ablation",
         "",
         "NAME",
         "also decide a change that the paper reports as unsatisfiable; may be given several times",
         ValueType::Choice,
         {"fewer-warps", "no-subtiling", "no-cross-warp"},
         0,
         0,
         true},
        toggle("--list-switches", "print every switch with its default and one sentence"),
        toggle("--all", "every shipped kernel on every machine it fits, as a table"),
        kParam,
        kSubtile,
        kSet,
        {"--timeout",
         "",
         "S",
         "seconds for everything together (default: 60 for each kernel)",
         ValueType::Seconds,
         {},
         0,
         kMostSeconds,
         false},
        integer("--seed", "N", 0, kMost, "seed of the solver; the same seed gives the same schedule (default 0)"),
        kJson},
       run_paper},
      {"list",
       "what is shipped",
       {"heddle list", "heddle list machines", "heddle list kernels --quiet"},
       {{"WHAT",
         "kernels, machines, schedules or kinds (of tile instructions); everything when left out",
         PositionalType::Choice,
         false,
         {"kernels", "machines", "schedules", "kinds"}}},
       {kJson},
       run_list},
      {"schema",
       "print the JSON Schema of a file format",
       {"heddle schema kernel > kernel.schema.json"},
       {{"KIND",
         "kernel, machine, schedule, constraints, project, pareto, simulation, measurement, job (a line of heddle batch's file), result "
         "(of its "
         "results) or space (what heddle tune varies)",
         PositionalType::Choice, true, schema_names()}},
       {},
       run_schema},
      {"completion",
       "print a completion script for a shell",
       {"source <(heddle completion bash)", "heddle completion zsh > ~/.zfunc/_heddle",
        "heddle completion fish > ~/.config/fish/completions/heddle.fish"},
       {{"SHELL", "bash, zsh or fish", PositionalType::Choice, true, {"bash", "zsh", "fish"}}},
       {},
       run_completion},
      {"gui",
       "open the window (heddle-gui)",
       {"heddle gui", "heddle gui kernel.json machine.json"},
       {{"FILES", "kernel, machine and schedule names or files", PositionalType::Files, false, {}}},
       {},
       run_gui},
      {"version", "print the versions of Heddle and of what it was built with", {"heddle version"}, {}, {kJson}, run_version},
      {"help",
       "explain a command",
       {"heddle help solve"},
       {{"COMMAND", "the command to explain; an overview when left out", PositionalType::Command, false, {}}},
       {},
       run_help},
  };
}

}  // namespace

const std::vector<CommandSpec>& command_table() {
  static const std::vector<CommandSpec> table = [] {
    std::vector<CommandSpec> rows = make_table();
    const auto list = std::find_if(rows.begin(), rows.end(), [](const CommandSpec& row) { return row.name == "list"; });
    const std::vector<CommandSpec> more = batch_rows();
    rows.insert(list, more.begin(), more.end());
    for (CommandSpec& row : rows) {
      const bool takes_schedule = std::any_of(row.positionals.begin(), row.positionals.end(),
                                              [](const PositionalSpec& p) { return p.type == PositionalType::Schedule; });
      if (takes_schedule) row.options.push_back(kProve);
    }
    return rows;
  }();
  return table;
}

const std::vector<OptionSpec>& common_options() {
  static const std::vector<OptionSpec> options{
      {"--help", "-h", "", "explain the command", ValueType::Switch, {}, 0, 0, false},
      {"--quiet", "-q", "", "print results only, as briefly as possible", ValueType::Switch, {}, 0, 0, false},
      {"--verbose", "-v", "", "say more about what happens, on standard error", ValueType::Switch, {}, 0, 0, false},
      {"--no-color", "", "", "no colours (NO_COLOR in the environment does the same)", ValueType::Switch, {}, 0, 0, false},
  };
  return options;
}

const CommandSpec* find_command(std::string_view name) {
  for (const CommandSpec& command : command_table()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

std::vector<OptionSpec> all_options(const CommandSpec& command) {
  std::vector<OptionSpec> options = command.options;
  options.insert(options.end(), common_options().begin(), common_options().end());
  return options;
}

}  // namespace heddle::app
