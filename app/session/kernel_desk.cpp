// One step after the other.
#include "app/session/kernel_desk.h"

#include <fmt/format.h>

#include "core/report/text_style.h"

namespace heddle::app {

std::optional<KernelSubject> KernelDesk::subject_of(const Content& content) {
  if (!content.problem || !content.shown) return std::nullopt;
  const EntryPtr& entry = content.schedules[*content.shown];
  KernelSubject subject;
  subject.kernel = content.kernel;
  subject.machine = content.machine;
  subject.problem = content.problem;
  subject.schedule = std::shared_ptr<const Schedule>(entry, &entry->schedule);
  subject.schedule_name = entry->name;
  return subject;
}

bool KernelDesk::writes_or_has(const KernelSubject& subject) const {
  return text_.active() ? writing_ && same_kernel(*writing_, subject) : is_current(text_, subject);
}

void KernelDesk::write(const KernelSubject& subject) {
  check_next_.reset();
  build_next_ = false;
  writing_ = subject;
  given_up_.reset();
  text_.start([subject](std::stop_token, const auto&) { return write_kernel(subject); }, wake_);
}

void KernelDesk::check(const KernelSubject& subject, std::int64_t interleavings) {
  if (!writes_or_has(subject)) {
    const bool build = build_next_;
    write(subject);
    build_next_ = build;
  }
  check_next_ = interleavings;
  if (!text_.active()) start_check();
}

void KernelDesk::build(const KernelSubject& subject) {
  look_for_compiler();
  if (!writes_or_has(subject)) {
    const auto check = check_next_;
    write(subject);
    check_next_ = check;
  }
  build_next_ = true;
  if (!text_.active()) start_build();
}

void KernelDesk::start_check() {
  const std::int64_t count = *std::exchange(check_next_, std::nullopt);
  if (!text_.answer() || !text_.answer()->program) return;
  check_.start([text = text_.answer(), count](std::stop_token stop, const auto& say) { return check_kernel(*text, count, std::move(stop), say); }, wake_);
}

void KernelDesk::start_build() {
  build_next_ = false;
  if (!text_.answer() || !text_.answer()->emission) return;
  build_.start(
      [text = text_.answer(), compile = tools_.compile](std::stop_token, const auto& say) {
        say("the compiler is at work");
        return build_kernel(*text, compile);
      },
      wake_);
}

void KernelDesk::cancel(KernelStep step) {
  switch (step) {
    case KernelStep::Text:
      if (text_.active()) given_up_ = writing_;
      text_.cancel();
      check_next_.reset();
      build_next_ = false;
      break;
    case KernelStep::Check:
      check_next_.reset();
      check_.cancel();
      break;
    case KernelStep::Build:
      build_next_ = false;
      build_.cancel();
      break;
  }
}

void KernelDesk::look_for_compiler() {
  if (compiler_.active() || compiler_.answer() || !tools_.find_compiler) return;
  compiler_.start([find = tools_.find_compiler](std::stop_token, const auto&) { return find(); }, wake_);
}

bool KernelDesk::pump(std::vector<Line>& said) {
  bool news = compiler_.pump();
  if (text_.pump()) {
    news = true;
    if (text_.phase() == Task<KernelText>::Phase::Failed) {
      said.push_back({LogLevel::Warning, "the code generator failed: " + text_.failure()});
      cancel(KernelStep::Text);  // nobody begins it again by himself
      given_up_ = writing_;
    } else if (!text_.active()) {
      if (const auto& text = text_.answer(); text && !text->refusals.empty())
        said.push_back({LogLevel::Info, fmt::format("no CUDA for {}: {}: {}", text->of.schedule_name, text->refusals.front().rule, printable(text->refusals.front().sentence))});
      if (check_next_) start_check();
      if (build_next_) start_build();
    }
  }
  if (check_.pump()) {
    news = true;
    if (check_.phase() == Task<KernelCheck>::Phase::Failed) said.push_back({LogLevel::Warning, "the interpreter failed: " + check_.failure()});
    if (!check_.active() && check_.phase() == Task<KernelCheck>::Phase::Done) {
      const KernelCheck& c = *check_.answer();
      said.push_back({c.fault.empty() ? LogLevel::Good : LogLevel::Bad, c.fault.empty() ? fmt::format("{}: {} on the CPU: no deadlock, no race", c.of.schedule_name, count_of(c.done, "interleaving"))
                                                       : fmt::format("{}: interleaving {}: {}", c.of.schedule_name, c.done - 1, c.fault)});
    }
  }
  if (build_.pump()) {
    news = true;
    if (build_.phase() == Task<KernelBuild>::Phase::Failed) said.push_back({LogLevel::Warning, "the compiler failed: " + build_.failure()});
    if (!build_.active() && build_.phase() == Task<KernelBuild>::Phase::Done) {
      const KernelBuild& b = *build_.answer();
      const std::string name = b.of.schedule_name;
      if (b.error)
        said.push_back({LogLevel::Warning, name + ": not compiled"});
      else if (!b.faults.empty())
        said.push_back({LogLevel::Warning, fmt::format("{}: {}: {}", name, b.faults.front().rule, b.faults.front().sentence)});
      else
        said.push_back({LogLevel::Good, fmt::format("{}: compiled by {}{}", name, b.compiled.compiler, b.compiled.from_cache ? ", from the cache" : "")});
    }
  }
  return news;
}

bool KernelDesk::close(std::chrono::steady_clock::time_point until) {
  return text_.close(until) && check_.close(until) && build_.close(until) && compiler_.close(until);
}

}  // namespace heddle::app
