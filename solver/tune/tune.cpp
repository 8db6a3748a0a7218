#include "solver/tune/tune.h"

#include <algorithm>

#include "core/base/clock.h"
#include "solver/tune/pool.h"
#include "solver/tune/propose.h"

namespace heddle::solver {

TuneEnd tune(const TuneRequest& request, std::stop_token stop, const TuneListener& listener,
             const std::function<void(const TuneStart&)>& began) {
  const auto begin = Clock::now();
  TunePool pool(request, stop);
  if (began) began(pool.start());
  TuneEnd end;
  end.reason = "budget";
  const auto stopped = [&] {
    const bool over = request.deadline.passed();
    if (over || stop.stop_requested()) end.reason = over ? "time" : "cancelled";
    return over || stop.stop_requested();
  };
  for (std::int64_t made = 0; made < request.budget; ++made) {
    if (stopped()) break;
    const std::optional<ConfigProposal> proposal = propose(request, pool);
    if (stopped()) break;
    if (!proposal) {
      end.reason = pool.best() ? "complete" : "nothing feasible";
      break;
    }
    const auto started = Clock::now();
    const std::optional<double> beat = request.prune && pool.best() ? pool.best()->value : std::nullopt;
    TuneEvaluation e = request.evaluate(proposal->config, beat, stop);
    // An evaluation that was interrupted says nothing about its configuration.
    if (!e.value && (e.status == TuneStatus::Unknown || e.status == TuneStatus::Invalid) && stopped()) break;
    e.config = proposal->config;
    e.by = proposal->by;
    e.label = config_text(pool.space(), e.config);
    e.number = std::max(request.numbered + made, static_cast<std::int64_t>(pool.evaluations().size())) + 1;
    e.seconds = seconds_since(started);
    if (const std::optional<double> known = pool.facts(e.config).bound; known && (!e.bound || *e.bound < *known)) e.bound = known;
    const TuneEvaluation* before = pool.best();
    const bool improves = e.value && (!before || *e.value < *before->value);
    if (improves || before) {
      e.best = improves ? *e.value : *before->value;
      e.best_number = improves ? e.number : before->number;
    }
    pool.record(e);
    if (pool.listed()) {
      e.excluded = pool.excluded();
      e.open = pool.open_count();
    }
    if (listener) listener(e);
  }
  if (end.reason == "budget" && pool.listed() && pool.open_count() == 0) end.reason = "complete";
  end.evaluations = static_cast<std::int64_t>(pool.evaluations().size());
  if (pool.best()) {
    end.best = pool.best()->value;
    end.best_number = pool.best()->number;
    end.proved = pool.listed() && pool.settled();
  }
  end.seconds = seconds_since(begin);
  return end;
}

}  // namespace heddle::solver
