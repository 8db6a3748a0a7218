#include "app/session/truth_state.h"

#include <fmt/format.h>

#include "core/base/text_style.h"
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

bool TruthState::pump(bool& ended) {
  const Task<TruthAnswer>::Answer before = task_.answer();
  bool news = task_.pump();
  ended = task_.answer() != before;
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
  return news;
}

}  // namespace heddle::app
