// How far every op can move, as a table that can be sorted and filtered, with an axis to draw the ranges on.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/session.h"
#include "app/window/kit/column.h"
#include "core/answers/slack.h"
#include "core/machine/machine.h"

namespace heddle::app {

struct SlackRow {
  OpId op;
  std::string name, unit, group;
  UnitRole role = UnitRole::Other;
  Cycle length = 0;     ///< of its bar
  bool anchor = false;  ///< the one that stands still
  OpRange range;
  bool exact = false;  ///< its exact ends were looked for, and at least one was seen
  /// How many cycles wide the range is, as far as it is known: exact where proved, else by longest paths.
  Cycle room() const { return range.latest.bound - range.earliest.bound; }
};

/// "1 148", "free", "≥ 640" for an end that is not proved, "-" for one that is not known.
std::span<const Column<SlackRow>> slack_columns();
/// The same; without what none of the rows says about a period.
std::vector<Column<SlackRow>> slack_columns_of(const std::vector<SlackRow>& rows);

/// How many ops have that much room.
struct SlackBin {
  std::string label;
  int ops = 0;
  bool fixed = false;  ///< no room at all
};

struct SlackModel {
  std::string title, note;     ///< what is asked, and what stands still
  std::vector<SlackRow> rows;  ///< in op order
  std::vector<SlackBin> histogram;
  Cycle low = 0, high = 1;  ///< of the axis: all ranges with their bars
  Cycle ii = 1;
  bool exact = false;      ///< exact ranges were asked for
  std::size_t proved = 0;  ///< rows whose both ends are proved
  std::string caveat;      ///< partial, cancelled, illegal ...; may be empty
};

SlackModel build_slack(const Problem& problem, const Schedule& schedule, const SlackRanges& answer);
void filter_slack(std::vector<SlackRow>& rows, std::string_view filter);
/// Tab-separated with a header line.
std::string slack_as_text(const std::vector<SlackRow>& rows);

}  // namespace heddle::app
