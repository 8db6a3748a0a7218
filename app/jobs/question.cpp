#include "app/jobs/question.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#ifdef HEDDLE_HAS_SOLVER
#include "app/jobs/ask_options.h"
#include "app/jobs/time_choice.h"
#include "core/answers/layout_choice.h"
#include "core/library/contenders.h"
#include "solver/paper/ask.h"
#include "solver/questions/alternatives.h"
#include "solver/questions/choose_layouts.h"
#include "solver/questions/explain.h"
#include "solver/questions/kernel_set.h"
#include "solver/questions/kernel_set_members.h"
#include "solver/questions/latency.h"
#include "solver/questions/pareto.h"
#include "solver/questions/price.h"
#include "solver/questions/scoreboard.h"
#include "solver/questions/sensitivity.h"
#include "solver/questions/slack.h"
#endif

namespace heddle::app {

const char* to_string(Topic topic) {
  switch (topic) {
    case Topic::Explain: return "explain";
    case Topic::Slack: return "slack";
    case Topic::Price: return "price";
    case Topic::Latency: return "latency";
    case Topic::Sensitivity: return "sensitivity";
    case Topic::Alternatives: return "alternatives";
    case Topic::Pareto: return "pareto";
    case Topic::Compare: return "compare";
    case Topic::Family: return "family";
    case Topic::Paper: return "paper";
    case Topic::Layouts: return "layouts";
  }
  return "explain";
}

std::string cut_short(const Answer& answer) {
  return std::visit(
      [](const auto& a) -> std::string {
        if constexpr (requires {
                        a.cancelled;
                        a.timed_out;
                      })
          return a.cancelled ? "cancelled" : a.timed_out ? "time is up" : "";
        else
          return "";
      },
      answer);
}

#ifdef HEDDLE_HAS_SOLVER
namespace {

double limit_of(const Question& q) { return q.options.timeout_seconds.value_or(60); }

solver::SolveRequest solve_request(const Question& q) {
  solver::SolveRequest request;
  request.problem = *q.problem;
  request.constraints = q.constraints;
  request.timeout_seconds = limit_of(q);
  request.incumbent = q.schedule;
  return request;
}

/// Says what the solver works on.
solver::SolveListener phases(const AskListener& tell) {
  return [tell](const solver::SolveEvent& event) {
    if (const auto* progress = std::get_if<solver::Progress>(&event)) tell({progress->phase, {}});
  };
}

/// The question with other layouts.
Result<Problem> laid_out(const Question& q, const LayoutChoices& choices, const Changes& more = {}) {
  return make_problem(with(q.spec, choices, more));
}

/// What `said` says is not open, and everything else if layouts are.
Result<OpenLayouts> open(const Question& q, const LayoutChoices& said, const Changes& more = {}) {
  const std::vector<std::string> names = q.options.layouts_open ? std::vector<std::string>{"all"} : std::vector<std::string>{};
  return open_layouts(with(q.spec, said, more), names);
}

Answer explain(const Question& q, std::stop_token stop, const AskListener& tell) {
  solver::ExplainRequest request;
  request.solve = solve_request(q);
  request.solve.ii = q.options.ii;
  if (auto layouts = open_layouts(q.spec, {"all"}, LayoutsFor::Explaining);
      layouts && problem_hash(layouts->problem) == problem_hash(*q.problem))
    request.layouts = *std::move(layouts);
  solver::ExplainListener listener;
  listener.solve = phases(tell);
  std::string doing_now;
  listener.progress = [&](const std::string& doing) { tell({doing_now = doing, {}}); };
  listener.known = [&](const Explanation& so_far) { tell({doing_now, so_far}); };
  return solver::explain(request, stop, listener);
}

Answer slack(const Question& q, std::stop_token stop, const AskListener& tell) {
  if (!q.schedule) return {};
  solver::SlackRequest request;
  request.problem = *q.problem;
  request.constraints = q.constraints;
  request.schedule = *q.schedule;
  request.timeout_seconds = limit_of(q);
  // Longest paths cost next to nothing: they are on screen while the exact ends are looked for.
  SlackRanges so_far = solver::slack_ranges(request, stop);
  if (!q.options.exact) return so_far;
  tell({"longest paths are known", so_far});
  request.exact = true;
  return solver::slack_ranges(request, stop, [&](const OpRange& range, std::size_t done, std::size_t count) {
    const auto row = std::find_if(so_far.ops.begin(), so_far.ops.end(), [&](const OpRange& r) { return r.op == range.op; });
    if (row != so_far.ops.end()) *row = range;
    tell({fmt::format("exact ranges, {} of {} ops", done, count), so_far});
  });
}

Answer price(const Question& q, std::stop_token stop, const AskListener& tell) {
  Prices so_far;
  solver::PriceListener listener;
  listener.solve = phases(tell);
  listener.asking = [&](const std::string& doing) { tell({doing, {}}); };
  listener.priced = [&](const ConstraintPrice& priced) {
    so_far.constraints.push_back(priced);
    tell({"without " + priced.demand, {}});
  };
  // What is said of layouts is a demand too.
  const solver::LayoutsLeftOpen layouts{q.spec.choices, [&](const LayoutChoices& said) { return open(q, said); },
                                        [&](const LayoutChoices& choices) { return laid_out(q, choices); }};
  const bool about_layouts = q.options.layouts_open || (!layouts.said.empty() && q.problem->layouts);
  return solver::price_constraints(solve_request(q), stop, listener, about_layouts ? &layouts : nullptr);
}

Answer latency(const Question& q, std::stop_token stop, const AskListener& tell) {
  const std::string name = q.problem->op(q.options.op).name;
  const Cycle present = q.problem->op(q.options.op).latency;
  solver::LatencyRequest request;
  request.solve = solve_request(q);
  request.op = q.options.op;
  request.schedule = q.schedule;
  request.from = q.options.from.value_or((present + 1) / 2);
  request.to = q.options.to.value_or(std::max(2 * present, request.from + 16));
  request.problem_at = [&](Cycle cycles) {
    Change change;
    change.op = name;
    change.value = cycles;
    return make_problem(with(q.spec, Changes{change}));
  };
  return solver::latency_range(request, stop, [&](const LatencyRange& partial) {
    tell({fmt::format("{} latencies settled", partial.latencies_settled), partial});
  });
}

Answer sensitivity(const Question& q, std::stop_token stop, const AskListener& tell) {
  solver::SensitivityRequest request;
  request.solve = solve_request(q);
  request.numbers = numbers_of(*q.spec.kernel, *q.spec.machine, *q.problem);
  request.percent = q.options.percent;
  request.problem_with = [&](const Changes& changes) { return make_problem(with(q.spec, changes)); };
  if (q.options.layouts_open) {
    request.solve.incumbent.reset();
    request.open_with = [&](const Changes& changes) { return open(q, q.spec.choices, changes); };
    request.problem_with_layouts = [&](const Changes& changes, const LayoutChoices& choices) { return laid_out(q, choices, changes); };
  }
  return solver::sensitivity(request, stop, [&](const Sensitivity& partial) {
    const auto open = std::count_if(partial.rows.begin(), partial.rows.end(),
                                    [&](const SensitivityRow& row) { return partial.effect(row) == SensitivityEffect::Undecided; });
    tell({fmt::format("{} of {} numbers undecided", open, partial.rows.size()), partial});
  });
}

Answer alternatives(const Question& q, std::stop_token stop, const AskListener& tell) {
  solver::AlternativesRequest request;
  request.solve = solve_request(q);
  request.aspect = q.options.aspect;
  request.count = q.options.count;
  request.ii_only = q.options.ii_only;
  request.numbers = std::make_shared<UncertainNumbers>(uncertain_numbers(*q.problem, *q.spec.machine));
  Alternatives so_far;
  const auto found = [&](const Alternative& alternative) {
    so_far.found.push_back(alternative);
    tell({fmt::format("{} found, looking for another one", so_far.found.size()), so_far});
  };
  return solver::find_alternatives(request, stop, found, phases(tell));
}

Answer pareto(const Question& q, std::stop_token stop, const AskListener& tell) {
  solver::ParetoRequest request;
  request.solve = solve_request(q);
  request.solve.incumbent.reset();
  request.against = q.options.against;
  request.known = q.known;
  if (q.options.layouts_open) {
    const auto nothing = [&](std::string why) {
      Pareto front;
      front.against = q.options.against;
      front.refusal = std::move(why);
      return front;
    };
    const Result<OpenLayouts> question = open(q, q.spec.choices);
    if (!question) return nothing(to_string(question.error()));
    const auto only = only_choices(*question);
    if (!only) return nothing(several_left_text(*question));
    Result<Problem> problem = laid_out(q, *only);
    if (!problem) return nothing(to_string(problem.error()));
    request.solve.problem = *std::move(problem);
    request.layouts_open = question->decisions.empty() ? std::string() : open_layouts_text(*question);
    request.layouts = choices_in_words(*only);
  }
  const auto step = [&](const Pareto& front) {
    tell({fmt::format("{} points after {} steps", front_points(front).size(), front.steps.size()), front});
  };
  return solver::find_pareto(request, stop, step, phases(tell));
}

Answer compare(const Question& q, std::stop_token stop, const AskListener& tell) {
  const Instance instance(q.spec, q.problem);
  solver::ScoreboardRequest request;
  request.solve = solve_request(q);
  request.solve.incumbent.reset();
  if (!q.of_triton) request.solve.by_time = time_choice(instance);
  request.given = shelf_contenders(*q.problem);
  request.baselines = solver::all_baselines();
  request.simulate = [&](const Problem& of, const Schedule& schedule) { return simulated_figures(with(instance, of), schedule); };
  const std::size_t shipped = request.given.size();
  for (const Contender& c : q.given) {
    const auto end = request.given.begin() + static_cast<std::ptrdiff_t>(shipped);
    if (std::none_of(request.given.begin(), end, [&](const Contender& s) { return s.schedule && same_program(*s.schedule, *c.schedule); }))
      request.given.push_back(c);
  }
  const auto settled = [&](const Scoreboard& board) { tell({board.contenders.back().name + " measured", board}); };
  return solver::make_scoreboard(request, stop, settled, phases(tell));
}

Answer family(const Question& q, std::stop_token stop, const AskListener& tell) {
  FamilyAnswer answer;
  KernelSetSpec spec;
  spec.kernels.push_back(q.spec.kernel);
  spec.each = q.spec;
  std::erase_if(spec.each.changes, [](const Change& change) { return !change.enabled; });
  for (const std::string& text : q.options.vary) {
    if (Result<Variation> v = parse_variation(text)) {
      if (v->kind == Variation::Kind::Param) spec.each.params.erase(v->name);  // it varies, whatever it is set to
      spec.vary.push_back(*std::move(v));
    } else {
      answer.faults.insert(answer.faults.end(), v.error().faults.begin(), v.error().faults.end());
    }
  }
  if (!answer.faults.empty()) return answer;
  Result<std::vector<KernelSetMember>> members = kernel_set_members(spec, stop);
  if (!members) {
    answer.faults = members.error().faults;
    return answer;
  }
  // Every partial answer is a copy of all members: of a large family not after each.
  const std::size_t step = std::max<std::size_t>(1, members->size() / 32);
  solver::KernelSetRequest request;
  request.members = *std::move(members);
  request.timeout_seconds = limit_of(q);
  answer.set = solver::solve_kernel_set(std::move(request), stop, [&](const solver::KernelSetProgress& p) {
    AnswerSoFar so_far{fmt::format("{} of {} members settled, {}", p.done, p.total, p.so_far.members[p.member].label), {}};
    if (p.decided && p.done % step == 0) so_far.answer = FamilyAnswer{p.so_far, {}};
    tell(std::move(so_far));
  });
  answer.cancelled = answer.set.cancelled;
  answer.timed_out = answer.set.timed_out;
  return answer;
}

Answer paper(const Question& q, std::stop_token stop, const AskListener& tell) {
  namespace paper = solver::paper;
  paper::Request request;
  request.problem = *q.problem;
  request.options.u = q.options.u;
  request.timeout_seconds = limit_of(q);
  for (const std::string& name : q.options.ablations)
    for (std::size_t i = 0; i < std::size(paper::kAblationNames); ++i)
      if (name == paper::kAblationNames[i]) request.ablations.push_back(static_cast<paper::Ablation>(i));
  return paper::ask(request, std::move(stop), [&](const paper::SearchProgress& p) {
    tell({p.length > 0 ? fmt::format("{}, I {}, L {}", p.phase, p.ii, p.length) : fmt::format("{}, I {}", p.phase, p.ii), {}});
  });
}

/// What is in force is said, so it is not open.
Answer layouts(Question q, std::stop_token stop, const AskListener& tell) {
  LayoutsAnswer answer;
  q.options.layouts_open = true;
  Result<OpenLayouts> question = open(q, q.spec.choices);
  if (!question) {
    answer.faults = question.error().faults;
    return answer;
  }
  solver::SolveRequest request = solve_request(q);
  request.incumbent.reset();
  const solver::ResolveWith resolve_again = [&](const LayoutChoices& choices) { return laid_out(q, choices); };
  answer.chosen = solver::choose_layouts(*std::move(question), resolve_again, std::move(request), stop, phases(tell));
  answer.cancelled = answer.chosen.outcome.cancelled;
  answer.timed_out = answer.chosen.outcome.timed_out;
  return answer;
}

Answer ask(const Question& q, std::stop_token stop, const AskListener& tell) {
  switch (q.topic) {
    case Topic::Explain: return explain(q, stop, tell);
    case Topic::Slack: return slack(q, stop, tell);
    case Topic::Price: return price(q, stop, tell);
    case Topic::Latency: return latency(q, stop, tell);
    case Topic::Sensitivity: return sensitivity(q, stop, tell);
    case Topic::Alternatives: return alternatives(q, stop, tell);
    case Topic::Pareto: return pareto(q, stop, tell);
    case Topic::Compare: return compare(q, stop, tell);
    case Topic::Family: return family(q, stop, tell);
    case Topic::Paper: return paper(q, stop, tell);
    case Topic::Layouts: return layouts(q, stop, tell);
  }
  return {};
}

}  // namespace

AskFunction built_in_answers() { return ask; }
#else
AskFunction built_in_answers() { return {}; }
#endif

std::unique_ptr<QuestionJob> start_question(AskFunction ask, Question question, std::function<void()> wake) {
  return std::make_unique<QuestionJob>(
      [ask = std::move(ask), question = std::move(question)](std::stop_token stop, const QuestionJob::Push& push) {
        return QuestionEvent(ask(question, std::move(stop), [&](AnswerSoFar so_far) { push(std::move(so_far)); }));
      },
      [](std::string message) { return QuestionEvent(JobFailure{std::move(message)}); }, std::move(wake));
}

}  // namespace heddle::app
