// The session's side of kernels: what is made of the shown schedule, and when.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/files.h"
#include "app/session/session.h"
#include "core/base/atomic_file.h"

namespace heddle::app {

std::string Session::why_no_kernel() const {
  if (!content_.kernel) return "open a kernel first";
  if (!content_.machine) return "open a machine first";
  if (!content_.problem) return content_.kernel->name + " cannot be scheduled on " + content_.machine->name;
  return content_.entry() ? "" : "there is no schedule yet";
}

const KernelText* Session::kernel_text_of_problem() const {
  const KernelText* text = kernel_.text().answer().get();
  return text && content_.problem && text->of.problem == content_.problem ? text : nullptr;
}

std::string Session::why_no_build() const {
  if (const std::string reason = why_no_kernel(); !reason.empty()) return reason;
  if (!environment_.kernel.compile) return "there is no compiler";
  if (const Result<std::string>* compiler = kernel_.compiler(); compiler && !compiler->ok()) return compiler->error().faults.front().message;
  const auto subject = KernelDesk::subject_of(content_);
  if (KernelDesk::is_current(kernel_.text(), subject) && !kernel_.text().answer()->emission) return "the schedule cannot be written as a kernel";
  return {};
}

void Session::keep_kernel_fresh() {
  if (view_.tab != BottomTab::Cuda) return;
  kernel_.look_for_compiler();
  const auto subject = KernelDesk::subject_of(content_);
  // A schedule that is still being improved is soon another one.
  if (!subject || content_.entry()->running || kernel_.writes_or_has(*subject) || kernel_.gave_up(*subject)) return;
  kernel_.write(*subject);
  changed();
}

bool Session::pump_kernel() {
  std::vector<KernelDesk::Line> said;
  const bool news = kernel_.pump(said);
  for (KernelDesk::Line& line : said) say(line.level, std::move(line.text));
  if (news) changed();
  keep_kernel_fresh();
  return news;
}

void Session::on(const WriteKernel&) {
  view_.tab = BottomTab::Cuda;
  if (const std::string reason = why_no_kernel(); !reason.empty()) return say(LogLevel::Warning, "no CUDA: " + reason);
  kernel_.write(*KernelDesk::subject_of(content_));
  changed();
}

void Session::on(const CheckKernel& c) {
  constexpr std::int64_t kMost = 1'000'000;
  if (const std::string reason = why_no_kernel(); !reason.empty()) return say(LogLevel::Warning, "not verified: " + reason);
  view_.tab = BottomTab::Cuda;
  kernel_.check(*KernelDesk::subject_of(content_), {std::clamp<std::int64_t>(c.interleavings, 1, kMost), c.data});
  changed();
}

void Session::on(const SetKernelOptions& c) {
  const KernelOptions next = within_limits(c.options);
  if (!content_.kernel || next == content_.kernel_options) return;
  undo_.remember(content_, "kernel written " + describe(next));
  content_.kernel_options = next;
  changed();
}

void Session::on(const BuildKernel&) {
  if (const std::string reason = why_no_build(); !reason.empty()) return say(LogLevel::Warning, "not compiled: " + reason);
  view_.tab = BottomTab::Cuda;
  kernel_.build(*KernelDesk::subject_of(content_));
  changed();
}

void Session::on(const CancelKernel& c) {
  kernel_.cancel(c.step);
  changed();
}

void Session::on(const SaveKernel& c) {
  const auto subject = KernelDesk::subject_of(content_);
  if (!KernelDesk::is_current(kernel_.text(), subject) || !kernel_.text().answer()->emission)
    return fail("Cannot save " + base_name(c.path), Error::input("there is no CUDA text of the shown schedule", "generate it first"));
  if (const auto saved = write_file(c.path, kernel_.text().answer()->emission->source); !saved) return fail("Cannot save " + base_name(c.path), saved.error());
  say(LogLevel::Good, "saved " + c.path);
}

}  // namespace heddle::app
