#include "solver/search/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/cycle_ratio.h"
#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "core/base/text_style.h"
#include "core/formats/constraints_json.h"
#include "solver/encoding/families.h"

namespace heddle::solver {
namespace {

/// A cycle of dependences is worth telling when it leaves no more than this part of its time.
constexpr Cycle kTightShare = 10;

std::string join(const std::vector<std::string>& parts, const char* separator = ", ") {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::vector<OpId> ops_of(const CoreMember& member) {
  std::vector<OpId> ops;
  for (const ConstraintName& part : member.parts)
    for (const OpId op : part.ops)
      if (std::find(ops.begin(), ops.end(), op) == ops.end()) ops.push_back(op);
  std::sort(ops.begin(), ops.end());
  return ops;
}

std::string names_of(const Problem& problem, const std::vector<OpId>& ops) {
  std::vector<std::string> names;
  for (const OpId op : ops) names.push_back(problem.op(op).name);
  return join(names);
}

std::string step_of(const Problem& problem, const Edge& e) {
  const std::string later = e.distance == 0 ? "" : e.distance == 1 ? ", next iteration" : fmt::format(", {} iterations on", e.distance);
  return fmt::format(" -{}{}-> {}", e.latency, later, problem.op(e.to).name);
}

/// The edges as few chains "a -4-> b -7-> c".
std::vector<std::string> chains(const Problem& problem, const std::vector<ConstraintName>& parts) {
  std::vector<EdgeId> left;
  for (const ConstraintName& part : parts) left.push_back(EdgeId(part.index));
  std::vector<std::string> result;
  while (!left.empty()) {
    // Start where nothing of what is left leads to, so that a chain is as long as it can be.
    auto next = std::find_if(left.begin(), left.end(), [&](EdgeId e) {
      return std::none_of(left.begin(), left.end(), [&](EdgeId f) { return problem.edge(f).to == problem.edge(e).from; });
    });
    if (next == left.end()) next = left.begin();
    std::string chain = problem.op(problem.edge(*next).from).name;
    while (next != left.end()) {
      const Edge& e = problem.edge(*next);
      chain += step_of(problem, e);
      left.erase(next);
      next = std::find_if(left.begin(), left.end(), [&](EdgeId f) { return problem.edge(f).from == e.to; });
    }
    result.push_back(std::move(chain));
  }
  return result;
}

void describe_unit(const Problem& problem, ExplanationMember& out, UnitId id) {
  const Unit& unit = problem.unit(id);
  std::vector<std::string> uses;
  std::int64_t work = 0;
  const bool all = out.ops.empty();
  bool in_sum = false;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    if (!all && std::find(out.ops.begin(), out.ops.end(), OpId(v)) == out.ops.end()) continue;
    for (const UnitUse& use : problem.ops[v].uses) {
      if (use.unit != id || use.duration == 0) continue;
      if (all && (out.ops.empty() || out.ops.back() != OpId(v))) out.ops.push_back(OpId(v));
      // An exclusion is about the cycles that are reserved, the unit as a whole about what it needs in sum.
      const Cycle cycles = all ? use.work() : use.duration;
      in_sum |= cycles > use.duration;
      work = sat_add(work, sat_mul(cycles, use.amount));
      uses.push_back(unit.capacity == 1 && use.amount == 1 ? fmt::format("{} ({} cycles)", problem.ops[v].name, cycles)
                                                           : fmt::format("{} ({} for {} cycles)", problem.ops[v].name, use.amount, cycles));
    }
  }
  if (in_sum)
    out.what = fmt::format("{} needs {} cycles in sum: {}", unit.name, ceil_div(work, unit.capacity), join(uses));
  else
    out.what = unit.capacity == 1 ? fmt::format("{} does one op at a time: {}", unit.name, join(uses))
                                  : fmt::format("{} has a capacity of {}: {}", unit.name, unit.capacity, join(uses));
  out.numbers = {{"capacity", unit.capacity}, {"work", work}};
}

void describe_issue(const Problem& problem, ExplanationMember& out, const CoreMember& member) {
  std::vector<std::string> windows;
  std::int64_t total = 0;
  const bool streams = std::any_of(member.parts.begin(), member.parts.end(), [](const ConstraintName& p) { return p.ops.empty(); });
  if (streams) {
    out.ops.clear();
    for (std::size_t v = 0; v < problem.ops.size(); ++v)
      if (problem.ops[v].window > 0) out.ops.push_back(OpId(v));
  }
  for (const OpId op : out.ops) {
    total = sat_add(total, problem.op(op).window);
    windows.push_back(fmt::format("{} ({})", problem.op(op).name, problem.op(op).window));
  }
  constexpr std::size_t kShown = 12;
  const std::size_t count = windows.size();
  if (count > kShown) {
    windows.resize(kShown);
    windows.push_back(fmt::format("and {} more", count - kShown));
  }
  out.what = fmt::format("a warp group issues one op at a time, {} cycles of issue windows in all: {}", total, join(windows));
  out.numbers = {{"cycles", total}};
}

void describe_refills(const Problem& problem, ExplanationMember& out, const CoreMember& member) {
  for (std::size_t i = 0; i < problem.channels.size(); ++i) {
    const Channel& c = problem.channels[i];
    std::vector<OpId> readers;
    for (const ConstraintName& part : member.parts)
      if (part.index == i) readers.push_back(part.ops[0]);
    if (readers.empty()) continue;
    const char* memory = c.space == Space::Tmem ? ", all that tensor memory leaves" : ", all that shared memory leaves";
    out.parts.push_back(fmt::format("{} (at most {}{}) by {} after {}", c.name, count_of(c.max_depth, "slot"),
                                    kept_short_by_memory(problem, c) ? memory : "", problem.op(c.writer).name, names_of(problem, readers)));
    if (std::find(out.ops.begin(), out.ops.end(), c.writer) == out.ops.end()) out.ops.push_back(c.writer);
  }
  out.what = fmt::format("a ring's slot is refilled only once its readers have released it: {}", join(out.parts));
  out.numbers = {{"rings", static_cast<std::int64_t>(out.parts.size())}};
}

/// " (at least 70000 are needed: one slot of every ring and 2000 that stay)"
std::string least_needed(const Problem& problem, Space space) {
  const std::int64_t resident = space == Space::Tmem ? problem.resident_columns : problem.resident_smem;
  std::int64_t least = resident;
  for (const Channel& c : problem.channels)
    if (c.space == space && !c.only_if_crossing) least = sat_add(least, c.size);
  const std::string stays = resident > 0 ? fmt::format(" and {} that stay", resident) : "";
  return fmt::format(" (at least {} are needed: one slot of every ring{})", least, stays);
}

void describe_register_limit(const Problem& problem, const Constraints& constraints, const Core& core, ExplanationMember& out) {
  const std::int64_t granule = std::max<std::int64_t>(1, problem.limits.register_granule);
  std::int64_t limit = problem.limits.registers_per_thread;
  std::string who;
  if (core.register_constraint) {
    const UserConstraint& c = constraints[*core.register_constraint];
    limit = c.high;
    who = fmt::format("'{}': ", c.name);
    out.family = word_of(ConstraintFamily::User);
    out.constraint = core.register_constraint;
  }
  limit = limit / granule * granule;
  out.what = fmt::format("{}at most {} registers per thread", who, limit);
  if (!out.ops.empty()) out.what += fmt::format(", counted where {} start{}", names_of(problem, out.ops), out.ops.size() == 1 ? "s" : "");
  out.numbers = {{"limit", limit}};
}

}  // namespace

const char* word_of(ConstraintFamily family) {
  switch (family) {
    case ConstraintFamily::User: return "user";
    case ConstraintFamily::Unit: return "unit";
    case ConstraintFamily::Dependence: return "dependence";
    case ConstraintFamily::HandOff: return "hand-off";
    case ConstraintFamily::Credit: return "credit";
    case ConstraintFamily::Smem:
    case ConstraintFamily::Tmem: return "memory";
    case ConstraintFamily::Issue: return "issue";
    case ConstraintFamily::Blocking: return "blocking";
    case ConstraintFamily::Groups: return "groups";
    case ConstraintFamily::Warps: return "warps";
    case ConstraintFamily::Registers: return "registers";
    case ConstraintFamily::RegisterFile: return "register file";
  }
  return "";
}

ExplanationMember describe_member(const Problem& problem, const Constraints& constraints, const Core& core, const CoreMember& member) {
  const Limits& limits = problem.limits;
  ExplanationMember out;
  out.family = word_of(member.family);
  out.ops = ops_of(member);
  switch (member.family) {
    case ConstraintFamily::User: {
      const UserConstraint& c = constraints[member.index];
      out.constraint = member.index;
      const std::string what = describe(c);
      out.what = c.name == what ? what : fmt::format("'{}': {}", c.name, what);
      if (c.kind == ConstraintKind::MaxSmem) out.memory = Space::Smem;
      if (c.kind == ConstraintKind::MaxTmem) out.memory = Space::Tmem;
      if (c.kind == ConstraintKind::MaxSmem) out.what += least_needed(problem, Space::Smem);
      if (c.kind == ConstraintKind::MaxTmem) out.what += least_needed(problem, Space::Tmem);
      for (const std::string& name : c.ops)
        if (const OpId op = problem.find_op(name); op.valid()) out.ops.push_back(op);
      break;
    }
    case ConstraintFamily::Unit:
      out.unit = UnitId(member.index);
      describe_unit(problem, out, UnitId(member.index));
      for (const ConstraintName& part : member.parts)
        if (part.ops.size() == 2)
          out.parts.push_back(fmt::format("{} and {} exclude each other", problem.op(part.ops[0]).name, problem.op(part.ops[1]).name));
      break;
    case ConstraintFamily::Dependence: {
      out.parts = chains(problem, member.parts);
      out.edges = edges_of(member);
      out.what = fmt::format("dependences {}", join(out.parts, "; "));
      Cycle total = 0;
      for (const ConstraintName& part : member.parts) total = sat_add(total, problem.edges[part.index].latency);
      out.numbers = {{"edges", static_cast<std::int64_t>(member.parts.size())}, {"cycles", total}};
      break;
    }
    case ConstraintFamily::HandOff:
      out.edges = edges_of(member);
      for (const ConstraintName& part : member.parts) {
        const Edge& e = problem.edges[part.index];
        out.parts.push_back(fmt::format("{} -> {} {} cycles", problem.op(e.from).name, problem.op(e.to).name, e.handoff));
      }
      out.what = fmt::format("crossing warp groups costs {}", join(out.parts));
      out.numbers = {{"edges", static_cast<std::int64_t>(member.parts.size())}};
      break;
    case ConstraintFamily::Credit: describe_refills(problem, out, member); break;
    case ConstraintFamily::Smem:
      out.memory = Space::Smem;
      out.what = fmt::format("{} bytes of shared memory for all rings", limits.smem_bytes);
      out.what += least_needed(problem, Space::Smem);
      out.numbers = {{"limit", limits.smem_bytes}, {"resident", problem.resident_smem}};
      break;
    case ConstraintFamily::Tmem:
      out.memory = Space::Tmem;
      out.what = fmt::format("{} columns of tensor memory for all rings", allocatable_columns(limits.tmem_columns));
      out.what += least_needed(problem, Space::Tmem);
      out.numbers = {{"limit", allocatable_columns(limits.tmem_columns)}, {"resident", problem.resident_columns}};
      break;
    case ConstraintFamily::Issue: describe_issue(problem, out, member); break;
    case ConstraintFamily::Blocking:
      for (const ConstraintName& part : member.parts)
        out.parts.push_back(fmt::format("{} outside {}", problem.op(part.ops[0]).name, problem.op(part.ops[1]).name));
      out.what = fmt::format("an op that waits starts outside the issue windows of its warp group: {}", join(out.parts));
      break;
    case ConstraintFamily::Groups:
      out.what = fmt::format("at most {}", count_of(problem.max_groups, "warp group"));
      out.numbers = {{"limit", problem.max_groups}};
      break;
    case ConstraintFamily::Warps:
      out.what = fmt::format("at most {} warps in the CTA", limits.warps_per_cta);
      out.numbers = {{"limit", limits.warps_per_cta}};
      break;
    case ConstraintFamily::Registers: describe_register_limit(problem, constraints, core, out); break;
    case ConstraintFamily::RegisterFile:
      out.what = fmt::format("all warp groups share {} registers", limits.registers_per_sm);
      out.numbers = {{"limit", limits.registers_per_sm}};
      break;
  }
  return out;
}

ExplanationMember describe_fact(const Problem& problem, const BoundFact& fact) {
  ExplanationMember out;
  out.what = fact.sentence;
  out.ops = fact.ops;
  out.needed = true;
  out.numbers = {{"bound", fact.bound}};
  out.edges = fact.edges;
  out.unit = fact.unit;
  switch (fact.kind) {
    case BoundFact::Kind::Unit:
      out.family = "unit";
      out.numbers.push_back({"capacity", problem.unit(fact.unit).capacity});
      for (const OpId op : fact.ops)
        for (const UnitUse& use : problem.op(op).uses)
          if (use.unit == fact.unit && use.duration > 0)
            out.parts.push_back(use.amount == 1 ? fmt::format("{} {} cycles", problem.op(op).name, use.duration)
                                                : fmt::format("{} {} for {} cycles", problem.op(op).name, use.amount, use.duration));
      break;
    case BoundFact::Kind::Recurrence:
    case BoundFact::Kind::Refill:
      out.family = fact.kind == BoundFact::Kind::Recurrence ? "recurrence" : "refill";
      for (const EdgeId id : fact.edges) {
        const Edge& e = problem.edge(id);
        out.parts.push_back(problem.op(e.from).name + step_of(problem, e));
      }
      for (const ChannelId id : fact.channels)
        out.parts.push_back(fmt::format("{} has at most {}", problem.channel(id).name, count_of(problem.channel(id).max_depth, "slot")));
      break;
    case BoundFact::Kind::Issue:
      out.family = "issue";
      for (const OpId op : fact.ops) out.parts.push_back(fmt::format("{} {} cycles", problem.op(op).name, problem.op(op).window));
      break;
  }
  return out;
}

ExplanationMember describe_shortage(const Problem& problem, const Shortage& shortage) {
  ExplanationMember out;
  out.what = shortage.sentence;
  out.ops = shortage.ops;
  out.needed = true;
  out.numbers = {{"needed", shortage.needed}, {"limit", shortage.limit}};
  out.constraint = shortage.constraint;
  if (shortage.kind == Shortage::Kind::Smem) out.memory = Space::Smem;
  if (shortage.kind == Shortage::Kind::Tmem) out.memory = Space::Tmem;
  switch (shortage.kind) {
    case Shortage::Kind::Smem:
    case Shortage::Kind::Tmem: out.family = word_of(ConstraintFamily::Smem); break;
    case Shortage::Kind::Registers: out.family = word_of(ConstraintFamily::Registers); break;
    case Shortage::Kind::RegisterFile: out.family = word_of(ConstraintFamily::RegisterFile); break;
    case Shortage::Kind::Warps: out.family = word_of(ConstraintFamily::Warps); break;
    case Shortage::Kind::Groups: out.family = word_of(ConstraintFamily::Groups); break;
    case Shortage::Kind::Depth: out.family = "depth"; break;
  }
  if (shortage.constraint) out.family = word_of(ConstraintFamily::User);
  for (const ChannelId channel : shortage.channels) out.parts.push_back(problem.channel(channel).name);
  return out;
}

std::vector<std::string> core_sentences(const Problem& problem, const Constraints& constraints, const Core& core) {
  std::vector<std::string> sentences;
  for (const CoreMember& member : core.members) {
    const ExplanationMember m = describe_member(problem, constraints, core, member);
    sentences.push_back(fmt::format("{}: {}", m.family, m.what));
  }
  return sentences;
}

std::string tightest_cycle(const Problem& problem, const Core& core, Cycle ii) {
  std::vector<RatioEdge> edges;
  std::vector<std::string> steps;
  for (const CoreMember& member : core.members)
    for (const ConstraintName& part : member.parts) {
      if (member.family == ConstraintFamily::Dependence) {
        const Edge& e = problem.edges[part.index];
        edges.push_back({e.from.index(), e.to.index(), e.latency, e.distance});
        steps.push_back(fmt::format("{} -> ", problem.op(e.from).name));
      }
      if (member.family != ConstraintFamily::Credit) continue;
      const Channel& c = problem.channels[part.index];
      for (const Reader& r : c.readers) {
        if (c.only_if_crossing || r.op != part.ops[0]) continue;
        edges.push_back({r.op.index(), c.writer.index(), r.release, static_cast<std::int64_t>(c.max_depth) - r.distance});
        steps.push_back(fmt::format("{} -> (frees {}) ", problem.op(r.op).name, c.name));
      }
    }
  const CycleRatio ratio = max_cycle_ratio(problem.ops.size(), edges);
  if (ratio.cycle.empty() || ratio.impossible || ratio.tokens < 1) return "";
  std::string path;
  for (const std::size_t e : ratio.cycle) path += steps[e];
  path += problem.op(OpId(edges[ratio.cycle.front()].from)).name;
  const std::int64_t room = sat_mul(ratio.tokens, ii);
  if (room < ratio.weight || (room - ratio.weight) * kTightShare > room) return "";  // a cycle with room needs no mention
  return fmt::format("the tightest cycle among them, {}, takes {} of {} cycles: {} to spare", path, ratio.weight, room,
                     room - ratio.weight);
}

std::string told(const std::vector<std::string>& sentences, std::size_t most) {
  const auto end = sentences.begin() + static_cast<std::ptrdiff_t>(std::min(most, sentences.size()));
  const std::string text = fmt::format("{}", fmt::join(sentences.begin(), end, "; "));
  return sentences.size() > most ? fmt::format("{}; and {} more", text, sentences.size() - most) : text;
}

}  // namespace heddle::solver
