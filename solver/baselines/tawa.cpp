// Tawa (arXiv 2510.14719; branch aref_auto_ws of triton-lang/triton): a producer, G cooperative consumers that
// split the rows, rings of D slots, P mmas in flight; for attention the pattern-matched loop T(j), U(j-1), C(j).
#include <fmt/format.h>

#include <algorithm>

#include "core/base/text_style.h"
#include "solver/baselines/agents.h"
#include "solver/baselines/methods.h"

namespace heddle::solver {
namespace {

/// Whether the value of `from` reaches `to` inside one iteration.
bool reaches(const Problem& problem, const std::vector<OpId>& order, OpId from, OpId to) {
  std::vector<bool> reached(problem.ops.size(), false);
  reached[from.index()] = true;
  for (const OpId op : order)
    for (const Edge& e : problem.edges)
      if (e.to == op && e.distance == 0 && reached[e.from.index()]) reached[op.index()] = true;
  return reached[to.index()];
}

/// Two mmas in a row block, the second fed by the first.
struct Pattern {
  OpId t, u;
};

std::vector<Pattern> attention_pattern(const Problem& problem, const RowBlocks& blocks) {
  const std::vector<OpId> order = program_order(problem);
  std::vector<std::vector<OpId>> products(static_cast<std::size_t>(blocks.count));
  for (const OpId op : order)
    if (blocks.of[op.index()] >= 0 && is_mma(problem, op)) products[static_cast<std::size_t>(blocks.of[op.index()])].push_back(op);
  std::vector<Pattern> patterns;
  for (const auto& two : products) {
    if (two.size() != 2 || !reaches(problem, order, two[0], two[1])) return {};
    patterns.push_back({two[0], two[1]});
  }
  return patterns;
}

bool edge_between(const Problem& problem, OpId from, OpId to, bool carried) {
  return std::any_of(problem.edges.begin(), problem.edges.end(),
                     [&](const Edge& e) { return e.from == from && e.to == to && (e.distance > 0) == carried; });
}

/// T, U of the iteration before, then the rest; what U reads comes last, first of it what waits for U itself.
std::vector<StreamStep> overlapped(const Problem& problem, std::vector<StreamStep> stream, const Pattern& pattern) {
  const auto rank = [&](const StreamStep& step) {
    if (step.op == pattern.t) return 0;
    if (step.op == pattern.u) return 1;
    if (!edge_between(problem, step.op, pattern.u, false)) return 2;
    return edge_between(problem, pattern.u, step.op, true) ? 3 : 4;
  };
  std::stable_sort(stream.begin(), stream.end(), [&](const StreamStep& a, const StreamStep& b) { return rank(a) < rank(b); });
  for (StreamStep& step : stream)
    if (step.op == pattern.u) step.stage = 1;
  return stream;
}

/// With P mmas in flight, the one being issued included, an mma waits for the one P before it, and its slots are
/// given back when the mma P - 1 after it has been issued.
void limit_flight(const Problem& problem, LoopProgram& program, int p) {
  for (const Channel& channel : problem.channels) {
    if (!filled_by_load(problem, channel)) continue;
    const int depth = program.depths[static_cast<std::size_t>(&channel - problem.channels.data())];
    for (const Reader& r : channel.readers)
      if (is_mma(problem, r.op))
        program.waits.push_back({r.op, channel.writer, problem.op(r.op).window + r.signal, depth - (p - 1) - r.distance});
  }
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (is_mma(problem, OpId(v))) program.waits.push_back({OpId(v), OpId(v), problem.ops[v].latency, p});
}

/// Loads, one consumer per row block, and, if `own_mma`, a group for the mmas; depths and waits are left open.
LoopProgram partition(const Problem& problem, const RowBlocks& blocks, const std::vector<Pattern>& patterns, bool own_mma) {
  std::vector<StreamStep> order;
  for (const OpId op : abreast(problem, blocks)) order.push_back({op, 0});
  LoopProgram program = agent_program(problem, order, blocks);
  program.turns.clear();  // nothing orders the groups
  const std::size_t first = program.streams.size() - static_cast<std::size_t>(blocks.count);
  for (std::size_t b = 0; b < patterns.size(); ++b)
    program.streams[first + b] = overlapped(problem, program.streams[first + b], patterns[b]);
  if (!own_mma) return program;
  const auto lags = [&](OpId op) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const Pattern& pattern) { return pattern.u == op; });
  };
  std::vector<StreamStep> products;
  for (const int stage : {0, 1})
    for (const StreamStep& step : order)
      if (is_mma(problem, step.op) && lags(step.op) == (stage == 1)) products.push_back({step.op, stage});
  for (auto& stream : program.streams) std::erase_if(stream, [&](const StreamStep& step) { return is_mma(problem, step.op); });
  program.streams.insert(program.streams.begin() + static_cast<std::ptrdiff_t>(first), std::move(products));
  std::erase_if(program.streams, [](const auto& stream) { return stream.empty(); });
  return program;
}

/// Rings get a slot less each until memory suffices; fewer mmas may then be in flight.
LoopTiming with_products_in_flight(const Problem& problem, const LoopProgram& unlimited, int d, int p, std::vector<std::string>& log) {
  for (int slots = d;; --slots) {
    LoopProgram program = unlimited;
    program.depths = uniform_depths(problem, slots, 1);
    limit_flight(problem, program, std::min(p, slots));
    LoopTiming timing = running_schedule(problem, program, log);
    if (timing.deadlock || slots == 1 || memory_fits(problem, timing.schedule)) return timing;
    log.push_back(fmt::format("memory does not suffice for D={}", slots));
  }
}

}  // namespace

Result<BaselineOutcome> run_tawa(const BaselineInput& input) {
  const Problem& problem = input.problem;
  const auto number = [&](const char* name) { return static_cast<int>(input.setting(name)); };
  const int d = number("D"), p = number("P"), g = number("G");
  if (d < p)
    return Error::input(
        fmt::format("D={} slots cannot run with P={} mmas in flight (the one being issued included): each holds a "
                    "slot, so D must be at least P",
                    d, p));
  std::vector<std::string> log;
  // Mmas whose accumulator is in tensor memory are issued by a warp of their own.
  const bool own_mma = problem.limits.tmem_columns > 0 && groups_left(problem) > 2;
  const RowBlocks blocks = row_blocks(problem, std::min(g, groups_left(problem, own_mma ? 1 : 0)));
  log.push_back(fmt::format("D={} P={} G={}{}", d, p, blocks.count, number("persistent") ? " persistent" : ""));
  if (blocks.count < g) log.push_back(fmt::format("the kernel has only {} for G={}", count_of(blocks.count, "row block"), g));
  const std::vector<Pattern> patterns = attention_pattern(problem, blocks);
  if (!patterns.empty()) {
    std::vector<std::string> tried = log;
    LoopProgram program = partition(problem, blocks, patterns, own_mma);
    program.depths = uniform_depths(problem, d, 1);
    LoopTiming timing = fitted_schedule(problem, std::move(program), tried);
    if (!timing.deadlock && memory_fits(problem, timing.schedule)) {
      tried.push_back("two mmas in a row: T(j), U(j-1), then the softmax of j");
      return finished(input, std::move(timing),
                      {"tawa",
                       "Tawa's partition and its loop for attention: T(j), U(j-1), C(j), rescale. Nothing orders the "
                       "consumers: whoever comes first has the tensor core. P plays no part here: the model frees a slot "
                       "when the mma that reads it retires.",
                       std::move(tried)},
                      false);
    }
    log.push_back("two mmas in a row, but tensor memory has no room for a second score tile: no overlap inside a group");
  } else {
    log.push_back("not the pattern of attention: program order");
  }
  LoopTiming timing = with_products_in_flight(problem, partition(problem, blocks, {}, own_mma), d, p, log);
  return finished(input, std::move(timing),
                  {"tawa",
                   "Tawa's partition, program order. Waits for P mmas in flight are in the starts, not in the "
                   "program, so its event graph may sustain a smaller period.",
                   std::move(log)},
                  false);
}

}  // namespace heddle::solver
