// Parts of the whole-kernel tab about rings as queues.
#pragma once

#include "app/window/parts/tabs.h"
#include "app/window/tabs/whole_kernel/simulate_state.h"

namespace heddle::app {

/// Points of other schedules come and go with their predictions. Pre: the answer has its traffic.
void follow_balance(const Session& session, SimulateTabState& state);
void draw_verdict(const TrafficModel& model);
void draw_queue_table(const Session& session, UiState& ui, TrafficModel& model);
/// A click on another schedule's point shows that schedule.
void draw_balance(const Session& session, UiState& ui, SimulateTabState& state);

}  // namespace heddle::app
