// heddle-gui: the window, or a picture of it. Its words are those of `heddle gui`.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "app/command/arguments.h"
#include "app/command/called.h"
#include "app/command/exit_code.h"
#include "app/command/help.h"
#include "app/command/option_words.h"
#include "app/command/ptx_form.h"
#include "app/command/terminal.h"
#include "app/platform/glfw_platform.h"
#include "app/platform/offscreen_platform.h"
#include "app/session/autosave.h"
#include "app/session/environment.h"
#include "app/session/files.h"
#include "app/session/launch_state.h"
#include "app/session/open_place.h"
#include "app/session/proposal_commands.h"
#include "app/session/session.h"
#include "app/session/solving.h"
#include "app/session/triton_state.h"
#include "app/session/truth_state.h"
#include "app/session/view_state.h"
#include "app/window/frame/app_window.h"
#include "app/window/frame/script.h"
#include "app/window/kit/contrasts.h"
#include "app/window/kit/probe.h"
#include "app/window/parts/tabs.h"
#include "core/answers/layout_choice.h"
#include "core/chart/gantt_model.h"
#include "core/formats/choices_json.h"
#include "core/library/layout_demands.h"
#include "core/library/library.h"
#include "core/problem/changes.h"
#include "core/schedule/constraint_text.h"

namespace heddle::app {
namespace {

std::optional<GanttMode> parse_mode(const std::string& name) {
  for (const GanttMode mode : kGanttModes)
    if (name == to_string(mode)) return mode;
  return std::nullopt;
}

/// The first shipped machine that can run the kernel.
std::string default_machine(const std::string& name) {
  const auto kernel = load_kernel(name);
  const std::vector<std::string> machines = kernel ? machines_for(*kernel) : std::vector<std::string>();
  return machines.empty() ? "h100" : machines.front();
}

/// Numbers changed and demands made in words, as `heddle` takes them.
Result<Ok> propose_as_asked(const Arguments& arguments, Session& session) {
  const Content& content = session.content();
  if (!arguments.has("--set") && !arguments.has("--demand")) return Ok{};
  if (!content.problem) return Error::input("--set and --demand need a kernel and a machine that fit");
  Error error = Error::input("");
  error.faults.clear();
  const auto fault = [&](const Error& e) { error.faults.insert(error.faults.end(), e.faults.begin(), e.faults.end()); };
  for (const std::string& text : arguments.all("--set")) {
    const auto change = parse_change(text, *content.kernel, *content.machine);
    change ? session.apply(SetChange{*change}) : fault(change.error());
  }
  for (const std::string& text : arguments.all("--demand")) {
    LayoutChoices choices;
    std::vector<Fault> faults;
    if (take_layout_demand(text, *content.kernel, choices, faults)) {
      faults.empty() ? session.apply(ChooseLayouts{merged(content.choices, choices), {}, false})
                     : fault(in_options({ErrorKind::Input, faults}));
      if (session.error()) return session.error()->error;
      continue;
    }
    const auto demand = parse_constraint(text, *content.problem);
    demand ? session.apply(AddConstraint{*demand, false}) : fault(demand.error());
  }
  if (!error.faults.empty()) return error;
  return Ok{};
}

/// Layouts and instructions in words, over those of the schedule or project that is open.
Result<Ok> choose_as_asked(const Arguments& arguments, Session& session) {
  LayoutChoices said;
  std::vector<Fault> faults;
  for (const std::string& text : arguments.all("--layout")) add_layout(text, said, faults);
  for (const std::string& text : arguments.all("--instruction")) add_instruction(text, said, faults);
  if (!faults.empty()) return in_options({ErrorKind::Input, std::move(faults)});
  if (said.empty() || session.error()) return Ok{};
  const Content& content = session.content();
  if (!content.problem) return Error::input("--layout and --instruction need a kernel and a machine that fit");
  said.layouts.insert(content.choices.layouts.begin(), content.choices.layouts.end());
  said.instructions.insert(content.choices.instructions.begin(), content.choices.instructions.end());
  session.apply(ChooseLayouts{said, {}, false});
  if (session.error()) return session.error()->error;
  return Ok{};
}

/// What the command line asks for, as commands.
Result<Ok> open_documents(const Arguments& arguments, Session& session) {
  if (arguments.has("--welcome")) return Ok{};
  const std::optional<std::string> named = arguments.text("KERNEL");
  // A window that is asked for nothing welcomes; a picture of nothing would be none.
  const auto asked = {"--schedule",    "--screenshot", "--param",       "--set",   "--layout",
                      "--instruction", "--demand",     "--constraints", "--solve", "--tab"};
  if (!named && std::none_of(asked.begin(), asked.end(), [&](const char* option) { return arguments.has(option); })) return Ok{};
  const auto beside = [&](const char* name) {  // a file that is everything at once stands for all of them
    const auto word = arguments.text(name);
    return word == named ? std::nullopt : word;
  };
  const std::optional<std::string> machine = beside("MACHINE");
  const std::optional<std::string> schedule = arguments.has("--schedule") ? arguments.text("--schedule") : beside("SCHEDULE");
  if (named || !schedule) {
    std::string kernel = named ? with_dump_options(*named, arguments) : "attention_forward_hopper";
    if (const auto entry = arguments.text("--kernel"); entry && kernel.ends_with(".ptx")) kernel += "#" + *entry;
    const bool sweep = !machine && is_sweep(kernel);
    const auto kind = !machine && !sweep ? classify_file(kernel) : FileKind::Kernel;
    if (sweep || (kind && *kind != FileKind::Kernel))
      session.apply(OpenFile{kernel});
    else
      session.apply(OpenPair{kernel, machine ? *machine : default_machine(kernel), false});
  }
  for (const std::string& param : arguments.all("--param")) {
    const std::size_t equals = param.find('=');
    session.apply(SetParam{param.substr(0, equals), std::strtoll(param.c_str() + equals + 1, nullptr, 10)});
  }
  if (const auto proposed = propose_as_asked(arguments, session); !proposed) return proposed;
  if (schedule) session.apply(OpenSchedule{*schedule});
  if (const auto chosen = choose_as_asked(arguments, session); !chosen) return chosen;
  if (const auto constraints = arguments.text("--constraints")) {
    session.apply(OpenConstraints{*constraints});
    session.apply(show_tab(BottomTab::Explain));
  }
  // The three schedules of a Triton kernel are worked out without being asked for.
  const bool compares = session.content().triton() != nullptr;
  const bool wanted =
      arguments.has("--solve") || (!compares && !arguments.has("--screenshot") && !schedule && session.content().schedules.empty());
  if (wanted && !arguments.has("--no-solve") && session.solving().why_no_solve().empty()) session.apply(StartSolve{});
  return Ok{};
}

void show_as_asked(const Arguments& arguments, Session& session) {
  if (const auto mode = parse_mode(arguments.text("--mode").value_or(""))) session.apply(SetMode{*mode});
  if (const auto count = arguments.integer("--iterations")) session.apply(SetIterations{static_cast<int>(*count)});
  if (const auto theme = parse_theme(arguments.text("--theme").value_or(""))) session.apply(use_theme(*theme, false));
  if (const Tab* tab = find_tab(arguments.text("--tab").value_or(""))) session.apply(show_tab(tab->tab));
  if (const auto percent = arguments.integer("--scale")) session.apply(use_scale(static_cast<int>(*percent), false));
}

void select_as_asked(const Arguments& arguments, Session& session) {
  const auto op = arguments.text("--select");
  if (op && session.content().problem) session.apply(SelectOp{session.content().problem->find_op(*op)});
}

/// Which cycles the chart shows, and what lies on its bars; for a chart that is there.
void arrange_chart(const Arguments& arguments, Session& session) {
  const std::optional<Cycle> begin = arguments.integer("--begin"), end = arguments.integer("--end");
  if (!begin && !arguments.has("--show")) return;
  ChartKept kept = session.view().chart;
  if (begin && end && *begin < *end) kept.visible = {*begin, *end};
  for (const std::string& overlay : arguments.all("--show")) kept.switches[overlay] = true;
  session.requests().restored_chart = std::move(kept);
}

int take_screenshot(const Arguments& arguments, const Terminal& terminal) {
  const std::string picture = *arguments.text("--screenshot");
  const std::vector<std::string>& steps = arguments.all("--do");
  int width = 1600, height = 900;
  if (const auto size = arguments.text("--size"); size && std::sscanf(size->c_str(), "%dx%d", &width, &height) != 2)
    return refuse(terminal, "--size needs WIDTHxHEIGHT, 1600x900 for example, not '" + *size + "'", false);
  auto platform = OffscreenPlatform::create(width, height, false);
  if (!platform) return report(terminal, platform.error(), false);
  Session session(Environment{});
  if (const auto opened = open_documents(arguments, session); !opened) return report(terminal, opened.error(), false);
  show_as_asked(arguments, session);
  AppWindow window(session, **platform);
  probe::enable(!steps.empty());
  settle(window);
  select_as_asked(arguments, session);
  arrange_chart(arguments, session);
  if (!steps.empty()) settle(window);  // what was selected is in view, and known
  for (const std::string& step : steps)
    if (const auto done = run_step(window, step); !done) return report(terminal, done.error(), false);
  // While a solve or a question runs ("ask&") there is a moment for it to show something.
  for (int frame = 0; frame < 40; ++frame) {
    window.step();
    if (session.live().active() || session.asking() || session.truth().active() || session.triton().active() || session.launch().active())
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (arguments.has("--chart-only")) {
    session.apply(Export{ExportKind::Png, picture});
    window.step();
  } else if (const auto written = write_png(picture, (*platform)->read_picture()); !written) {
    return report(terminal, written.error(), false);
  }
  for (const LogEntry& entry : session.log()) terminal.err << entry.text << "\n";
  return session.error() ? report(terminal, session.error()->error, false) : kDone;
}

/// For tests/bench/window_bench.cpp, which knows when this program was started.
void say_first_frame() {
  timespec now{}, used{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  std::printf("first frame at %lld.%09ld, %.1f ms of processor time\n", static_cast<long long>(now.tv_sec), now.tv_nsec,
              static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6);
}

int run_window(const Arguments& arguments, const Terminal& terminal, std::optional<HandedOver> handed_over) {
  auto platform = GlfwPlatform::create("Heddle", 1600, 900, handed_over ? handed_over->number : 1);
  if (!platform) return report(terminal, platform.error(), false);
  Environment environment;
  environment.settings_file = settings_path();
  environment.autosave_folder = autosave_path();
  environment.run.folder = runs_path();
  environment.sweep.folder = sweeps_path();
  environment.wake = [&] { (*platform)->wake(); };
  environment.open_window = open_another_window;
  environment.open_place = open_place;
  const bool handed = handed_over.has_value();
  environment.handed_over = std::move(handed_over);
  auto session = std::make_unique<Session>(std::move(environment));
  show_as_asked(arguments, *session);
  if (!handed)
    if (const auto opened = open_documents(arguments, *session); !opened) return report(terminal, opened.error(), false);
  select_as_asked(arguments, *session);
  AppWindow window(*session, **platform);
  const std::int64_t frames = arguments.integer("--frames").value_or(0);
  std::int64_t shown = 0;
  while (window.step() && (frames == 0 || shown < frames))
    if (frames > 0 && ++shown == 1) say_first_frame();
  if (!session->close(std::chrono::seconds(5))) {
    // The solver does not come back. Files are written atomically, so nothing can be half done.
    std::fprintf(stderr, "heddle-gui: the solver did not stop within 5 s; leaving without it\n");
    std::_Exit(0);
  }
  session.reset();
  return 0;
}

int run(int argc, char** argv) {
  called_as(argc > 0 ? argv[0] : nullptr);
  ProcessTerminal process;
  Terminal terminal = process.terminal();
  if (auto handed_over = take_hand_over(argc, argv)) return run_window({}, terminal, std::move(handed_over));
  const auto parsed = parse_words(*find_command("gui"), {argv + std::min(argc, 1), argv + argc});
  if (const auto* error = std::get_if<UsageError>(&parsed)) return report_usage(terminal, *error, false);
  const CommandLine& line = std::get<CommandLine>(parsed);
  const Arguments& arguments = line.arguments;
  if (line.help || arguments.has("--contrasts")) {
    terminal.out << (line.help ? help_for(*line.command) : contrast_table());
    return kDone;
  }
  if (arguments.has("--do") && !arguments.has("--screenshot")) return refuse(terminal, "--do needs --screenshot", false);
  return arguments.has("--screenshot") ? take_screenshot(arguments, terminal) : run_window(arguments, terminal, {});
}

}  // namespace
}  // namespace heddle::app

int main(int argc, char** argv) { return heddle::app::run(argc, argv); }
