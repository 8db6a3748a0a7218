// The first and the third change are decided at the I that Algorithm 1 reached without them, the second, which is another
// graph, at its own smallest I. When a change is unsatisfiable, families of constraints are taken away one at a time to see
// which of them it takes.
#include "solver/paper/ablation.h"

#include <fmt/format.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "solver/paper/normalize.h"

namespace heddle::solver::paper {
namespace {

constexpr std::int64_t kPlenty = std::numeric_limits<std::int32_t>::max();

class Case {
 public:
  /// `ii`: the window to decide; 0: that of the smallest I with a modulo schedule.
  Case(const PaperGraph& native, const Options& options, Cycle ii, const SearchRun& run)
      : graph_(native), options_(options), ii_(ii), run_(run) {
    if (!options.normalize) return;
    const Normalization normalization = normalize(cost_list(native, options), options, run.limits);
    possible_ = normalization.possible;
    if (possible_) graph_ = normalized(native, normalization);
  }

  SearchResult decide() const { return decide(graph_); }

  Case with_pool(int pool) const {
    Case fewer = *this;
    fewer.graph_.pool = pool;
    return fewer;
  }

  /// Which families make the window satisfiable when they are taken away: each alone, else two together.
  std::string culprits() const {
    struct Removal {
      const char* name;
      std::function<void(PaperGraph&)> remove;
    };
    const std::vector<Removal> families{
        {"REGISTER LIMIT", [](PaperGraph& g) { g.register_limit = kPlenty; }},
        {"MEMORY CAPACITY",
         [](PaperGraph& g) {
           g.memory_capacity = {kPlenty, kPlenty};
         }},
        {"CONCURRENCY",
         [](PaperGraph& g) {
           for (Arc& arc : g.arcs) arc.blocking = false;
         }},
        {"CROSS-WARP SPILLS",
         [](PaperGraph& g) {
           for (PaperNode& node : g.nodes) node.spill = 0;
         }},
    };
    std::vector<std::string> found;
    const auto without = [&](std::size_t a, std::size_t b) {
      PaperGraph relaxed = graph_;
      families[a].remove(relaxed);
      families[b].remove(relaxed);
      if (decide(relaxed).status != Status::Optimal) return;
      found.push_back(a == b ? families[a].name : fmt::format("{} and {} together", families[a].name, families[b].name));
    };
    for (std::size_t a = 0; a < families.size(); ++a) without(a, a);
    for (std::size_t a = 0; found.empty() && a < families.size(); ++a)
      for (std::size_t b = a + 1; b < families.size(); ++b) without(a, b);
    if (found.empty()) return "no two families of constraints are the cause";
    std::string text = "satisfiable without ";
    for (std::size_t i = 0; i < found.size(); ++i) text += (i == 0 ? "" : ", or without ") + found[i];
    return text;
  }

  SearchResult decide_all() const { return algorithm1(graph_, options_, run_); }

  const PaperGraph& graph() const { return graph_; }
  bool possible() const { return possible_; }

 private:
  SearchResult decide(const PaperGraph& graph) const { return one_window(graph, options_, ii_, run_); }

  PaperGraph graph_;
  Options options_;
  Cycle ii_;
  const SearchRun& run_;
  bool possible_ = true;
};

std::string place(const SearchResult& result) {
  if (result.windows.empty()) return "before any I with a modulo schedule was found";
  const PaperWindow& w = result.windows.front();
  return fmt::format("at I = {}, L = {} to {}", w.ii, w.first_length, w.last_length);
}

void record(PaperAblation& ablation, const SearchResult& result) {
  ablation.status = result.status == Status::Optimal ? Status::Feasible : result.status;
  if (!result.windows.empty()) ablation.window = result.windows.front();
}

std::string verdict(const SearchResult& result) {
  if (result.status == Status::Infeasible) return "unsatisfiable " + place(result);
  if (result.status == Status::Unknown) return "not decided: " + result.why;
  return "satisfiable " + place(result);
}

void fewer_warps(PaperAblation& ablation, const Case& base) {
  const int least = base.graph().has_variable_latency ? 2 : 1;
  const SearchResult full = base.decide();
  record(ablation, full);
  ablation.finding = fmt::format("{} groups: {}", base.graph().pool, verdict(full));
  for (int pool = base.graph().pool - 1; pool >= least; --pool) {
    const Case fewer_case = base.with_pool(pool);
    const SearchResult fewer = fewer_case.decide();
    ablation.finding += fmt::format("; {}: {}", pool, verdict(fewer));
    record(ablation, fewer);
    if (fewer.status == Status::Optimal) continue;
    if (fewer.status == Status::Infeasible && full.status == Status::Optimal) {
      ablation.finding += fmt::format(" ({})", fewer_case.culprits());
    }
    break;
  }
  ablation.finding += ".";
}

void no_cross_warp(PaperAblation& ablation, const Case& with, const Case& without) {
  const SearchResult free = with.decide(), result = without.decide();
  record(ablation, result);
  ablation.finding = fmt::format("With cross-warp communication: {}. Without: {}", verdict(free), verdict(result));
  if (result.status == Status::Infeasible && free.status == Status::Optimal) ablation.finding += fmt::format("; {}", without.culprits());
  if (result.status == Status::Optimal)
    ablation.finding +=
        "; ops of one group may overlap in the paper's model unless one of them blocks, so each chain of register values "
        "finds room on a group of its own";
  ablation.finding += ".";
}

void no_subtiling(PaperAblation& ablation, const Case& merged) {
  const SearchResult result = merged.decide();
  record(ablation, result);
  ablation.finding = fmt::format("One tile: {}", verdict(result));
  if (result.status == Status::Infeasible) {
    for (const PaperNode& node : merged.graph().nodes)
      if (node.registers > merged.graph().register_limit)
        ablation.finding +=
            fmt::format("; the result of {} alone takes {} registers of {}", node.name, node.registers, merged.graph().register_limit);
    ablation.finding += fmt::format("; {}", merged.culprits());
    const SearchResult all = merged.decide_all();
    if (all.status == Status::Optimal) ablation.finding += fmt::format("; its smallest I with a joint schedule is {}", all.ii);
    if (all.status == Status::Infeasible) ablation.finding += "; no larger I helps";
  }
  ablation.finding += ".";
}

}  // namespace

PaperAblation ablate(Ablation ablation, const PaperGraph& native, const Options& options, const PaperAnswer& answer, const SearchRun& run) {
  PaperAblation result;
  result.name = kAblationNames[static_cast<std::size_t>(ablation)];
  Options changed = options;
  changed.secondary = Secondary::None;
  const Case base(native, changed, answer.ii, run);
  switch (ablation) {
    case Ablation::FewerWarps:
      result.change = options.pool == Pool::Groups ? "fewer groups of warps, one less at a time" : "fewer warps, one less at a time";
      if (base.possible()) fewer_warps(result, base);
      break;
    case Ablation::NoCrossWarp:
      result.change = "no register value may be read on another warp";
      changed.cross_warp = CrossWarp::NoRegisters;
      if (base.possible()) no_cross_warp(result, base, Case(native, changed, answer.ii, run));
      break;
    case Ablation::NoSubtiling: {
      result.change = "the two sub-tiles as one tile of twice the rows: costs, registers and footprints doubled";
      PaperGraph merged = native;
      if (merge_subtiles(merged) == 0) {
        result.finding = "The kernel does not consist of two equal sub-tiles (ops named ...0 and ...1), so there is nothing to merge.";
        return result;
      }
      const Case one_tile(merged, changed, 0, run);
      if (one_tile.possible()) no_subtiling(result, one_tile);
      break;
    }
  }
  if (result.finding.empty()) result.finding = "The costs cannot be normalized.";
  return result;
}

}  // namespace heddle::solver::paper
