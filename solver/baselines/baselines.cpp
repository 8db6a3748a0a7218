#include "solver/baselines/baselines.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/scanner.h"
#include "core/base/suggest.h"
#include "core/base/text_style.h"
#include "solver/baselines/agents.h"
#include "solver/baselines/methods.h"

namespace heddle::solver {
namespace {

std::optional<std::string> always(const Problem&) { return std::nullopt; }

std::optional<std::string> needs_product(const Problem& problem) {
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (is_mma(problem, OpId(v))) return std::nullopt;
  return "the loop has no mma";
}

std::optional<std::string> needs_tensor_memory(const Problem& problem) {
  if (problem.limits.tmem_columns == 0) return "the machine has no tensor memory; before Blackwell Triton leaves this pass off";
  return needs_product(problem);
}

const std::vector<BaselineOption> kRauOptions{
    {"budget", 20, 1, 1000, "placements per op before the next II is tried"},
    {"window", 0, 0, 1, "give up above min(2 MinII, MinII + max(10, MinII / 8)), as Meta's fork of Triton does"}};

}  // namespace

const std::vector<Baseline>& baselines() {
  static const std::vector<Baseline> list{
      {"serial", "one op after the other, every result waited for", "the zero of every speed-up", {}, always, run_serial},
      {"triton",
       "Triton's software pipeliner without warp specialization: loads N - 1 iterations ahead, the rest in program "
       "order",
       "triton-lang/triton, lib/Dialect/TritonGPU/Transforms/Pipeliner",
       {{"N", 3, 1, 7, "num_stages"}},
       always,
       run_triton},
      {"triton-autows",
       "Triton's automatic warp specialization: partitions by an ordered list of merge rules, each in program order",
       "triton-lang/triton, lib/Dialect/TritonGPU/Transforms/WarpSpecialization",
       {{"N", 3, 1, 7, "num_stages: slots per ring that a load fills"},
        {"version", 2, 1, 2, "2: merge rules (pull request 7312); 1: the three fixed partitions before"}},
       needs_tensor_memory,
       run_triton_autows},
      {"tilelang",
       "TileLang's roles: TMA loads, mmas, TMA stores and workers, each in program order",
       "tile-ai/tilelang, pull request 3059",
       {{"stages", 2, 1, 8, "num_stages: slots per ring that a load fills"}},
       needs_product,
       run_tilelang},
      {"tawa",
       "Tawa: a producer, cooperative consumers, rings of D slots with P mmas in flight, and a fixed overlap for "
       "attention",
       "arXiv 2510.14719; triton-lang/triton, branch aref_auto_ws",
       {{"D", 3, 1, 8, "slots per ring that a load fills"},
        {"P", 2, 1, 8, "mmas in flight, the one being issued included; D >= P"},
        {"G", 2, 1, 3, "cooperative consumer groups, each with its share of the rows"},
        {"persistent", 1, 0, 1, "one CTA per SM goes through all tiles; changes prologue and epilogue, not the loop"}},
       needs_product,
       run_tawa},
      {"rau", "iterative modulo scheduling over dependences and units, warp groups afterwards by shared registers",
       "B. R. Rau, MICRO 27 (1994)", kRauOptions, always, run_rau},
      {"swing",
       "swing modulo scheduling over dependences and units, warp groups afterwards by shared registers",
       "J. Llosa et al., PACT 1996",
       {{"scc", 1, 0, 1, "recurrences first, as published; 0: without, as in Meta's fork of Triton"}},
       always,
       run_swing},
      {"greedy-partition", "schedule, then partition: Rau's schedule, then one group per unit and merges by coupling while II allows",
       "facebookexperimental/triton, ModuloSchedulePass.cpp", kRauOptions, always, run_greedy_partition},
      {"twill-2phase",
       "Twill: the modulo schedule with the smallest I, then warps at that I, on normalized costs",
       "R. Soi et al., arXiv 2512.18134",
       {{"U", 300, 0, 100000, "the sum to which costs are normalized; 0: full resolution"}},
       always,
       run_twill_two_phase},
  };
  return list;
}

const Baseline* find_baseline(std::string_view name) {
  for (const Baseline& baseline : baselines())
    if (baseline.name == name) return &baseline;
  return nullptr;
}

Result<BaselineChoice> parse_baseline(std::string_view text) {
  const std::size_t colon = text.find(':');
  BaselineChoice choice;
  choice.baseline = find_baseline(text.substr(0, colon));
  if (!choice.baseline) {
    const std::string name = printable(text.substr(0, colon));
    std::string hint = did_you_mean(name, names_of(baselines()));
    return Error::input(fmt::format("unknown baseline '{}'", name), hint.empty() ? "known: " + list_of(names_of(baselines())) : hint);
  }
  Error error;
  std::string_view rest = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    const auto value = equals == std::string_view::npos ? std::nullopt : read_number<std::int64_t>(part.substr(equals + 1));
    if (!value)
      error.faults.push_back({{}, {}, fmt::format("'{}' is not NAME=NUMBER", printable(part)), "for example tawa:D=3,P=2"});
    else
      choice.settings[std::string(part.substr(0, equals))] = *value;
  }
  if (!error.faults.empty()) return error;
  return choice;
}

Result<BaselineOutcome> run_baseline(const Problem& problem, const Baseline& baseline, const BaselineSettings& settings,
                                     double timeout_seconds, std::stop_token stop) {
  Error error;
  BaselineSettings complete;
  for (const BaselineOption& option : baseline.options) complete[option.name] = option.standard;
  for (const auto& [name, value] : settings) {
    const auto option = std::find_if(baseline.options.begin(), baseline.options.end(),
                                     [&, &wanted = name](const BaselineOption& o) { return o.name == wanted; });
    if (option == baseline.options.end()) {
      const auto names = names_of(baseline.options);
      std::string hint = did_you_mean(name, names);
      if (hint.empty()) hint = names.empty() ? baseline.name + " has no options" : "options: " + list_of(names);
      error.faults.push_back({{}, {}, fmt::format("{} has no option '{}'", baseline.name, printable(name)), std::move(hint)});
    } else if (value < option->low || value > option->high) {
      error.faults.push_back({{},
                              {},
                              fmt::format("{} of {} is {}; {} to {} is possible", name, baseline.name, value, option->low, option->high),
                              option->about});
    } else {
      complete[name] = value;
    }
  }
  if (!error.faults.empty()) return error;
  if (problem.ops.empty()) return Error::input("the loop has no ops");
  if (const auto why = baseline.why_not(problem)) return Error::input(fmt::format("{} does not apply: {}", baseline.name, *why));
  return baseline.run({problem, complete, timeout_seconds, std::move(stop)});
}

}  // namespace heddle::solver
