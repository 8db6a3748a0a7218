#include "core/records/tuning.h"

namespace heddle {

const char* to_string(TuneObjective objective) {
  switch (objective) {
    case TuneObjective::Cycles: return "cycles";
    case TuneObjective::Steady: return "steady";
    case TuneObjective::Microseconds: break;
  }
  return "microseconds";
}

const char* to_string(Fidelity fidelity) {
  switch (fidelity) {
    case Fidelity::Bound: return "bound";
    case Fidelity::Heuristic: return "heuristic";
    case Fidelity::Evaluator: return "evaluator";
    case Fidelity::Simulator: return "simulator";
    case Fidelity::Solver: return "solver";
    case Fidelity::Gpu: break;
  }
  return "gpu";
}

const char* to_string(TuneMethod method) {
  switch (method) {
    case TuneMethod::Baco: return "baco";
    case TuneMethod::Random: return "random";
    case TuneMethod::Bandit: return "bandit";
    case TuneMethod::Exhaustive: break;
  }
  return "exhaustive";
}

const char* to_string(TuneStatus status) {
  switch (status) {
    case TuneStatus::Optimal: return "optimal";
    case TuneStatus::Feasible: return "feasible";
    case TuneStatus::Unknown: return "unknown";
    case TuneStatus::Pruned: return "pruned";
    case TuneStatus::Infeasible: return "infeasible";
    case TuneStatus::Refused: return "refused";
    case TuneStatus::Invalid: break;
  }
  return "invalid";
}

const char* unit_of(TuneObjective objective) { return objective == TuneObjective::Microseconds ? "us" : "cycles"; }

const TuneEvaluation* TuneHistory::best() const {
  const TuneEvaluation* best = nullptr;
  for (const TuneEvaluation& e : evaluations)
    if (e.value && (!best || *e.value < *best->value)) best = &e;
  return best;
}

}  // namespace heddle
