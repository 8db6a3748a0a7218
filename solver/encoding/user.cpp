// Absolute cycles are differences to the model's origin.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "solver/encoding/families.h"
#include "solver/encoding/user.h"

namespace heddle::solver {
namespace {

/// What speaks of the stages that ops are in: a shift by less than II changes them.
bool of_stages(ConstraintKind kind) {
  return kind == ConstraintKind::SameStage || kind == ConstraintKind::EarlierStage || kind == ConstraintKind::MaxStages ||
         kind == ConstraintKind::MaxStageSmem;
}

void cap_groups(Model& model, std::int64_t most) {
  std::vector<WeightedLit> used;
  for (std::size_t g = 0; g < model.group_count(); ++g) used.push_back({1, model.width_at_least(g, 0)});
  model.backend().add_at_most(std::move(used), most);
  // Where groups are numbered in order of first use, the ones in use are the first.
  if (!model.switchable() && names_groups(model.constraints())) return;
  for (std::size_t g = static_cast<std::size_t>(std::max<std::int64_t>(0, most)); g < model.group_count(); ++g)
    for (std::size_t v = 0; v < model.op_count(); ++v) model.backend().add_clause({-model.symmetry(), -model.in_group(OpId(v), g)});
}

/// No group begins an iteration before it has issued the one before.
void issue_one_by_one(Model& model) {
  for (std::size_t first = 0; first < model.op_count(); ++first)
    for (std::size_t last = 0; last < model.op_count(); ++last) {
      const bool issued = model.problem().ops[first].window > 0 && model.problem().ops[last].window > 0;
      const Lit together = first == last || !issued ? kFalse : model.same_group(OpId(first), OpId(last));
      if (together != kFalse) model.require_apart(OpId(last), OpId(first), model.problem().ops[last].window - model.ii(), {-together});
    }
}

/// Each dependence that has to be handed over lies in the group of the op with both ends, or with neither.
void close_group(Model& model, OpId op) {
  for (const Edge& e : model.problem().edges) {
    if (e.from == e.to || (!e.value.valid() && e.handoff == 0)) continue;
    const Lit from = model.same_group(op, e.from), to = model.same_group(op, e.to);
    model.backend().add_clause({-from, to});
    model.backend().add_clause({from, -to});
  }
}

void cap_width_registers(Model& model, std::int64_t most) {
  std::vector<WeightedLit> terms;
  for (std::size_t g = 0; g < model.group_count(); ++g)
    for (std::size_t w = 0; w < model.widths().size(); ++w) {
      const std::int64_t narrower = w == 0 ? 0 : width_registers(model.widths()[w - 1]);
      terms.push_back({width_registers(model.widths()[w]) - narrower, model.width_at_least(g, w)});
    }
  model.backend().add_at_most(std::move(terms), most);
}

/// Some op starts at 0; every ring takes a slot for each stage that it spans.
void cap_stage_smem(Model& model, const UserConstraint& c) {
  Backend& backend = model.backend();
  std::vector<Lit> first;
  for (std::size_t v = 0; v < model.op_count(); ++v) {
    first.push_back(backend.new_lit());
    model.require_apart(OpId(v), model.origin(), 0, {-first.back()});
  }
  backend.add_clause(first);
  std::vector<WeightedLit> terms;
  std::int64_t left = c.high;
  for (const StageRing& ring : c.rings) {
    left = sat_add(left, -ring.bytes);
    if (ring.bytes == 0) continue;
    const OpId writer = model.problem().find_op(ring.writer);
    for (int span = 1; span < model.stages(); ++span) {
      const Lit spans = backend.new_lit();
      for (const std::string& reader : ring.readers)
        backend.add_clause({-model.stage_difference_at_least(model.problem().find_op(reader), writer, 0, span), spans});
      terms.push_back({ring.bytes, spans});
    }
  }
  backend.add_at_most(std::move(terms), left);
}

/// Every ring between groups takes its bytes.
void cap_crossing_smem(Model& model, const UserConstraint& c) {
  std::vector<WeightedLit> terms;
  for (const StageRing& ring : c.rings) {
    if (ring.bytes == 0) continue;
    const OpId writer = model.problem().find_op(ring.writer);
    const Lit crosses = model.backend().new_lit();
    for (const std::string& reader : ring.readers)
      if (const OpId to = model.problem().find_op(reader); to != writer)
        model.backend().add_clause({model.same_group(writer, to), crosses});
    terms.push_back({ring.bytes, crosses});
  }
  model.backend().add_at_most(std::move(terms), sat_add(c.high, -c.low));
}

void add_constraint(Model& model, const UserConstraint& c) {
  const Problem& problem = model.problem();
  Backend& backend = model.backend();
  std::vector<OpId> ops;
  for (const std::string& name : c.ops) {
    ops.push_back(problem.find_op(name));
    // Whoever asks looks at constraint_faults first and says it better; nothing is ever read where no op is.
    if (!ops.back().valid()) throw std::invalid_argument(fmt::format("constraint '{}' names no op '{}'", c.name, name));
  }

  const auto in_range = [&](OpId op, Cycle low, Cycle high) {
    model.require_apart(model.origin(), op, low);
    model.require_apart(op, model.origin(), -high);
  };
  const auto each_pair = [&](auto&& action) {
    for (std::size_t a = 0; a < ops.size(); ++a)
      for (std::size_t b = a + 1; b < ops.size(); ++b) action(ops[a], ops[b]);
  };

  switch (c.kind) {
    case ConstraintKind::Pin:
      for (OpId op : ops) in_range(op, c.low, c.low);
      break;
    case ConstraintKind::Range:
      for (OpId op : ops) in_range(op, c.low, c.high);
      break;
    case ConstraintKind::InGroup:
    case ConstraintKind::NotInGroup:
      for (OpId op : ops) {
        const bool exists = c.low >= 0 && static_cast<std::size_t>(c.low) < model.group_count();
        const Lit inside = exists ? model.in_group(op, static_cast<std::size_t>(c.low)) : kFalse;
        backend.add_clause({c.kind == ConstraintKind::InGroup ? inside : -inside});
      }
      break;
    case ConstraintKind::SameGroup: each_pair([&](OpId a, OpId b) { backend.add_clause({model.same_group(a, b)}); }); break;
    case ConstraintKind::DifferentGroup: each_pair([&](OpId a, OpId b) { backend.add_clause({-model.same_group(a, b)}); }); break;
    case ConstraintKind::Before:
      if (ops.size() == 2) model.require_apart(ops[0], ops[1], c.low);
      break;
    case ConstraintKind::SameStage:
      each_pair([&](OpId a, OpId b) {
        for (int j = 1; j < model.stages(); ++j) {
          backend.add_clause({-model.stage_at_least(a, j), model.stage_at_least(b, j)});
          backend.add_clause({model.stage_at_least(a, j), -model.stage_at_least(b, j)});
        }
      });
      break;
    case ConstraintKind::EarlierStage:
      if (ops.size() != 2) break;
      for (int j = 0; j < model.stages(); ++j) {
        const int later = static_cast<int>(std::clamp<std::int64_t>(c.low, -model.stages(), model.stages())) + j;
        backend.add_clause({-model.stage_at_least(ops[0], j), model.stage_at_least(ops[1], later)});
      }
      break;
    case ConstraintKind::MaxStages:
      if (c.high < 1) backend.add_clause({});
      for (std::size_t v = 0; v < model.op_count(); ++v)
        backend.add_clause({-model.stage_at_least(OpId(v), static_cast<int>(std::clamp<std::int64_t>(c.high, 1, model.stages())))});
      break;
    case ConstraintKind::MaxWarps: require_warps_at_most(model, c.high); break;
    case ConstraintKind::MaxGroups: cap_groups(model, c.high); break;
    case ConstraintKind::MaxRegisters: break;  // encoding/registers.cpp
    case ConstraintKind::MaxSmem: backend.add_at_most(memory_terms(model, Space::Smem), c.high - problem.resident_smem); break;
    case ConstraintKind::MaxTmem:
      backend.add_at_most(memory_terms(model, Space::Tmem), allocatable_columns(c.high) - problem.resident_columns);
      break;
    case ConstraintKind::MaxDepth:
      for (std::size_t i = 0; i < problem.channels.size(); ++i)
        if (problem.channels[i].name == c.channel)
          backend.add_clause({-model.depth_at_least(
              ChannelId(i), static_cast<int>(std::clamp<std::int64_t>(c.high, 0, model.max_depth(ChannelId(i)))) + 1)});
      break;
    case ConstraintKind::OneByOne: issue_one_by_one(model); break;
    case ConstraintKind::IIRange:
      if (model.ii() < c.low || (c.high > 0 && model.ii() > c.high)) backend.add_clause({});
      break;
    case ConstraintKind::ClosedGroup:
      if (ops.size() == 1) close_group(model, ops[0]);
      break;
    case ConstraintKind::MaxWidthRegisters: cap_width_registers(model, c.high); break;
    case ConstraintKind::MaxStageSmem: cap_stage_smem(model, c); break;
    case ConstraintKind::MaxCrossingSmem: cap_crossing_smem(model, c); break;
  }
}

}  // namespace

Lit add_guarded(Model& model, const UserConstraint& constraint) {
  if (constraint.kind == ConstraintKind::MaxRegisters) return kTrue;
  const Lit guard = model.backend().new_lit();
  const Backend::Guarded scope(model.backend(), guard);
  add_constraint(model, constraint);
  return guard;
}

std::string constraint_faults(const Problem& problem, const Constraints& constraints) {
  std::string faults;
  for (const UserConstraint& c : constraints) {
    for (const std::string& name : c.ops)
      if (!problem.find_op(name).valid()) faults += fmt::format("constraint '{}' names no op '{}'. ", c.name, name);
    if (c.enabled && c.kind == ConstraintKind::InGroup && (c.low < 0 || c.low >= problem.max_groups))
      faults += fmt::format("constraint '{}' names group {}, there are groups 0 to {}. ", c.name, c.low, problem.max_groups - 1);
    for (const StageRing& ring : c.rings) {
      std::vector<std::string> names = ring.readers;
      names.push_back(ring.writer);
      for (const std::string& name : names)
        if (!problem.find_op(name).valid()) faults += fmt::format("constraint '{}' names no op '{}'. ", c.name, name);
    }
    if (c.kind == ConstraintKind::EarlierStage && c.low > kMostStagesApart)
      faults += fmt::format("constraint '{}' asks for {} stages between two ops, at most {} can be. ", c.name, c.low, kMostStagesApart);
    if (c.kind == ConstraintKind::ClosedGroup && c.ops.size() != 1)
      faults += fmt::format("constraint '{}' names {} ops instead of one. ", c.name, c.ops.size());
    if (c.kind == ConstraintKind::MaxDepth &&
        std::none_of(problem.channels.begin(), problem.channels.end(), [&](const Channel& x) { return x.name == c.channel; }))
      faults += fmt::format("constraint '{}' names no channel '{}'. ", c.name, c.channel);
  }
  return faults;
}

bool fixes_rotation(const Constraints& constraints) {
  return std::any_of(constraints.begin(), constraints.end(), [](const UserConstraint& c) {
    return c.enabled && (c.kind == ConstraintKind::Pin || c.kind == ConstraintKind::Range || of_stages(c.kind));
  });
}

bool monotone_in_ii(const Constraints& constraints) {
  return std::none_of(constraints.begin(), constraints.end(), [](const UserConstraint& c) {
    // Cycle 0 stays where it is.
    const bool later = (c.kind == ConstraintKind::Pin && c.low != 0) || (c.kind == ConstraintKind::Range && c.high != 0);
    return c.enabled && (later || (c.kind == ConstraintKind::Before && c.low < 0) || (c.kind == ConstraintKind::IIRange && c.high > 0));
  });
}

std::optional<SlidPins> slide_pins(const Constraints& constraints, Cycle least, Cycle ii, bool centred) {
  constexpr Cycle kFar = Cycle{1} << 32;
  const auto pins = [](const UserConstraint& c) { return c.kind == ConstraintKind::Pin || c.kind == ConstraintKind::Range; };
  const auto high = [](const UserConstraint& c) { return c.kind == ConstraintKind::Pin ? c.low : c.high; };
  SlidPins result;
  Cycle first = kFar;
  for (const UserConstraint& c : constraints) {
    const bool early = c.kind == ConstraintKind::Before && c.low < 0;
    const bool odd = pins(c) && (c.low < 0 || high(c) < c.low || high(c) >= kFar);
    if (!c.enabled || of_stages(c.kind) || early || odd) continue;  // left out: still a relaxation
    if (pins(c)) first = std::min(first, c.low);
    result.constraints.push_back(c);
  }
  if (first == kFar) return std::nullopt;
  if (!centred) first = 0;
  result.windows = centred ? static_cast<int>(std::max<Cycle>(1, std::min<Cycle>(ceil_div(first, least), 1 << 20))) : 0;
  for (UserConstraint& c : result.constraints)
    if (pins(c)) {
      const Cycle last = high(c), windows_after_first = (last - first) / least;
      c.kind = ConstraintKind::Range;
      c.low += result.windows * ii;
      c.high = last + windows_after_first * (ii - least) + result.windows * ii;
    }
  return result;
}

Cycle stretch(const Constraints& constraints) {
  Cycle total = 0;
  for (const UserConstraint& c : constraints) {
    if (!c.enabled) continue;
    if (c.kind == ConstraintKind::Pin || c.kind == ConstraintKind::Range || c.kind == ConstraintKind::Before)
      total = sat_add(total, std::abs(c.low));
  }
  return total;
}

bool names_groups(const Constraints& constraints) {
  return std::any_of(constraints.begin(), constraints.end(), [](const UserConstraint& c) {
    return c.enabled && (c.kind == ConstraintKind::InGroup || c.kind == ConstraintKind::NotInGroup);
  });
}

void add_user(Model& model) {
  for (std::size_t i = 0; i < model.constraints().size(); ++i) {
    if (!model.constraints()[i].enabled) continue;
    model.name(ConstraintFamily::User, i);
    add_constraint(model, model.constraints()[i]);
  }
}

}  // namespace heddle::solver
