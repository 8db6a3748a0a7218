// The session's side of validation: it is started here, and any row opened as what stands for it.
#include <fmt/format.h>

#include "app/session/files.h"
#include "app/session/session_core.h"
#include "core/base/text_style.h"
#include "core/library/library.h"

namespace heddle::app {

std::string Session::why_no_validation() const { return core_->work_.truth.task().active() ? "it is being validated" : ""; }

void SessionCore::on(const Validate&) {
  if (const std::string reason = session_.why_no_validation(); !reason.empty()) return say(LogLevel::Warning, "not validated: " + reason);
  view_.tab = BottomTab::Truth;
  work_.truth.start();
  say(LogLevel::Info, "published measurements are compared with predictions");
  changed();
}

void SessionCore::on(const CancelValidation&) {
  if (!work_.truth.task().active()) return;
  work_.truth.cancel();
  say(LogLevel::Info, "the validation was cancelled");
  changed();
}

bool SessionCore::pump_truth() {
  bool ended = false;
  const bool news = work_.truth.pump(ended);
  if (ended) {
    const std::vector<Fault>& faults = work_.truth.faults();
    for (const Fault& fault : faults) say(LogLevel::Bad, "validation: " + to_string(fault));
    if (const TruthAnswer* answer = work_.truth.answer())
      say(answer->validation.holds() ? LogLevel::Good : LogLevel::Warning, validation_headline(answer->validation));
  } else if (news && work_.truth.task().phase() == Task<TruthAnswer>::Phase::Failed) {
    say(LogLevel::Bad, "validation: " + work_.truth.task().failure());
  }
  if (news) changed();
  return news;
}

void SessionCore::on(const SelectPublished& c) {
  work_.truth.choose(c.index);
  changed();
}

void SessionCore::on(const OpenPublished& c) {
  const TruthAnswer* answer = work_.truth.answer();
  if (!answer || c.index >= answer->models.size()) return;
  const ValidatedRow& row = answer->validation.rows[c.index];
  const std::string id = printable(row.row.id), title = "Cannot open " + id;
  const std::shared_ptr<const RowModel> model = answer->models[c.index];
  if (!model) return say(LogLevel::Warning, fmt::format("{} is not opened: {}", id, printable(row.prediction.why_not)));
  const Inputs& inputs = model->inputs;
  // The card of a row may have other SMs than the machine's file; a schedule is of one SM.
  auto machine = load_machine(inputs.machine().file);
  if (!machine) return fail(title, machine.error());
  Content next;
  next.kernel = std::make_shared<const Kernel>(inputs.kernel());
  next.machine = std::make_shared<const Machine>(*std::move(machine));
  next.changes = inputs.changes();
  next.constraints = inputs.constraints;
  next.kernel_options = document_.content.kernel_options;
  next.overrides = own_params(inputs.kernel(), inputs.problem().params);
  next.choices = next.brought = inputs.choices();
  const auto problem = make_problem(next.spec());
  if (!problem) return fail(title, problem.error());
  const bool named = !inputs.schedule_file.empty() && fits(*problem, *inputs.schedule);
  if (named) {
    ScheduleEntry entry;
    entry.name = inputs.schedule->name.empty() ? base_name(inputs.schedule_file) : inputs.schedule->name;
    entry.file = inputs.schedule_file;
    entry.status = Status::Feasible;  // what the file says of it stays the schedule's claim
    entry.schedule = *inputs.schedule;
    next.schedules.push_back(make_entry(*problem, next.constraints, std::move(entry)));
    next.shown = 0;
  }
  adopt(std::move(next), "open " + id);
  if (!document_.content.problem) return;
  if (named && !document_.content.entry()->verdict.valid()) on(FirstViolation{});
  if (!named) solve_opened();
}

}  // namespace heddle::app
