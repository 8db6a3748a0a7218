// Simulations and studies as JSON (heddle.simulation/1). Written only.
#pragma once

#include <vector>

#include "core/answers/simulation_summary.h"
#include "core/base/json.h"
#include "core/machine/machine.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/robustness_study.h"

namespace heddle {

/// Period and kernel, then groups, ops and waits of the busiest SM's first CTA; all times in cycles.
Json simulation_json(const Machine& machine, const Problem& problem, const Schedule& schedule, const SimulationAnswer& answer);

/// {"study": "jitter" | "numbers" | "depth", "ii", "rows": [...]}
Json jitter_json(const Problem& problem, const Schedule& schedule, const std::vector<JitterPoint>& points, const StudyOptions& options);
Json number_json(const Problem& problem, const Schedule& schedule, const NumberStudy& study);
Json depth_json(const Problem& problem, const Schedule& schedule, const DepthStudy& study, const StudyOptions& options);

}  // namespace heddle
