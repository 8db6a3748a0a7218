// The user's constraints as rows: what each demands, whether it holds, what it costs, whether it is to blame.
#pragma once

#include <string>
#include <vector>

#include "app/session/session.h"
#include "app/window/parts/header_model.h"

namespace heddle::app {

struct ConstraintRow {
  std::size_t index = 0;  ///< into Content::constraints
  std::string demand;     ///< "pin QK1 at 640"
  std::string name;       ///< empty where it is the demand
  bool enabled = true, frame = false;
  bool guilty = false;       ///< with the others that are marked it leaves no schedule, or not this II
  bool broken = false;       ///< by the shown schedule
  std::string price;         ///< "+0", "+64", "?" not asked, "≥ +64" not proved; empty for one that is off
  std::string period_price;  ///< "+0", "+53.2": cycles of the least period; empty where that is not known
  std::string price_detail;  ///< a sentence
  bool price_old = false;    ///< an answer to an earlier question
  std::string status;        ///< "off", "held", "broken by the shown schedule", "to blame"
};

/// What is said of layouts, with its price.
struct LayoutDemand {
  std::string demand, price, detail;
};

struct ConstraintList {
  std::vector<ConstraintRow> rows;
  std::vector<LayoutDemand> layouts;  ///< once they have been priced
  bool refuted = false;               ///< under these there is no schedule at all
  bool any_priced = false;
  bool periods = false;  ///< priced in cycles of the period too
};

ConstraintList build_constraint_list(const Session& session);

/// With a head line.
std::string constraints_tsv(const ConstraintList& list);

/// A constraint that is often wanted.
struct SuggestedConstraint {
  const char* id;
  std::string label;
  UserConstraint constraint;
  bool hold_group = false;
  bool edit_first = false;  ///< its number is the present value: to be typed over
};
/// For the selected ops in the shown schedule, in the order of selecting.
std::vector<SuggestedConstraint> suggest_constraints(const Session& session);

}  // namespace heddle::app
