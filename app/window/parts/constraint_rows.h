// The list of the user's constraints: a switch, the demand, which is edited in place, its price. In the left pane and, as a
// table, in the Constraints tab.
#pragma once

#include "app/window/parts/constraint_list.h"
#include "app/window/parts/ui_state.h"

namespace heddle::app {

/// With which every button asks for prices.
AskOptions price_options(UiState& ui);

/// The section of the left pane; the field that takes a new one is drawn below it.
void draw_constraint_list(const Session& session, UiState& ui);
/// How high that is.
float constraint_list_height(const Session& session, const UiState& ui);
/// The field "add a constraint" and the menu of common ones.
void draw_add_constraint(const char* name, const Session& session, UiState& ui, float width);
/// How high that is in the left pane.
float add_constraint_height(const Session& session, const UiState& ui);
/// A row, and which of the two lists it stands in.
struct DemandPlace {
  std::size_t index;
  bool in_tab;
};
/// True while this row's demand is typed here; draws the field then.
bool draw_demand_editor(const std::string& name, DemandPlace place, const Session& session, UiState& ui, float width);
void begin_editing(DemandPlace place, const ConstraintRow& row, UiState& ui);
/// Under an infeasible proposal: what happened, and the way back.
void draw_refusal(const char* name, const Session& session, UiState& ui);

}  // namespace heddle::app
