// Triton's automatic warp specialization (triton-lang/triton, TritonGPU/Transforms/WarpSpecialization and the NVWS
// passes): every op is a partition of its own, an ordered list of rules merges neighbours, and each partition runs in
// program order with rings of one slot except behind loads. No cycle is counted anywhere.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "solver/baselines/agents.h"
#include "solver/baselines/iteration_stages.h"
#include "solver/baselines/methods.h"

namespace heddle::solver {
namespace {

constexpr Cycle kCostly = 256;              // cycles from which an op counts as costly (SFU)
constexpr std::int64_t kLargeEdge = 16384;  // elements, of 4 bytes here

enum class Kind { None, Load, Mma, Tmem, Sfu, Store };

const char* word(Kind kind) {
  switch (kind) {
    case Kind::Load: return "LOAD";
    case Kind::Mma: return "MMA";
    case Kind::Tmem: return "TMEM";
    case Kind::Sfu: return "SFU";
    case Kind::Store: return "STORE";
    case Kind::None: break;
  }
  return "NONE";
}

Kind kind_of(const Problem& problem, OpId op) {
  if (problem.op(op).variable_latency) return Kind::Load;
  if (is_mma(problem, op)) return Kind::Mma;
  if (on_unit(problem, op, UnitRole::Tmem)) return Kind::Tmem;
  if (is_store(problem, op)) return Kind::Store;
  for (const UnitUse& use : problem.op(op).uses)
    if (problem.unit(use.unit).role == UnitRole::Special && use.duration > kCostly) return Kind::Sfu;
  return Kind::None;
}

class Partitions {
 public:
  Partitions(const Problem& problem, std::vector<std::string>& log) : problem_(problem), log_(log) {
    of_.resize(problem.ops.size());
    std::iota(of_.begin(), of_.end(), std::size_t{0});
    for (std::size_t v = 0; v < of_.size(); ++v) kind_.push_back(kind_of(problem, OpId(v)));
  }

  const std::vector<std::size_t>& of() const { return of_; }
  Kind kind(OpId op) const { return kind_[op.index()]; }

  void merge_by_rules() {
    for (bool merged = true; merged;) {
      merged = false;
      for (const Rule& rule : rules()) {
        for (const Edge& e : problem_.edges) {
          const std::size_t a = of_[e.from.index()], b = of_[e.to.index()];
          if (a == b || !may_merge(a, b) || !(this->*rule.applies)(e)) continue;
          join(a, b, fmt::format("{}: {} to {}, {} elements", rule.name, problem_.op(e.from).name, problem_.op(e.to).name, elements(e)));
          merged = true;
          break;
        }
        if (merged) break;  // the list begins again after every merge
      }
    }
  }

  /// All ops of a kind in one partition.
  void gather(Kind kind) {
    std::size_t first = of_.size();
    for (std::size_t v = 0; v < of_.size(); ++v) {
      if (kind_[v] != kind) continue;
      if (first == of_.size())
        first = v;
      else if (of_[v] != of_[first])
        join(of_[first], of_[v], fmt::format("one partition for {}", word(kind)));
    }
  }

  /// Ops that touch the same tensor memory, MMA aside.
  void gather_tmem() {
    for (const Edge& e : problem_.edges)
      if (e.value.valid() && problem_.value(e.value).space == Space::Tmem && kind(e.from) == Kind::Tmem && kind(e.to) == Kind::Tmem &&
          of_[e.from.index()] != of_[e.to.index()])
        join(of_[e.from.index()], of_[e.to.index()], fmt::format("shared tensor memory: {}", problem_.value(e.value).name));
  }

  /// What is left over joins the default partition: the two with least to do, until there are few enough.
  void limit(int most) {
    while (true) {
      std::vector<std::pair<Cycle, std::size_t>> work;
      int count = 0;
      for (std::size_t p = 0; p < of_.size(); ++p) {
        Cycle sum = 0;
        bool used = false, fixed = false;
        for (std::size_t v = 0; v < of_.size(); ++v) {
          if (of_[v] != p) continue;
          used = true;
          fixed |= kind_[v] == Kind::Load || kind_[v] == Kind::Mma;
          sum += problem_.ops[v].window;
        }
        count += used;
        if (used && !fixed) work.push_back({sum, p});
      }
      if (count <= most || work.size() < 2) return;
      std::sort(work.begin(), work.end());
      join(work[0].second, work[1].second, fmt::format("default partition, because the kernel allows {} groups", most));
    }
  }

 private:
  struct Rule {
    const char* name;
    bool (Partitions::*applies)(const Edge&) const;
  };

  static const std::vector<Rule>& rules() {
    static const std::vector<Rule> list{
        {"loop argument", &Partitions::loop_argument},
        {"SFU with consumer", &Partitions::sfu_with_consumer},
        {"NONE chain", &Partitions::none_chain},
        {"SFU chain", &Partitions::sfu_chain},
        {"tmem_load with consumer", &Partitions::tmem_load_with_consumer},
        {"tmem_store with producer", &Partitions::tmem_store_with_producer},
        {"NONE with consumer", &Partitions::none_with_consumer},
        {"NONE with costly producer", &Partitions::none_with_costly_producer},
        {"NONE with producer", &Partitions::none_with_producer},
        {"connected store", &Partitions::connected_store},
        {"connected NONE", &Partitions::connected_none},
        {"connected by a large value", &Partitions::large_edge},
    };
    return list;
  }

  bool loop_argument(const Edge& e) const { return e.distance > 0 && in_registers(e); }
  bool sfu_with_consumer(const Edge& e) const { return e.distance == 0 && kind(e.from) == Kind::Sfu && in_registers(e); }
  bool none_chain(const Edge& e) const { return plain(e) && kind(e.from) == Kind::None && kind(e.to) == Kind::None && only_consumer(e); }
  bool sfu_chain(const Edge& e) const { return plain(e) && kind(e.from) == Kind::Sfu && kind(e.to) == Kind::Sfu; }
  bool tmem_load_with_consumer(const Edge& e) const { return plain(e) && kind(e.from) == Kind::Tmem && in_registers(e); }
  bool tmem_store_with_producer(const Edge& e) const { return plain(e) && kind(e.to) == Kind::Tmem && in_registers(e); }
  bool none_with_consumer(const Edge& e) const { return plain(e) && kind(e.from) == Kind::None && only_consumer(e); }
  bool none_with_costly_producer(const Edge& e) const { return plain(e) && kind(e.to) == Kind::None && kind(e.from) == Kind::Sfu; }
  bool none_with_producer(const Edge& e) const { return plain(e) && kind(e.to) == Kind::None && only_producer(e); }
  bool connected_store(const Edge& e) const { return plain(e) && kind(e.to) == Kind::Store; }
  bool connected_none(const Edge& e) const { return plain(e) && all_none(of_[e.from.index()]) && all_none(of_[e.to.index()]); }
  bool large_edge(const Edge& e) const { return plain(e) && elements(e) > kLargeEdge; }

  bool plain(const Edge& e) const { return e.distance == 0 && e.value.valid(); }
  bool in_registers(const Edge& e) const { return e.value.valid() && problem_.value(e.value).space == Space::Register; }
  std::int64_t elements(const Edge& e) const { return e.value.valid() ? problem_.value(e.value).bytes / 4 : 0; }

  bool only_consumer(const Edge& edge) const {
    return std::all_of(problem_.edges.begin(), problem_.edges.end(),
                       [&](const Edge& e) { return e.from != edge.from || e.distance > 0 || of_[e.to.index()] == of_[edge.to.index()]; });
  }

  bool only_producer(const Edge& edge) const {
    return std::all_of(problem_.edges.begin(), problem_.edges.end(),
                       [&](const Edge& e) { return e.to != edge.to || e.distance > 0 || of_[e.from.index()] == of_[edge.from.index()]; });
  }

  bool all_none(std::size_t partition) const {
    for (std::size_t v = 0; v < of_.size(); ++v)
      if (of_[v] == partition && kind_[v] != Kind::None) return false;
    return true;
  }

  bool holds(std::size_t partition, Kind kind) const {
    for (std::size_t v = 0; v < of_.size(); ++v)
      if (of_[v] == partition && kind_[v] == kind) return true;
    return false;
  }

  /// Loads stay among themselves, and so do mmas: nothing that touches tensor memory or computes joins them.
  bool may_merge(std::size_t a, std::size_t b) const {
    for (const Kind kind : {Kind::Load, Kind::Mma})
      if (holds(a, kind) || holds(b, kind)) return false;
    return true;
  }

  void join(std::size_t a, std::size_t b, const std::string& why) {
    const auto size = [&](std::size_t p) { return std::count(of_.begin(), of_.end(), p); };
    log_.push_back(fmt::format("merge {} + {} ops, {}", size(a), size(b), why));
    std::replace(of_.begin(), of_.end(), std::max(a, b), std::min(a, b));
  }

  const Problem& problem_;
  std::vector<std::string>& log_;
  std::vector<std::size_t> of_;
  std::vector<Kind> kind_;
};

/// The partitions of 2025: loads, mmas, and everything else, whose row blocks are groups.
std::vector<std::size_t> fixed_partitions(const Problem& problem) {
  const RowBlocks blocks = row_blocks(problem, groups_left(problem, 1));
  std::vector<std::size_t> of;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const int block = blocks.of[v];
    of.push_back(block < 0 ? 0 : is_mma(problem, OpId(v)) ? 1 : 2 + static_cast<std::size_t>(block));
  }
  return of;
}

}  // namespace

Result<BaselineOutcome> run_triton_autows(const BaselineInput& input) {
  const Problem& problem = input.problem;
  const int n = static_cast<int>(input.setting("N"));
  std::vector<std::string> log;
  std::vector<std::size_t> partition;
  if (input.setting("version") == 1) {
    partition = fixed_partitions(problem);
    log.push_back("three partitions: loads, mmas, default");
  } else {
    Partitions partitions(problem, log);
    partitions.merge_by_rules();
    partitions.gather(Kind::Mma);
    partitions.gather(Kind::Load);
    partitions.gather_tmem();
    partitions.limit(problem.max_groups);
    partition = partitions.of();
  }
  const IterationStages stages = iteration_stages(problem, n, n > 1 ? 2 : 0, log);
  const RowBlocks blocks = row_blocks(problem, static_cast<int>(problem.ops.size()));
  LoopProgram program;
  if (problem.has_producer_group()) program.streams.emplace_back();
  std::vector<std::size_t> group(problem.ops.size(), problem.ops.size());
  for (const StreamStep& step : later_stages_first(abreast(problem, blocks), stages)) {
    const std::size_t p = partition[step.op.index()];
    if (problem.op(step.op).variable_latency) {
      program.streams.front().push_back(step);
      continue;
    }
    if (group[p] == problem.ops.size()) {
      group[p] = program.streams.size();
      program.streams.emplace_back();
    }
    program.streams[group[p]].push_back(step);
  }
  program.depths = uniform_depths(problem, n, 1);
  for (std::size_t c = 0; c < problem.channels.size(); ++c)
    if (stages.buffered[c]) program.depths[c] = 2;
  for (const std::string& stream : stream_text(problem, program)) log.push_back("partition: " + stream);
  LoopTiming timing = fitted_schedule(problem, std::move(program), log);
  return finished(
      input, std::move(timing),
      {"triton-autows",
       fmt::format("Triton's partitioning by merge rules, num_stages {}; each partition in program order. Address arithmetic is "
                   "not in the graph, "
                   "an element is taken as 4 bytes, and rules about views, branches and epilogues have nothing to do here.",
                   n),
       std::move(log)},
      false);
}

}  // namespace heddle::solver
