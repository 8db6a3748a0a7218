#include "app/session/edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/command/option_words.h"
#include "app/session/files.h"
#include "app/session/open_document.h"
#include "app/session/proposal.h"
#include "app/session/questions.h"
#include "app/session/solving.h"
#include "app/session/texts.h"
#include "core/answers/layout_choice.h"
#include "core/base/saturate.h"
#include "core/base/text_style.h"
#include "core/formats/changes_json.h"
#include "core/formats/constraints_json.h"
#include "core/kernel/switches.h"
#include "core/library/library.h"
#include "core/library/source.h"

namespace heddle::app {
namespace {

constexpr Cycle kFarthestStage = 64;  ///< that a drop can ask for

bool same_ops(const Problem& a, const Problem& b) {
  return std::equal(a.ops.begin(), a.ops.end(), b.ops.begin(), b.ops.end(), [](const Op& x, const Op& y) { return x.name == y.name; });
}

}  // namespace

std::optional<Error> Edits::resolve() {
  content_.problem = nullptr;
  content_.bounds = nullptr;
  content_.unresolved = nullptr;
  if (!content_.kernel || !content_.machine) return std::nullopt;
  if (auto kernel = settled(content_.kernel, content_.overrides)) content_.kernel = *std::move(kernel);
  auto problem = make_problem(content_.spec());
  if (!problem) {
    Error error = in_options(content_.source ? content_.source->in_own_words(problem.error(), *content_.kernel) : problem.error());
    // Choices stand in no file here; the sentences name what they are about.
    for (Fault& fault : error.faults)
      if (fault.file.empty() && (fault.pointer.starts_with("/layouts/") || fault.pointer.starts_with("/instructions/")))
        fault.pointer.clear();
    content_.unresolved = std::make_shared<const Error>(error);
    return error;
  }
  content_.problem = std::make_shared<const Problem>(std::move(*problem));
  content_.bounds = std::make_shared<const Bounds>(compute_bounds(*content_.problem));
  return std::nullopt;
}

void Edits::adopt(Content next, const std::string& what) {
  solving_.abandon("another problem was opened");
  document_.last_line.clear();
  // Another kernel is another document, with another file.
  if (next.document == 0) next.document = next.kernel && next.kernel == content_.kernel ? content_.document : ++document_.documents;
  files_.attach(next, content_);
  document_.undo.remember(std::move(content_), what);
  content_ = std::move(next);
  document_.selection = {};
  view_.highlight = {};
  solving_.forget();
  view_.highlight = {};
  view_.alignment = {};
  document_.error.reset();
  if (const auto error = resolve()) {
    const std::vector<std::string> others = machines_for(*content_.kernel, content_.overrides);
    fail(fmt::format("{} cannot be scheduled on {}{}", content_.kernel->name, content_.machine->name,
                     others.empty() ? "" : fmt::format("; it runs on {}", fmt::join(others, ", "))),
         *error);
  } else if (content_.problem) {
    say(LogLevel::Info, fmt::format("{} on {}: {} ops, {} dependences, II ≥ {}", content_.problem->kernel, content_.problem->machine,
                                    content_.problem->ops.size(), content_.problem->edges.size(), content_.bounds->min_ii()));
  }
  view_.fit_all = true;
  changed();
}

void Edits::judge_again(const Asked& before) {
  solving_.forget();
  const Content& now = content_;
  const auto same_problem = [&](const std::shared_ptr<const Problem>& problem) {
    return problem == now.problem || (problem && problem_hash(*problem) == problem_hash(*now.problem));
  };
  const auto still_demanded = [&](const UserConstraint& c) {
    return !c.enabled || std::find(now.constraints.begin(), now.constraints.end(), c) != now.constraints.end();
  };
  const auto holds = [&](const EarlierStanding& earlier) {
    return earlier.standing.status != Status::Invalid && same_problem(earlier.asked.problem) &&
           std::all_of(earlier.asked.constraints.begin(), earlier.asked.constraints.end(), still_demanded);
  };
  for (EntryPtr& entry : content_.schedules) {
    ScheduleEntry again = *entry;
    if (!again.earlier) again.earlier = std::make_shared<const EarlierStanding>(EarlierStanding{before, again, again.schedule.claim});
    Standing& standing = again;
    if (holds(*again.earlier)) {
      standing = again.earlier->standing;
      again.schedule.claim = again.earlier->claim;
    } else {
      // What was proved is no statement about this question.
      std::vector<ObjectiveValue> objectives = std::move(standing.objectives);
      for (ObjectiveValue& objective : objectives) objective.proved = false;
      standing = {};
      standing.status = Status::Feasible;
      standing.objectives = std::move(objectives);
      again.schedule.claim.reset();
    }
    entry = make_entry(*content_.problem, content_.constraints, std::move(again));
  }
}

void Edits::keep_rows(const Content& before) {
  Content& now = content_;
  std::vector<EntryPtr> kept;
  std::optional<std::size_t> shown, baseline;
  for (std::size_t i = 0; before.problem && now.problem && same_ops(*before.problem, *now.problem) && i < before.schedules.size(); ++i) {
    if (!fits(*now.problem, before.schedules[i]->schedule)) continue;
    if (before.shown == i) shown = kept.size();
    if (before.baseline == i) baseline = kept.size();
    ScheduleEntry entry = *before.schedules[i];
    entry.schedule.kernel = now.problem->kernel;
    entry.schedule.machine = now.problem->machine;
    kept.push_back(std::make_shared<const ScheduleEntry>(std::move(entry)));
  }
  if (!shown && !kept.empty()) shown = 0;
  now.schedules = std::move(kept);
  now.shown = shown;
  now.baseline = baseline == shown ? std::nullopt : baseline;
}

void Edits::settle_travel(bool other_problem) {
  solving_.follow_travel();
  view_.highlight = {};
  document_.error.reset();
  if (other_problem) view_.fit_all = true;
  questions_.recall_answers();
  changed();
}

void Edits::go_to(Content next, const std::string& what, const char* why) {
  solving_.abandon(why);
  document_.last_line.clear();
  document_.undo.remember(std::move(content_), what);
  content_ = std::move(next);
  settle_travel(true);
  view_.alignment = {};
  changed();
}

void Edits::demand(Constraints next, const std::string& what, const char* why) {
  solving_.abandon(why);
  document_.undo.remember(content_, what);
  const Asked before = document_.asked();
  content_.constraints = std::move(next);
  judge_again(before);
}

void Edits::constrain(Constraints next, const std::string& what, bool solve) {
  demand(std::move(next), what, "the constraints changed");
  view_.highlight = {};
  changed();
  if (solve) solving_.solve_proposal(what);
}

void Edits::on(const ToggleConstraint& c) {
  if (c.index >= content_.constraints.size()) return;
  Constraints next = content_.constraints;
  UserConstraint& constraint = next[c.index];
  constraint.enabled = !constraint.enabled;
  const std::string what = (constraint.enabled ? "switch on " : "switch off ") + constraint.name;
  constrain(std::move(next), what, false);
  if (c.solve) solving_.solve_changed(what);
}

void Edits::on(const AddConstraint& c) {
  if (!content_.problem) return;
  Constraints next = content_.constraints;
  next.push_back(c.constraint);
  if (next.back().name.empty()) next.back().name = describe(next.back());
  const std::string what = next.back().name;
  const bool numbered = c.constraint.kind == ConstraintKind::InGroup || c.constraint.kind == ConstraintKind::NotInGroup;
  const ScheduleEntry* entry = content_.entry();
  const OpId op = c.constraint.ops.size() == 1 ? content_.problem->find_op(c.constraint.ops.front()) : OpId{};
  if (c.hold_group && numbered && entry && op.valid() && c.constraint.low >= 0 && fits(*content_.problem, entry->schedule))
    hold_group(*content_.problem, entry->schedule, GroupId(static_cast<std::size_t>(c.constraint.low)), op, next);
  constrain(std::move(next), what, c.solve);
}

void Edits::on(const ReplaceConstraint& c) {
  if (c.index >= content_.constraints.size()) return;
  Constraints next = content_.constraints;
  next[c.index] = c.constraint;
  if (next[c.index].name.empty()) next[c.index].name = describe(next[c.index]);
  const std::string what = "change to " + next[c.index].name;
  constrain(std::move(next), what, c.solve);
}

void Edits::on(const RemoveConstraint& c) {
  if (c.index >= content_.constraints.size()) return;
  Constraints next = content_.constraints;
  const std::string what = "remove " + next[c.index].name;
  next.erase(next.begin() + static_cast<std::ptrdiff_t>(c.index));
  drop_idle_frames(next);
  constrain(std::move(next), what, false);
}

void Edits::on(const MoveOp& c) {
  const ScheduleEntry* entry = content_.entry();
  if (!entry || !c.op.valid() || c.op.index() >= content_.problem->ops.size()) return;
  if (!fits(*content_.problem, entry->schedule) || (!c.pin && !c.group)) return;
  MoveOp move = c;
  // Nothing legal lies further out than all stages there are.
  const Cycle far = sat_mul(entry->schedule.ii, kFarthestStage);
  move.start = std::clamp(move.start, -far, far);
  Proposal proposal = propose_move(*content_.problem, content_.constraints, entry->schedule, move);
  if (proposal.name.empty()) return;
  constrain(std::move(proposal.constraints), proposal.name, true);
}

void Edits::on(const TogglePin& c) {
  if (!content_.problem || !c.op.valid() || c.op.index() >= content_.problem->ops.size()) return;
  const std::string& name = content_.problem->op(c.op).name;
  const bool pinned =
      std::any_of(content_.constraints.begin(), content_.constraints.end(), [&](const UserConstraint& u) { return pins(u, name); });
  on(PinOps{{c.op}, !pinned});
}

void Edits::on(const PinOps& c) {
  const ScheduleEntry* entry = content_.entry();
  if (!entry || !fits(*content_.problem, entry->schedule)) return;
  std::vector<OpId> ops;
  for (const OpId op : c.ops)
    if (op.valid() && op.index() < content_.problem->ops.size()) ops.push_back(op);
  if (ops.empty()) return;
  Proposal proposal = propose_pins(*content_.problem, content_.constraints, entry->schedule, ops, c.pin);
  if (proposal.constraints == content_.constraints) return;
  constrain(std::move(proposal.constraints), proposal.name, false);
}

bool Edits::put_in_force(Content next, const std::string& what, const char* why) {
  if (!content_.problem) return false;
  Content before = std::exchange(content_, std::move(next));
  if (const auto error = resolve()) {
    content_ = std::move(before);
    fail(what + " does not work", *error);
    return false;
  }
  solving_.abandon(why);
  const Asked asked{before.problem, before.constraints};
  document_.undo.remember(std::move(before), what);
  view_.highlight = {};
  content_.problem = questions_.same_as_asked(content_.problem);
  judge_again(asked);
  questions_.recall_answers();
  changed();
  return true;
}

bool Edits::change_numbers(Changes next, const std::string& what) {
  Content content = content_;
  content.changes = std::move(next);
  return put_in_force(std::move(content), what, "the numbers changed");
}

void Edits::switch_machine(const SwitchMachine& c) {
  auto machine = load_machine(c.name);
  if (!machine) return fail("Cannot open machine " + base_name(c.name), machine.error());
  Content before = content_;
  content_.machine = std::make_shared<const Machine>(std::move(*machine));
  content_.machine_text = nullptr;
  files_.attach(content_, content_);
  if (const auto error = resolve()) {
    const std::string name = content_.machine->name;
    content_ = std::move(before);
    return fail(fmt::format("{} cannot be scheduled on {} as it stands", content_.kernel->name, name), *error);
  }
  solving_.abandon("the machine changed");
  const Asked asked{before.problem, before.constraints};
  const std::string what = "machine " + content_.machine->name;
  document_.undo.remember(std::move(before), what);
  content_.problem = questions_.same_as_asked(content_.problem);
  keep_rows(Content(content_));
  judge_again(asked);
  questions_.recall_answers();
  view_.fit_all = true;
  changed();
  if (c.solve) solving_.solve_changed(what);
}

void Edits::on(const SetChange& c) {
  Changes next = content_.changes;
  put(next, c.change);
  const std::string what = describe(c.change);
  if (change_numbers(std::move(next), what) && c.solve) solving_.solve_changed(what);
}

void Edits::on(const RemoveChange& c) {
  if (c.index >= content_.changes.size()) return;
  Changes next = content_.changes;
  const std::string what = "take back " + describe(next[c.index]);
  next.erase(next.begin() + static_cast<std::ptrdiff_t>(c.index));
  if (change_numbers(std::move(next), what) && c.solve) solving_.solve_changed(what);
}

void Edits::on(const ChooseLayouts& c) {
  std::string what = !c.what.empty() ? c.what : choices_in_words(c.choices);
  if (what.empty()) what = "layouts by default";
  if (choose_layouts(c.choices, what) && c.solve) solving_.solve_changed(what);
}

void Edits::lay_out(Content& next, LayoutChoices choices) {
  const LayoutChoices before = std::exchange(next.choices, std::move(choices));
  // Rows go with the question, as they do when a number changes; those of yet other layouts, which were opened to compare, stay what they
  // are.
  for (EntryPtr& entry : next.schedules) {
    if (entry->schedule.layouts != before) continue;
    ScheduleEntry row = *entry;
    row.schedule.layouts = next.choices;
    entry = std::make_shared<const ScheduleEntry>(std::move(row));
  }
}

bool Edits::choose_layouts(const LayoutChoices& choices, const std::string& what) {
  if (!content_.problem || choices == content_.choices) return false;
  Content next = content_;
  lay_out(next, choices);
  return put_in_force(std::move(next), what, "the layouts changed");
}

void Edits::on(const ToggleChange& c) {
  if (c.index >= content_.changes.size()) return;
  Changes next = content_.changes;
  next[c.index].enabled = !next[c.index].enabled;
  change_numbers(std::move(next), (next[c.index].enabled ? "switch on " : "switch off ") + describe(next[c.index]));
}

void Edits::on(const SetParam& c) {
  if (!content_.kernel) return;
  const Param* param = content_.kernel->find_param(c.name);
  if (!param) return fail("Cannot set " + c.name, Error::input(content_.kernel->name + " has no parameter " + c.name));
  const auto found = content_.overrides.find(c.name);
  if (c.value == (found == content_.overrides.end() ? param->value : found->second)) return;
  Content before = content_;
  content_.overrides[c.name] = c.value;
  if (c.value == param->value) content_.overrides.erase(c.name);
  if (const auto error = resolve()) {
    content_ = std::move(before);
    return fail(fmt::format("{} = {} does not work", c.name, c.value), *error);
  }
  Content next = std::move(content_);
  next.schedules.clear();
  next.shown.reset();
  next.baseline.reset();
  content_ = std::move(before);
  adopt(std::move(next), fmt::format("{} = {}", c.name, c.value));
}

void Edits::on(const OpenConstraints& c) {
  const std::string title = "Cannot open constraints " + base_name(c.path);
  if (!content_.problem) return fail(title, Error::input("constraints need an open kernel and machine", "open those first"));
  Content before = content_;
  const Asked asked = document_.asked();
  Result<Constraints> constraints = take_numbers(c.path);
  if (!constraints) {
    content_ = std::move(before);
    return fail(title, constraints.error());
  }
  solving_.abandon("the constraints changed");
  document_.undo.remember(std::move(before), "open constraints " + base_name(c.path));
  content_.constraints = std::move(*constraints);
  judge_again(asked);
  view_.tab = BottomTab::Constraints;
  say(LogLevel::Info, fmt::format("{} and {} from {}", count_of(static_cast<std::int64_t>(content_.constraints.size()), "constraint"),
                                  count_of(content_.changes.size(), "changed number"), base_name(c.path)));
  changed();
}

Result<Constraints> Edits::take_numbers(const std::string& path) {
  auto changes = read_changes(path);
  if (!changes) return changes.error();
  const auto layouts = read_layout_demands(path);
  if (!layouts) return layouts.error();
  if (!changes->empty() || !content_.changes.empty() || !layouts->empty()) {
    content_.changes = std::move(*changes);
    lay_out(content_, merged(content_.choices, *layouts));
    if (const auto error = resolve()) return *error;
  }
  return read_constraints(path, *content_.problem);
}

void Edits::on(const TryRelaxation& c) {
  if (!content_.problem) return;
  if (c.constraint && *c.constraint >= content_.constraints.size()) return;
  if (!c.choices.empty()) {
    const std::string what = choices_in_words(c.choices);
    if (choose_layouts(c.choices, what)) solving_.solve_proposal(what);
  } else if (c.constraint) {
    Constraints next = content_.constraints;
    UserConstraint& constraint = next[*c.constraint];
    const std::string what =
        c.limit ? fmt::format("{}: {} instead of {}", constraint.name, *c.limit, constraint.high) : "without " + constraint.name;
    if (c.limit)
      constraint.high = *c.limit;
    else
      constraint.enabled = false;
    constrain(std::move(next), what, true);
  } else {
    Changes next = content_.changes;
    std::string what;
    for (const Change& change : c.changes) {
      put(next, change);
      what += (what.empty() ? "" : " and ") + describe(change);
    }
    if (!what.empty() && change_numbers(std::move(next), what)) solving_.solve_proposal(what);
  }
}

}  // namespace heddle::app
