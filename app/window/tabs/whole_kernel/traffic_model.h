// Rings as queues, as rows and points: what `heddle traffic` prints, for the whole-kernel tab.
#pragma once

#include <string>
#include <vector>

#include "app/window/kit/column.h"
#include "core/answers/traffic.h"
#include "core/base/id.h"

namespace heddle::app {

struct QueueRow {
  OpId writer;
  std::string name, between;  ///< "k", "producer → consumer A", "producer → 2 groups"
  RingTraffic ring;
};

struct TrafficModel {
  std::string verdict;  ///< empty: there is none
  std::string floor;    ///< Little's law, a sentence; may be empty
  std::vector<QueueRow> rows;
};

/// A point of the balance plot.
struct BalanceMark {
  enum class Of { Shown, Variant, Other } of = Of::Shown;
  BalancePoint point;
  std::size_t entry = 0;  ///< Other: of the session's list
  std::string about;
};

/// Pre: the traffic is of this problem and schedule.
TrafficModel build_traffic(const Problem& problem, const Schedule& schedule, const Traffic& traffic);
BalanceMark balance_mark(BalanceMark::Of of, BalancePoint point, std::size_t entry = 0);

std::vector<Column<QueueRow>> queue_columns();

}  // namespace heddle::app
