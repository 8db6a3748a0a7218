// Inside build_program(): a role before its loop is cut, as the passes hand it to each other.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "codegen/program/program.h"

namespace heddle::codegen {

/// A step of a role's loop before the loop is cut: iterations are relative (Place::iteration is minus the distance).
struct LoopStep {
  Step step;
  int first = 0, spare = 0;  ///< as PipelineLine's
  OpId retires;              ///< Retire: which op, so many iterations ago
  int distance = 0;
  bool new_line = true;  ///< begins a line of the pipeline program; a cut is possible before it
};

/// A tile that was loaded once is free again.
struct Release {
  std::size_t buffer = 0;
  Step arrive;
};

/// A role while it is being built. Begin and end have absolute iterations; -1: what the kernel's prologue made.
struct RoleDraft {
  Role role;
  std::vector<LoopStep> loop;
  std::vector<Step> begin, end;
  std::vector<Step> loads;        ///< of tiles loaded once, by a role that does not read them: they follow the loop's first load
  std::vector<Release> releases;  ///< each follows what reads the tile last
  /// Rings of tensor memory into which another role writes a second value (dQ over dP): it learns that this one's threads are done from
  /// whatever they tell it.
  std::set<std::size_t> rewritten;
  std::vector<bool> by_mma;   ///< per variable: some wgmma reads or writes it
  std::vector<bool> chained;  ///< per variable: a wgmma adds to what an earlier iteration left in it
};

/// The wgmmas of the loop in the schedule's order, where roles take turns; empty: no order is kept.
struct TurnOrder {
  struct Product {
    std::size_t op = 0, role = 0;
    Cycle start = 0;
  };
  struct Turn {
    bool take = false;                ///< before the op
    std::optional<std::size_t> pass;  ///< after it, to this role
  };
  std::vector<Product> products;
  Cycle ii = 1;

  /// For every op and iteration of a tile of so many trips, first and last role. The tiles follow each other in a ring.
  std::map<std::pair<std::size_t, std::int64_t>, Turn> of(std::int64_t trips, std::size_t* first = nullptr,
                                                          std::size_t* last = nullptr) const;
};

}  // namespace heddle::codegen
