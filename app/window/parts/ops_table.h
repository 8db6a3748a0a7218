// The ops of a problem as a table that can be sorted and filtered.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/window/kit/column.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/end_ops.h"

namespace heddle::app {

struct OpsTableRow {
  OpId op;           ///< invalid: of the prologue or the epilogue
  std::string once;  ///< "prologue", "epilogue": once per tile, not scheduled; empty: of the loop
  std::string name, unit, group;
  UnitRole role = UnitRole::Other;
  Cycle latency = 0, occupancy = 0;  ///< of the unit it is drawn on; the issue window where it uses none
  bool scheduled = false;            ///< the rest means something
  Cycle start = 0, slot = 0;
  int stage = 0;
  std::optional<Cycle> slack;  ///< how far it alone could move later; none: nothing holds it
  bool critical = false;       ///< takes part in what limits II
};

/// "-" stands where there is nothing.
std::span<const Column<OpsTableRow>> ops_columns();

/// In op order, then those of prologue and epilogue.
std::vector<OpsTableRow> build_ops_table(const Problem& problem, const Schedule* schedule, const EndOps* ends = nullptr);
/// Keeps rows whose name, unit or group contains every word of `filter`, ignoring case.
void filter_ops(std::vector<OpsTableRow>& rows, std::string_view filter);

/// True when `text` contains every space-separated word of `filter`, ignoring ASCII case.
bool matches(std::string_view text, std::string_view filter);

}  // namespace heddle::app
