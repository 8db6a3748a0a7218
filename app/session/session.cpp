#include "app/session/session.h"

#include <typeindex>
#include <unordered_map>

#include "app/session/command_line.h"
#include "app/session/session_core.h"
#include "core/base/assert.h"

namespace heddle::app {

Session::Session(Environment environment) : core_(std::make_unique<SessionCore>(std::move(environment))) {}
Session::~Session() = default;

void Session::apply(const Command& command) {
  using Handler = void (*)(SessionCore&, const Command&);
  static const auto kHandlers = []<class... C>(CommandTypes<C...>) {
    return std::unordered_map<std::type_index, Handler>{{typeid(C), [](SessionCore& core, const Command& c) { core.take(*c.as<C>()); }}...};
  }(AllCommands());
  const auto handler = kHandlers.find(command.type());
  HEDDLE_ASSERT(handler != kHandlers.end(), "a command that AllCommands does not list");
  handler->second(*core_, command);
  core_->questions_.leave_answers();
  if (auto line = cli_equivalent(*this, command)) core_->document_.last_line = *std::move(line);
  core_->kernel_.keep_fresh();
}

bool Session::pump() { return core_->pump(); }
bool Session::close(std::chrono::milliseconds limit) { return core_->close(limit); }

const Content& Session::content() const { return core_->document_.content; }
const Selection& Session::selection() const { return core_->document_.selection; }
const Log& Session::log() const { return core_->document_.log; }
const std::optional<ErrorReport>& Session::error() const { return core_->document_.error; }
const Settings& Session::settings() const { return core_->document_.settings; }
std::uint64_t Session::revision() const { return core_->document_.revision; }
const std::string* Session::next_undo() const { return core_->document_.undo.next_undo(); }
const std::string* Session::next_redo() const { return core_->document_.undo.next_redo(); }
const std::string& Session::last_line() const { return core_->document_.last_line; }

const ViewState& Session::view() const { return core_->document_.view; }
WindowRequests& Session::requests() { return core_->document_.view; }
void Session::tell(ChartKept chart) { core_->document_.view.chart = std::move(chart); }
void Session::tell_size(int width, int height) { core_->document_.view.window = {width, height}; }
PaneSizes& Session::panes() { return core_->document_.settings.panes; }
int Session::iterations() const { return core_->showing_.iterations(); }
void Session::save_settings_now() { core_->showing_.save_settings_now(); }
void Session::note_exported(const std::string& path, const Result<Ok>& result) { core_->exports_.note_exported(path, result); }

const Solving& Session::solving() const { return core_->solving_; }
const LiveSolve& Session::live() const { return core_->solving_.live(); }
const std::string& Session::solver_name() const { return core_->environment_.solver_name; }
const Texts& Session::texts() const { return core_->texts_; }
const Projects& Session::projects() const { return core_->projects_; }
const OtherWindows& Session::windows() const { return core_->windows_; }
const SourceDocument& Session::sources() const { return core_->sources_; }
const FamilyMembers& Session::family() const { return core_->family_; }
const KernelState& Session::kernel() const { return core_->kernel_; }
const RunState& Session::runs() const { return core_->runs_; }
bool Session::building() const { return core_->kernel_.active() || core_->runs_.active(); }
const SweepState& Session::sweep() const { return core_->sweep_; }
const TruthState& Session::truth() const { return core_->truth_; }
const PredictionState& Session::predictions() const { return core_->predictions_; }
const LaunchState& Session::launch() const { return core_->launch_; }
const TritonState& Session::triton() const { return core_->sources_.three(); }
const QuestionState& Session::question(Topic topic) const { return core_->questions_.question(topic); }
bool Session::answered(Topic topic) const { return core_->questions_.answered(topic); }
bool Session::remembers(Topic topic, const AskOptions& options) const { return core_->questions_.remembers(topic, options); }
std::string Session::why_no_question(Topic topic) const { return core_->questions_.why_no_question(topic); }
bool Session::asking() const { return core_->questions_.asking(); }

}  // namespace heddle::app
