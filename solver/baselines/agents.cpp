// Row blocks are unions of ops that share registers or tensor memory; what is left joins the block with which it exchanges most.
#include "solver/baselines/agents.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "core/analysis/channels.h"
#include "core/check/checker.h"

namespace heddle::solver {
namespace {

struct Union {
  std::vector<std::size_t> parent;
  explicit Union(std::size_t n) : parent(n) { std::iota(parent.begin(), parent.end(), std::size_t{0}); }
  std::size_t find(std::size_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  }
  void join(std::size_t a, std::size_t b) {
    a = find(a);
    b = find(b);
    parent[std::max(a, b)] = std::min(a, b);
  }
};

}  // namespace

RowBlocks row_blocks(const Problem& problem, int most) {
  const std::size_t n = problem.ops.size();
  Union blocks(n);
  for (const Edge& e : problem.edges) {
    if (problem.op(e.from).variable_latency || problem.op(e.to).variable_latency || !e.value.valid()) continue;
    const Space space = problem.value(e.value).space;
    if (space == Space::Register || space == Space::Tmem) blocks.join(e.from.index(), e.to.index());
  }
  const auto kinds_of = [&](std::size_t root) {
    std::multiset<std::string> kinds;
    for (std::size_t v = 0; v < n; ++v)
      if (blocks.find(v) == root && !problem.ops[v].variable_latency) kinds.insert(problem.ops[v].kind);
    return kinds;
  };
  std::vector<std::size_t> roots;
  for (std::size_t v = 0; v < n; ++v)
    if (!problem.ops[v].variable_latency && blocks.find(v) == v) roots.push_back(v);
  if (roots.empty()) return {std::vector<int>(n, -1), 0};
  // Row blocks are alike: as many as there are of the largest kind. The rest joins those it exchanges values with.
  std::multiset<std::string> largest;
  for (const std::size_t root : roots)
    if (auto kinds = kinds_of(root); kinds.size() > largest.size()) largest = std::move(kinds);
  std::vector<std::size_t> homes;
  for (const std::size_t root : roots)
    if (kinds_of(root) == largest && homes.size() < static_cast<std::size_t>(std::max(1, most))) homes.push_back(root);
  std::erase_if(roots, [&](std::size_t root) { return std::find(homes.begin(), homes.end(), root) != homes.end(); });
  while (!roots.empty()) {
    std::size_t joining = roots.front(), home = homes.front();
    std::int64_t most_shared = -1;
    std::size_t home_size = 0;
    for (const std::size_t root : roots)
      for (const std::size_t to : homes) {
        std::int64_t shared = 0;
        for (const Edge& e : problem.edges) {
          const std::size_t a = blocks.find(e.from.index()), b = blocks.find(e.to.index());
          shared += (a == root && b == to) || (a == to && b == root);
        }
        const std::size_t size = kinds_of(to).size();
        if (shared < most_shared || (shared == most_shared && size >= home_size)) continue;
        most_shared = shared;
        joining = root;
        home = to;
        home_size = size;
      }
    std::erase(roots, joining);
    blocks.join(joining, home);
    std::replace(homes.begin(), homes.end(), home, blocks.find(home));
  }
  RowBlocks result{std::vector<int>(n, -1), static_cast<int>(homes.size())};
  std::sort(homes.begin(), homes.end());
  for (std::size_t v = 0; v < n; ++v)
    if (!problem.ops[v].variable_latency)
      result.of[v] = static_cast<int>(std::find(homes.begin(), homes.end(), blocks.find(v)) - homes.begin());
  return result;
}

std::vector<OpId> abreast(const Problem& problem, const RowBlocks& blocks) {
  std::vector<std::pair<int, int>> key(problem.ops.size());
  std::vector<int> members(static_cast<std::size_t>(blocks.count) + 1, 0);
  for (const OpId op : program_order(problem)) {
    const int block = blocks.of[op.index()];
    key[op.index()] = {members[static_cast<std::size_t>(block + 1)]++, block};
    if (block < 0) key[op.index()].first = -1;  // loads first, as they are listed
  }
  return timing::ordered_by(problem, key);
}

std::vector<std::vector<OpId>> tensor_turns(const Problem& problem, const std::vector<OpId>& order, const std::vector<int>& group) {
  std::vector<std::vector<OpId>> turns;
  for (std::size_t u = 0; u < problem.units.size(); ++u) {
    if (problem.units[u].role != UnitRole::Tensor) continue;
    std::vector<OpId> users;
    for (const OpId op : order)
      if (std::any_of(problem.op(op).uses.begin(), problem.op(op).uses.end(),
                      [&](const UnitUse& use) { return use.unit == UnitId(u) && use.duration > 0; }))
        users.push_back(op);
    const bool shared = std::any_of(users.begin(), users.end(), [&](OpId op) { return group[op.index()] != group[users.front().index()]; });
    if (shared) turns.push_back(std::move(users));
  }
  return turns;
}

bool on_unit(const Problem& problem, OpId op, UnitRole role) {
  return std::any_of(problem.op(op).uses.begin(), problem.op(op).uses.end(),
                     [&](const UnitUse& use) { return problem.unit(use.unit).role == role && use.duration > 0; });
}

bool is_store(const Problem& problem, OpId op) { return !problem.op(op).variable_latency && on_unit(problem, op, UnitRole::Copy); }

bool filled_by_load(const Problem& problem, const Channel& channel) { return problem.op(channel.writer).variable_latency; }

std::vector<int> uniform_depths(const Problem& problem, int loads, int others) {
  std::vector<int> depths;
  for (const Channel& channel : problem.channels)
    depths.push_back(std::clamp(filled_by_load(problem, channel) ? loads : others, 1, std::max(1, channel.max_depth)));
  return depths;
}

LoopTiming fitted_schedule(const Problem& problem, LoopProgram program, std::vector<std::string>& log) {
  int before = std::numeric_limits<int>::max();
  while (true) {
    LoopTiming timing = running_schedule(problem, program, log);
    if (timing.deadlock || memory_fits(problem, timing.schedule)) return timing;
    int deepest = 1;
    for (std::size_t c = 0; c < problem.channels.size(); ++c)
      if (filled_by_load(problem, problem.channels[c])) deepest = std::max(deepest, program.depths[c]);
    if (deepest == 1 || deepest >= before) {  // a ring that had to be deepened does not get its slot taken away again
      log.push_back("memory does not suffice even with as few slots per load as the order can run with");
      return timing;
    }
    before = deepest;
    log.push_back(fmt::format("{} bytes of shared memory do not fit: load rings get {} slots instead of {}",
                              allocated(problem, timing.schedule, Space::Smem), deepest - 1, deepest));
    for (std::size_t c = 0; c < problem.channels.size(); ++c)
      if (filled_by_load(problem, problem.channels[c])) program.depths[c] = std::min(program.depths[c], deepest - 1);
  }
}

LoopProgram agent_program(const Problem& problem, const std::vector<StreamStep>& order, const RowBlocks& blocks) {
  const std::size_t first = problem.has_producer_group() ? 1 : 0;
  LoopProgram program;
  program.streams.resize(first + static_cast<std::size_t>(blocks.count));
  std::vector<int> group(problem.ops.size(), 0);
  std::vector<OpId> ops;
  for (const StreamStep& step : order) {
    const int block = blocks.of[step.op.index()];
    const std::size_t g = block < 0 ? 0 : first + static_cast<std::size_t>(block);
    group[step.op.index()] = static_cast<int>(g);
    program.streams[g].push_back(step);
    ops.push_back(step.op);
  }
  program.turns = tensor_turns(problem, ops, group);
  return program;
}

std::string note_on_blocks(const RowBlocks& blocks) {
  if (blocks.count < 2) return {};
  return " The row blocks of one agent are groups whose turns on the tensor cores are part of the starts; no barrier keeps them.";
}

int groups_left(const Problem& problem, int taken) {
  return std::max(1, problem.max_groups - taken - (problem.has_producer_group() ? 1 : 0));
}

BaselineOutcome finished(const BaselineInput& input, LoopTiming timing, BaselineStory story, bool turns) {
  BaselineOutcome outcome{std::move(timing.schedule), input.settings, std::move(story.log)};
  normalize_starts(outcome.schedule);
  outcome.schedule.name = story.name;
  outcome.schedule.turns = turns;
  outcome.schedule.provenance = {"baseline", std::string("heddle ") + story.name, std::move(story.note)};
  if (timing.deadlock) {
    outcome.log.push_back("the program cannot run, whatever its starts: it " + timing.limit);
    return outcome;
  }
  outcome.log.push_back(fmt::format("II {}: {}", outcome.schedule.ii, timing.limit));
  for (const Violation& v : check(input.problem, outcome.schedule).violations)
    outcome.log.push_back(fmt::format("breaks {}: {}{}", v.family, v.message, v.family == "registers" ? " (a compiler would spill)" : ""));
  return outcome;
}

}  // namespace heddle::solver
