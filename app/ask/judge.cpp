// All texts are written first; then they are compiled side by side, and last what has something against it is cut elsewhere. Rows are in
// the order of the candidates until they are ranked, so that it does not matter who is ready first.
#include "app/ask/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "app/ask/listener.h"
#include "core/base/clock.h"
#include "core/motion/motion.h"
#include "core/timing/program.h"

namespace heddle::app {
namespace {

/// Of its time, for finding candidates; the rest is the compiler's.
constexpr double kForCandidates = 0.4;

/// So many at a time, begun in the order of their numbers, until `work` says that it was the last.
template <class Work>
void side_by_side(std::size_t count, std::size_t at_once, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++)
      if (!work(i)) next = count;
  };
  std::vector<std::jthread> others;
  for (std::size_t t = 1; t < std::min(count, at_once); ++t) others.emplace_back(take);
  take();
}

class Judge {
 public:
  Judge(MadeKernel& made, const JudgeRequest& request, const std::stop_token& stop, const std::function<void(const News&)>& heard)
      : made_(made), problem_(made.instance.problem()), request_(request), stop_(stop), heard_(heard), deadline_(request.seconds) {}

  void run() {
    Judgement& judgement = made_.judged.emplace();
    if (!made_.built.audit.iteration()) {
      judgement.why = "no machine code to judge";
      return;
    }
    const Clock::time_point begin = Clock::now();
    heard_({.doing = "looking for the next best orders"});
    std::vector<NextBest> found = request_.next_best(made_, kForCandidates * deadline_.left(), stop_);
    std::erase_if(found, [&](const NextBest& c) { return same_program(c.schedule, made_.schedule); });
    judgement.candidates = found.size() + 1;
    first();
    for (NextBest& candidate : found) write(std::move(candidate));
    const std::size_t at_once = request_.at_once > 0 ? request_.at_once : std::max(1U, std::thread::hardware_concurrency());
    side_by_side(texts_.size(), at_once, [&](std::size_t i) { return compile(texts_[i]); });
    side_by_side(texts_.size(), at_once, [&](std::size_t i) { return cut_elsewhere(texts_[i]); });
    judgement.why = why_not_all_;
    judgement.seconds = seconds_between(begin, Clock::now());
    answer(judgement);
  }

 private:
  /// A candidate, or the kernel that there is.
  struct Text {
    JudgedSchedule shown;
    Schedule schedule;
    WrittenKernel written;                        ///< until it is compiled
    std::optional<codegen::BuiltKernel> built{};  ///< not of the kernel that there is
    bool looked_at = false, timed = false;

    bool clean() const { return shown.against.empty(); }
    /// What is clean and timed first; among these by cycles, among equals by period.
    std::tuple<bool, bool, Cycle, double> place() const { return {!clean(), !timed, shown.as_compiled.value_or(0), shown.period}; }
  };

  codegen::CompileQuestion question(const Text& text) const { return {made_.instance.kernel(), problem_, text.schedule, request_.trips}; }
  Text text_of(std::string name, const Schedule& schedule, double period) const {
    Text text{{std::move(name), timing::stream_text(problem_, motion::program_of(problem_, schedule)), period}, schedule, {}};
    return text;
  }

  static void take(const codegen::BuiltKernel& built, Text& text) {
    text.looked_at = true;
    text.shown.as_compiled = built.audit.iteration();
    text.timed = text.shown.as_compiled.has_value();
    text.shown.rule.reset();
    text.shown.against.clear();
    for (const auto* against : {&built.faults, &built.findings})
      if (!against->empty() && text.clean()) object(against->front(), text);
  }
  static void object(const codegen::Refusal& refusal, Text& text) {
    text.shown.rule = refusal.rule;
    text.shown.against = refusal.sentence;
  }

  /// The kernel that there is: compiled already, with its loops cut elsewhere where that was better.
  void first() {
    texts_.push_back(text_of("solved", made_.schedule, motion::motion_of(problem_, made_.schedule).period.cycles()));
    take(made_.built, texts_.front());
    known_.insert(made_.built.emission.source);
  }

  void write(NextBest candidate) {
    Text text = text_of(std::move(candidate.name), candidate.schedule, candidate.period);
    text.written = written_kernel(question(text), request_.build);
    if (!text.written.refusals.empty()) {
      object(text.written.refusals.front(), text);
      text.looked_at = true;
    } else if (!known_.insert(text.written.emission->source).second) {
      return;  // another program, the same text
    }
    texts_.push_back(std::move(text));
  }

  /// Whether another compilation may begin: none that would probably end too late, the longest so far says how long one takes.
  bool may_go_on() {
    const std::lock_guard lock(mutex_);
    if (stop_.stop_requested())
      why_not_all_ = "stopped";
    else if (deadline_.left() <= longest_)
      why_not_all_ = fmt::format("{:g} s were all that it had", request_.seconds);
    return why_not_all_.empty();
  }

  Result<codegen::Compiled> compiled(const std::string& source, const std::string& arch) {
    const Clock::time_point begin = Clock::now();
    auto made = request_.compile(source, arch);
    const std::lock_guard lock(mutex_);
    longest_ = std::max(longest_, seconds_between(begin, Clock::now()));
    return made;
  }

  bool compile(Text& text) {
    if (text.looked_at) return true;
    if (!may_go_on()) return false;
    say(text, "order");
    WrittenKernel& written = text.written;
    auto built =
        codegen::compile_kernel(question(text), std::move(written.build), *std::move(written.program), *std::move(written.emission),
                                [&](const std::string& source, const std::string& arch) { return compiled(source, arch); });
    if (!built.ok() && stop_.stop_requested()) return may_go_on();
    const std::lock_guard lock(mutex_);
    text.looked_at = true;
    if (built.ok()) {
      take(*built, text);
      text.built = *std::move(built);
    } else {
      text.shown.against = built.error().faults.front().message;
    }
    return true;
  }

  /// What has something against it, before it falls behind.
  bool cut_elsewhere(Text& text) {
    if (!text.built || text.clean() || !request_.build.cuts.empty()) return true;
    if (!may_go_on()) return false;
    std::stop_source enough;
    const auto next = [&](const std::string& source, const std::string& arch) -> Result<codegen::Compiled> {
      if (may_go_on()) return compiled(source, arch);
      enough.request_stop();
      return Error::environment("time is up");
    };
    say(text, "other cuts of order");
    auto built = codegen::recut(question(text), *text.built, next, enough.get_token());
    const std::lock_guard lock(mutex_);
    if (!built.ok()) return true;
    text.built = *std::move(built);
    take(*text.built, text);
    return true;
  }

  void say(const Text& text, const char* what) {
    const std::lock_guard lock(mutex_);
    const Text& best = *std::min_element(texts_.begin(), texts_.end(), [](const Text& a, const Text& b) { return a.place() < b.place(); });
    heard_({.doing = "judging machine code",
            .facts = {"judging machine code", fmt::format("{} {} of {}", what, &text - texts_.data() + 1, texts_.size()),
                      fmt::format("fastest as compiled {} cycles", best.shown.as_compiled.value_or(0))}});
  }

  /// The fastest takes the kernel's place.
  void answer(Judgement& judgement) {
    std::vector<Text*> ranked;
    for (Text& text : texts_)
      if (text.looked_at) ranked.push_back(&text);
    std::stable_sort(ranked.begin(), ranked.end(), [](const Text* a, const Text* b) { return a->place() < b->place(); });
    if (Text& best = *ranked.front(); best.built) {
      made_.schedule = std::move(best.schedule);
      made_.built = *std::move(best.built);
    }
    for (Text* text : ranked) judgement.ranked.push_back(std::move(text->shown));
  }

  MadeKernel& made_;
  const Problem& problem_;
  const JudgeRequest& request_;
  const std::stop_token& stop_;
  const std::function<void(const News&)>& heard_;
  const Deadline deadline_;
  std::set<std::string> known_;  // texts
  std::vector<Text> texts_;      // the kernel that there is, then the candidates; all there before anything is compiled
  std::mutex mutex_;             // guards what was found out of a text, the news and all below
  double longest_ = 0;           // seconds for a compilation
  std::string why_not_all_;
};

}  // namespace

void judge_kernel(MadeKernel& made, const JudgeRequest& request, const std::stop_token& stop,
                  const std::function<void(const News&)>& heard) {
  Judge(made, request, stop, heard).run();
}

}  // namespace heddle::app
