// Fronts: heddle.pareto/1, the file a search goes on from and what `heddle pareto --json` prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/answers/pareto.h"
#include "core/base/json.h"
#include "core/base/result.h"
#include "core/schedule/constraints.h"

namespace heddle {

/// Every step with its schedule, and the points of the front as they stand.
Json pareto_json(const Problem& problem, const Constraints& constraints, const Pareto& front);

/// Reads what a search can go on from: resources, steps and the factor on II. Faults: another problem or other constraints,
/// schedules that the checker rejects or that break the caps of their step. Proofs are believed.
Result<Pareto> read_pareto(const std::string& path, const Problem& problem, const Constraints& constraints,
                           std::vector<Fault>* warnings = nullptr);
Result<Pareto> parse_pareto(std::string_view text, const std::string& file_name, const Problem& problem,
                            const Constraints& constraints, std::vector<Fault>* warnings = nullptr);

}  // namespace heddle
