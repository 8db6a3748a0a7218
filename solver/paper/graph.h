// The graph of the Twill paper (section 3.1 and the annotations of sections 4.2 and 4.3) made from a resolved problem:
// reservation tables, delays, registers, footprints, spill costs. Plain indices and integers, so that the paper's encoder
// shares nothing with Heddle's own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "solver/paper/options.h"

namespace heddle::solver::paper {

/// Rows [offset, offset + duration) of a reservation table's column.
struct TableUse {
  std::size_t unit = 0;
  Cycle offset = 0, duration = 0;
  std::int64_t amount = 1;
};

/// A reader of a result, `distance` iterations later.
struct Read {
  std::size_t op = 0;
  int distance = 0;
  auto operator<=>(const Read&) const = default;
};

struct PaperNode {
  std::string name;
  Cycle cycles = 0;  ///< rows of the reservation table
  std::vector<TableUse> table;
  int warps = 1;
  std::int64_t registers = 0;                   ///< regs(v), per thread
  std::array<std::int64_t, 2> footprint{0, 0};  ///< shared memory bytes, tensor memory columns
  Cycle spill = 0;                              ///< spillcost(v)
  bool variable_latency = false, asynchronous = false;
  /// Everybody whose use keeps the result alive: the targets of v's edges, and readers of values that share its storage.
  std::vector<Read> reads;
};

struct Arc {
  std::size_t from = 0, to = 0;
  Cycle delay = 0;
  int distance = 0;
  bool blocking = false;
  bool registers = false;  ///< passes a register value
};

struct PaperGraph {
  std::vector<PaperNode> nodes;
  std::vector<Arc> arcs;
  std::vector<std::int64_t> unit_capacity;
  std::array<std::int64_t, 2> memory_capacity{0, 0};  ///< less what lives there all the time
  std::int64_t register_limit = 0;                    ///< per thread
  int pool = 1;                                       ///< warps or groups, W_vl included
  bool has_variable_latency = false;                  ///< then member 0 of the pool is W_vl
};

PaperGraph make_graph(const Problem& problem, const Options& options);

/// The integers that are normalized: positive and zero costs, with repetitions.
std::vector<Cycle> cost_list(const PaperGraph& graph, const Options& options);

/// One iteration strictly after the other: at an I of this many cycles nothing overlaps, so that a larger I allows nothing
/// new.
Cycle serial_cycles(const PaperGraph& graph);

/// Ops of the second sub-tile dropped (names ending in 1 that have a twin of equal cost ending in 0), the first one's costs,
/// registers and footprints doubled: one tile of twice the rows. Returns how many ops were dropped.
int merge_subtiles(PaperGraph& graph, std::vector<std::size_t>* dropped = nullptr);

}  // namespace heddle::solver::paper
