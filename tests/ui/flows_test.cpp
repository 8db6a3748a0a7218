// The ten flows of the window's contract, end to end with the real solver, with the gestures counted: none takes more than
// it says.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/picture/picture.h"
#include "app/platform/offscreen_platform.h"
#include "app/session/command_line.h"
#include "app/session/environment.h"
#include "app/session/kernel_state.h"
#include "app/session/project.h"
#include "app/session/proposal_commands.h"
#include "app/session/run_state.h"
#include "app/session/solving.h"
#include "app/session/view_commands.h"
#include "app/session/view_state.h"
#include "app/window/kit/theme.h"
#include "app/window/tabs/cuda/cuda_state.h"
#include "core/chart/gantt_model.h"
#include "core/formats/measurement_json.h"
#include "core/formats/race_json.h"
#include "core/formats/schedule_json.h"
#include "tests/support/paths.h"
#include "tests/ui/person.h"

using namespace heddle;
using namespace heddle::app;
namespace fs = std::filesystem;

#ifdef HEDDLE_HAS_SOLVER
namespace {

using test::Person;
using Folder = test::FlowFolder;

constexpr const char* kAttention = "attention_forward_hopper";
std::string ping_pong() { return test::repository_path("tests/schedules/attention_ping_pong.json"); }

}  // namespace

TEST_CASE("flow 1, first insight: card, proved, what limits II, why, the core", "[ui]") {
  Person p;
  p.click("welcome/attention_hopper");
  if (!p.session().live().active() && !p.content().entry()) p.key(Key::F5);
  p.settle();
  // The order that is predicted to be the fastest; that no II is below 2048 is proved.
  CHECK((p.a().by_time || p.a().status == Status::Optimal));
  CHECK(p.a().of_solver);
  CHECK(p.a().lower_bound == 2048);
  CHECK_FALSE(p.session().solving().why_no_continue().empty());
  p.key(Key::C);
  CHECK(p.session().view().critical);
  p.key(Key::E);
  p.settle();
  CHECK(p.session().view().tab == BottomTab::Explain);
  REQUIRE(p.session().answered(Topic::Explain));
  CHECK(p.has("explain/show/0"));
  p.key(Key::Escape);
  CHECK(p.gestures <= 7);
}

TEST_CASE("flow 2, move a bar: drop, a new row with its differences, undo", "[ui]") {
  Person p(kAttention, test::least_ii_solver());
  const Problem& problem = *p.content().problem;
  const std::string before = test::fingerprint(p.content());
  const OpId op = problem.find_op("QK1");
  const Cycle start = p.a().schedule.start(op);
  p.drag("gantt/bar/QK1@0", p.pixels(192));
  p.settle();
  REQUIRE_FALSE(p.content().constraints.empty());
  if (p.content().schedules.size() == 2) {
    CHECK(p.a().verdict.valid());
    CHECK(p.a().schedule.start(op) != start);
    CHECK(p.a().lower_bound);
  } else {
    // No schedule: then the reason is on the screen.
    CHECK(p.session().live().refuted());
    CHECK(p.session().view().tab == BottomTab::Explain);
  }
  while (test::fingerprint(p.content()) != before && p.gestures < 4) p.key(Key::Z, {.ctrl = true});
  CHECK(test::fingerprint(p.content()) == before);
  CHECK(p.gestures <= 4);
}

TEST_CASE("flow 3, why not better: reasons, show, relax, solved again, compared as B", "[ui]") {
  Person p(kAttention, test::least_ii_solver());
  const Cycle ii = p.a().schedule.ii;
  p.key(Key::E);
  p.settle();
  REQUIRE(p.session().answered(Topic::Explain));
  p.click("explain/show/0");
  CHECK_FALSE(p.session().view().highlight.why.empty());
  REQUIRE(p.has("explain/relax/0"));
  p.click("explain/relax/0");
  REQUIRE(p.has("explain/try/0/0"));
  p.click("explain/try/0/0");
  p.settle();
  CHECK(p.a().schedule.ii < ii);
  CHECK(p.b().schedule.ii == ii);
  CHECK(p.gestures <= 5);
}

TEST_CASE("flow 4, against another schedule: B, Compare, first divergence, unrolled, SVG", "[ui]") {
  const Folder folder;
  Person p(kAttention, test::least_ii_solver());
  p.session().apply(OpenSchedule{ping_pong()});
  p.frame(3);
  REQUIRE(p.content().schedules.size() == 2);
  p.click("schedules/1");
  p.key(Key::B);
  CHECK(p.content().baseline);
  p.click("tab/compare");
  REQUIRE(p.has("compare/first"));
  p.click("compare/first");
  CHECK_FALSE(p.session().view().highlight.why.empty());
  p.key(Key::U);
  CHECK(p.session().view().mode == GanttMode::Unrolled);
  CHECK(p.gestures <= 5);
  p.session().apply(Export{ExportKind::Svg, folder.file("a_over_b.svg")});
  CHECK(fs::exists(folder.file("a_over_b.svg")));
}

TEST_CASE("flow 5, trade-offs: sweep, the knee, set as A", "[ui]") {
  Person p("gemm_hopper");
  p.click("tab/pareto");
  p.click("pareto/ask");
  p.settle();
  REQUIRE(p.session().answered(Topic::Pareto));
  REQUIRE(p.has("pareto/row/0"));
  const std::vector<std::string> rows = p.names("pareto/row/");
  p.click(rows.back());
  CHECK(p.a().verdict.valid());
  CHECK(p.gestures <= 6);
}

TEST_CASE("flow 6, what if the exponential were faster: a slider, until when, solved again", "[ui]") {
  Person p(kAttention, test::least_ii_solver());
  p.click("ops/exp0");
  REQUIRE(p.has("inspector/slider/latency"));
  p.drag("inspector/slider/latency", -20);
  p.settle();
  REQUIRE(p.content().changes.size() == 1);
  CHECK(p.content().changes[0].op == "exp0");
  if (p.content().schedules.size() < 2) {
    p.key(Key::F5);
    p.settle();
  }
  CHECK(p.content().schedules.size() >= 2);
  CHECK(p.gestures <= 4);
}

TEST_CASE("flow 8, a schedule by hand: dropped, judged, its first violation, centred", "[ui]") {
  const Folder folder;
  std::ostringstream text;
  text << std::ifstream(ping_pong()).rdbuf();
  std::string broken = text.str();
  const std::string at = "\"PV0\", \"start\": 3650";
  REQUIRE(broken.find(at) != std::string::npos);
  broken.replace(broken.find(at), at.size(), "\"PV0\", \"start\": 2000");
  std::ofstream(folder.file("broken.json")) << broken;
  Person p;
  p.drop(folder.file("broken.json"));
  ++p.gestures;
  p.frame(3);
  CHECK_FALSE(p.a().verdict.valid());
  CHECK_FALSE(p.session().selection().empty());
  p.key(Key::F);
  CHECK(p.gestures <= 4);
}

TEST_CASE("flow 7, to the GPU: generate, read, compile, profile, the worst misprediction, adopt", "[ui]") {
  const Folder folder;
  Environment environment;
  environment.run = {folder.file("heddle"), folder.file("runs"), ""};
  environment.kernel.find_compiler = [] { return Result<std::string>(std::string("NVRTC 13.0")); };
  environment.kernel.compile = [](const std::string&, const std::string&) {
    codegen::Compiled compiled;
    compiled.compiler = "NVRTC 13.0";
    compiled.log = "heddle.cu(9): warning #177-D: nothing is wrong\n";
    compiled.report.registers = 168;
    compiled.census = {1000, {}};
    return Result<codegen::Compiled>(std::move(compiled));
  };
  Person p("gemm_hopper", environment);
  // What the GPU would say: everything as predicted, but one product is late and slow.
  const Problem& problem = *p.content().problem;
  Measurement m;
  m.kernel = problem.kernel;
  m.machine = problem.machine;
  m.params = problem.params;
  m.schedule = p.a().name;
  m.schedule_hash = schedule_hash(problem, p.a().schedule);
  m.predicted_ii = p.a().schedule.ii;
  m.measured_ii = 1100;
  m.status = RunStatus::Verified;
  m.profile.emplace();
  m.profile->trusted = true;
  for (const Op& op : problem.ops) {
    const auto start = static_cast<double>(p.a().schedule.start(problem.find_op(op.name))), latency = static_cast<double>(op.latency);
    const double late = op.name == "MMA0" ? 40 : 0;
    m.profile->ops.push_back({op.name, "group", 64, start + late, latency + 2 * late, 4, start, latency, true});
  }
  std::ofstream(folder.file("said.json")) << measurement_text(m);
  std::ofstream(folder.file("heddle")) << "#!/bin/sh\ncat " << folder.file("said.json") << "\n";
  fs::permissions(folder.file("heddle"), fs::perms::owner_all);

  p.key(Key::F6);
  p.settle();
  CHECK(p.session().view().tab == BottomTab::Cuda);
  REQUIRE(p.session().kernel().text().answer());
  const SourceModel& source = p.session().kernel().text().answer()->source;
  p.click(p.names("gantt/bar/MMA1@").front());
  p.frame(3);
  const auto block = block_for(source, problem.find_op("MMA1"), SourcePart::Steady);
  REQUIRE(block);
  CHECK(p.has("cuda/line/" + std::to_string(source.blocks[*block].first + 1)));  // it was brought into view
  p.key(Key::F7);
  p.settle();
  CHECK(p.has("cuda/message/0"));
  const Cycle ii = p.a().schedule.ii;
  p.key(Key::F8, {.shift = true});
  p.settle();
  CHECK(p.session().view().tab == BottomTab::Runs);
  CHECK(p.session().view().measured);
  CHECK_FALSE(p.names("gantt/ghost/MMA0@").empty());
  CHECK(p.has("legend/measured"));
  p.click("runs/op/0");
  CHECK(p.session().selection().primary() == problem.find_op("MMA0"));
  p.click("runs/adopt_measured");
  p.settle();
  REQUIRE(p.content().changes.size() == 1);
  CHECK(p.content().changes[0].op == "MMA0");
  CHECK(p.a().schedule.ii >= ii);
  CHECK(p.gestures <= 8);
  p.key(Key::Z, {.ctrl = true});
  p.key(Key::Z, {.ctrl = true});
  CHECK(p.content().changes.empty());
}

TEST_CASE("a kernel is run on the host that the Runs tab names, and its measurement says so", "[ui]") {
  const Folder folder;
  Environment environment;
  environment.run = {folder.file("heddle"), folder.file("runs"), "no GPU here"};
  Person p("gemm_hopper", environment);
  Measurement m;
  m.kernel = p.content().problem->kernel;
  m.machine = p.content().problem->machine;
  m.status = RunStatus::Verified;
  m.host = "gpu-box";
  m.device.emplace().name = "NVIDIA H200";
  std::ofstream(folder.file("said.json")) << measurement_text(m);
  std::ofstream(folder.file("heddle")) << "#!/bin/sh\necho \"$@\" >" << folder.file("words") << "\ncat " << folder.file("said.json")
                                       << "\n";
  fs::permissions(folder.file("heddle"), fs::perms::owner_all);

  p.session().apply(show_tab(BottomTab::Runs));
  p.frame(3);
  CHECK(p.session().runs().why_no_run() == "no GPU here");
  p.click("runs/host");
  p.type("gpu-box");
  p.frame(2);
  CHECK(p.session().settings().run_host == "gpu-box");
  CHECK(p.session().runs().why_no_run().empty());
  CHECK(run_kernel_command(p.session(), false).find(" --on gpu-box") != std::string::npos);
  p.key(Key::Enter);
  p.click("runs/run_kernel");
  p.settle();
  std::ifstream words(folder.file("words"));
  CHECK(std::string(std::istreambuf_iterator<char>(words), {}).find("run gemm_hopper h100 --on gpu-box --json") == 0);
  REQUIRE(p.session().runs().measurement());
  CHECK(run_row(*p.session().runs().measurement()).device == "NVIDIA H200 at gpu-box");
  p.session().apply(run_on("-oProxyCommand=touch"));
  CHECK(p.session().runs().why_no_run() == "a host does not begin with '-'");
}

TEST_CASE("programs race from the Compare tab, on the host that is named, and the winner becomes B", "[ui]") {
  const Folder folder;
  Environment environment;
  environment.run = {folder.file("heddle"), folder.file("runs"), "no GPU here"};
  Person p("gemm_hopper", environment);
  const Problem& problem = *p.content().problem;
  Race race;
  race.kernel = problem.kernel, race.machine = problem.machine, race.params = problem.params;
  race.device = "NVIDIA H200", race.host = "gpu-box", race.rounds = 8, race.settled = true, race.ended = "ranks are settled";
  Schedule schedule = p.a().schedule;
  for (const double us : {30.0, 20.0, 40.0}) {
    Racer racer;
    racer.name = "program " + std::to_string(race.racers.size());
    schedule.name = racer.name, racer.schedule_text = schedule_text(problem, schedule);
    racer.sustained_us = {us, us};
    race.racers.push_back(racer);
  }
  race.racers[2].sustained_us.clear(), race.racers[2].why_not = "it faulted";
  std::ofstream(folder.file("said.json")) << race_text(race);
  std::ofstream(folder.file("heddle")) << "#!/bin/sh\necho \"$@\" >" << folder.file("words") << "\ncat " << folder.file("said.json")
                                       << "\n";
  fs::permissions(folder.file("heddle"), fs::perms::owner_all);

  p.session().apply(show_tab(BottomTab::Compare));
  p.frame(3);
  p.click("compare/race");
  p.frame(3);
  CHECK(p.has("race/start"));
  CHECK(p.has("race/command"));
  CHECK(p.has("race/state"));
  CHECK(why_not(*find_action("race"), p.session()) == "no GPU here");
  CHECK(race_command(p.session()).find("race gemm_hopper h100") != std::string::npos);
  p.session().apply(run_on("gpu-box"));
  p.frame(3);
  CHECK(why_not(*find_action("race"), p.session()).empty());
  p.click("race/start");
  p.settle();
  p.frame(3);
  std::ifstream words(folder.file("words"));
  CHECK(std::string(std::istreambuf_iterator<char>(words), {}).find("race gemm_hopper h100 --on gpu-box --json") == 0);
  REQUIRE(p.has("race/head"));
  CHECK(p.has("race/row/program 1"));
  CHECK(p.has("race/row/program 2"));
  CHECK(why_not(*find_action("cancel_race"), p.session()) == "no race is being run");
  p.click("race/winner");
  p.frame(3);
  REQUIRE(p.content().baseline_entry());
  CHECK(p.content().baseline_entry()->name.find("program 1") != std::string::npos);
}

TEST_CASE("flow 7 without compiler and GPU: everything is there and says what is missing, and a file from elsewhere is read", "[ui]") {
  const Folder folder;
  Person p("gemm_hopper");
  p.click("menu/Kernel");
  for (const char* id : {"compile", "run_kernel", "profile_kernel", "overlay_measured", "adopt_measured"}) {
    INFO(id);
    CHECK(p.has(std::string("menu/") + id));
  }
  p.click("menu/cuda");
  p.settle();
  for (const char* id : {"compile", "run_kernel", "profile_kernel", "overlay_measured", "adopt_measured"}) {
    INFO(id);
    const Action& action = *find_action(id);
    CHECK(why_not(action, p.session()).size() > 8);
    perform(action, p.session(), p.window().ui());
    CHECK(p.window().ui().commands.empty());
  }
  CHECK(why_not(*find_action("compile"), p.session()) == "no compiler in tests");
  CHECK(why_not(*find_action("run_kernel"), p.session()) == "no GPU in tests");
  CHECK(p.has("cuda/compile"));
  p.drop(test::repository_path("tests/golden/measurement.json"));
  CHECK(p.session().view().tab == BottomTab::Runs);
  CHECK_FALSE(p.session().error());
  REQUIRE(p.has("runs/row/0"));
  CHECK(p.session().runs().chosen() == 0u);
  CHECK(why_not(*find_action("overlay_measured"), p.session()) == "this is a run of example");
  CHECK(p.has("runs/state"));
}

TEST_CASE("bars and lines of the CUDA text point at each other", "[ui]") {
  Person p("gemm_hopper");
  p.session().apply(show_tab(BottomTab::Cuda));
  p.settle();
  REQUIRE(p.session().kernel().text().answer());
  const Problem& problem = *p.content().problem;
  const SourceModel& source = p.session().kernel().text().answer()->source;
  const OpId mma = problem.find_op("MMA0");
  p.session().apply(SelectOp{mma});
  p.frame(4);
  // A line selects its op.
  const std::vector<std::size_t> blocks = blocks_of(source, mma);
  const auto line_of = [&](std::size_t block) { return "cuda/line/" + std::to_string(source.blocks[block].first + 1); };
  const auto shown = std::find_if(blocks.begin(), blocks.end(), [&](std::size_t block) { return p.has(line_of(block)); });
  REQUIRE(shown != blocks.end());
  const std::string line = line_of(*shown);
  p.session().apply(ClearSelection{});
  p.frame(2);
  p.click(line);
  CHECK(p.session().selection().primary() == mma);
  // F4 goes through its lines.
  p.key(Key::F4);
  REQUIRE(p.window().ui().of<CudaTabState>().marked);
  const std::size_t here = *p.window().ui().of<CudaTabState>().marked;
  p.key(Key::F4);
  CHECK(*p.window().ui().of<CudaTabState>().marked > here);
  CHECK(source.block_of(*p.window().ui().of<CudaTabState>().marked)->op == mma);
  p.key(Key::F4, {.shift = true});
  CHECK(*p.window().ui().of<CudaTabState>().marked == here);
  // Another schedule's text is not passed off as this one's.
  Schedule moved = p.a().schedule;
  for (Placement& place : moved.ops) place.start += 8;
  const auto before = p.session().kernel().text().answer();
  p.session().apply(AdoptSchedule{moved, "moved", false});
  p.settle();
  CHECK(p.session().kernel().text().answer() != before);
  CHECK(KernelState::is_current(p.session().kernel().text(), KernelState::subject_of(p.content())));
}

TEST_CASE("the line of the CUDA tab writes the text that is shown", "[ui]") {
  const Folder folder;
  Person p("gemm_hopper");
  p.key(Key::F6);
  p.settle();
  p.key(Key::C, {.ctrl = true, .shift = true});
  CHECK(p.clipboard() == "heddle emit gemm_hopper h100");
  p.session().apply(SaveKernel{folder.file("a.cu")});
  CHECK_FALSE(p.session().error());
  std::ostringstream saved;
  saved << std::ifstream(folder.file("a.cu")).rdbuf();
  CHECK(saved.str() == p.session().kernel().text().answer()->emission->source);
  CHECK(p.session().last_line() == "heddle emit gemm_hopper h100 --out " + folder.file("a.cu"));
  // As a package, beside which nothing of others is written over.
  p.session().apply(SavePackage{folder.file("gemm"), false, "heddle emit"});
  CHECK_FALSE(p.session().error());
  CHECK(std::filesystem::exists(folder.path / "gemm" / "gemm_hopper.cu"));
  CHECK(p.session().last_line() == "heddle emit gemm_hopper h100 --format package --out " + folder.file("gemm"));
  p.session().apply(SavePackage{folder.path.string(), true, ""});
  REQUIRE(p.session().error());
  CHECK(p.session().error()->error.faults.front().message.find("no package") != std::string::npos);
}

TEST_CASE("flow 9, share: save, export, and project, picture, trace and command are there", "[ui]") {
  const Folder folder;
  auto platform = OffscreenPlatform::create(1280, 720, true);
  if (!platform) {
    WARN("no pictures here: " << to_string(platform.error()));
    return;
  }
  Person p(std::move(*platform));
  p.session().apply(OpenSchedule{ping_pong()});
  p.session().apply(SaveProject{folder.file("work.heddle.json")});
  p.frame(2);
  p.session().apply(ToggleFlag{1});
  p.key(Key::S, {.ctrl = true});
  CHECK_FALSE(p.session().projects().unsaved());
  p.key(Key::E, {.ctrl = true});
  p.click("export/share");
  CHECK(p.gestures <= 3);
  p.frame(4);
  CHECK_FALSE(p.session().error());
  CHECK(fs::exists(folder.file("work.trace.json")));
  const auto picture = read_png(folder.file("work.png"));
  REQUIRE(picture);
  CHECK(picture->width == 1280);
  CHECK(p.clipboard().find("heddle export ") == 0);
  CHECK(p.clipboard().find("work.trace.json") != std::string::npos);
  CHECK(p.has("export/go"));  // the dialog is back, and lists what was written
}

TEST_CASE("the export dialog writes the chart as PNG, also on white, and greys what a PNG does not know", "[ui]") {
  const Folder folder;
  auto platform = OffscreenPlatform::create(1280, 720, true);
  if (!platform) {
    WARN("no pictures here: " << to_string(platform.error()));
    return;
  }
  Person p(std::move(*platform));
  p.session().apply(OpenSchedule{ping_pong()});
  p.session().apply(SaveProject{folder.file("work.heddle.json")});
  p.frame(3);
  const probe::Rect center = p.at("pane/center");
  const auto made = [&] {
    p.click("export/go");
    p.frame(4);
    auto picture = read_png(folder.file("work.png"));
    REQUIRE(picture);
    fs::remove(folder.file("work.png"));
    return *picture;
  };
  p.key(Key::E, {.ctrl = true});
  p.click("export/visible");  // of the SVG, which it does not carry over
  p.click("export/png");
  p.click("export/visible");
  const Picture dark = made();
  CHECK(dark.width == static_cast<int>(center.x1 - center.x0));
  CHECK(p.window().ui().chart.cut);  // so it has the height of the window, and all rows
  CHECK(dark.height > static_cast<int>(center.y1 - center.y0));
  p.click("export/light");
  const Picture light = made();
  CHECK(light.width == dark.width);
  const auto brightness = [](const Picture& picture) {
    double sum = 0;
    for (std::size_t i = 0; i < picture.rgba.size(); i += 4) sum += picture.rgba[i];
    return sum / static_cast<double>(picture.rgba.size() / 4);
  };
  CHECK(brightness(dark) < 100);
  CHECK(brightness(light) > 140);
  // The window itself stays as it was.
  CHECK(p.session().settings().theme == ThemeName::Dark);
  p.frame(2);
  CHECK(theme().light == false);
}

TEST_CASE("flow 10, the headless twin: the line of what was done last, and of what is shown", "[ui]") {
  Person p("gemm_hopper");
  p.key(Key::U);
  p.key(Key::C, {.ctrl = true, .shift = true});
  CHECK(p.clipboard().find("heddle show gemm_hopper h100 --mode unrolled") == 0);
  CHECK(p.gestures == 2);
  p.key(Key::E);
  p.settle();
  p.key(Key::C, {.ctrl = true, .shift = true});
  CHECK(p.clipboard() == "heddle explain gemm_hopper h100");
  perform(*find_action("copy_shown"), p.session(), p.window().ui());
  p.frame(2);
  CHECK(p.clipboard().find("heddle show ") == 0);
}
#endif
