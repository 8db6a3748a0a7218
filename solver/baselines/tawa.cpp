// B3, Tawa (arXiv 2510.14719; branch aref_auto_ws of triton-lang/triton): a producer, G cooperative consumers that
// split the rows, rings of D slots, P products in flight; for attention the pattern-matched loop T(j), U(j-1), C(j).
#include <fmt/format.h>

#include <algorithm>

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

/// Two products in a row block, the second fed by the first.
struct Pattern {
  OpId t, u;
};

std::vector<Pattern> attention_pattern(const Problem& problem, const RowBlocks& blocks) {
  const std::vector<OpId> order = program_order(problem);
  std::vector<std::vector<OpId>> products(static_cast<std::size_t>(blocks.count));
  for (const OpId op : order)
    if (blocks.of[op.index()] >= 0 && is_mma(problem, op))
      products[static_cast<std::size_t>(blocks.of[op.index()])].push_back(op);
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
std::vector<Step> overlapped(const Problem& problem, std::vector<Step> stream, const Pattern& pattern) {
  const auto rank = [&](const Step& step) {
    if (step.op == pattern.t) return 0;
    if (step.op == pattern.u) return 1;
    if (!edge_between(problem, step.op, pattern.u, false)) return 2;
    return edge_between(problem, pattern.u, step.op, true) ? 3 : 4;
  };
  std::stable_sort(stream.begin(), stream.end(), [&](const Step& a, const Step& b) { return rank(a) < rank(b); });
  for (Step& step : stream)
    if (step.op == pattern.u) step.stage = 1;
  return stream;
}

/// With P products in flight, the one being issued included, a product waits for the one P before it, and its slots are
/// given back when the product P - 1 after it has been issued.
void limit_flight(const Problem& problem, Program& program, int p) {
  for (const Channel& channel : problem.channels) {
    if (!filled_by_load(problem, channel)) continue;
    const int depth = program.depths[static_cast<std::size_t>(&channel - problem.channels.data())];
    for (const Reader& r : channel.readers)
      if (is_mma(problem, r.op))
        program.waits.push_back(
            {r.op, channel.writer, problem.op(r.op).window + r.signal, depth - (p - 1) - r.distance});
  }
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (is_mma(problem, OpId(v))) program.waits.push_back({OpId(v), OpId(v), problem.ops[v].latency, p});
}

}  // namespace

Result<BaselineOutcome> run_tawa(const BaselineInput& input) {
  const Problem& problem = input.problem;
  const int d = static_cast<int>(input.setting("D")), p = static_cast<int>(input.setting("P")),
            g = static_cast<int>(input.setting("G"));
  if (d < p)
    return Error::input(fmt::format(
        "D={} slots cannot run with P={} products in flight (the one being issued included): each holds a slot, so "
        "D must be at least P",
        d, p));
  std::vector<std::string> log;
  // Products whose accumulator is in tensor memory are issued by a warp of their own.
  const bool own_mma =
      problem.limits.tmem_columns > 0 && problem.max_groups > 2 + (problem.has_producer_group() ? 1 : 0);
  const RowBlocks blocks = row_blocks(problem, std::min(g, groups_left(problem, own_mma ? 1 : 0)));
  log.push_back(fmt::format("D={} P={} G={}{}", d, p, blocks.count, input.setting("persistent") ? " persistent" : ""));
  if (blocks.count < g)
    log.push_back(
        fmt::format("the kernel has only {} row block{} for G={}", blocks.count, blocks.count == 1 ? "" : "s", g));
  std::vector<Step> order;
  for (const OpId op : abreast(problem, blocks)) order.push_back({op, 0});
  const auto build = [&](const std::vector<Pattern>& patterns) {
    Program program = agent_program(problem, order, blocks);
    program.turns.clear();  // nothing orders the groups
    const std::size_t first = program.streams.size() - static_cast<std::size_t>(blocks.count);
    for (std::size_t b = 0; b < patterns.size(); ++b)
      program.streams[first + b] = overlapped(problem, program.streams[first + b], patterns[b]);
    if (own_mma) {
      std::vector<Step> products;
      for (const int stage : {0, 1})
        for (std::size_t s = first; s < program.streams.size(); ++s)
          for (const Step& step : program.streams[s])
            if (is_mma(problem, step.op) && step.stage == stage) products.push_back(step);
      std::stable_sort(products.begin(), products.end(), [&](const Step& a, const Step& b) {
        const auto place = [&](OpId op) {
          return std::find_if(order.begin(), order.end(), [&](const Step& s) { return s.op == op; });
        };
        return a.stage != b.stage ? a.stage < b.stage : place(a.op) < place(b.op);
      });
      for (auto& stream : program.streams)
        std::erase_if(stream, [&](const Step& step) { return is_mma(problem, step.op); });
      program.streams.insert(program.streams.begin() + static_cast<std::ptrdiff_t>(first), std::move(products));
      std::erase_if(program.streams, [](const auto& stream) { return stream.empty(); });
    }
    program.depths = uniform_depths(problem, d, 1);
    if (patterns.empty()) limit_flight(problem, program, p);
    return program;
  };
  std::string note = "Tawa's partition and loop.";
  std::vector<Pattern> patterns = attention_pattern(problem, blocks);
  if (!patterns.empty()) {
    std::vector<std::string> tried = log;
    Timing timing = fitted_schedule(problem, build(patterns), tried);
    if (!timing.deadlock && memory_fits(problem, timing.schedule)) {
      tried.push_back("two products in a row: T(j), U(j-1), then the softmax of j");
      return finished(input, std::move(timing), "tawa",
                      note +
                          " Attention pattern: T(j), U(j-1), C(j), rescale. Nothing orders the consumers: whoever "
                          "comes first has a unit. "
                          "P plays no part here: the model frees a slot when the product that reads it retires.",
                      std::move(tried));
    }
    log.push_back(
        "two products in a row, but tensor memory has no room for a second score tile: no overlap inside a group");
  } else {
    log.push_back("not the pattern of attention: program order");
  }
  return finished(input, fitted_schedule(problem, build({}), log), "tawa",
                  note + " Waits for P products in flight are in the starts, not in the program.", std::move(log));
}

}  // namespace heddle::solver
