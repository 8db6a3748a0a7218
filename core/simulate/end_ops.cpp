#include "core/simulate/end_ops.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace heddle {
namespace {

using Kind = CtaEdge::Kind;
constexpr int kMostMoves = 1000;  ///< to find a place where its units are free; after that it overlaps

/// What is in use on every unit, by one clock.
class UnitPlan {
 public:
  explicit UnitPlan(const Problem& problem) : problem_(problem), uses_(problem.units.size()) {}

  void add(const Op& op, Cycle start) {
    for (const UnitUse& use : op.uses)
      if (use.duration > 0 && use.amount > 0)
        uses_[use.unit.index()].push_back({start + use.offset, start + use.offset + use.duration, use.amount});
  }

  /// The nearest start from `start` on, in steps that way, at which all its units have room.
  Cycle place(const Op& op, Cycle start, bool later) const {
    for (int moves = 0; moves < kMostMoves; ++moves) {
      const auto better = next(op, start, later);
      if (!better) return start;
      start = *better;
    }
    return start;
  }

 private:
  struct Span {
    Cycle begin, end;
    std::int64_t amount;
  };

  /// Nothing: it fits where it is.
  std::optional<Cycle> next(const Op& op, Cycle start, bool later) const {
    for (const UnitUse& use : op.uses) {
      if (use.duration <= 0 || use.amount <= 0) continue;
      const Cycle begin = start + use.offset, end = begin + use.duration;
      std::vector<Span> meets;
      for (const Span& span : uses_[use.unit.index()])
        if (span.begin < end && begin < span.end) meets.push_back(span);
      for (const Span& at : meets) {
        const Cycle time = std::max(at.begin, begin);
        std::int64_t amount = use.amount;
        for (const Span& span : meets)
          if (span.begin <= time && time < span.end) amount += span.amount;
        if (amount > problem_.unit(use.unit).capacity && use.amount <= problem_.unit(use.unit).capacity)
          return later ? at.end - use.offset : at.begin - use.duration - use.offset;
      }
    }
    return std::nullopt;
  }

  const Problem& problem_;
  std::vector<std::vector<Span>> uses_;
};

class Placer {
 public:
  Placer(const CtaProgram& program, const Problem& loop, const Schedule& schedule)
      : program_(program), loop_(loop.ops.size()), schedule_(schedule), starts_(program.problem.ops.size()), fill_(loop), drain_(loop) {
    // A schedule out of a file may claim any depth; no pipeline that meets its own ends is deeper than this.
    constexpr int kMostStages = 64;
    const int stages = std::clamp(stage_count(schedule), 0, kMostStages);
    for (int k = 0; k < stages; ++k)
      for (std::size_t v = 0; v < loop_; ++v) {
        fill_.add(loop.ops[v], schedule.ops[v].start + k * schedule.ii);
        drain_.add(loop.ops[v], schedule.ops[v].start - k * schedule.ii);
      }
    for (std::size_t v = loop_; v < starts_.size(); ++v)
      if (program.sections[v] == CtaSection::Epilogue) place_early(v);
    for (std::size_t v = starts_.size(); v-- > loop_;)
      if (program.sections[v] == CtaSection::Prologue) place_late(v);
  }

  Cycle start(std::size_t v) const { return starts_[v]; }

 private:
  const Op& op(std::size_t v) const { return program_.problem.ops[v]; }
  const CtaStream& stream(std::size_t v) const { return program_.streams[program_.schedule.ops[v].group.index()]; }

  template <class Visit>
  void edges_to(std::size_t v, Visit visit) const {
    for (std::uint32_t e = program_.first[v]; e < program_.first[v + 1]; ++e) visit(program_.edges[e]);
  }

  void place_late(std::size_t v) {
    Cycle latest = std::numeric_limits<Cycle>::max();
    for (std::size_t to = 0; to < starts_.size(); ++to)
      edges_to(to, [&](const CtaEdge& edge) {
        if (edge.from != v) return;
        if (edge.kind == Kind::First) latest = std::min(latest, schedule_.ops[to].start - edge.weight);
        if (edge.kind == Kind::Same && program_.sections[to] == CtaSection::Prologue) latest = std::min(latest, starts_[to] - edge.weight);
      });
    const auto& order = stream(v).prologue;
    if (const auto here = std::find(order.begin(), order.end(), v); here != order.end() && here + 1 != order.end())
      latest = std::min(latest, starts_[*(here + 1)] - op(v).window);
    else
      for (const CtaStream::LoopOp& next : stream(v).loop) latest = std::min(latest, schedule_.ops[next.op].start - op(v).window);
    if (latest == std::numeric_limits<Cycle>::max()) latest = -op(v).latency;
    starts_[v] = fill_.place(op(v), latest, false);
    fill_.add(op(v), starts_[v]);
  }

  void place_early(std::size_t v) {
    Cycle earliest = std::numeric_limits<Cycle>::min();
    edges_to(v, [&](const CtaEdge& edge) {
      if (edge.kind == Kind::Last) earliest = std::max(earliest, schedule_.ops[edge.from].start + edge.weight);
      if (edge.kind == Kind::Same && program_.sections[edge.from] == CtaSection::Epilogue)
        earliest = std::max(earliest, starts_[edge.from] + edge.weight);
    });
    const auto& order = stream(v).epilogue;
    if (const auto here = std::find(order.begin(), order.end(), v); here != order.end() && here != order.begin())
      earliest = std::max(earliest, starts_[*(here - 1)] + op(*(here - 1)).window);
    else
      for (const CtaStream::LoopOp& last : stream(v).loop) earliest = std::max(earliest, schedule_.ops[last.op].start + op(last.op).window);
    if (earliest == std::numeric_limits<Cycle>::min()) earliest = schedule_.ii;
    starts_[v] = drain_.place(op(v), earliest, true);
    drain_.add(op(v), starts_[v]);
  }

  const CtaProgram& program_;
  const std::size_t loop_;
  const Schedule& schedule_;
  std::vector<Cycle> starts_;
  UnitPlan fill_, drain_;
};

}  // namespace

const char* to_string(CtaSection section) {
  return section == CtaSection::Prologue ? "prologue" : section == CtaSection::Loop ? "loop" : "epilogue";
}

EndOps end_ops(const InstanceSpec& spec, const Problem& problem, const Schedule& schedule) {
  EndOps ends;
  if (spec.kernel->prologue.empty() && spec.kernel->epilogue.empty()) return ends;
  CtaProgram program = kernel_program(spec, problem, schedule, {});
  const Placer placer(program, problem, schedule);
  const std::size_t loop = problem.ops.size();
  for (std::size_t v = loop; v < program.problem.ops.size(); ++v) {
    const std::string& name = program.problem.ops[v].name;
    const bool known = std::find(program.free_ops.begin(), program.free_ops.end(), name) == program.free_ops.end();
    ends.ops.push_back({OpId(v), program.sections[v], program.schedule.ops[v].group, placer.start(v), known});
  }
  for (std::size_t to = 0; to < program.problem.ops.size(); ++to)
    for (std::uint32_t e = program.first[to]; e < program.first[to + 1]; ++e) {
      const CtaEdge& edge = program.edges[e];
      if (edge.kind != Kind::First && edge.kind != Kind::Last && edge.kind != Kind::Same) continue;
      ends.links.push_back({OpId(edge.from), OpId(to), program.events[edge.event].what, edge.weight});
    }
  ends.groups = std::move(program.schedule.groups);
  ends.problem = std::move(program.problem);
  return ends;
}

EndOps end_ops(const InstanceSpec& spec, const Problem& problem) {
  Schedule none;
  none.groups.push_back({"", static_cast<int>(problem.limits.warps_per_cta), 0});
  none.ops.assign(problem.ops.size(), {0, GroupId(0)});
  none.depths.assign(problem.channels.size(), 1);
  return end_ops(spec, problem, none);
}

}  // namespace heddle
