// A front of II against resources as points and rows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/session/session.h"
#include "app/window/kit/column.h"
#include "core/answers/pareto.h"

namespace heddle::app {

/// "160 KiB", "168", "256 columns"
std::string resource_text(std::int64_t amount, Resource resource);
/// "≤ 168", "< 96 KiB"
std::string cap_text(std::int64_t cap, Resource resource);
/// "shared memory", "registers per thread": the title of an axis.
const char* resource_title(Resource resource);

struct ParetoRow {
  enum class Kind {
    Proved,     ///< a point of the front for good
    Found,      ///< a schedule; II or resources may still be improved on
    BoundOnly,  ///< no schedule known within the caps, II at least `ii`
    Impossible  ///< proved: no schedule within the caps
  };
  Kind kind = Kind::Found;
  std::size_t step = 0;                    ///< of the front
  std::vector<std::int64_t> amounts;       ///< per resource of the front: what the point takes, or the caps of the others
  Cycle ii = 0;                            ///< of the point, or the bound
  std::optional<double> period{};          ///< of the point's order, where warp groups take time from each other
  std::string standing;                    ///< "proved", "II proved, least resources not"
  std::string reason;                      ///< why II is not smaller there
  std::vector<std::int64_t> besides;       ///< per ParetoModel::besides: what its schedule also takes
  bool current = false, baseline = false;  ///< its schedule is A, B
  bool has_point() const { return kind == Kind::Proved || kind == Kind::Found; }
  bool drawn() const { return kind != Kind::Impossible && !amounts.empty(); }
};

/// What the point takes of it, or the cap without a point.
std::string amount_text(const ParetoRow& row, std::int64_t amount, Resource resource);

struct ParetoModel {
  std::string headline;  ///< "II against shared memory: 2 points, complete and proved"
  std::vector<Resource> against, besides;
  bool periods = false;         ///< some row has one
  std::vector<ParetoRow> rows;  ///< points by II, then what has none
  /// The shown schedule where it is none of the points: what it takes of each resource.
  std::vector<std::int64_t> shown;
  Cycle shown_ii = 0;
  std::string shown_name;
  std::optional<Cycle> least_ii;  ///< proved, without any cap
};

/// `problem` is the one that the front was asked about.
ParetoModel build_pareto(const Problem& problem, const Pareto& front, const Content& content);
/// II, what is swept against, status; what the schedules take besides; why not smaller.
std::vector<Column<ParetoRow>> pareto_columns(const ParetoModel& model);
/// Tab-separated, with a header line.
std::string pareto_as_text(const ParetoModel& model);
/// Those of the front's schedules, where others are in force.
std::optional<LayoutChoices> layouts_to_use(const Content& content, const Pareto& front);
/// What a click on the point does: shows the schedule if it is in the list already, else takes it over. Nothing for rows
/// without a point.
std::optional<Command> take_point(const Session& session, const Pareto& front, const ParetoRow& row, bool as_baseline);
/// The next point of the answered front from where the shown schedule is: +1 towards a greater II, -1 towards a smaller.
std::optional<Command> next_point(const Session& session, int direction);

}  // namespace heddle::app
