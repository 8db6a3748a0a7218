// Cutting a kernel's tiles (core/kernel/subtile.h) in the window: the kernel is opened again, cut.
#pragma once

#include <string>
#include <vector>

#include "app/session/session.h"
#include "core/kernel/kernel.h"
#include "core/kernel/subtile.h"

namespace heddle::app {

struct UiState;

/// Parameters whose tiles can be cut into two parts.
std::vector<std::string> parameters_to_cut(const Kernel& kernel);
/// Why what is open cannot be cut; empty: it can.
std::string why_no_cut(const Session& session);
/// Opens what is open again, cut, with the numbers that are changed now, and solves it. Pre: why_no_cut() is empty.
void open_cut(const Session& session, UiState& ui, const Subtile& cut);

}  // namespace heddle::app
