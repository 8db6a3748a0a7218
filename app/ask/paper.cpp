#include "app/ask/paper.h"

#include <fmt/format.h>

#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "solver/paper/ask.h"

namespace heddle::app {

namespace paper = solver::paper;

namespace {

Result<paper::Options> paper_options(const PaperOptions& options) {
  paper::Options decided;
  decided.u = options.u;
  Error error;
  for (const std::string& assignment : options.switches)
    if (const auto set = paper::set_switch(decided, assignment); !set)
      error.faults.insert(error.faults.end(), set.error().faults.begin(), set.error().faults.end());
  if (!error.faults.empty()) return error;
  return decided;
}

}  // namespace

Result<std::vector<PaperSetting>> paper_settings(const PaperOptions& options) {
  const Result<paper::Options> decided = paper_options(options);
  if (!decided) return decided.error();
  return paper::settings(*decided);
}

PaperAnswer ask_paper(const Subject& subject, const PaperOptions& options, std::stop_token stop, const Listener<PaperAnswer>& listener) {
  paper::Request request;
  request.problem = subject.problem();
  request.options = paper_options(options).value();
  for (const std::string& name : options.ablations)
    for (std::size_t i = 0; i < std::size(paper::kAblationNames); ++i)
      if (name == paper::kAblationNames[i]) request.ablations.push_back(static_cast<paper::Ablation>(i));
  request.timeout_seconds = subject.limits.timeout_seconds;
  request.seed = subject.limits.seed;
  return paper::ask(request, std::move(stop), [&](const paper::SearchProgress& p) {
    News news{.doing = fmt::format("{}, I {}", p.phase, p.ii), .facts = {request.problem.kernel, p.phase, fmt::format("I {}", p.ii)}};
    if (p.length > 0) {
      news.doing += fmt::format(", L {}", p.length);
      news.facts.push_back(fmt::format("L {}", p.length));
    }
    listener.tell(news);
  });
}

Ended ended(const PaperAnswer& answer) {
  if (answer.cancelled) return Ending::Interrupted;
  if (answer.status == Status::Infeasible) return Ending::Negative;
  return answer.status == Status::Optimal && !answer.timed_out ? Ending::Done : Ending::NoProof;
}

std::string told(const Subject& subject, const PaperAnswer& answer, const Telling& how) {
  if (how.json()) return paper_json(subject.problem(), answer).pretty();
  return how.brief() ? paper_headline(answer, how.style) + "\n" : paper_summary(subject.problem(), answer, how.style);
}

}  // namespace heddle::app
