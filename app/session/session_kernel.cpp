// The session's side of kernels: what is made of the shown schedule, and when.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/files.h"
#include "app/session/session_core.h"
#include "core/base/atomic_file.h"

namespace heddle::app {

std::string Session::why_no_kernel() const {
  if (!content().kernel) return "open a kernel first";
  if (!content().machine) return "open a machine first";
  if (!content().problem) return content().kernel->name + " cannot be scheduled on " + content().machine->name;
  return content().entry() ? "" : "there is no schedule yet";
}

const KernelText* Session::kernel_text_of_problem() const {
  const KernelText* text = kernel().text().answer().get();
  return text && content().problem && text->of.problem == content().problem ? text : nullptr;
}

std::string Session::why_no_build() const {
  if (const std::string reason = why_no_kernel(); !reason.empty()) return reason;
  if (!core_->environment_.kernel.compile) return "there is no compiler";
  if (const Result<std::string>* compiler = kernel().compiler(); compiler && !compiler->ok())
    return compiler->error().faults.front().message;
  const auto subject = KernelState::subject_of(content());
  if (KernelState::is_current(kernel().text(), subject) && !kernel().text().answer()->emission)
    return "the schedule cannot be written as a kernel";
  return {};
}

void SessionCore::keep_kernel_fresh() {
  if (view_.tab != BottomTab::Cuda) return;
  work_.kernel.look_for_compiler();
  const auto subject = KernelState::subject_of(document_.content);
  // A schedule that is still being improved is soon another one.
  if (!subject || document_.content.entry()->running || work_.kernel.writes_or_has(*subject) || work_.kernel.gave_up(*subject)) return;
  work_.kernel.write(*subject);
  changed();
}

bool SessionCore::pump_kernel() {
  std::vector<KernelState::Line> said;
  const bool news = work_.kernel.pump(said);
  for (KernelState::Line& line : said) say(line.level, std::move(line.text));
  if (news) changed();
  keep_kernel_fresh();
  return news;
}

void SessionCore::on(const WriteKernel&) {
  view_.tab = BottomTab::Cuda;
  if (const std::string reason = session_.why_no_kernel(); !reason.empty()) return say(LogLevel::Warning, "no CUDA: " + reason);
  work_.kernel.write(*KernelState::subject_of(document_.content));
  changed();
}

void SessionCore::on(const CheckKernel& c) {
  constexpr std::int64_t kMost = 1'000'000;
  if (const std::string reason = session_.why_no_kernel(); !reason.empty()) return say(LogLevel::Warning, "not verified: " + reason);
  view_.tab = BottomTab::Cuda;
  work_.kernel.check(*KernelState::subject_of(document_.content), {std::clamp<std::int64_t>(c.interleavings, 1, kMost), c.data});
  changed();
}

void SessionCore::on(const SetKernelOptions& c) {
  const KernelOptions next = within_limits(c.options);
  if (!document_.content.kernel || next == document_.content.kernel_options) return;
  document_.undo.remember(document_.content, "kernel written " + describe(next));
  document_.content.kernel_options = next;
  changed();
}

void SessionCore::on(const BuildKernel&) {
  if (const std::string reason = session_.why_no_build(); !reason.empty()) return say(LogLevel::Warning, "not compiled: " + reason);
  view_.tab = BottomTab::Cuda;
  work_.kernel.build(*KernelState::subject_of(document_.content));
  changed();
}

void SessionCore::on(const CancelKernel& c) {
  work_.kernel.cancel(c.step);
  changed();
}

void SessionCore::on(const SaveKernel& c) {
  const auto subject = KernelState::subject_of(document_.content);
  if (!KernelState::is_current(work_.kernel.text(), subject) || !work_.kernel.text().answer()->emission)
    return fail("Cannot save " + base_name(c.path), Error::input("there is no CUDA text of the shown schedule", "generate it first"));
  if (const auto saved = write_file(c.path, work_.kernel.text().answer()->emission->source); !saved)
    return fail("Cannot save " + base_name(c.path), saved.error());
  say(LogLevel::Good, "saved " + c.path);
}

}  // namespace heddle::app
