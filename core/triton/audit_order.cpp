// Triton's later passes obey stages and clusters without checking them. Here they are checked: an op of stage s runs s steps after its
// iteration began; within a step clusters run one after the other, and within a cluster the order of the text decides.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/triton/audit_parts.h"
#include "core/triton/ops.h"

namespace heddle::triton {
namespace {

constexpr int kMostCarried = 64;  ///< of a value through carried arguments

/// Which op of the block an op lies in, itself or the one around it; invalid: none.
mlir::OpId lift(const mlir::Module& module, mlir::OpId op, mlir::RegionId region) {
  while (op.valid()) {
    const mlir::BlockId block = module.op(op).parent;
    if (!block.valid()) return {};
    if (module.block(block).parent == region) return op;
    op = module.around(op);
  }
  return {};
}

struct Body {
  const mlir::Module& module;
  const mlir::Block* block = nullptr;
  mlir::RegionId region;
  std::map<mlir::OpId, std::size_t> place;  ///< in the block

  Body(const Program& program, const LoopSite& loop) : module(*program.module), block(module.body(loop.op)) {
    if (!block) return;
    region = block->parent;
    for (std::size_t i = 0; i < block->ops.size(); ++i) place[block->ops[i]] = i;
  }
  /// A loop that carries nothing is printed without one.
  std::vector<mlir::ValueId> yielded() const {
    if (!block || block->ops.empty() || module.op(block->ops.back()).name != "scf.yield") return {};
    return module.op(block->ops.back()).operands;
  }
};

bool is_terminator(const mlir::Op& op) { return op.name == "scf.yield"; }

/// A token that only says "read before": Triton gives the storage another copy where that would be too early.
bool only_frees_storage(const Program& program, const mlir::Op& from, mlir::ValueId value) {
  const OpWord* word = find_op(from.name);
  // What an scf.if hands on may be the token of a load or that of a store: nobody is accused for it.
  const bool read = (word && word->role == Role::TensorLoad) || from.name == "scf.if";
  return read && program.type(value).tile.space == dump::TileType::Space::Token;
}

std::string step_words(std::int64_t steps) {
  return steps == 1 ? "of the iteration before" : fmt::format("of {} iterations before", steps);
}

Finding stages_finding(const LoopSite& loop, const Program& program, const std::vector<SsaEdge>& edges) {
  Finding finding{"stages", Weight::Fine, {}, {}, {}};
  const Body body(program, loop);
  std::map<std::int64_t, std::vector<mlir::OpId>> by_stage;
  for (const mlir::OpId id : body.block->ops)
    if (const auto stage = stage_of(body.module.op(id))) by_stage[*stage].push_back(id);
  if (by_stage.empty()) return finding;
  const std::int64_t last = by_stage.rbegin()->first;
  std::vector<std::int64_t> used;
  for (const auto& [stage, ops] : by_stage) used.push_back(stage);
  finding.sentence =
      fmt::format("{} in use: {}", used.size() == 1 ? "one stage" : fmt::format("{} stages", used.size()), list_of_stages(used));
  if (loop.num_stages > 0) finding.sentence += fmt::format("; num_stages = {}", loop.num_stages);
  const mlir::Attribute* declared = body.module.op(loop.op).find("tt.scheduled_max_stage");
  if (declared && last > loop.max_stage) {
    finding.weight = Weight::Wrong;
    finding.sentence += fmt::format("; tt.scheduled_max_stage says {}, but ops are in stage {}", loop.max_stage, last);
    finding.details.push_back("Triton takes the number without checking it and then leaves iterations unfinished");
    finding.ops = by_stage.rbegin()->second;
    return finding;
  }
  // The loop of a partition keeps the number of the loop that it is a part of, and few of its ops.
  if (!loop.partition.empty()) return finding;
  if (declared && last < loop.max_stage) {
    finding.weight = Weight::Waste;
    finding.details.push_back(
        fmt::format("tt.scheduled_max_stage says {}, but nothing is after stage {}: the loop's prologue is longer than it needs to be",
                    loop.max_stage, last));
  }
  // A step from one stage to the next that nothing crosses separates ops that have nothing to do with each other.
  for (std::int64_t s = used.front(); s < last && s - used.front() < 64; ++s) {
    const bool crossed = std::any_of(edges.begin(), edges.end(), [&](const SsaEdge& e) {
      const auto from = stage_of(body.module.op(e.from)), to = stage_of(body.module.op(e.to));
      return from && to && *from <= s && *to + e.distance > s;
    });
    if (crossed) continue;
    finding.weight = Weight::Waste;
    finding.details.push_back(fmt::format("no data passes from stage {} to stage {}: what is later could be earlier", s, s + 1));
  }
  std::vector<std::int64_t> empty;
  for (std::int64_t s = 0; s <= last && s < 64; ++s)
    if (!by_stage.count(s)) empty.push_back(s);
  if (!empty.empty() && last < 64)
    finding.details.push_back(fmt::format("stage{} {} {} no op: data waits there, which makes rings deeper", empty.size() == 1 ? "" : "s",
                                          list_of_stages(empty), empty.size() == 1 ? "has" : "have"));
  return finding;
}

std::optional<Finding> stageless_finding(const LoopSite& loop, const Program& program) {
  const Body body(program, loop);
  Finding finding{"no stage", Weight::Wrong, {}, {}, {}};
  for (const mlir::OpId id : body.block->ops)
    if (const mlir::Op& op = body.module.op(id); !is_terminator(op) && !stage_of(op)) finding.ops.push_back(id);
  if (finding.ops.empty()) return std::nullopt;
  finding.sentence = fmt::format("{} without loop.stage among ops that have one: Triton compiles this, and nothing says when they run",
                                 finding.ops.size() == 1 ? "an op is" : fmt::format("{} ops are", finding.ops.size()));
  for (const mlir::OpId id : finding.ops) finding.details.push_back(describe_op(program, body.module.op(id)));
  return finding;
}

Finding order_finding(const LoopSite& loop, const Program& program, const std::vector<SsaEdge>& edges) {
  const Body body(program, loop);
  Finding finding{"order", Weight::Fine, {}, {}, {}};
  std::size_t judged = 0;
  for (const SsaEdge& e : edges) {
    const mlir::Op &from = body.module.op(e.from), &to = body.module.op(e.to);
    const auto stage_from = stage_of(from), stage_to = stage_of(to);
    if (!stage_from || !stage_to) continue;
    ++judged;
    const std::int64_t ahead = *stage_to + e.distance - *stage_from;  ///< steps between the two
    const std::int64_t cluster_from = cluster_of(from).value_or(0), cluster_to = cluster_of(to).value_or(0);
    if (ahead > 0) continue;
    if (ahead == 0 && (cluster_to > cluster_from || (cluster_to == cluster_from && body.place.at(e.to) > body.place.at(e.from)))) continue;
    finding.ops.insert(finding.ops.end(), {e.from, e.to});
    const std::string what =
        ahead < 0
            ? fmt::format("stage {}, but what it reads is made in stage {}{}", *stage_to, *stage_from,
                          e.distance > 0
                              ? fmt::format(" of {} before", e.distance == 1 ? "the iteration" : fmt::format("{} iterations", e.distance))
                              : "")
        : cluster_to < cluster_from
            ? fmt::format("cluster {} runs before cluster {} of what it reads, in the same step", cluster_to, cluster_from)
            : std::string("it stands before what it reads, in the same step and cluster");
    // A reader that comes k steps too early finds what was made k iterations earlier; in the same step one.
    finding.details.push_back(
        fmt::format("{} gets {} {}: {}", describe_op(program, to), name_of(program, from), step_words(1 - ahead), what));
  }
  if (finding.ops.empty()) {
    finding.sentence = fmt::format("all {} dependences of the loop's ops hold in the order of stages and clusters", judged);
    return finding;
  }
  const std::size_t broken = finding.details.size();
  finding.weight = Weight::Wrong;
  finding.sentence = fmt::format("{} of {} dependences {} not hold: the kernel computes with tiles of other iterations", broken, judged,
                                 broken == 1 ? "does" : "do");
  return finding;
}

}  // namespace

std::optional<std::int64_t> stage_of(const mlir::Op& op) {
  return op.find("loop.stage") ? std::optional(op.integer("loop.stage", 0)) : std::nullopt;
}

std::optional<std::int64_t> cluster_of(const mlir::Op& op) {
  return op.find("loop.cluster") ? std::optional(op.integer("loop.cluster", 0)) : std::nullopt;
}

std::string source_of(const Program& program, const mlir::Op& op) {
  const mlir::Location& location = program.module->location(op);
  if (location.line <= 0 || location.file.empty()) return {};
  const std::size_t slash = location.file.find_last_of('/');
  return fmt::format("{}:{}", slash == std::string::npos ? location.file : location.file.substr(slash + 1), location.line);
}

std::string name_of(const Program& program, const mlir::Op& op) {
  return op.results.empty() ? op.name : "%" + program.module->value(op.results.front()).name;
}

std::string describe_op(const Program& program, const mlir::Op& op) {
  const std::string source = source_of(program, op), where = fmt::format("line {}{}{}", op.line, source.empty() ? "" : ", ", source);
  return op.results.empty() ? fmt::format("{} ({})", op.name, where) : fmt::format("{} ({}, {})", name_of(program, op), op.name, where);
}

std::string list_of_stages(const std::vector<std::int64_t>& stages) {
  std::string text;
  for (std::size_t i = 0; i < stages.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == stages.size() ? " and " : ", ", stages[i]);
  return text;
}

std::vector<SsaEdge> edges_of(const Program& program, const LoopSite& loop) {
  std::vector<SsaEdge> edges;
  const Body body(program, loop);
  if (!body.block) return edges;
  const std::vector<mlir::ValueId> yielded = body.yielded();
  std::set<std::tuple<mlir::OpId, mlir::OpId, int>> known;
  // The first argument of the block is the loop's variable; the others are what was yielded an iteration ago.
  const std::size_t first = body.block->arguments.size() - std::min(body.block->arguments.size(), yielded.size());
  const auto add_uses = [&](mlir::OpId user, const mlir::Op& op) {
    for (mlir::ValueId value : op.operands) {
      int distance = 0;
      while (distance < kMostCarried && !body.module.value(value).definer.valid() && body.module.value(value).block.valid() &&
             body.module.block(body.module.value(value).block).parent == body.region) {
        const std::size_t index = body.module.value(value).index;
        if (index < first || index - first >= yielded.size()) break;
        value = yielded[index - first];
        ++distance;
      }
      const mlir::OpId from = lift(body.module, body.module.value(value).definer, body.region);
      if (!from.valid() || (from == user && distance == 0) || is_terminator(body.module.op(user))) continue;
      if (only_frees_storage(program, body.module.op(from), value)) continue;
      if (known.insert({from, user, distance}).second) edges.push_back({from, user, distance});
    }
  };
  for (const mlir::OpId id : body.block->ops) add_uses(id, body.module.op(id));
  // What nested regions read.
  for (std::size_t i = 0; i < body.module.ops.size(); ++i) {
    const mlir::OpId id(static_cast<std::uint32_t>(i));
    if (body.place.count(id)) continue;
    if (const mlir::OpId around = lift(body.module, id, body.region); around.valid()) add_uses(around, body.module.ops[i]);
  }
  return edges;
}

std::vector<Finding> audit_order(const Program& program, const LoopSite& loop) {
  std::vector<Finding> findings;
  if (!loop.scheduled || !program.module->body(loop.op)) return findings;
  const std::vector<SsaEdge> edges = edges_of(program, loop);
  if (Finding stages = stages_finding(loop, program, edges); !stages.sentence.empty()) findings.push_back(std::move(stages));
  if (auto stageless = stageless_finding(loop, program)) findings.push_back(*std::move(stageless));
  findings.push_back(order_finding(loop, program, edges));
  return findings;
}

}  // namespace heddle::triton
