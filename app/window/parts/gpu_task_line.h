// The line that says how a job on a GPU stands, or why none can begin.
#pragma once

#include <fmt/format.h>

#include <string>

#include "app/session/run_state.h"
#include "app/session/session.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/header_model.h"

namespace heddle::app {

struct GpuTaskWords {
  const char* name;      ///< of the line, for tests
  const char* not_done;  ///< "Not run"
  const char* way_out;   ///< where this machine has no GPU
};

/// Answer has `failure`, empty where it went well.
template <class Answer>
void draw_gpu_task_line(const Session& session, const Task<Answer>& task, const GpuTaskWords& words) {
  std::string text;
  Color color = theme().dim;
  if (task.active()) {
    text = fmt::format("{} · {}", task.doing().empty() ? "starting" : task.doing(), seconds_text(task.seconds()));
    color = theme().text;
  } else if (task.phase() == Task<Answer>::Phase::Failed) {
    text = "failed: " + task.failure(), color = theme().bad;
  } else if (task.phase() == Task<Answer>::Phase::Done && !task.answer()->failure.empty()) {
    text = "! " + task.answer()->failure, color = theme().bad;
  } else if (const std::string reason = session.runs().why_no_run(); !reason.empty()) {
    const bool here = session.settings().run_host.empty();
    text = fmt::format("{}{}: {}", words.not_done, here ? " here" : "", reason);
    if (here && !session.runs().tools().why_no_gpu.empty()) text += words.way_out;
  }
  if (text.empty()) return;
  wrapped_text(fonts().small, color, text);
  if (probe::on()) probe::last_item(words.name);
}

}  // namespace heddle::app
