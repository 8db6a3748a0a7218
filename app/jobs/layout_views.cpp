#include "app/jobs/layout_views.h"

#include <algorithm>

#include "app/command/option_words.h"
#include "core/triton/read/as_layout.h"

namespace heddle::app {
namespace {

constexpr std::size_t kKnownViews = 16;

bool same_question(const std::optional<LayoutQuestion>& a, const std::optional<LayoutQuestion>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->text == b->text && a->shape == b->shape && a->dtype == b->dtype && a->access == b->access && a->with == b->with &&
         a->layout == b->layout;
}

DType type_of(int bits) { return bits == 32 ? DType::F32 : bits == 8 ? DType::F8e4m3 : bits == 4 ? DType::I4 : DType::F16; }

Result<LayoutView> view_by_itself(const LayoutAsk& ask) {
  LayoutQuestion question = *ask.text;
  // What Triton prints: core/answers does not know its dialect.
  if (!question.layout && triton::is_printed_layout(question.text)) {
    Result<triton::PrintedLayout> read = triton::read_layout(question.text, {question.shape, bits_of(question.dtype)});
    if (!read) return read.error();
    if (read->bits > 0 && read->bits != bits_of(question.dtype)) question.dtype = type_of(read->bits);
    question.layout = std::move(read->layout);
  }
  return view_of(question, ask.spec.machine ? *ask.spec.machine : Machine{});
}

Result<LayoutView> view_of_kernel(const LayoutAsk& ask) {
  const bool open = ask.problem->layouts && ask.problem->layouts->choices == ask.spec.choices;
  const Result<Instance> instance = open ? Instance(ask.spec, ask.problem) : make_instance(ask.spec);
  if (!instance) return instance.error();
  return view_of(*instance, ask.value, ask.op, ask.alternatives);
}

}  // namespace

bool LayoutAsk::operator==(const LayoutAsk& other) const {
  // Parameters and changes are part of the problem: one that is the same object has the same ones.
  return spec.kernel == other.spec.kernel && spec.machine == other.spec.machine && problem == other.problem && value == other.value &&
         op == other.op && alternatives == other.alternatives && spec.choices == other.spec.choices && same_question(text, other.text);
}

LayoutAnswer answer_layout(const LayoutAsk& ask) {
  LayoutAnswer answer;
  answer.of = ask;
  Result<LayoutView> view = ask.spec.kernel ? view_of_kernel(ask) : view_by_itself(ask);
  if (!view && ask.spec.kernel && ask.text) {
    // What cannot be chosen for the kernel can be looked at all the same.
    if (Result<LayoutView> alone = view_by_itself(ask)) view = std::move(alone);
  }
  if (view)
    answer.view = *std::move(view);
  else
    answer.error = in_options(view.error());
  return answer;
}

void LayoutViews::begin_frame() {
  wanted_.clear();
  if (!running_) return;
  task_.pump();
  if (task_.active()) return;
  Answer answer = task_.answer();
  if (task_.phase() == Task<LayoutAnswer>::Phase::Failed) {
    LayoutAnswer failed;
    failed.of = *running_;
    failed.error = Error::environment("the layout could not be worked out: " + task_.failure());
    answer = std::make_shared<const LayoutAnswer>(std::move(failed));
  }
  if (answer && answer->of == *running_) {
    known_.push_back(std::move(answer));
    if (known_.size() > kKnownViews) known_.erase(known_.begin());
  }
  running_.reset();
}

LayoutViews::Answer LayoutViews::want(const LayoutAsk& ask) {
  for (auto known = known_.rbegin(); known != known_.rend(); ++known)
    if ((*known)->of == ask) return *known;
  wanted_.push_back(ask);
  return nullptr;
}

void LayoutViews::end_frame() {
  if (running_ && std::find(wanted_.begin(), wanted_.end(), *running_) == wanted_.end()) {
    task_.cancel();
    running_.reset();
  }
  if (running_ || wanted_.empty()) return;
  running_ = wanted_.front();
  // The window does not sleep meanwhile: it goes on drawing while a view is worked out.
  task_.start([ask = wanted_.front()](std::stop_token, const auto&) { return answer_layout(ask); }, {});
}

}  // namespace heddle::app
