// heddle-gui: the window, or a picture of it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "app/platform/glfw_platform.h"
#include "app/platform/offscreen_platform.h"
#include "app/session/autosave.h"
#include "app/session/environment.h"
#include "app/session/export.h"
#include "app/session/files.h"
#include "app/session/proposal_commands.h"
#include "app/session/session.h"
#include "app/window/frame/app_window.h"
#include "app/window/frame/script.h"
#include "app/window/kit/contrasts.h"
#include "app/window/kit/probe.h"
#include "core/chart/gantt_model.h"
#include "core/library/library.h"
#include "core/problem/changes.h"
#include "core/schedule/constraint_text.h"

namespace heddle::app {
namespace {

struct Options {
  std::string kernel, machine, schedule, constraints, screenshot, size = "1600x900", mode, theme, select, tab;
  std::vector<std::string> params, changes, demands, overlays, steps;
  std::optional<Cycle> begin, end;
  int scale = 0, iterations = 0, frames = 0;
  bool welcome = false, solve = false, no_solve = false, chart_only = false;
};

int report(const Error& error) {
  std::fprintf(stderr, "heddle-gui: %s\n", to_string(error).c_str());
  return error.kind == ErrorKind::Environment ? 6 : 3;
}

std::optional<GanttMode> parse_mode(const std::string& name) {
  for (const GanttMode mode : {GanttMode::Steady, GanttMode::Unrolled, GanttMode::Pipeline})
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
Result<Ok> propose_as_asked(const Options& options, Session& session) {
  const Content& content = session.content();
  if (options.changes.empty() && options.demands.empty()) return Ok{};
  if (!content.problem) return Error::input("--set and --demand need a kernel and a machine that fit");
  Error error = Error::input("");
  error.faults.clear();
  const auto fault = [&](const Error& e) { error.faults.insert(error.faults.end(), e.faults.begin(), e.faults.end()); };
  for (const std::string& text : options.changes) {
    const auto change = parse_change(text, *content.kernel, *content.machine);
    change ? session.apply(SetChange{*change}) : fault(change.error());
  }
  for (const std::string& text : options.demands) {
    const auto demand = parse_constraint(text, *content.problem);
    demand ? session.apply(AddConstraint{*demand, false}) : fault(demand.error());
  }
  if (!error.faults.empty()) return error;
  return Ok{};
}

/// What the command line asks for, as commands.
Result<Ok> open_documents(const Options& options, Session& session) {
  if (options.welcome) return Ok{};
  const bool schedule_only = !options.schedule.empty() && options.kernel.empty();
  if (!schedule_only) {
    const std::string kernel = options.kernel.empty() ? "attention_forward_hopper" : options.kernel;
    const bool sweep = options.machine.empty() && is_sweep(kernel);
    const auto kind = options.machine.empty() && !sweep ? classify_file(kernel) : FileKind::Kernel;
    if (sweep || (kind && *kind != FileKind::Kernel))
      session.apply(OpenFile{kernel});
    else
      session.apply(OpenPair{kernel, options.machine.empty() ? default_machine(kernel) : options.machine, false});
  }
  for (const std::string& param : options.params) {
    const std::size_t equals = param.find('=');
    session.apply(SetParam{param.substr(0, equals), std::strtoll(param.c_str() + equals + 1, nullptr, 10)});
  }
  if (const auto proposed = propose_as_asked(options, session); !proposed) return proposed;
  if (!options.schedule.empty()) session.apply(OpenSchedule{options.schedule});
  if (!options.constraints.empty()) {
    session.apply(OpenConstraints{options.constraints});
    session.apply(ShowTab{BottomTab::Explain});
  }
  const bool wanted = options.solve || (options.screenshot.empty() && options.schedule.empty() && session.content().schedules.empty());
  if (wanted && !options.no_solve && session.why_no_solve().empty()) session.apply(StartSolve{});
  return Ok{};
}

void show_as_asked(const Options& options, Session& session) {
  if (const auto mode = parse_mode(options.mode)) session.apply(SetMode{*mode});
  if (options.iterations > 0) session.apply(SetIterations{options.iterations});
  if (const auto theme = parse_theme(options.theme)) session.apply(SetTheme{*theme, false});
  if (const Tab* tab = find_tab(options.tab)) session.apply(ShowTab{tab->tab});
  if (options.scale > 0) session.apply(SetScale{options.scale, false});
}

void select_as_asked(const Options& options, Session& session) {
  if (options.select.empty() || !session.content().problem) return;
  session.apply(SelectOp{session.content().problem->find_op(options.select)});
}

/// Which cycles the chart shows, and what lies on its bars; for a chart that is there.
void arrange_chart(const Options& options, Session& session) {
  if (!options.begin && options.overlays.empty()) return;
  ChartKept kept = session.view().chart;
  if (options.begin && options.end && *options.begin < *options.end) kept.visible = {*options.begin, *options.end};
  for (const std::string& overlay : options.overlays) kept.switches[overlay] = true;
  session.view().restored_chart = std::move(kept);
}

int take_screenshot(const Options& options) {
  int width = 0, height = 0;
  if (std::sscanf(options.size.c_str(), "%dx%d", &width, &height) != 2) {
    std::fprintf(stderr, "heddle-gui: --size wants WIDTHxHEIGHT, for example 1600x900\n");
    return 2;
  }
  auto platform = OffscreenPlatform::create(width, height, false);
  if (!platform) return report(platform.error());
  Session session(Environment{});
  if (const auto opened = open_documents(options, session); !opened) return report(opened.error());
  show_as_asked(options, session);
  AppWindow window(session, **platform);
  probe::enable(!options.steps.empty());
  settle(window);
  select_as_asked(options, session);
  arrange_chart(options, session);
  for (const std::string& step : options.steps)
    if (const auto done = run_step(window, step); !done) return report(done.error());
  // While a solve or a question runs ("ask&") there is a moment for it to show something.
  for (int frame = 0; frame < 40; ++frame) {
    window.step();
    if (session.live().active() || session.asking()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (options.chart_only) {
    session.apply(Export{ExportKind::Png, options.screenshot});
    window.step();
  } else if (const auto written = write_png(options.screenshot, (*platform)->read_picture()); !written) {
    return report(written.error());
  }
  for (const LogEntry& entry : session.log()) std::fprintf(stderr, "%s\n", entry.text.c_str());
  return session.error() ? report(session.error()->error) : 0;
}

/// For tests/bench/window_bench.cpp, which knows when this program was started.
void say_first_frame() {
  timespec now{}, used{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  std::printf("first frame at %lld.%09ld, %.1f ms of processor time\n", static_cast<long long>(now.tv_sec), now.tv_nsec,
              static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6);
}

int run_window(const Options& options) {
  auto platform = GlfwPlatform::create("Heddle", 1600, 900);
  if (!platform) return report(platform.error());
  Environment environment;
  environment.settings_file = settings_path();
  environment.autosave_folder = autosave_path();
  environment.run.folder = runs_path();
  environment.sweep.folder = sweeps_path();
  environment.wake = [&] { (*platform)->wake(); };
  auto session = std::make_unique<Session>(std::move(environment));
  show_as_asked(options, *session);
  if (const auto opened = open_documents(options, *session); !opened) return report(opened.error());
  select_as_asked(options, *session);
  AppWindow window(*session, **platform);
  int shown = 0;
  while (window.step() && (options.frames == 0 || shown < options.frames))
    if (options.frames > 0 && ++shown == 1) say_first_frame();
  if (!session->close(std::chrono::seconds(5))) {
    // The solver does not come back. Files are written atomically, so nothing can be half done.
    std::fprintf(stderr, "heddle-gui: the solver did not stop within 5 s; leaving without it\n");
    std::_Exit(0);
  }
  session.reset();
  return 0;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("heddle-gui: the window. Everything it does, `heddle` does too, without a display.");
  app.add_option("kernel", options.kernel, "Kernel: a shipped name or a file (default: attention_forward_hopper)");
  app.add_option("machine", options.machine, "Machine: a shipped name or a file (default: h100)");
  app.add_option("--schedule", options.schedule, "Open this schedule");
  app.add_option("--constraints", options.constraints, "Open these constraints");
  app.add_option("--param", options.params, "KEY=VALUE, replaces a parameter's default")->check([](const std::string& text) {
    const std::size_t equals = text.find('=');
    const bool good = equals != std::string::npos && equals > 0 && equals + 1 < text.size() &&
                      text.find_first_not_of("-0123456789", equals + 1) == std::string::npos;
    return good ? std::string() : "expected KEY=INTEGER, got " + text;
  });
  app.add_option("--set", options.changes, "Take a number differently, as heddle does: exp0.latency=600. Repeatable")
      ->take_all()
      ->expected(1);
  app.add_option("--demand", options.demands, "A demand in words, as heddle takes them: \"pin S at 128\". Repeatable")
      ->take_all()
      ->expected(1);
  app.add_option("--screenshot", options.screenshot, "Write a PNG instead of opening a window; needs no display");
  app.add_option("--do", options.steps,
                 "Before the screenshot: an action's id (\"solve\", \"compare\"), click:NAME, right:NAME, hover:NAME, "
                 "drag:NAME:DX:DY, drop, type:TEXT, or list, which prints the names; \"&\" behind it: without waiting "
                 "for the solver. Repeatable")
      ->take_all()
      ->expected(1);
  app.add_option("--size", options.size, "Of the screenshot, WIDTHxHEIGHT");
  app.add_option("--mode", options.mode, "Chart: steady, unrolled or pipeline")->check(CLI::IsMember({"steady", "unrolled", "pipeline"}));
  app.add_option("--iterations", options.iterations, "Of the unrolled and pipeline charts")->check(CLI::Range(1, 64));
  app.add_option("--begin", options.begin, "Of the screenshot's chart: the first visible cycle, with --end");
  app.add_option("--end", options.end, "Of the screenshot's chart: the last visible cycle, with --begin");
  app.add_option("--show", options.overlays, "On the screenshot's chart: critical, whiskers or dependences. Repeatable")
      ->check(CLI::IsMember({"critical", "whiskers", "dependences"}))
      ->take_all()
      ->expected(1);
  app.add_flag("--chart-only", options.chart_only, "The screenshot is of the chart, not of the whole window");
  app.add_option("--theme", options.theme, "dark, light or high_contrast")->check(CLI::IsMember({"dark", "light", "high_contrast"}));
  app.add_option("--scale", options.scale, "Per cent, 50 to 300")->check(CLI::Range(50, 300));
  app.add_option("--select", options.select, "Select this op");
  std::vector<std::string> tab_names;
  for (const Tab& tab : tabs()) tab_names.emplace_back(tab.id);
  app.add_option("--tab", options.tab, "The tab under the chart")->check(CLI::IsMember(tab_names));
  app.add_flag("--solve", options.solve, "Solve before the screenshot is taken (the window solves anyway)");
  app.add_flag("--no-solve", options.no_solve, "Do not solve at the start");
  app.add_flag_callback(
      "--contrasts",
      [] {
        std::fputs(contrast_table().c_str(), stdout);
        std::exit(0);
      },
      "Print the contrasts of every colour in the three themes, and exit");
  app.add_option("--frames", options.frames, "Leave after so many frames and say when the first was shown")->check(CLI::Range(1, 1000000));
  app.add_flag("--welcome", options.welcome, "Start with the welcome screen");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (!options.steps.empty() && options.screenshot.empty()) {
    std::fprintf(stderr, "heddle-gui: --do needs --screenshot\n");
    return 2;
  }
  return options.screenshot.empty() ? run_window(options) : take_screenshot(options);
}

}  // namespace
}  // namespace heddle::app

int main(int argc, char** argv) { return heddle::app::run(argc, argv); }
