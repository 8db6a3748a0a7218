// Sizes of checks are two tiles or more in every direction and more trips than a ring has slots, yet nothing takes a second.
#include "app/bench/steps.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/base/assert.h"

namespace heddle::app {
namespace {

using Words = std::vector<std::string>;

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

constexpr double kPrepareSeconds = 600, kReadingSeconds = 60, kOrderSeconds = 90, kCheckSeconds = 90, kSpeedSeconds = 180,
                 kSanitizeSeconds = 300;

/// What a schedule is found for: a kernel, with the parameters that its loop depends on.
struct Subject {
  const char *name, *kernel;
  Words params;
  const char* order = "";  ///< BenchStep::order
};
const std::vector<Subject> kHopperSubjects{
    {"layernorm", "layernorm", {}},
    {"gemm", "gemm_hopper", {}},
    {"swiglu", "swiglu_dual_gemm_hopper", {}},
    {"attention", "attention_forward_hopper", {}},
    {"attention-176", "attention_forward_hopper", {"-p", "KV=176"}},
    {"causal", "attention_forward_causal_hopper", {}},
    {"backward", "attention_backward_hopper", {}},
    {"backward-causal", "attention_backward_causal_hopper", {}},
    {"attention-lse", "attention_forward_hopper", {"-p", "LSE=1"}},
    {"delta", "attention_delta", {}},
    {"round-dq", "attention_round_dq", {}},
    {"varlen", "attention_forward_varlen_hopper", {}},
    {"varlen-causal", "attention_forward_causal_varlen_hopper", {}},
    {"varlen-backward",
     "attention_backward_varlen_hopper",
     {"--demand", "dQ0_k0 and dQ0_k1 in one group", "--demand", "dQ1_k0 and dQ1_k1 in one group"}},
    {"gemm-n128", "gemm_hopper", {"-p", "TILE_N=128"}},
    {"attention-fp8",
     "attention_forward_fp8_hopper",
     {"--layout", "keys=relabelled", "--demand", "at most 200 registers per thread", "--demand", "max0 and cvt0 in one group", "--demand",
      "max1 and cvt1 in one group"}},
    {"attention-fp8-turned",
     "attention_forward_fp8_turned_hopper",
     {"--layout", "keys=relabelled", "--demand", "at most 200 registers per thread", "--demand", "max0 and cvt0 in one group", "--demand",
      "max0 and sum0 in one group", "--demand", "max0 and PV0 in one group", "--demand", "max1 and cvt1 in one group", "--demand",
      "max1 and sum1 in one group", "--demand", "max1 and PV1 in one group"}},
    {"backward-packed", "attention_backward_hopper", {"--layout", "dQ=prepacked"}},
    {"fp8", "gemm_fp8_hopper", {}},
    {"w4a16", "gemm_w4a16_hopper", {}},
    {"w4a16-packed", "gemm_w4a16_prepacked_hopper", {}},
    {"order-fa3", "attention_forward_hopper", {}, "kernels/schedules/attention_forward_hopper/fa3.json"},
    {"order-slow125", "attention_forward_hopper", {}, "assets/measured/2026-11-27/attention-8k-slow125.json"},
    {"order-slow183", "attention_forward_hopper", {}, "assets/measured/2026-11-27/attention-8k-slow183.json"},
    {"order-least", "attention_forward_hopper", {}, "assets/measured/2026-11-27/attention-8k-least-period.json"},
    {"order-second", "attention_forward_hopper", {}, "assets/measured/2026-11-27/attention-8k-second-period.json"},
    {"order-176-fa3", "attention_forward_hopper", {"-p", "KV=176"}, "kernels/schedules/attention_forward_hopper/fa3-kv176.json"},
    {"order-176-slow125", "attention_forward_hopper", {"-p", "KV=176"}, "assets/measured/2026-11-27/attention-176-8k-slow125.json"},
    {"order-176-slow183", "attention_forward_hopper", {"-p", "KV=176"}, "assets/measured/2026-11-27/attention-176-8k-slow183.json"},
    {"order-causal-fa3", "attention_forward_causal_hopper", {}, "assets/measured/2026-11-27/causal-8k-fa3.json"},
    {"order-causal-least", "attention_forward_causal_hopper", {}, "assets/measured/2026-11-27/causal-8k-least-period.json"},
    {"order-fp8-doubtful",
     "attention_forward_fp8_hopper",
     {"--layout", "keys=relabelled"},
     "assets/measured/2026-11-27/attention-fp8-8k-doubtful.json"}};

const std::vector<Subject> kBlackwellSubjects{
    {"layernorm", "layernorm", {}},
    {"gemm", "gemm_blackwell", {}},
    {"swiglu", "swiglu_dual_gemm_blackwell", {}},
    {"attention", "attention_forward_blackwell", {}},
    {"causal", "attention_forward_causal_blackwell", {}},
    {"backward", "attention_backward_blackwell", {}},
    {"backward-causal", "attention_backward_causal_blackwell", {}},
    {"attention-lse", "attention_forward_blackwell", {"-p", "LSE=1"}},
    {"delta", "attention_delta", {}},
    {"round-dq", "attention_round_dq", {}},
    {"varlen", "attention_forward_varlen_blackwell", {}},
    {"varlen-causal", "attention_forward_causal_varlen_blackwell", {}},
    {"varlen-backward", "attention_backward_varlen_blackwell", {"--demand", "at most 199456 bytes of shared memory"}}};

const Words kQuick{"--no-time", "--no-library", "--repeats", "5", "--limit", "20"};
const Words kUnchecked{"--no-verify"};

/// "M=256 N=512" -> -p M=256 -p N=512
Words sizes(const std::string& text) {
  Words words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.insert(words.end(), {"-p", text.substr(at, end - at)});
    at = end + 1;
  }
  return words;
}

/// What a step runs.
struct Trial {
  std::string name, about, subject;
  Words options;
};

/// What a follow-up says of the fault of the step that it follows.
struct Verdicts {
  std::string if_right, if_not;
};

class List {
 public:
  List(std::string machine, std::string folder, const std::vector<Subject>& subjects)
      : machine_(std::move(machine)), folder_(std::move(folder)), subjects_(subjects) {}

  void check(const std::string& name, const std::string& about, const std::string& subject, const Words& options) {
    add(BenchStepKind::Check, {name, about, subject, options + kQuick}, "run", kCheckSeconds);
  }
  /// All micro-kernels at once, as files and in the store of compiled kernels.
  void prepare_readings() {
    BenchStep step{.name = "prepare-contention", .kind = BenchStepKind::Prepare, .about = "the micro-kernels of contention compile"};
    step.words = {"calibrate", machine_, "--contention", "all", "--emit-only", (std::filesystem::path(folder_) / "contention").string()};
    step.limit_seconds = kPrepareSeconds;
    steps.push_back(std::move(step));
  }
  void prepare(const std::string& subject) {
    BenchStep& step =
        add(BenchStepKind::Prepare, {"prepare-" + subject, "its schedule is found, its kernel compiles", subject, {"--allow"}}, "compile",
            kPrepareSeconds);
    if (!step.order.empty()) step.about = "its order gets the starts of today, its kernel compiles";
  }
  /// The micro-kernels of one experiment.
  void reading(const std::string& experiment, const std::string& about) {
    BenchStep step{.name = "contention-" + experiment, .kind = BenchStepKind::Contention, .about = about};
    step.words = {"calibrate", machine_, "--contention",
                  experiment,  "--out",  (std::filesystem::path(folder_) / (step.name + ".json")).string()};
    step.needs = "prepare-contention";
    step.limit_seconds = kReadingSeconds;
    steps.push_back(std::move(step));
  }
  /// A kernel at full size in one order, its cycles an iteration beside what the rule of motion says.
  void order(const Trial& trial, const std::string& beside) { add(BenchStepKind::Contention, trial, "run", kOrderSeconds).beside = beside; }
  void follow_up(const std::string& of, const Trial& with, const Verdicts& verdicts) {
    BenchStep& step = add(BenchStepKind::FollowUp,
                          {of + "-" + with.name, "the same with " + with.about, with.subject, with.options + kQuick}, "run", kCheckSeconds);
    step.needs = of;
    step.if_right = verdicts.if_right;
    step.if_not = verdicts.if_not;
  }
  void speed(const std::string& name, const std::string& about, const std::string& subject, const std::string& needs,
             const Words& options) {
    add(BenchStepKind::Speed, {name, about, subject, options}, "run", kSpeedSeconds).needs = needs;
  }
  void compare(Trial trial, const std::string& beside, const std::string& needs) {
    trial.options = trial.options + kUnchecked;
    BenchStep& step = add(BenchStepKind::Compare, trial, "run", kSpeedSeconds);
    step.needs = needs;
    step.beside = beside;
  }
  void profile(const std::string& name, const std::string& about, const std::string& subject, const std::string& needs,
               const Words& options) {
    const std::string trace = (std::filesystem::path(folder_) / (name + "-trace.json")).string();
    const Words all = options + kUnchecked + Words{"--no-library", "--trace", trace};
    add(BenchStepKind::Profile, {name, about, subject, all}, "profile", kSpeedSeconds).needs = needs;
  }
  void sanitize(const std::string& tool, const std::string& of) {
    const auto found = std::find_if(steps.begin(), steps.end(), [&](const BenchStep& step) { return step.name == of; });
    HEDDLE_ASSERT(found != steps.end(), "a sanitizer runs a step that is in the list");
    BenchStep again = *found;
    again.kind = BenchStepKind::Sanitize;
    again.name = of + "-" + tool;
    again.about = "under compute-sanitizer's " + tool;
    again.tool = {"compute-sanitizer", "--tool", tool, "--target-processes", "all", "--error-exitcode", "9"};
    again.limit_seconds = kSanitizeSeconds;
    for (std::size_t k = 0; k + 1 < again.words.size(); ++k) {
      if (again.words[k] == "--repeats") again.words[k + 1] = "1";
      if (again.words[k] == "--limit") again.words[k + 1] = "280";
    }
    steps.push_back(std::move(again));
  }
  void calibrate() {
    BenchStep step{.name = "calibrate", .kind = BenchStepKind::Calibrate, .about = "costs of instructions, copies and hand-overs"};
    step.words = {"calibrate", machine_, "--out", (std::filesystem::path(folder_) / "measured-machine.json").string()};
    step.limit_seconds = kSpeedSeconds;
    steps.push_back(std::move(step));
  }

  std::vector<BenchStep> steps;

 private:
  /// A subject's first step comes after the one that prepares it.
  BenchStep& add(BenchStepKind kind, const Trial& trial, const std::string& command, double limit) {
    const std::string& subject = trial.subject;
    const auto found = std::find_if(subjects_.begin(), subjects_.end(), [&](const Subject& s) { return s.name == subject; });
    HEDDLE_ASSERT(found != subjects_.end(), "a step has a subject that is in the list");
    if (kind != BenchStepKind::Prepare &&
        std::none_of(steps.begin(), steps.end(), [&](const BenchStep& step) { return step.subject == subject; }))
      prepare(subject);
    BenchStep step{.name = trial.name, .kind = kind, .about = trial.about, .subject = subject};
    if (kind == BenchStepKind::Prepare) step.order = found->order;
    step.words = Words{command, found->kernel, machine_} + found->params + trial.options;
    step.limit_seconds = limit;
    steps.push_back(std::move(step));
    return steps.back();
  }

  std::string machine_, folder_;
  const std::vector<Subject>& subjects_;
};

}  // namespace

const char* to_string(BenchStepKind kind) {
  switch (kind) {
    case BenchStepKind::Prepare: return "prepare";
    case BenchStepKind::Contention: return "contention";
    case BenchStepKind::Check: return "check";
    case BenchStepKind::FollowUp: return "follow-up";
    case BenchStepKind::Speed: return "speed";
    case BenchStepKind::Compare: return "compare";
    case BenchStepKind::Profile: return "profile";
    case BenchStepKind::Calibrate: return "calibrate";
    case BenchStepKind::Sanitize: return "sanitize";
  }
  return "";
}

std::string schedule_file(const std::string& folder, const std::string& subject) {
  return (std::filesystem::path(folder) / "schedules" / (subject + ".json")).string();
}

namespace {

const std::string kOnlyMoreTrips = "phases of the rings' barriers, slots that are filled again too early: one trip alone is right",
                  kOneTripToo = "not the rings: one trip goes wrong, too";

/// What comes before and after a backward pass.
void add_pair_checks(List& list, const Words& heads) {
  list.check("attention-lse-small", "attention whose threads store a number per query", "attention-lse", heads);
  list.check("delta-small", "rows of 128 numbers, two at a time in a warp, and a number for each", "delta", sizes("ROWS=1000"));
  list.check("round-dq-small", "rows of f32 that become bf16", "round-dq", sizes("ROWS=1000"));
}
void add_pair_speeds(List& list, const Words& long_rows) {
  list.speed("attention-lse-8k", "what LSE costs", "attention-lse", "attention-lse-small", long_rows + kUnchecked);
  list.speed("delta", "the queries of 64 heads of 8192; memory decides", "delta", "delta-small", kUnchecked);
  list.speed("round-dq", "the same of dQ", "round-dq", "round-dq-small", kUnchecked);
}

/// Sequences of their own lengths in one launch.
void add_varlen_checks(List& list) {
  const Words some = sizes("SEQUENCES=5 HEADS=2 MAX_Q=512 MAX_KV=512 TOTAL_Q=1200 TOTAL_KV=1200");
  list.check("varlen-small", "trips that are looked up, tiles whose last rows are another sequence's", "varlen", some);
  list.check("varlen-causal-small", "the same with a mask", "varlen-causal", some);
  list.check("varlen-backward-small", "the same backward: keys behind the end are masked", "varlen-backward", some);
}
void add_varlen_speeds(List& list) {
  list.speed("varlen-8k", "16 sequences of up to 8192, 65536 queries and keys in all", "varlen", "varlen-small", kUnchecked);
  list.speed("varlen-causal-8k", "the same, causal", "varlen-causal", "varlen-causal-small", kUnchecked);
  list.speed("varlen-backward-8k", "the same backward", "varlen-backward", "varlen-backward-small", kUnchecked);
}

std::vector<BenchStep> blackwell_steps(List list) {
  const Words small = sizes("M=256 N=512 K=1024"), heads = sizes("HEADS=2 Q_LEN=512 KV_LEN=1408"),
              square = sizes("HEADS=2 Q_LEN=512 KV_LEN=512");
  list.check("layernorm-small", "bulk copies, barriers and the launch; no tensor memory", "layernorm", sizes("ROWS=1000"));
  list.check("gemm-small", "tcgen05.mma, descriptors, tensor memory and its release; integers are exact", "gemm", small);
  list.follow_up("gemm-small", {"one-trip", "one trip of the loop", "gemm", sizes("M=256 N=512 K=64")}, {kOnlyMoreTrips, kOneTripToo});
  list.check("gemm-pairs-small", "pairs of blocks: one mma for both, signals in both", "gemm", small + Words{"--cluster", "2"});
  list.check("swiglu-small", "two accumulators in one loop", "swiglu", sizes("M=256 N=256 K=1024"));
  list.check("attention-small", "P and O in tensor memory, mmas that read P there", "attention", heads);
  list.follow_up("attention-small", {"one-trip", "one trip of the loop", "attention", sizes("HEADS=2 Q_LEN=512 KV_LEN=128")},
                 {kOnlyMoreTrips, kOneTripToo});
  list.check("causal-small", "masked blocks, trips that differ from tile to tile", "causal", square);
  list.check("backward-small", "five mmas, sums added in global memory", "backward", square);
  list.check("backward-causal-small", "the same, from the last queries up to the diagonal", "backward-causal", square);
  add_pair_checks(list, heads);
  add_varlen_checks(list);

  const Words gemm = sizes("M=8192 N=8192 K=8192"), long_rows = sizes("HEADS=32 Q_LEN=8192 KV_LEN=8192");
  list.speed("gemm-8192", "8192 x 8192 x 8192", "gemm", "gemm-small", gemm);
  list.speed("attention-8k", "32 heads of 8192 queries and keys", "attention", "attention-small", long_rows);
  list.speed("causal-8k", "causal, 32 heads of 8192", "causal", "causal-small", long_rows);
  list.speed("backward-8k", "backward, 32 heads of 8192", "backward", "backward-small", long_rows + kUnchecked);
  list.speed("backward-causal-8k", "backward, causal, 32 heads of 8192", "backward-causal", "backward-causal-small",
             long_rows + kUnchecked);
  add_pair_speeds(list, long_rows);
  add_varlen_speeds(list);
  list.speed("swiglu-8192", "two mmas of the shipped size", "swiglu", "swiglu-small", {});
  list.speed("layernorm", "the shipped size; memory decides", "layernorm", "layernorm-small", {});
  list.speed("gemm-4096", "4096 x 4096 x 4096", "gemm", "gemm-small", sizes("M=4096 N=4096 K=4096"));
  list.compare({"gemm-pairs", "pairs of blocks share B", "gemm", gemm + Words{"--cluster", "2"}}, "gemm-8192", "gemm-pairs-small");
  list.compare({"gemm-least-rings", "rings only as deep as scheduled", "gemm", gemm + Words{"--least-rings"}}, "gemm-8192", "gemm-small");
  list.profile("gemm-profile", "every op of GEMM", "gemm", "gemm-small", gemm);
  list.profile("attention-profile", "every op of attention", "attention", "attention-small", long_rows);
  list.calibrate();
  for (const char* tool : {"memcheck", "racecheck", "synccheck"})
    for (const char* of : {"layernorm-small", "gemm-small", "attention-small", "backward-small"}) list.sanitize(tool, of);
  return std::move(list.steps);
}

/// Each decides something about the numbers of contention, the most important first (docs/figures.md, "What decides the numbers of
/// contention"). All is compiled before the first one runs.
void add_contention(List& list) {
  const Words quick{"--no-library", "--repeats", "3", "--limit", "20", "--blocks", "3"}, again = quick + kUnchecked;
  const Words keys = sizes("HEADS=32 Q_LEN=8192 KV_LEN=8192") + quick, keys_again = sizes("HEADS=32 Q_LEN=8192 KV_LEN=8192") + again,
              keys_176 = sizes("HEADS=32 Q_LEN=8448 KV_LEN=8448") + quick,
              steady = sizes("HEADS=32 Q_LEN=8192 KV_LEN=8192") +
                       Words{"--no-library", "--no-verify", "--limit", "60", "--blocks", "1", "--sustained", "15000"};
  list.prepare_readings();
  for (const char* subject :
       {"attention", "order-fa3", "order-slow125", "order-least", "order-second", "order-slow183", "order-176-slow183", "order-176-fa3",
        "order-176-slow125", "causal", "order-causal-fa3", "order-causal-least", "attention-fp8", "order-fp8-doubtful"})
    list.prepare(subject);

  list.reading("accepted", "how many mmas are in flight, how long their issue holds a group, when a group goes on");
  list.reading("served", "two groups with mmas: first come, or in turn");
  list.reading("beside", "what each kind of instruction and mmas lose beside each other");
  list.reading("turn", "what passing a turn costs");
  for (const auto& [name, options] : {std::pair{"", keys}, {"-again", keys_again}}) {
    const std::string end = name, first = "order-128-default" + end, fa3 = "order-128-fa3" + end;
    list.order({first, "128 keys, today's default", "attention", options}, {});
    list.order({fa3, "FlashAttention-3's order", "order-fa3", options}, first);
    list.order({"order-128-slow125" + end, "the order for arithmetic 1.25 times as slow", "order-slow125", options}, fa3);
    list.order({"order-128-least" + end, "what an enumerated model of nine numbers found first", "order-least", options}, fa3);
    list.order({"order-128-second" + end, "the second of that model", "order-second", options}, fa3);
    list.order({"order-128-slow183" + end, "1.83 times: the slowest of the usual orders", "order-slow183", options}, fa3);
  }
  list.order({"order-176-slow183-8k", "176 keys, the fastest that was measured", "order-176-slow183", keys_176}, {});
  list.order({"order-176-fa3-8k", "FlashAttention-3's order, predicted slower", "order-176-fa3", keys_176}, "order-176-slow183-8k");
  list.order({"order-176-slow125-8k", "every mma a turn of its own", "order-176-slow125", keys_176}, "order-176-slow183-8k");
  list.order({"order-causal-default-8k", "causal, today's default", "causal", keys}, {});
  list.order({"order-causal-fa3-8k", "FlashAttention-3's order", "order-causal-fa3", keys}, "order-causal-default-8k");
  list.order({"order-causal-least-8k", "the least of the enumerated model", "order-causal-least", keys}, "order-causal-default-8k");
  list.order({"order-fp8-default-8k", "8 bits, today's default", "attention-fp8", keys}, {});
  list.order({"order-fp8-doubtful-8k", "an order of which ops and machine code say different things", "order-fp8-doubtful", keys},
             "order-fp8-default-8k");
  list.order({"order-128-default-steady", "without a pause: how much of a gain in cycles the clock takes back", "attention", steady}, {});
  list.order({"order-128-fa3-steady", "the same of FlashAttention-3's order", "order-fa3", steady}, "order-128-default-steady");
  list.reading("softmax", "do the costs of single instructions add up to a softmax's?");
  list.reading("shared-memory", "loads and stores beside mmas, which the rule knows nothing of");
  list.reading("widths", "mmas of 64, 176 and 256 columns");
}

std::vector<BenchStep> hopper_steps(List list) {
  add_contention(list);
  const std::string only_turns = "turns: who arrives at the named barriers, and who waits for them; without turns it is right",
                    turns_not = "not the turns: it goes wrong without them, too";
  const Words small = sizes("M=256 N=512 K=1024"), heads = sizes("HEADS=2 Q_LEN=512 KV_LEN=1408"),
              square = sizes("HEADS=2 Q_LEN=512 KV_LEN=512");

  list.check("layernorm-small", "bulk copies, barriers and the launch; no wgmma", "layernorm", sizes("ROWS=1000"));
  list.check("gemm-small", "wgmma, descriptors, swizzle, register budgets; integers are exact", "gemm", small);
  list.follow_up("gemm-small", {"one-trip", "one trip of the loop", "gemm", sizes("M=256 N=512 K=64")}, {kOnlyMoreTrips, kOneTripToo});
  list.check("gemm-pairs-small", "clusters of two, copies to both", "gemm", small + Words{"--cluster", "2"});
  list.check("swiglu-small", "two mmas in one loop", "swiglu", sizes("M=256 N=256 K=1024"));
  const Words scaled = sizes("M=392 N=512 K=1536");
  list.check("fp8-small", "wgmma of 8 bits, scales, boxes of 16 bytes; integers are exact", "fp8", scaled);
  list.follow_up("fp8-small", {"no-turns", "no turns", "fp8", scaled + Words{"--no-turns"}}, {only_turns, turns_not});
  list.check("fp8-pairs-small", "clusters of two, of which each block brings half the rows of a tile", "fp8",
             scaled + Words{"--cluster", "2"});
  list.check("w4a16-small", "weights of 4 bits from registers, scales; integers are exact", "w4a16", sizes("N_OUT=256 TOKENS=40 K=1536"));
  list.follow_up("w4a16-small", {"one-trip", "one trip of the loop", "w4a16", sizes("N_OUT=256 TOKENS=40 K=128")},
                 {kOnlyMoreTrips, kOneTripToo});
  list.check("w4a16-packed-small", "the same with prepacked weights", "w4a16-packed", sizes("N_OUT=256 TOKENS=40 K=1536"));
  list.check("attention-small", "turns, rescaling, mmas that read registers", "attention", heads);
  list.follow_up("attention-small", {"one-trip", "one trip of the loop", "attention", sizes("HEADS=2 Q_LEN=512 KV_LEN=128")},
                 {kOnlyMoreTrips, kOneTripToo});
  list.follow_up("attention-small", {"no-turns", "no turns", "attention", heads + Words{"--no-turns"}}, {only_turns, turns_not});
  list.check("attention-176-small", "blocks of 176 keys", "attention-176", heads);
  list.check("attention-fp8-small", "8 bits, keys relabelled: K's rows in another order, P as an operand without shuffles", "attention-fp8",
             sizes("HEADS=2 Q_LEN=512 KV_LEN=1536"));
  list.check("attention-fp8-turned-small", "a warp group transposes V: bytes within threads, loads and stores along diagonals",
             "attention-fp8-turned", sizes("HEADS=2 Q_LEN=512 KV_LEN=1536"));
  list.check("causal-small", "masked blocks, trips that differ from tile to tile", "causal", square);
  list.check("backward-small", "five mmas, sums added in global memory", "backward", square);
  list.check("backward-causal-small", "the same, from the last queries up to the diagonal", "backward-causal", square);
  add_pair_checks(list, heads);
  add_varlen_checks(list);
  list.check("backward-packed-small", "dQ kept as threads have it", "backward-packed", square);

  const Words gemm = sizes("M=8192 N=8192 K=8192"), long_rows = sizes("HEADS=32 Q_LEN=8192 KV_LEN=8192"),
              rows_of_176 = sizes("HEADS=32 Q_LEN=8448 KV_LEN=8448");
  list.speed("gemm-8192", "8192 x 8192 x 8192", "gemm", "gemm-small", gemm);
  list.speed("attention-8k", "32 heads of 8192 queries and keys", "attention", "attention-small", long_rows);
  list.speed("attention-176-8k", "blocks of 176 keys, 32 heads of 8448", "attention-176", "attention-176-small", rows_of_176);
  list.speed("causal-8k", "causal, 32 heads of 8192", "causal", "causal-small", long_rows);
  list.speed("backward-8k", "backward, 32 heads of 8192", "backward", "backward-small", long_rows + kUnchecked);
  list.speed("backward-causal-8k", "backward, causal, 32 heads of 8192", "backward-causal", "backward-causal-small",
             long_rows + kUnchecked);
  add_pair_speeds(list, long_rows);
  add_varlen_speeds(list);
  list.speed("backward-packed-8k", "the same with dQ kept as threads have it", "backward-packed", "backward-packed-small",
             long_rows + kUnchecked);
  list.speed("swiglu-8192", "two mmas of the shipped size", "swiglu", "swiglu-small", {});
  list.speed("layernorm", "the shipped size; memory decides", "layernorm", "layernorm-small", {});
  list.speed("gemm-4096", "4096 x 4096 x 4096", "gemm", "gemm-small", sizes("M=4096 N=4096 K=4096"));
  list.speed("attention-fp8-8k", "8 bits, 32 heads of 8192 queries and keys", "attention-fp8", "attention-fp8-small", long_rows);
  list.speed("attention-fp8-turned-8k", "the same of V as it is", "attention-fp8-turned", "attention-fp8-turned-small", long_rows);
  list.speed("fp8-16k", "8 bits with scales, 4096 x 4096 x 16384", "fp8", "fp8-small", {});
  list.speed("w4a16-64", "64 tokens, 16384 x 8192 weights of 4 bits", "w4a16", "w4a16-small", {});
  list.speed("w4a16-packed-64", "the same with prepacked weights", "w4a16-packed", "w4a16-packed-small", {});
  list.speed("attention-16k", "16 heads of 16384 queries and keys", "attention", "attention-small",
             sizes("HEADS=16 Q_LEN=16384 KV_LEN=16384"));

  list.compare({"attention-no-turns", "no named barriers keep the order on the tensor cores", "attention", long_rows + Words{"--no-turns"}},
               "attention-8k", "attention-small");
  list.compare({"gemm-least-rings", "rings only as deep as scheduled", "gemm", gemm + Words{"--least-rings"}}, "gemm-8192", "gemm-small");
  list.compare({"attention-176-least-rings", "rings only as deep as scheduled", "attention-176", rows_of_176 + Words{"--least-rings"}},
               "attention-176-8k", "attention-176-small");
  list.compare({"gemm-pairs", "clusters of two share what they load", "gemm", gemm + Words{"--cluster", "2"}}, "gemm-8192",
               "gemm-pairs-small");
  list.compare({"gemm-n128", "tiles of 128 columns", "gemm-n128", gemm}, "gemm-8192", "gemm-small");
  list.compare({"gemm-n128-pairs", "tiles of 128 columns, clusters of two", "gemm-n128", gemm + Words{"--cluster", "2"}}, "gemm-n128",
               "gemm-pairs-small");

  list.compare({"fp8-pairs", "clusters of two share B", "fp8", {"--cluster", "2"}}, "fp8-16k", "fp8-pairs-small");

  list.profile("gemm-profile", "every op of GEMM", "gemm", "gemm-small", gemm);
  list.profile("attention-profile", "every op of attention", "attention", "attention-small", long_rows);
  list.calibrate();
  for (const char* tool : {"memcheck", "racecheck", "synccheck"})
    for (const char* of : {"layernorm-small", "gemm-small", "attention-small", "backward-small"}) list.sanitize(tool, of);
  return std::move(list.steps);
}

}  // namespace

std::vector<BenchStep> bench_steps(const std::string& machine, const std::string& folder, bool blackwell) {
  return blackwell ? blackwell_steps({machine, folder, kBlackwellSubjects}) : hopper_steps({machine, folder, kHopperSubjects});
}

}  // namespace heddle::app
