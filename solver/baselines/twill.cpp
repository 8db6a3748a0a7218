// Twill's two phases (Soi et al., arXiv 2512.18134, Algorithm 1): a modulo schedule with the smallest I, all
// agents free; then starts and warps together at that I and length, costs normalized to a sum of U. Paper mode
// (solver/paper) does both; its groups and order are timed at native cycles here.
#include <fmt/format.h>

#include <algorithm>

#include "solver/baselines/agents.h"
#include "solver/baselines/methods.h"
#include "solver/paper/ask.h"

namespace heddle::solver {

Result<BaselineOutcome> run_twill_two_phase(const BaselineInput& input) {
  paper::Request request;
  request.problem = input.problem;
  request.timeout_seconds = input.timeout_seconds;
  request.native = false;
  request.options.normalize = input.setting("U") > 0;
  if (request.options.normalize) request.options.u = input.setting("U");
  const PaperAnswer answer = paper::ask(request, input.stop);
  if (!answer.worth)
    return Error::input(fmt::format("twill-2phase finds no schedule: {}", answer.explanation.empty() ? "stopped" : answer.explanation));
  std::vector<std::string> log;
  const PaperNormalization& n = answer.normalization;
  if (n.applied)
    log.push_back(fmt::format("costs normalized to a sum of {} (U={}): {} cycles become {}, {} of {} costs become 0", n.sum, n.u, n.largest,
                              n.largest_normalized, n.zeros, n.entries));
  else
    log.push_back("costs at full resolution");
  log.push_back(fmt::format("phase 1: modulo schedule of I={} L={}", answer.modulo_ii, answer.modulo_length));
  log.push_back(fmt::format("phase 2: starts and warps at I={} L={}{}", answer.ii, answer.length,
                            answer.status == Status::Optimal ? "" : ", not proved the first"));
  for (const std::string& remark : answer.remarks) log.push_back(remark);
  LoopTiming timing = timing_of_order(input.problem, answer.worth->schedule);
  return finished(input, std::move(timing),
                  {"twill-2phase",
                   fmt::format("Twill's two phases {}; groups and order are its own, starts are the earliest at native "
                               "cycles, ring depths those that help and fit.",
                               n.applied ? fmt::format("with costs normalized (U={})", n.u) : "at full resolution"),
                   std::move(log)});
}

}  // namespace heddle::solver
