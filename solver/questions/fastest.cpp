#include "solver/questions/fastest.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "core/analysis/bounds.h"
#include "core/base/deadline.h"
#include "core/base/stop_after.h"
#include "core/check/certify.h"
#include "core/check/checker.h"
#include "solver/baselines/baselines.h"
#include "solver/questions/least_order.h"
#include "solver/search/robust.h"

namespace heddle::solver {
namespace {

class Choice {
 public:
  Choice(const SolveRequest& request, SolveOutcome& outcome, const std::stop_token& stop, const SolveListener& listener)
      : request_(request),
        choice_(*request.by_time),
        outcome_(outcome),
        listener_(listener),
        in_time_(stop, seconds_for_choice(request)),
        deadline_(seconds_for_choice(request)) {}

  void make() {
    add({"solver", *outcome_.schedule});
    const OrderSources sources = choice_.sources ? choice_.sources() : OrderSources();
    for (const auto* known : {&sources.orders, &choice_.orders})
      for (const KnownOrder& order : *known) add(order);
    if (choice_.heuristics) add_heuristics();
    predict_all();
    add_least();
    add_robust(sources.uncertain);
    predict_all();
    choose();
  }

 private:
  std::stop_token stop() const { return in_time_.token(); }

  void add(KnownOrder order) {
    const Problem& problem = request_.problem;
    const bool first = orders_.empty();
    if (!first && (order.schedule.ops.size() != problem.ops.size() || !check(problem, order.schedule, request_.constraints).valid()))
      return;
    const auto same =
        std::find_if(orders_.begin(), orders_.end(), [&](const KnownOrder& known) { return same_program(known.schedule, order.schedule); });
    if (same == orders_.end())
      orders_.push_back(std::move(order));
    else if (!same->forecast)
      same->forecast = order.forecast;
  }

  void add_heuristics() {
    for (const Baseline& baseline : baselines()) {
      if (stop().stop_requested()) return;
      if (listener_) listener_(Progress{"the order of " + baseline.name, outcome_.schedule->ii, 0, 0, 0});
      if (Result<BaselineOutcome> found = run_baseline(request_.problem, baseline, {}, deadline_.left() / 4, stop()))
        add({baseline.name, std::move(found->schedule)});
    }
  }

  void add_robust(const std::shared_ptr<const UncertainNumbers>& uncertain) {
    if (!uncertain || stop().stop_requested()) return;
    if (listener_) listener_(Progress{"orders for numbers that are off", outcome_.schedule->ii, 0, 0, 0});
    SolveRequest request = request_;
    request.timeout_seconds = deadline_.left() / 2;
    request.uncertain = uncertain;
    for (Schedule& order : robust_orders(request, kNoFiniteII, stop(), {})) add({"the solver, for other numbers", std::move(order)});
  }

  /// On as many threads as the machine has: a prediction takes a tenth of a second.
  void predict_all() {
    if (listener_) listener_(Progress{fmt::format("comparing {} orders", orders_.size()), outcome_.schedule->ii, 0, 0, 0});
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t k = next++; k < orders_.size() && !stop().stop_requested(); k = next++)
        if (!orders_[k].forecast) orders_[k].forecast = choice_.predict(request_.problem, orders_[k].schedule, stop());
    };
    std::vector<std::jthread> threads;
    for (std::size_t t = 1; t < std::min<std::size_t>(orders_.size(), std::max(1U, std::thread::hardware_concurrency())); ++t)
      threads.emplace_back(work);
    work();
  }

  std::vector<const KnownOrder*> ranking() const {
    std::vector<const KnownOrder*> ranked;
    for (const KnownOrder& order : orders_)
      if (order.forecast) ranked.push_back(&order);
    std::stable_sort(ranked.begin(), ranked.end(), [](const KnownOrder* a, const KnownOrder* b) {
      if (faster(*a->forecast, *b->forecast)) return true;
      return !faster(*b->forecast, *a->forecast) && a->schedule.ii < b->schedule.ii;
    });
    return ranked;
  }

  /// The fastest known order says which ops share a group.
  void add_least() {
    const std::vector<const KnownOrder*> ranked = ranking();
    if (!choice_.programs || ranked.empty() || !ranked.front()->forecast->decides || stop().stop_requested()) return;
    LeastOrderRequest request{request_.problem, request_.constraints, {}, deadline_.left(), request_.seed};
    for (const KnownOrder* order : ranked) request.known.push_back({order->name, order->schedule});
    least_ = least_order(request, stop(), [&](const programs::EnumerationProgress& now) {
      if (listener_) listener_(Progress{now.phase, outcome_.schedule->ii, 0, 0, 0});
    });
    std::optional<Schedule> order = least_->schedule(request_.problem, [&](const Schedule& schedule) {
      return !choice_.can_be_written || choice_.can_be_written(request_.problem, schedule);
    });
    if (order) add({least_->name(), *std::move(order)});
  }

  void choose() {
    if (!orders_.front().forecast && stop().stop_requested()) return;  // nobody knows whether it can be predicted
    const Forecast first = orders_.front().forecast.value_or(Forecast());
    const std::vector<const KnownOrder*> ranked = ranking();
    const auto best = std::find_if(ranked.begin(), ranked.end(), [&](const KnownOrder* order) {
      return !choice_.can_be_written || choice_.can_be_written(request_.problem, order->schedule);
    });
    if (best == ranked.end()) return;  // whoever writes it hears why of the solver's own
    const KnownOrder& chosen = **best;
    FastestChoice answer;
    answer.orders = static_cast<int>(ranked.size());
    answer.complete = !stop().stop_requested() && (!least_ || least_->complete);
    answer.from = chosen.name;
    answer.microseconds = chosen.forecast->microseconds;
    answer.cycles = chosen.forecast->cycles;
    answer.period = chosen.forecast->period;
    answer.tflops = chosen.forecast->tflops;
    answer.first_microseconds = first.microseconds;
    answer.least_ii = outcome_.schedule->ii;
    answer.least_proved = outcome_.status == Status::Optimal;
    if (&chosen != orders_.data()) take(chosen, answer);
    outcome_.fastest = std::move(answer);
    if (chosen.forecast->decides) certify_period();
    if (listener_ && &chosen != orders_.data()) listener_(Incumbent{*outcome_.schedule});
  }

  void take(const KnownOrder& chosen, const FastestChoice& answer) {
    Schedule schedule = chosen.schedule;
    take_proof(request_.problem, request_.constraints, outcome_, schedule);
    schedule.name = outcome_.schedule->name;
    const std::string first = answer.first_microseconds > 0 ? fmt::format("{:.1f}", answer.first_microseconds) : "cannot be predicted";
    const std::string source = schedule.provenance.kind == "solver" ? std::string() : "; " + schedule.provenance.note;
    schedule.provenance = {
        "solver", "heddle",
        fmt::format("the order of {}, the first of {} compared: {:.1f} us predicted, the first schedule of least II {}{}", answer.from,
                    answer.orders, answer.microseconds, first, source)};
    outcome_.status = schedule.certificate->status;
    outcome_.objectives = schedule.certificate->objectives;
    outcome_.schedule = std::move(schedule);
  }

  /// What the schedule's period is among those of other programs. A claim that the checker does not bear out is not made.
  void certify_period() {
    Schedule& schedule = *outcome_.schedule;
    if (!least_ || !schedule.certificate) return;
    const std::string objection = certify_period_of(request_.problem, *least_, schedule);
    if (listener_ && !objection.empty()) listener_(LogLine{"less is claimed of the period, because the certificate " + objection});
  }

  const SolveRequest& request_;
  const TimeChoice& choice_;
  SolveOutcome& outcome_;
  const SolveListener& listener_;
  const StopAfter in_time_;
  const Deadline deadline_;
  std::vector<KnownOrder> orders_;   ///< the solver's first
  std::optional<LeastOrder> least_;  ///< where periods are what is predicted
};

}  // namespace

void choose_by_time(const SolveRequest& request, SolveOutcome& outcome, const std::stop_token& stop, const SolveListener& listener) {
  const bool chosen_elsewhere = request.ii || outcome.fastest || outcome.robust;
  if (!outcome.schedule || outcome.serial || outcome.cancelled || outcome.cut_off || chosen_elsewhere || stop.stop_requested()) return;
  if (listener && outcome.schedule->certificate) listener(Incumbent{*outcome.schedule});  // its proof need not wait for the choice
  Choice(request, outcome, stop, listener).make();
}

SolveOutcome solve_for_time(const SolveRequest& request, std::stop_token stop, const SolveListener& listener) {
  if (!request.by_time) return solve(request, std::move(stop), listener);
  SolveRequest plain = request;
  plain.timeout_seconds = request.timeout_seconds - seconds_for_choice(request);
  SolveOutcome outcome = solve(plain, stop, listener);
  choose_by_time(request, outcome, stop, listener);
  return outcome;
}

}  // namespace heddle::solver
