#include "app/jobs/launch_job.h"

#include <algorithm>

#include "app/ask/ptx.h"

namespace heddle::app {
namespace {

bool in_order(const OpenedLaunch& launch) { return launch.as.checked && launch.as.checked->verdict == ptx::CheckVerdict::InOrder; }

Result<OpenedLaunches> check_launches(const std::string& path, std::stop_token stop) {
  PtxQuestion question;
  question.path = path;
  question.picture = ptx::RunPicture::Lanes;
  question.every_kernel = true;
  Result<PtxAnswer> answer = ask_ptx(question, std::move(stop));
  if (!answer) return answer.error();
  if (answer->launches.empty()) return Error::in_file(path, "no launch of it was checked");
  OpenedLaunches opened;
  for (ptx::CheckedLaunch& launch : answer->launches) {
    std::shared_ptr<const std::string> text = launch.module ? launch.module->text : nullptr;
    launch.module.reset();  // the window needs no more of it
    opened.push_back({std::move(launch), std::move(text)});
  }
  std::stable_sort(opened.begin(), opened.end(), [](const OpenedLaunch& a, const OpenedLaunch& b) { return !in_order(a) && in_order(b); });
  return opened;
}

}  // namespace

CheckLaunchFunction built_in_launch_check() { return check_launches; }

}  // namespace heddle::app
