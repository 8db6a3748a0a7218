#include "app/session/truth_state.h"

#include <fmt/format.h>

#include "app/session/edits.h"
#include "app/session/files.h"
#include "app/session/open_document.h"
#include "app/session/rows.h"
#include "app/session/solving.h"
#include "core/base/text_style.h"
#include "core/library/library.h"
#include "core/simulate/kernel_run.h"

namespace heddle::app {
TruthAnswer validate_published(const TruthTools& tools, std::stop_token stop, const std::function<void(std::string)>& say) {
  TruthAnswer answer;
  std::vector<Fault> ignored;
  Result<RowsAndGround> given = read_rows_and_ground(tools.files, tools.ground, ignored);
  if (!given) {
    answer.faults = given.error().faults;
    return answer;
  }
  ValidatorOptions options;
  options.stop = std::move(stop);
  options.progress = [&](std::size_t done, std::size_t all, const std::string& row) {
    say(fmt::format("row {} of {} · {}", done + 1, all, printable(row)));
  };
  Validator validator(given->ground, std::move(options));
  Result<Validation> validation = validator.run(std::move(given->rows));
  if (!validation) {
    answer.faults = validation.error().faults;
    return answer;
  }
  answer.validation = *std::move(validation);
  for (const ValidatedRow& row : answer.validation.rows) {
    std::string why_not;
    answer.models.push_back(row.predicted() ? validator.model(row.row, why_not, ignored) : nullptr);
  }
  return answer;
}

const std::vector<Fault>& TruthState::faults() const {
  static const std::vector<Fault> kNone;
  return task_.answer() ? task_.answer()->faults : kNone;
}

const std::vector<TimePart>* TruthState::parts() const {
  const auto found = chosen_ ? known_.find(*chosen_) : known_.end();
  return found == known_.end() ? nullptr : &found->second;
}

void TruthState::start() {
  task_.start([tools = tools_](std::stop_token stop, const auto& say) { return validate_published(tools, std::move(stop), say); }, wake_);
}

void TruthState::choose(std::optional<std::size_t> row) {
  const TruthAnswer* now = answer();
  chosen_ = now && row && *row < now->models.size() ? row : std::nullopt;
  parts_.cancel();
  if (!chosen_ || known_.count(*chosen_)) return;
  const std::shared_ptr<const RowModel> model = now->models[*chosen_];
  if (!model) {
    known_[*chosen_];
    return;
  }
  parts_.start(
      [model, index = *chosen_](std::stop_token stop, const auto&) {
        KernelRunOptions options = model->options;
        options.loop.stop = std::move(stop);
        const Inputs& in = model->inputs;
        const KernelRun run = run_kernel(in.instance, *in.schedule, options);
        return Parts{index, time_parts(in.instance, *in.schedule, options, run)};
      },
      wake_);
}

std::string TruthState::why_no_validation() const { return task_.active() ? "it is being validated" : ""; }

void TruthState::on(const Validate&) {
  if (const std::string reason = why_no_validation(); !reason.empty()) return say(LogLevel::Warning, "not validated: " + reason);
  view_.tab = BottomTab::Truth;
  start();
  say(LogLevel::Info, "published measurements are compared with predictions");
  changed();
}

void TruthState::on(const CancelValidation&) {
  if (!task_.active()) return;
  task_.cancel();
  say(LogLevel::Info, "the validation was cancelled");
  changed();
}

bool TruthState::pump() {
  const Task<TruthAnswer>::Answer before = task_.answer();
  bool news = task_.pump();
  const bool ended = task_.answer() != before;
  if (ended) {
    known_.clear();
    // The same row of the same file is still chosen.
    const auto id_of = [&](const Task<TruthAnswer>::Answer& answer) {
      return answer && chosen_ && *chosen_ < answer->validation.rows.size() ? answer->validation.rows[*chosen_].row.id : std::string();
    };
    choose(id_of(before) == id_of(task_.answer()) ? chosen_ : std::nullopt);
  }
  if (parts_.pump()) {
    news = true;
    if (parts_.phase() == Task<Parts>::Phase::Done) known_[parts_.answer()->row] = parts_.answer()->parts;
    if (parts_.phase() == Task<Parts>::Phase::Failed && chosen_) known_[*chosen_];
  }
  if (ended) {
    for (const Fault& fault : faults()) say(LogLevel::Bad, "validation: " + to_string(fault));
    if (const TruthAnswer* now = answer())
      say(now->validation.holds() ? LogLevel::Good : LogLevel::Warning, validation_headline(now->validation));
  } else if (news && task_.phase() == Task<TruthAnswer>::Phase::Failed) {
    say(LogLevel::Bad, "validation: " + task_.failure());
  }
  if (news) changed();
  return news;
}

void TruthState::on(const SelectPublished& c) {
  choose(c.index);
  changed();
}

namespace {

Content content_of(const Inputs& inputs, Machine machine) {
  Content content;
  content.kernel = std::make_shared<const Kernel>(inputs.kernel());
  content.machine = std::make_shared<const Machine>(std::move(machine));
  content.changes = inputs.changes();
  content.constraints = inputs.constraints;
  content.overrides = own_params(inputs.kernel(), inputs.problem().params);
  content.choices = content.brought = inputs.choices();
  return content;
}

}  // namespace

void TruthState::on(const OpenPublished& c) {
  const TruthAnswer* now = answer();
  if (!now || c.index >= now->models.size()) return;
  const ValidatedRow& row = now->validation.rows[c.index];
  const std::string id = printable(row.row.id), title = "Cannot open " + id;
  const std::shared_ptr<const RowModel> model = now->models[c.index];
  if (!model) return say(LogLevel::Warning, fmt::format("{} is not opened: {}", id, printable(row.prediction.why_not)));
  const Inputs& inputs = model->inputs;
  // The card of a row may have other SMs than the machine's file; a schedule is of one SM.
  auto machine = load_machine(inputs.machine().file);
  if (!machine) return fail(title, machine.error());
  Content next = content_of(inputs, *std::move(machine));
  next.kernel_options = content_.kernel_options;
  const auto problem = make_problem(next.spec());
  if (!problem) return fail(title, problem.error());
  const bool named = !inputs.schedule_file.empty() && fits(*problem, *inputs.schedule);
  if (named) next.schedules = {make_entry(*problem, next.constraints, entry_of_file(*inputs.schedule, inputs.schedule_file))};
  if (named) next.shown = 0;
  edits_.adopt(std::move(next), "open " + id);
  if (!content_.problem) return;
  if (named && !content_.entry()->verdict.valid()) rows_.on(FirstViolation{});
  if (!named) solving_.solve_opened();
}

}  // namespace heddle::app
