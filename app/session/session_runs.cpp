// The session's side of runs: they are started here, their measurements are opened, laid over the chart, and adopted.
#include <fmt/format.h>

#include "app/jobs/remote_host.h"
#include "app/session/command_line.h"
#include "app/session/files.h"
#include "app/session/run_fit.h"
#include "app/session/session_core.h"
#include "codegen/program/target.h"
#include "core/base/text_style.h"
#include "core/formats/measurement_json.h"
#include "core/library/library.h"
#include "core/records/measurement.h"

namespace heddle::app {

std::string Session::why_no_run() const {
  if (const std::string reason = why_no_kernel(); !reason.empty()) return reason;
  if (const auto refusal = codegen::refuse_machine(*content().machine)) return printable(refusal->sentence);
  const RunTools& tools = runs().tools();
  const std::string& host = settings().run_host;
  if (host.empty() && !tools.why_no_gpu.empty()) return tools.why_no_gpu;
  if (std::string reason = host.empty() ? "" : why_no_host(host); !reason.empty()) return reason;
  if (tools.program.empty()) return "the command-line program heddle, which runs kernels, is not beside this one";
  if (tools.folder.empty()) return "there is no folder to keep measurements in";
  if (std::string reason = why_no_program(); !reason.empty()) return reason;
  return runs().run().active() ? "a kernel is being run" : "";
}

std::string Session::why_no_measured() const {
  const Measurement* m = runs().measurement();
  if (!m) return "no run is chosen";
  if (!content().entry()) return "there is no schedule yet";
  if (!m->profile) return "the chosen run has no times of its ops: profile it";
  const RunFit fit = run_fit(content(), *m);
  return fit.same_kernel ? "" : fit.sentence;
}

std::string Session::why_no_adoption() const {
  if (const std::string reason = why_no_measured(); !reason.empty()) return reason;
  if (!run_fit(content(), *runs().measurement()).same_schedule) return "the chosen run is of another schedule";
  if (heddle::adopt(*content().problem, *runs().measurement()->profile).changes.empty()) return "every latency is as it was measured";
  return {};
}

bool SessionCore::pump_runs() {
  if (view_.tab == BottomTab::Runs) work_.runs.read_history();
  std::optional<RunAnswer> ended;
  const bool news = work_.runs.pump(ended);
  if (ended && !ended->run) say(LogLevel::Bad, "run: " + ended->failure);
  if (ended && ended->run) {
    const Measurement& m = ended->run->measurement;
    const RunRow row = run_row(m);
    say(m.status == RunStatus::Verified ? LogLevel::Good : LogLevel::Warning,
        fmt::format("{}: {}{}{}", row.schedule, row.status, row.tflops.empty() ? "" : fmt::format(" · {} TFLOP/s", row.tflops),
                    m.sentence.empty() ? "" : " · " + printable(m.sentence)));
    if (m.profile && session_.why_no_measured().empty()) view_.chart_view = ChartView::A, view_.measured = true;
  }
  if (news) changed();
  return news;
}

void SessionCore::on(const RunKernel& c) {
  if (const std::string reason = session_.why_no_run(); !reason.empty()) return say(LogLevel::Warning, "not run: " + reason);
  view_.tab = BottomTab::Runs;
  work_.runs.read_history();
  std::vector<std::string> words = kernel_words(document_.content);
  const std::string& host = settings_.run_host;
  if (!host.empty()) words.insert(words.end(), {"--on", host});
  work_.runs.start(*KernelState::subject_of(document_.content), c.profile, std::move(words));
  say(LogLevel::Info, fmt::format("{} {}{}: {}", c.profile ? "profiling" : "running", document_.content.kernel->name,
                                  host.empty() ? "" : " on " + host, document_.content.entry()->name));
  changed();
}

void SessionCore::on(const CancelRun&) {
  if (!work_.runs.run().active()) return;
  work_.runs.cancel();
  say(LogLevel::Info, "the run was cancelled");
  changed();
}

void SessionCore::on(const OpenMeasurement& c) {
  auto measurement = read_measurement(c.path);
  if (!measurement) return fail("Cannot open measurement " + base_name(c.path), measurement.error());
  const std::string kernel = measurement->kernel, machine = measurement->machine;
  const Scope params = measurement->params;
  work_.runs.read_history();
  work_.runs.add(std::make_shared<const RunRecord>(RunRecord{c.path, std::move(*measurement)}));
  // With nothing open, what was measured comes with it, where it is here.
  if (!document_.content.kernel && load_kernel(kernel) && load_machine(machine)) {
    on(OpenPair{kernel, machine, false});
    for (const auto& [name, value] : params)
      if (document_.content.kernel && document_.content.kernel->find_param(name)) on(SetParam{name, value});
  }
  view_.tab = BottomTab::Runs;
  view_.measured = session_.why_no_measured().empty();
  say(LogLevel::Info, "opened " + c.path);
  changed();
}

void SessionCore::on(const SelectRun& c) {
  work_.runs.choose(c.index);
  if (view_.measured && !session_.why_no_measured().empty()) view_.measured = false;
  changed();
}

void SessionCore::on(const ToggleMeasured&) {
  if (!view_.measured && !session_.why_no_measured().empty())
    return say(LogLevel::Warning, "no measured times: " + session_.why_no_measured());
  view_.measured = !view_.measured;
  if (view_.measured) view_.chart_view = ChartView::A;
  changed();
}

void SessionCore::on(const AdoptMeasured&) {
  if (const std::string reason = session_.why_no_adoption(); !reason.empty()) return say(LogLevel::Warning, "nothing adopted: " + reason);
  Changes next = document_.content.changes;
  const Changes measured = heddle::adopt(*document_.content.problem, *work_.runs.measurement()->profile).changes;
  for (const Change& change : measured) put(next, change);
  if (!change_numbers(std::move(next), fmt::format("adopt {}", count_of(static_cast<std::int64_t>(measured.size()), "measured latency",
                                                                        "measured latencies"))))
    return;
  view_.measured = false;  // those were of the numbers before
  solve_opened();          // a part of the same step
}

}  // namespace heddle::app
