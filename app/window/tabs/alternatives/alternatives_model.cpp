#include "app/window/tabs/alternatives/alternatives_model.h"

#include <fmt/format.h>

#include "app/window/kit/pretty_text.h"
#include "core/analysis/slack.h"
#include "core/answers/alternatives.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {

const char* about(Aspect aspect) {
  switch (aspect) {
    case Aspect::Groups: return "which ops share a group";
    case Aspect::Order: return "groups, and the order of ops in each";
    case Aspect::Stages: return "groups, iterations that overlap, ring depths";
    case Aspect::Any: return "groups, order, iterations that overlap, ring depths";
  }
  return "";
}

namespace {

void add_programs(const Problem& problem, const Alternatives& answer, AlternativesModel& model) {
  for (std::size_t k = 0; k < answer.programs.size(); ++k) {
    const ProgramAlternative& program = answer.programs[k];
    AlternativeRow row;
    row.index = answer.found.size() + k;
    row.name = fmt::format("program {}", k + 1);
    row.differs = k == 0 ? row.name + ", of the least period that was found" : row.name + " differs from program 1";
    row.contended = fmt::format("{:.1f}", program.period);
    row.stages = std::to_string(stage_count(program.schedule));
    row.length = grouped(schedule_length(problem, program.schedule));
    row.if_off = row.distance = row.nearest = row.period = row.margin = row.critical = "-";
    for (const std::string& sentence : program.differences) row.differences.push_back(pretty(sentence));
    model.periods = true;
    model.rows.push_back(std::move(row));
  }
}

}  // namespace

const Schedule& schedule_of(const Alternatives& answer, const AlternativeRow& row) {
  const std::size_t found = answer.found.size();
  return row.index < found ? answer.found[row.index].schedule : answer.programs[row.index - found].schedule;
}

AlternativesModel build_alternatives(const Problem& problem, const Alternatives& answer) {
  AlternativesModel model;
  model.headline = alternatives_headline(answer);
  model.proved = answer.exact;
  std::string equal = answer.ii_only ? "equal II" : "no worse in";
  if (!answer.ii_only) {
    bool first = true;
    for (const ObjectiveValue& objective : answer.first.objectives) {
      equal += (first ? " " : ", ") + objective.name;
      first = false;
    }
    if (first) equal = "no worse in any objective";
  }
  model.terms = equal + fmt::format("; told apart by {}", about(answer.aspect));
  if (answer.stages > 0) model.terms += fmt::format("; at most {}", count_of(answer.stages, "stage"));
  for (const std::size_t i : by_robustness(answer)) {
    const Alternative& a = answer.found[i];
    AlternativeRow row;
    row.index = i;
    row.name = fmt::format("alternative {}", i + 1);
    row.differs = i == 0 ? "alternative 1, the first found" : row.name + " differs from 1";
    row.if_off = a.if_off.mean > 0 ? fmt::format("{:.0f}-{:.0f}", a.if_off.mean, a.if_off.high) : "-";
    row.distance = i == 0                     ? "-"
                   : answer.most_distance > 0 ? fmt::format("{} of {}", a.distance, answer.most_distance)
                                              : std::to_string(a.distance);
    row.nearest = i == 0 ? "-" : std::to_string(a.nearest);
    row.period = grouped(a.period);
    if (a.contended_period) row.contended = fmt::format("{:.1f}", *a.contended_period);
    model.periods |= !row.contended.empty();
    row.stages = std::to_string(stage_count(a.schedule));
    row.length = grouped(schedule_length(problem, a.schedule));
    row.margin = a.robustness.median == kUnlimited ? "any" : grouped(a.robustness.median);
    row.critical = fmt::format("{} of {}", a.robustness.critical, problem.ops.size());
    for (const std::string& sentence : a.differences) row.differences.push_back(pretty(sentence));
    model.rows.push_back(std::move(row));
  }
  add_programs(problem, answer, model);
  return model;
}

std::string alternatives_as_text(const AlternativesModel& model) {
  const auto contended = [&](const std::string& period) { return model.periods ? period + "\t" : std::string(); };
  std::string text =
      fmt::format("schedule\t{}if off\tdistance\tnearest\t{}\tstages\tlength\tmedian delay borne\tcritical ops\tdifferences\n",
                  contended("period"), model.periods ? "sustains" : "period");
  for (const AlternativeRow& row : model.rows)
    text += fmt::format("{}\t{}{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", row.name, contended(row.contended), row.if_off, row.distance,
                        row.nearest, row.period, row.stages, row.length, row.margin, row.critical, fmt::join(row.differences, "; "));
  return text;
}

}  // namespace heddle::app
