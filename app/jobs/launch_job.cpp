#include "app/jobs/launch_job.h"

#include <algorithm>
#include <map>

#include "app/ask/ptx.h"
#include "core/base/atomic_file.h"

namespace heddle::app {
namespace {

bool in_order(const OpenedLaunch& launch) { return launch.as.checked && launch.as.checked->verdict == ptx::CheckVerdict::InOrder; }

Result<OpenedLaunches> check_launches(const std::string& path, std::stop_token stop) {
  PtxQuestion question;
  question.path = path;
  question.picture = true;
  Result<PtxAnswer> answer = ask_ptx(question, std::move(stop));
  if (!answer) return answer.error();
  if (answer->launches.empty()) return Error::in_file(path, "no launch of it was checked");
  std::map<std::string, std::shared_ptr<const std::string>> texts;
  OpenedLaunches opened;
  for (ptx::CheckedLaunch& launch : answer->launches) {
    const auto [text, is_new] = texts.try_emplace(launch.text_path);
    if (is_new && !launch.text_path.empty())
      if (Result<std::string> read = read_file(launch.text_path)) text->second = std::make_shared<const std::string>(*std::move(read));
    opened.push_back({std::move(launch), text->second});
  }
  std::stable_sort(opened.begin(), opened.end(), [](const OpenedLaunch& a, const OpenedLaunch& b) { return !in_order(a) && in_order(b); });
  return opened;
}

}  // namespace

CheckLaunchFunction built_in_launch_check() { return check_launches; }

}  // namespace heddle::app
