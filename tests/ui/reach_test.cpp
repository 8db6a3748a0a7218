// Everything that can be done can be reached: by typing its name, by keys alone, in every state of the session, and what
// cannot be done says why.
#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "app/session/proposal_commands.h"
#include "app/window/frame/palette.h"
#include "tests/support/fake_solver.h"
#include "tests/support/wait.h"
#include "tests/support/window/harness.h"
#include "tests/support/window/random_command.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;

namespace {

SolveOutcome refute(const solver::SolveRequest&, std::stop_token, const solver::SolveListener&) {
  SolveOutcome outcome;
  outcome.status = Status::Infeasible;
  outcome.explanation = "a pin and a dependence contradict each other";
  return outcome;
}

const char* const kStates[] = {"nothing open", "kernel only", "problem", "running", "solved", "invalid schedule", "infeasible"};

std::unique_ptr<Harness> in_state(std::string_view state) {
  auto h = std::make_unique<Harness>(state == "running"      ? SolveFunction(test::solve_until_cancelled)
                                     : state == "infeasible" ? SolveFunction(refute)
                                                             : SolveFunction(test::solve_toy));
  Session& session = h->session();
  if (state == "nothing open") return h;
  if (state == "kernel only") {
    session.apply(OpenKernel{"toy_fig1"});
  } else {
    session.apply(OpenPair{"toy_fig1", "toy", state != "problem"});
    if (state != "running") h->wait_for_solver();
  }
  if (state == "invalid schedule") {
    Schedule broken = session.content().entry()->schedule;
    broken.ops[2].start = 0;
    session.apply(AdoptSchedule{broken, "by hand", false});
    REQUIRE_FALSE(session.content().entry()->verdict.valid());
  }
  h->frame(3);
  // Where there is no schedule it is asked why by itself; while an answer comes, other things can be done.
  REQUIRE(test::wait_until([&] { return !session.asking(); }, [&] { h->frame(); }));
  return h;
}

bool leaves(const Action& action) { return std::string_view(action.id) == "quit"; }

/// How each command is reached: "action ID" (menu, key, palette), "palette PREFIX" (an entry of the palette that is no
/// action), or words for a place that the keyboard gets to: a field, a row, a button of a panel.
const std::map<std::string, std::string> kWays{
    {"AddConstraint", "the sentence field of the constraints tab"},
    {"AddNote", "action note"},
    {"AdoptMeasured", "action adopt_measured"},
    {"AdoptSchedule", "rows of the tabs Alternatives and Pareto"},
    {"Ask", "action ask_slack"},
    {"AskWhy", "action explain"},
    {"BuildKernel", "action compile"},
    {"CancelAsk", "action cancel_slack"},
    {"CancelKernel", "action cancel_compile"},
    {"CancelLaunch", "action cancel_launch"},
    {"CancelRace", "action cancel_race"},
    {"CheckLaunch", "action check_launch"},
    {"OpenLaunch", "dropped, or opened like any file"},
    {"CancelRun", "action cancel_run"},
    {"CancelSolve", "action cancel"},
    {"ContinueSolve", "action continue"},
    {"ChooseLayouts", "action layout_use"},
    {"CheckKernel", "action verify"},
    {"EditSource", "the text beside the chart, action edit_kernel"},
    {"NewKernel", "action new_kernel"},
    {"ReadSourceAgain", "action read_kernel_again"},
    {"SaveSource", "action save_kernel_text"},
    {"CancelTriton", "action cancel_triton"},
    {"CancelTune", "action cancel_tune"},
    {"CompareTriton", "action compare_triton"},
    {"CancelValidation", "action cancel_validation"},
    {"ClearFlags", "action clear_flags"},
    {"ClearSelection", "action clear_selection"},
    {"CloseDocument", "action close"},
    {"CloseSweep", "action close_sweep"},
    {"CopyLine", "action copy_command"},
    {"DemandEmitterRules", "action emitter_rules"},
    {"DiscardWork", "welcome screen"},
    {"DismissError", "Escape in the error panel"},
    {"EditNote", "the note's dialog"},
    {"Export", "action export"},
    {"FirstDivergence", "action first_divergence"},
    {"FirstViolation", "action first_violation"},
    {"MoveOp", "the bar's menu: pin at a cycle"},
    {"OpenConstraints", "action open"},
    {"OpenFile", "action open"},
    {"OpenKernel", "palette kernel/"},
    {"OpenMachine", "palette machine/"},
    {"OpenMeasurement", "action open_measurement"},
    {"OpenPair", "welcome cards"},
    {"OpenProject", "action open"},
    {"OpenSchedule", "action open"},
    {"OpenMember", "rows of the tab Family"},
    {"OpenPlace", "the inspector's line of Python"},
    {"OpenPoint", "action best_point"},
    {"OpenPublished", "action open_published"},
    {"OpenSweep", "action open_sweep"},
    {"OpenWindow", "action window_b"},
    {"PinOps", "action pin"},
    {"Quit", "action quit"},
    {"Redo", "action redo"},
    {"ProveShown", "action prove"},
    {"RemoveChange", "action take_back_change"},
    {"RemoveConstraint", "rows of the constraints tab"},
    {"RemoveSchedule", "action remove_schedule"},
    {"RenameSchedule", "rows of the list of schedules"},
    {"ReplaceConstraint", "rows of the constraints tab"},
    {"RestoreWork", "welcome screen"},
    {"RunKernel", "action run_kernel"},
    {"SaveConstraints", "action save_constraints"},
    {"SaveKernel", "action save_kernel"},
    {"SavePackage", "action save_package"},
    {"SaveLayout", "action save_layout"},
    {"SaveProject", "action save"},
    {"SaveSchedule", "action save_schedule"},
    {"SelectOp", "palette op/"},
    {"SelectPublished", "points and rows of the Truth tab"},
    {"SelectRun", "rows of the Runs tab"},
    {"SelectSchedule", "palette schedule/"},
    {"SetAlignment", "action align_start"},
    {"SetBaseline", "action set_b"},
    {"SetChange", "the What if tab"},
    {"SetIterations", "action more_iterations"},
    {"SetKernelOptions", "action turns"},
    {"SetMode", "action steady"},
    {"SetParam", "action parameters"},
    {"ShowPart", "action next_loop"},
    {"ShowSide", "action show_best_machine"},
    {"StartRace", "action race"},
    {"StartSolve", "action solve"},
    {"StartTune", "action tune"},
    {"SwapBaseline", "action swap_ab"},
    {"SwitchMachine", "the What if tab"},
    {"ToggleChange", "the What if tab"},
    {"ToggleConstraint", "palette constraint/"},
    {"ToggleFlag", "the ruler"},
    {"ToggleMeasured", "action overlay_measured"},
    {"TogglePin", "action pin"},
    {"ToggleWhiskers", "action whiskers"},
    {"TryRelaxation", "cards of the Explain tab"},
    {"Undo", "action undo"},
    {"Validate", "action validate"},
    {"WriteKernel", "action generate"},
    {"copy_text", "action copy_shown"},
    {"dismiss_notice", "the notice's button"},
    {"end_highlight", "action end_highlight"},
    {"toggle_legend", "action legend"},
    {"fold_pane", "action fold_left"},
    {"remember_choice", "palette action/"},
    {"run_on", "field of the Runs tab"},
    {"scroll_with_wheel", "action wheel_scrolls"},
    {"show_chart_as", "action chart_split"},
    {"show_highlight", "cards of the Explain tab"},
    {"show_open_dialog", "action open"},
    {"show_editor", "action edit_kernel"},
    {"show_tab", "palette tab/"},
    {"toggle_barriers", "action barriers"},
    {"toggle_tensor", "action tensor_memory"},
    {"toggle_queues", "action queues"},
    {"toggle_critical", "action critical"},
    {"toggle_keys", "action keys"},
    {"use_built_in_keys", "the keys overlay"},
    {"use_keys", "the keys overlay"},
    {"use_scale", "action larger"},
    {"use_theme", "action light"},
    {"zoom_to_selection", "action zoom_selection"},
};

}  // namespace

TEST_CASE("every action is done by typing its name into the palette, without the mouse", "[ui]") {
  for (const Action& action : actions()) {
    if (leaves(action)) continue;
    INFO(action.id);
    const auto h = in_state("solved");
    h->session().apply(SelectOp{OpId(1)});
    h->frame(2);
    h->key(Key::P, {.ctrl = true});
    h->type(std::string(">") + action.label);
    REQUIRE(h->has(std::string("palette/action/") + action.id));
    CHECK(h->window().ui().of<PaletteState>().choice == 0);
    const std::string reason = why_not(action, h->session());
    const std::vector<std::string> before = h->session().settings().used;
    h->key(Key::Enter);
    h->frame(3);
    if (reason.empty()) {
      REQUIRE_FALSE(h->session().settings().used.empty());
      CHECK(h->session().settings().used.front() == std::string("action/") + action.id);
    } else {
      CHECK(h->session().settings().used == before);
    }
  }
}

TEST_CASE("no two actions share a chord, a name or an id", "[ui]") {
  std::map<std::string, std::string> chords, labels;
  std::set<std::string> ids;
  for (const Action& action : actions()) {
    INFO(action.id);
    CHECK(ids.insert(action.id).second);
    CHECK(labels.emplace(action.label, action.id).second);
    for (const Chord& chord : chords_of(action)) {
      INFO(to_string(chord) << " is that of " << chords[to_string(chord)]);
      CHECK(chords[to_string(chord)].empty());
      chords[to_string(chord)] = action.id;
    }
  }
}

TEST_CASE("in every state an action works or says why it cannot", "[ui]") {
  for (const char* state : kStates) {
    INFO(state);
    auto h = in_state(state);
    for (const Action& action : actions()) {
      if (leaves(action)) continue;
      INFO(action.id);
      const std::string reason = why_not(action, h->session());
      if (!reason.empty()) {
        CHECK(reason.size() >= 8);
        perform(action, h->session(), h->window().ui());
        CHECK(h->window().ui().commands.empty());
        continue;
      }
      const std::size_t said = h->session().log().size();
      perform(action, h->session(), h->window().ui());
      h->frame(4);
      CHECK_FALSE(h->session().error());
      for (std::size_t i = said; i < h->session().log().size(); ++i) {
        const std::string& text = h->session().log()[i].text;
        INFO(text);
        if (text.find(" · no schedule · ") != std::string::npos) continue;  // what the solver answers, not a failure to ask
        CHECK(h->session().log()[i].level != LogLevel::Bad);
        CHECK(h->session().log()[i].level != LogLevel::Warning);
      }
      h.reset();  // there is one ImGui context at a time
      h = in_state(state);
    }
  }
}

TEST_CASE("every command has a way to it", "[ui]") {
  const auto h = in_state("nothing open");
  test::Random random(1);
  std::set<std::string> known;
  [&]<class... C>(CommandTypes<C...>) { (known.insert(test::name_of(Command(C{}))), ...); }(AllCommands());
  known.erase("ChangeView"), known.erase("ChangeSettings");
  for (const Command& change : test::every_change(random, h->session())) known.insert(test::name_of(change));
  for (const std::string& command : known) {
    CHECK(kWays.count(command) == 1);
  }
  for (const auto& [command, way] : kWays) {
    INFO(command << ": " << way);
    CHECK(known.count(command) == 1);
    if (way.starts_with("action ")) CHECK(find_action(way.substr(7)));
  }
}
