#include "app/jobs/run_job.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "app/jobs/file_names.h"
#include "app/jobs/heddle_child.h"
#include "core/base/atomic_file.h"
#include "core/base/environment.h"
#include "core/base/text_style.h"
#include "core/formats/measurement_json.h"
#include "core/formats/race_json.h"
#include "core/formats/schedule_json.h"

namespace heddle::app {
namespace {

namespace fs = std::filesystem;
constexpr const char* kRunEnding = ".measurement.json";

/// A name that no file has yet, without its ending.
std::string free_stem(const RunRequest& request, const char* ending) {
  const std::string stem = fmt::format("{}/{}_{}_{}", request.folder, time_stamp(), safe_file_name(request.of.spec.kernel->name),
                                       safe_file_name(request.of.schedule_name));
  std::error_code ignored;
  for (int i = 1;; ++i) {
    const std::string name = i == 1 ? stem : fmt::format("{}_{}", stem, i);
    if (!fs::exists(name + ending, ignored) && !fs::exists(name + ".schedule.json", ignored)) return name;
  }
}

/// heddle at work on a schedule, which lies in a file beside that of the answer, as long as there is one.
class FiledRun {
 public:
  FiledRun(const RunRequest& request, const char* command, const char* ending)
      : request_(request), command_(command), stem_(free_stem(request, ending)), path_(stem_ + ending) {}

  /// Its standard output; nothing: it is said why.
  std::optional<std::string> run(std::stop_token stop, const std::function<void(std::string)>& say, std::string& failure) {
    const std::string schedule = stem_ + ".schedule.json";
    if (const auto written = write_file(schedule, schedule_text(*request_.of.problem, *request_.of.schedule), MissingFolder::Create);
        !written.ok()) {
      failure = to_string(written.error());
      return std::nullopt;
    }
    std::vector<std::string> words{request_.program, command_};
    words.insert(words.end(), request_.words.begin(), request_.words.end());
    words.insert(words.end(), {"--json", "--no-color", schedule});
    const auto child = run_heddle_child(std::move(words), std::move(stop), say);
    failure = !child.ok() ? to_string(child.error()) : child->cancelled ? "cancelled" : "";
    if (!failure.empty()) return forget(), std::nullopt;
    ending_ = ending_of(*child, command_);
    return child->out;
  }
  bool keep(const std::string& text, std::string& failure) const {
    const auto written = write_file(path_, text);
    if (written.ok()) return true;
    failure = to_string(written.error());
    forget();
    return false;
  }
  void forget() const {
    std::error_code ignored;
    fs::remove(stem_ + ".schedule.json", ignored);
  }
  const std::string& path() const { return path_; }
  const std::string& ending() const { return ending_; }  ///< why it gave no answer

 private:
  const RunRequest& request_;
  const char* command_;
  std::string stem_, path_, ending_;
};

}  // namespace

RunTools built_in_run_tools() {
  RunTools tools;
  tools.program = heddle_beside();
  std::error_code ignored;
  // A library that is named is believed: it brings its own devices.
  const char* named = std::getenv("HEDDLE_CUDA_DRIVER");
  if (!(named && *named) && !fs::exists("/dev/nvidiactl", ignored) && !fs::exists("/dev/dxg", ignored))
    tools.why_no_gpu = "this machine has no NVIDIA GPU (there is no /dev/nvidiactl)";
  return tools;
}

std::string runs_path() { return user_path(UserFolder::State, "runs"); }

RunAnswer run_kernel(const RunRequest& request, std::stop_token stop, const std::function<void(std::string)>& say) {
  FiledRun run(request, request.profile ? "profile" : "run", kRunEnding);
  RunAnswer answer;
  const auto said = run.run(std::move(stop), say, answer.failure);
  if (!said) return answer;
  auto measurement = parse_measurement(*said, run.path());
  // Whatever became of the kernel is in a measurement; without one the program itself failed.
  if (!measurement.ok())
    answer.failure = run.ending();
  else if (measurement->status == RunStatus::NoGpu)
    answer.failure = measurement->sentence.empty() ? "there is no GPU that can run it" : printable(measurement->sentence);
  if (!answer.failure.empty())
    run.forget();
  else if (run.keep(*said, answer.failure))
    answer.run = std::make_shared<const RunRecord>(RunRecord{run.path(), std::move(*measurement)});
  return answer;
}

RaceOutcome race_kernel(const RunRequest& request, std::stop_token stop, const std::function<void(std::string)>& say) {
  FiledRun run(request, "race", ".race.json");
  RaceOutcome outcome;
  const auto said = run.run(std::move(stop), say, outcome.failure);
  if (!said) return outcome;
  Result<Race> race = parse_race(*said, run.path());
  if (!race.ok())
    outcome.failure = run.ending(), run.forget();
  else if (run.keep(*said, outcome.failure))
    outcome.race = std::make_shared<const RaceRecord>(RaceRecord{run.path(), *std::move(race)});
  return outcome;
}

std::vector<RunPtr> read_runs(const std::string& folder, std::size_t most) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (const std::string name = at->path().filename().string(); name.ends_with(kRunEnding)) names.push_back(name);
  // Names begin with the date.
  std::sort(names.rbegin(), names.rend());
  std::vector<RunPtr> runs;
  for (const std::string& name : names) {
    if (runs.size() >= most) break;
    auto measurement = read_measurement(folder + "/" + name);
    if (measurement.ok()) runs.push_back(std::make_shared<const RunRecord>(RunRecord{folder + "/" + name, std::move(*measurement)}));
  }
  return runs;
}

}  // namespace heddle::app
