// Prints what the window costs: start, rest, and the way from a dropped bar to the new schedule on the screen.
//
//   window-bench            all of it; what needs a display is skipped where there is none (xvfb-run -a window-bench)
//   window-bench start      from exec to the first frame shown
//   window-bench idle       processor time at rest, over 10 s
//   window-bench drag       bars dropped with the real session, solver and frames
//   window-bench steps      frames of undo, tabs, palette, modes
//   window-bench layout     frames of the Layout tab with a tile of 64 x 256, every colour, small and large cells
//   window-bench sweep      a history of 100 000 points: reading it, frames of its table and pictures
#include <fmt/format.h>
#include <imgui.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "app/platform/imgui_compat.h"
#include "app/platform/offscreen_platform.h"
#include "app/session/commands.h"
#include "app/session/environment.h"
#include "app/session/sweep_state.h"
#include "app/window/frame/app_window.h"
#include "app/window/kit/probe.h"
#include "app/window/tabs/layout/layout_state.h"
#include "core/chart/gantt_model.h"
#include "tests/bench/table.h"
#include "tests/support/sweep_files.h"

using namespace heddle;
using namespace heddle::app;

extern char** environ;

namespace {

namespace fs = std::filesystem;
using bench::Line;

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}
double wall() { return seconds_of(CLOCK_MONOTONIC); }
double processor() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

std::string ms(double seconds) { return fmt::format("{:.1f}", seconds * 1e3); }

struct Spread {
  std::vector<double> values;
  void add(double value) { values.push_back(value); }
  double median() {
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
  }
  double worst() const { return values.empty() ? 0 : *std::max_element(values.begin(), values.end()); }
};

void print(const std::vector<Line>& lines) {
  bench::print_table(lines, {0, 1}, bench::Format::Aligned);
  fmt::print("\n");
  std::fflush(stdout);
}

bool has_display() { return std::getenv("DISPLAY") || std::getenv("WAYLAND_DISPLAY"); }

// --- the program itself, as a child

fs::path beside_this(const char* program) { return fs::read_symlink("/proc/self/exe").parent_path() / program; }

struct Child {
  pid_t id = -1;
  int output = -1;
};

Child start(const std::string& program, std::vector<std::string> words, bool built_in_font) {
  words.insert(words.begin(), program);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (built_in_font)
    ::setenv("HEDDLE_BUILT_IN_FONT", "1", 1);
  else
    ::unsetenv("HEDDLE_BUILT_IN_FONT");
  int ends[2];
  Child child;
  if (::pipe(ends) != 0) return child;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  ::posix_spawn(&child.id, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  child.output = ends[0];
  return child;
}

/// What it printed until it ended; nothing when it failed.
std::string finish(const Child& child) {
  std::string text;
  char part[512];
  for (ssize_t n; (n = ::read(child.output, part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(n));
  ::close(child.output);
  int status = 0;
  ::waitpid(child.id, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : std::string();
}

/// Runs in a child: the first frame off screen.
int first_frame_off_screen() {
  auto platform = OffscreenPlatform::create(1600, 900, false);
  if (!platform) return 6;
  Session session(Environment{});
  session.apply(OpenPair{"attention_forward_hopper", "h100", true});
  AppWindow window(session, **platform);
  window.step();
  (*platform)->finish();
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  fmt::print("first frame at {}.{:09}, {:.1f} ms of processor time\n", now.tv_sec, now.tv_nsec, processor() * 1e3);
  std::fflush(stdout);
  std::_Exit(0);
}

void measure_start() {
  constexpr int kRuns = 12;
  std::vector<Line> table{{"start", "fonts", "median ms", "worst ms", "processor ms"}};
  for (const bool on_screen : {false, true}) {
    if (on_screen && !has_display()) {
      fmt::print("start on a display: skipped, there is none\n");
      continue;
    }
    for (const bool built_in : {false, true}) {
      Spread took, used;
      for (int run = 0; run < kRuns; ++run) {
        const std::string program = on_screen ? beside_this("heddle-gui").string() : "/proc/self/exe";
        const std::vector<std::string> words = on_screen ? std::vector<std::string>{"attention_forward_hopper", "h100", "--frames", "1"}
                                                         : std::vector<std::string>{"first-frame"};
        const double before = wall();
        const Child child = start(on_screen ? program : fs::read_symlink("/proc/self/exe").string(), words, built_in);
        const std::string said = finish(child);
        double at = 0, processor_ms = 0;
        if (std::sscanf(said.c_str(), "first frame at %lf, %lf", &at, &processor_ms) != 2) continue;
        took.add(at - before);
        used.add(processor_ms / 1e3);
      }
      table.push_back({on_screen ? "window on the display" : "off screen", built_in ? "built in" : "DejaVu", ms(took.median()),
                       ms(took.worst()), ms(used.median())});
    }
  }
  print(table);
}

/// User and system time of a process, in seconds.
double used_by(pid_t id) {
  std::ifstream file(fmt::format("/proc/{}/stat", id));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  unsigned long user = 0, system = 0;
  std::sscanf(text.c_str() + name_end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
  return static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

void measure_idle() {
  if (!has_display()) return fmt::print("at rest: skipped, there is no display (xvfb-run -a window-bench idle)\n");
  constexpr int kSettle = 5, kSeconds = 10;
  std::vector<Line> table{{"at rest", "", "processor %"}};
  const std::vector<std::pair<const char*, std::vector<std::string>>> kStates{
      {"welcome screen", {"--welcome"}},
      {"attention, proved", {"attention_forward_hopper", "h100"}},
      {"attention, unrolled", {"attention_forward_hopper", "h100", "--mode", "unrolled"}}};
  for (const auto& [what, words] : kStates) {
    const Child child = start(beside_this("heddle-gui").string(), words, false);
    std::this_thread::sleep_for(std::chrono::seconds(kSettle));
    const double before = used_by(child.id), began = wall();
    std::this_thread::sleep_for(std::chrono::seconds(kSeconds));
    const double share = (used_by(child.id) - before) / (wall() - began);
    ::kill(child.id, SIGTERM);
    (void)finish(child);
    table.push_back({what, "", fmt::format("{:.1f}", share * 100)});
  }
  print(table);
}

// --- the window in this process

/// Wakes the loop below as the desktop's events wake the real one.
struct Bell {
  std::mutex mutex;
  std::condition_variable rung;
  bool ringing = false;
  void ring() {
    {
      const std::lock_guard lock(mutex);
      ringing = true;
    }
    rung.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    rung.wait_for(lock, std::chrono::milliseconds(100), [&] { return ringing; });
    ringing = false;
  }
};

struct Bench {
  std::unique_ptr<OffscreenPlatform> platform;
  Bell bell;
  std::unique_ptr<Session> session;
  std::unique_ptr<AppWindow> window;

  explicit Bench(std::unique_ptr<OffscreenPlatform> on) : platform(std::move(on)) {
    Environment environment;
    environment.wake = [this] { bell.ring(); };
    session = std::make_unique<Session>(std::move(environment));
    window = std::make_unique<AppWindow>(*session, *platform);
    probe::enable(true);
    feed_mouse_position(-100, -100);
  }
  ~Bench() { session->close(std::chrono::seconds(5)); }

  void frames(int count) {
    for (int i = 0; i < count; ++i) window->step();
    platform->finish();  // else the renderer's queue is part of what is measured next
  }
  /// As the real window does: a frame when there is something new, ten a second while a clock runs.
  void rest() {
    const double began = wall();
    while (session->live().active() || session->asking()) {
      if (wall() - began > 10) session->apply(CancelSolve{});
      bell.wait();
      window->step();
    }
    frames(5);
  }
  double frame() {
    const double before = wall();
    window->step();
    platform->finish();
    return wall() - before;
  }
};

std::unique_ptr<Bench> open_bench(const char* kernel, const char* machine) {
  auto platform = OffscreenPlatform::create(1600, 900, false);
  if (!platform) {
    fmt::print("skipped: {}\n", to_string(platform.error()));
    return nullptr;
  }
  auto bench = std::make_unique<Bench>(std::move(*platform));
  bench->session->apply(OpenPair{kernel, machine, true});
  bench->rest();
  return bench;
}

/// Holds a bar, moves it and stops before it is let go. False when it was not there.
bool hold(Bench& bench, const std::string& bar, float dx) {
  bench.frames(2);
  const auto found = probe::last_frame().find(bar);
  if (found == probe::last_frame().end()) return false;
  const float x = found->second.center_x(), y = found->second.center_y();
  feed_mouse_position(x, y);
  bench.frames(2);
  feed_mouse_button(0, true);
  bench.frames(2);
  for (int i = 1; i <= 8; ++i) {
    feed_mouse_position(x + dx * static_cast<float>(i) / 8, y);
    bench.frames(1);
  }
  return true;
}

void measure_drag() {
  constexpr int kDrops = 30;
  constexpr double kPatience = 5;  // seconds; then it counts as that long
  std::vector<Line> table{{"dropped bars", "outcome", "drops", "on screen: median ms", "worst ms", "proved: median ms", "worst ms"}};
  for (const auto& [kernel, machine] : {std::pair{"attention_forward_hopper", "h100"}, {"attention_forward_blackwell", "b200"}}) {
    const auto bench = open_bench(kernel, machine);
    if (!bench) return;
    Session& session = *bench->session;
    std::mt19937_64 random(1);
    Spread shown, proved, refused;
    int not_taken = 0;
    for (int drop = 0; drop < kDrops; ++drop) {
      bench->frames(2);
      std::vector<std::string> bars;
      for (const auto& [name, rect] : probe::last_frame())
        if (name.starts_with("gantt/bar/")) bars.push_back(name);
      if (bars.empty()) break;
      const std::string bar = bars[random() % bars.size()];
      const float dx = static_cast<float>(20 + random() % 100) * (random() % 2 ? 1 : -1);
      const ScheduleEntry* before = session.content().entry();
      const std::string name = before ? before->name : "";
      const std::size_t constraints = session.content().constraints.size();
      if (!hold(*bench, bar, dx)) continue;
      feed_mouse_button(0, false);
      const double dropped = wall();
      bench->frame();
      const auto new_one = [&] {
        const ScheduleEntry* now = session.content().entry();
        return now && now->name != name;
      };
      double seen = 0;
      for (int i = 0; i < 3 || session.live().active(); ++i) {
        if (wall() - dropped > kPatience) session.apply(CancelSolve{});
        if (i >= 3) bench->bell.wait();
        const bool known = new_one();
        bench->frame();
        if (seen == 0 && known) seen = wall();
      }
      if (seen == 0 && new_one()) bench->frame(), seen = wall();
      bench->frame();
      const double done = wall();
      if (std::getenv("HEDDLE_BENCH_LOUD"))
        fmt::print("{} by {} px: {} ms, the solver {} ms, {}\n", bar, dx, ms(done - dropped), ms(session.live().seconds),
                   session.log().back().text);
      if (session.content().constraints.size() == constraints && seen == 0) {
        ++not_taken;
      } else if (seen > 0) {
        shown.add(seen - dropped);
        proved.add(done - dropped);
      } else {
        refused.add(done - dropped);
      }
      feed_mouse_position(-100, -100);
      bench->rest();
      while (session.content().constraints.size() > constraints && session.next_undo()) session.apply(Undo{});
      session.apply(ClearSelection{});
      bench->rest();
    }
    const std::string subject = fmt::format("{} on {}", kernel, machine);
    table.push_back({subject, "new schedule", std::to_string(shown.values.size()), ms(shown.median()), ms(shown.worst()),
                     ms(proved.median()), ms(proved.worst())});
    table.push_back({subject, "no schedule", std::to_string(refused.values.size()), "", "", ms(refused.median()), ms(refused.worst())});
    if (not_taken > 0) table.push_back({subject, "not a move", std::to_string(not_taken), "", "", "", ""});
  }
  print(table);
}

void measure_steps() {
  const auto bench = open_bench("attention_forward_hopper", "h100");
  if (!bench) return;
  Session& session = *bench->session;
  std::vector<Line> table{{"first frame after", "", "median ms", "worst ms"}};
  const auto measure = [&](const char* what, auto&& act, auto&& undo) {
    Spread took;
    for (int run = 0; run < 20; ++run) {
      act(run);
      // A command is applied after the frame that asked for it, so the next one shows it.
      took.add(bench->frame());
      bench->frames(3);
      undo(run);
      bench->rest();
    }
    table.push_back({what, "", ms(took.median()), ms(took.worst())});
  };
  const auto nothing = [](int) {};
  measure("nothing", nothing, nothing);
  measure(
      "a click on an op", [&](int run) { session.apply(SelectOp{OpId(static_cast<std::size_t>(run) % 20)}); }, nothing);
  measure(
      "another tab", [&](int run) { session.apply(show_tab(tabs()[static_cast<std::size_t>(run) % tabs().size()].tab)); }, nothing);
  session.apply(show_tab(BottomTab::Explain));
  measure(
      "another mode", [&](int run) { session.apply(SetMode{static_cast<GanttMode>((run + 1) % 3)}); }, nothing);
  session.apply(SetMode{GanttMode::Steady});
  measure(
      "undo", [&](int) { session.apply(Undo{}); }, [&](int) { session.apply(Redo{}); });
  if (const Action* palette = find_action("find"))
    measure(
        "the palette", [&](int) { perform(*palette, session, bench->window->ui()), bench->window->step(); },
        [&](int) { feed_key(Key::Escape, true), bench->frames(2), feed_key(Key::Escape, false), bench->frames(2); });
  measure(
      "another scale", [&](int run) { session.apply(use_scale(run % 2 == 0 ? 150 : 100)); }, nothing);
  print(table);
}

void measure_layout() {
  const auto bench = open_bench("toy_fig1", "h100");
  if (!bench) return;
  Session& session = *bench->session;
  UiState& ui = bench->window->ui();
  LayoutTabState& state = ui.of<LayoutTabState>();
  session.apply(show_tab(BottomTab::Layout));
  state.own = true;
  state.dtype = DType::F32;
  std::snprintf(state.text, sizeof state.text, "(64,256):(256,1)");
  state.access = "st.shared.8";
  ui.maximized = true;
  for (int i = 0; i < 2000 && !state.a.view(); ++i) {
    bench->frames(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (!state.a.view()) return fmt::print("layout: skipped, no view of the text\n");
  // What the window's own thread does is ours; on the clock software OpenGL's threads come on top.
  std::vector<Line> table{{"64 x 256 cells", "cell, pixels", "on the clock: median ms", "worst ms", "this thread: median ms", "worst ms"}};
  for (const LayoutColour colour :
       {LayoutColour::Warp, LayoutColour::Lane, LayoutColour::Register, LayoutColour::Bank, LayoutColour::Phase})
    for (const float cell : {0.0f, 12.0f, 24.0f})
      for (const bool chosen : {false, true}) {
        state.colour = colour;
        state.pick = chosen ? pick_of(state.a.view()->at(0, 0), false) : std::nullopt;
        state.grid.cell_x = cell;
        state.grid.cell_y = cell * 0.75f;
        state.grid.fitted = cell == 0;
        bench->frames(3);
        Spread took, own;
        for (int i = 0; i < 40; ++i) {
          const double before = seconds_of(CLOCK_THREAD_CPUTIME_ID);
          took.add(bench->frame());
          own.add(seconds_of(CLOCK_THREAD_CPUTIME_ID) - before);
        }
        table.push_back({fmt::format("{}{}", to_string(colour), chosen ? ", a lane chosen" : ""),
                         fmt::format("{:.1f} x {:.1f}", state.grid.cell_x, state.grid.cell_y), ms(took.median()), ms(took.worst()),
                         ms(own.median()), ms(own.worst())});
      }
  print(table);
}

void click(Bench& bench, const std::string& name) {
  const auto found = probe::last_frame().find(name);
  if (found == probe::last_frame().end()) return;
  feed_mouse_position(found->second.center_x(), found->second.center_y());
  bench.frames(2);
  feed_mouse_button(0, true);
  bench.frames(1);
  feed_mouse_button(0, false);
  bench.frames(2);
}

void measure_sweep() {
  constexpr std::size_t kPoints = 100'000;
  const auto bench = open_bench("toy_fig1", "toy");
  if (!bench) return;
  Session& session = *bench->session;
  const fs::path file = fs::temp_directory_path() / fmt::format("heddle_bench_{}.jsonl", ::getpid());
  std::ofstream(file) << test::long_history(static_cast<int>(kPoints));
  // What the window's own thread does is ours; on the clock software OpenGL's threads come on top.
  std::vector<Line> table{{"100 000 points", "", "median ms", "worst ms", "this thread: median ms", "worst ms"}};
  const auto add = [&](const std::string& what, Spread& on_clock, Spread& own) {
    table.push_back({what, "", ms(on_clock.median()), ms(on_clock.worst()), ms(own.median()), ms(own.worst())});
  };
  const auto timed = [&](Spread& on_clock, Spread& own) {
    const double before = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    on_clock.add(bench->frame());
    own.add(seconds_of(CLOCK_THREAD_CPUTIME_ID) - before);
  };
  const double began = wall();
  session.apply(OpenSweep{file.string()});
  Spread reading, reading_own;
  while (session.sweep().table().points.size() < kPoints && wall() - began < 60) timed(reading, reading_own);
  add(fmt::format("a frame while they are read, {:.2f} s", wall() - began), reading, reading_own);
  const auto frames = [&](const std::string& what) {
    Spread took, own;
    for (int i = 0; i < 40; ++i) timed(took, own);
    add(what, took, own);
  };
  for (const char* picture : {"Axes", "Scatter", "Convergence"}) {
    click(*bench, std::string("sweep/picture/") + picture);
    frames(fmt::format("a frame, {}", picture));
  }
  const auto first = [&](const std::string& what, auto&& act) {
    Spread took, own;
    for (int run = 0; run < 10; ++run) {
      act(run);
      Spread frame, frame_own;  // of those that it takes until all is as it should be
      for (int i = 0; i < 3; ++i) timed(frame, frame_own);
      took.add(frame.worst());
      own.add(frame_own.worst());
    }
    add(what, took, own);
  };
  first("the frame that sorts", [&](int run) {
    const auto found = probe::last_frame().find(run % 2 == 0 ? "sweep/sort/cycles" : "sweep/sort/TILE");
    if (found == probe::last_frame().end()) return;
    feed_mouse_position(found->second.center_x(), found->second.center_y());
    bench->frames(2);
    feed_mouse_button(0, true);
    bench->frames(1);
    feed_mouse_button(0, false);
  });
  click(*bench, "sweep/filter");
  first("the frame that filters", [&](int run) { feed_text(run == 0 ? "s" : run == 1 ? "t" : run == 2 ? "a" : " "); });
  print(table);
  std::error_code ignored;
  fs::remove(file, ignored);
}

}  // namespace

int main(int argc, char** argv) {
  setenv("HEDDLE_STORE", "off", 1);  // what is measured is solving, not remembering
  const std::string what = argc > 1 ? argv[1] : "all";
  if (what == "first-frame") return first_frame_off_screen();
  const std::string configuration = (fs::temp_directory_path() / fmt::format("heddle_bench_{}", ::getpid())).string();
  for (const char* variable : {"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"})
    ::setenv(variable, configuration.c_str(), 1);
  const bool all = what == "all";
  const std::pair<const char*, void (*)()> parts[] = {{"start", measure_start}, {"idle", measure_idle},     {"drag", measure_drag},
                                                      {"steps", measure_steps}, {"layout", measure_layout}, {"sweep", measure_sweep}};
  bool known = false;
  for (const auto& [name, measure] : parts) {
    if (!all && what != name) continue;
    known = true;
    measure();
  }
  if (!known) {
    fmt::print(stderr, "usage: window-bench [start|idle|drag|steps|layout|sweep]\n");
    return 2;
  }
  std::error_code ignored;
  fs::remove_all(configuration, ignored);
}
