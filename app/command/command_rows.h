// Rows of the command table that are long enough for a file each.
#pragma once

#include <vector>

#include "app/command/command_table.h"

namespace heddle::app {

std::vector<CommandSpec> batch_rows();  ///< about many jobs at once: batch, merge, store
CommandSpec bench_row();
CommandSpec calibrate_row();
CommandSpec capture_row();
CommandSpec emit_row();
CommandSpec compile_row();
CommandSpec interpret_row();
CommandSpec layout_row();
CommandSpec new_row();
CommandSpec overlay_row();
CommandSpec period_row();
CommandSpec fit_row();
CommandSpec race_row();
CommandSpec traffic_row();
CommandSpec tune_row();
CommandSpec window_row();  ///< gui; heddle-gui reads its own words by this row

}  // namespace heddle::app
