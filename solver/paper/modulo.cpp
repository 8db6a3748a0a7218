// Lengths from below, one query each; whether any length works is asked once, at a length that suffices if any does.
#include "solver/paper/modulo.h"

#include <algorithm>
#include <exception>
#include <optional>

#include "solver/paper/joint.h"
#include "solver/paper/starts.h"

namespace heddle::solver::paper {
namespace {

/// Earliest starts at this I; nothing when a recurrence does not fit.
std::optional<std::vector<Cycle>> earliest(const PaperGraph& graph, Cycle ii) {
  std::vector<Cycle> starts(graph.nodes.size(), 0);
  for (std::size_t round = 0; round <= graph.nodes.size(); ++round) {
    bool changed = false;
    for (const Arc& arc : graph.arcs) {
      const Cycle from = starts[arc.from] + arc.delay - arc.distance * ii;
      if (from > starts[arc.to]) {
        starts[arc.to] = from;
        changed = true;
      }
    }
    if (!changed) return starts;
  }
  return std::nullopt;
}

bool units_fit(const PaperGraph& graph, Cycle ii) {
  for (std::size_t unit = 0; unit < graph.unit_capacity.size(); ++unit) {
    std::int64_t work = 0;
    for (const PaperNode& node : graph.nodes)
      for (const TableUse& use : node.table)
        if (use.unit == unit) work += use.duration * use.amount;
    if (work > graph.unit_capacity[unit] * ii) return false;
  }
  return true;
}

Cycle length_of(const PaperGraph& graph, const std::vector<Cycle>& starts) {
  Cycle length = 1;
  for (std::size_t v = 0; v < starts.size(); ++v) length = std::max(length, starts[v] + std::max<Cycle>(1, graph.nodes[v].cycles));
  return length;
}

/// More clauses than this are not attempted: they would take gigabytes. Native cycles get there.
constexpr std::int64_t kMostModuloClauses = 12'000'000;

std::int64_t clauses_of(const PaperGraph& graph, Cycle ii, Cycle length) {
  std::int64_t clauses = static_cast<std::int64_t>(graph.nodes.size() * 4 + graph.arcs.size()) * length;
  for (const PaperNode& node : graph.nodes)
    for (const TableUse& use : node.table) clauses += ii * std::min(use.duration, ii);
  return clauses;
}

PaperModuloSchedule of_length(const PaperGraph& graph, Cycle ii, Cycle length, std::uint64_t seed, const QueryLimits& limits) {
  if (clauses_of(graph, ii, length) > kMostModuloClauses) return {};
  Backend backend(seed, limits);
  Starts starts(backend, graph, ii, length);
  PaperModuloSchedule result;
  if (!starts.possible()) {
    result.answer = Answer::No;
    return result;
  }
  starts.capacity();
  for (const Arc& arc : graph.arcs) starts.depend(arc, arc.delay);
  result.answer = backend.check();
  if (result.answer != Answer::Yes) return result;
  result.starts = starts.values();
  result.length = length_of(graph, result.starts);
  return result;
}

/// If there is a schedule at all there is one in which consecutive distinct starts are less than I + the longest delay
/// apart: anything later can be moved a whole I earlier.
Cycle sufficient_length(const PaperGraph& graph, Cycle ii) {
  Cycle longest = 1;
  for (const PaperNode& node : graph.nodes) longest = std::max(longest, node.cycles);
  for (const Arc& arc : graph.arcs) longest = std::max(longest, arc.delay);
  return static_cast<Cycle>(graph.nodes.size()) * (ii + longest) + longest;
}

}  // namespace

Cycle arithmetic_min_ii(const PaperGraph& graph) {
  const Cycle serial = serial_cycles(graph);
  for (Cycle ii = 1; ii <= serial; ++ii)
    if (units_fit(graph, ii) && earliest(graph, ii)) return ii;
  return 0;
}

PaperModuloSchedule optimal_modulo_schedule(const PaperGraph& graph, Cycle ii, std::uint64_t seed, const QueryLimits& limits) {
  PaperModuloSchedule result;
  try {
    const auto first = earliest(graph, ii);
    if (!first || !units_fit(graph, ii)) {
      result.answer = Answer::No;
      return result;
    }
    if (valid_modulo_schedule(graph, ii, length_of(graph, *first), *first)) return {Answer::Yes, *first, length_of(graph, *first)};
    const Cycle last = sufficient_length(graph, ii);
    Cycle step = 1;
    for (Cycle below = length_of(graph, *first) - 1; below < last;) {
      // Every length up to `below` is refuted. Steps grow, so that an impossible I is found out soon.
      const Cycle length = std::min(below + step, last);
      PaperModuloSchedule found = of_length(graph, ii, length, seed, limits);
      if (found.answer == Answer::Unknown) return result;
      if (found.answer == Answer::No) {
        below = length;
        step *= 2;
        continue;
      }
      while (found.length > below + 1) {
        PaperModuloSchedule shorter = of_length(graph, ii, below + (found.length - below) / 2, seed, limits);
        if (shorter.answer == Answer::Unknown) return result;
        if (shorter.answer == Answer::Yes)
          found = std::move(shorter);
        else
          below += (found.length - below) / 2;
      }
      return found;
    }
    result.answer = Answer::No;
  } catch (const Stopped&) {
  } catch (const std::exception&) {
  }
  return result;
}

}  // namespace heddle::solver::paper
