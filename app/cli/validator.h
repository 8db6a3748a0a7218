// Rows of a file of measurements as simulations: which kernel, machine, schedule and options stand for a row, and what speed they predict.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/cli/inputs.h"
#include "core/answers/validation.h"
#include "core/base/deadline.h"
#include "core/records/published.h"
#include "core/simulate/kernel_run.h"

namespace heddle::app {

/// What stands for rows of the same command line.
struct RowModel {
  std::vector<std::string> words;  ///< of heddle simulate; the machine may have other SMs than its file
  CommandInputs inputs;            ///< with a schedule
  KernelRunOptions options;
};

struct ValidatorOptions {
  std::optional<std::string> clock;  ///< --clock of every row
  Deadline deadline{};               ///< schedules of rows that name none are searched until then at most
  bool store = true;                 ///< solved schedules are kept and recalled
  std::function<void(std::size_t done, std::size_t all, const std::string& row)> progress{};
  std::stop_token stop{};
};

class Validator {
 public:
  Validator(const ValidationGround& ground, ValidatorOptions options) : ground_(ground), options_(std::move(options)) {}

  /// Faults of counterparts are input errors: a file that says what to simulate says it wrongly. Rows that a stop comes before say so.
  Result<Validation> run(std::vector<PublishedRow> rows);

  /// What stands for a row. nullptr with the reason in `why_not`; where the row's own words are wrong, with `faults` too.
  std::shared_ptr<const RowModel> model(const PublishedRow& row, std::string& why_not, std::vector<Fault>& faults);

 private:
  /// Words of heddle simulate, how many SMs there are where not as many as the machine's file says, and a schedule that has no name.
  struct Question {
    std::vector<std::string> words;
    std::optional<std::int64_t> sms;
    std::string schedule_text;
    auto operator<=>(const Question&) const = default;
  };
  struct Known {
    std::shared_ptr<const RowModel> model;
    std::string why_not;
    std::optional<KernelRun> run;
  };

  Known load(const Question& line, std::vector<Fault>& wrong);
  Prediction predict(const PublishedRow& row, std::vector<Fault>& faults);
  Result<Ok> solve(CommandInputs& inputs, const Arguments& words);
  Known* known(const PublishedRow& row, std::string& why_not, std::vector<Fault>& faults);

  const ValidationGround& ground_;
  const ValidatorOptions options_;
  std::map<Question, Known> known_;
  std::map<std::string, std::optional<Schedule>> solved_;
};

struct RowsAndGround {
  std::vector<PublishedRow> rows;
  ValidationGround ground;
};

/// The rows of all files, the shipped ones where none is named, and what to validate them on: `ground_file`, else the shipped one. Faults
/// of all files together.
Result<RowsAndGround> read_rows_and_ground(std::vector<std::string> files, const std::optional<std::string>& ground_file,
                                           std::vector<Fault>& warnings);

/// The speed that a run predicts of a row, counted as the row counts: masked and padded parts of tiles are no work there.
Prediction prediction_of(const PublishedRow& row, const Machine& machine, const KernelRun& run);

}  // namespace heddle::app
