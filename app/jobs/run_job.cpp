#include "app/jobs/run_job.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "app/jobs/file_names.h"
#include "app/jobs/heddle_child.h"
#include "core/base/atomic_file.h"
#include "core/base/environment.h"
#include "core/base/text_style.h"
#include "core/formats/measurement_json.h"
#include "core/formats/schedule_json.h"

namespace heddle::app {
namespace {

namespace fs = std::filesystem;
constexpr const char* kRunEnding = ".measurement.json";

/// A name that no file has yet, without its ending.
std::string free_stem(const RunRequest& request) {
  const std::string stem = fmt::format("{}/{}_{}_{}", request.folder, time_stamp(), safe_file_name(request.of.spec.kernel->name),
                                       safe_file_name(request.of.schedule_name));
  std::error_code ignored;
  for (int i = 1;; ++i) {
    const std::string name = i == 1 ? stem : fmt::format("{}_{}", stem, i);
    if (!fs::exists(name + kRunEnding, ignored) && !fs::exists(name + ".schedule.json", ignored)) return name;
  }
}

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
  const char* command = request.profile ? "profile" : "run";
  const std::string stem = free_stem(request), schedule = stem + ".schedule.json", path = stem + kRunEnding;
  RunAnswer answer;
  if (const auto written = write_file(schedule, schedule_text(*request.of.problem, *request.of.schedule), MissingFolder::Create);
      !written.ok()) {
    answer.failure = to_string(written.error());
    return answer;
  }
  std::vector<std::string> words{request.program, command};
  words.insert(words.end(), request.words.begin(), request.words.end());
  words.insert(words.end(), {"--json", "--no-color", schedule});
  const auto child = run_heddle_child(std::move(words), std::move(stop), say);
  std::error_code ignored;
  const auto give_up = [&](std::string why) {
    fs::remove(schedule, ignored);
    answer.failure = std::move(why);
    return answer;
  };
  if (!child.ok()) return give_up(to_string(child.error()));
  if (child->cancelled) return give_up("cancelled");
  auto measurement = parse_measurement(child->out, path);
  // Whatever became of the kernel is in a measurement; without one the program itself failed.
  if (!measurement.ok()) return give_up(ending_of(*child, command));
  if (measurement->status == RunStatus::NoGpu)
    return give_up(measurement->sentence.empty() ? "there is no GPU that can run it" : printable(measurement->sentence));
  if (const auto written = write_file(path, child->out); !written.ok()) return give_up(to_string(written.error()));
  answer.run = std::make_shared<const RunRecord>(RunRecord{path, std::move(*measurement)});
  return answer;
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
